"""The settings of a testbed: one frozen file, and the SHA-256 of its text, which everything generated records.

Nothing here is computed from results: sizes, mixes of gates, families, quotas and seeds stand in the file, and any
change of it changes the hash and with it every draw.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, final

from ascertain.errors import FileError, ModelError
from ascertain.kernels.boolean_code import OPERATIONS
from ascertain.model.boolean import REVERSIBLE

IRREVERSIBLE = tuple(op for op in OPERATIONS if op not in REVERSIBLE)


@final
@dataclass(frozen=True)
class PlantSettings:
    """How one plant is drawn: its seed, and the weights of the gates in its two kinds of command."""

    name: str
    seed: int
    actuating: Mapping[str, int]
    probing: Mapping[str, int]

    def __post_init__(self) -> None:
        _check_mix(self.actuating, IRREVERSIBLE, f"actuating gates of plant {self.name!r}")
        _check_mix(self.probing, REVERSIBLE, f"probing gates of plant {self.name!r}")


@final
@dataclass(frozen=True)
class Family:
    """How many commands are replaced, where the last of them may be (from 1, both ends included), and the quota."""

    name: str
    replacements: int
    last: tuple[int, int]
    active: int
    """How many of a plant's operations in this family are active."""


@final
@dataclass(frozen=True)
class Settings:
    """What a testbed is made from. Positions in a log are counted from 1 in the file, from 0 in the code."""

    name: str
    text: str
    """The file as it was read, with line feeds at the ends of lines."""
    num_bits: int
    num_actuating: int
    actuating_gates: tuple[int, int]
    num_probing: int
    probing_gates: int
    plants: tuple[PlantSettings, ...]
    log_length: int
    num_alternatives: int
    max_replaced: int
    trusted_every: int
    log_flip: Fraction
    replacement_window: tuple[int, int]
    flip_window: tuple[int, int]
    stream_length: int
    stream_flip: Fraction
    operations_per_family: int
    families: tuple[Family, ...]
    eager_risk: Fraction
    staged_risk: Fraction
    """Spent twice: on the nominal stage and on the fallback."""
    hash: str = field(init=False, repr=False)
    """SHA-256 of the settings file, in hexadecimal."""

    def __post_init__(self) -> None:
        _require(3 <= self.num_bits <= 64, "bits", "at least 3 and at most 64")
        _require(self.num_probing >= self.num_bits, "probing.commands", "at least as many as there are bits")
        low, high = self.actuating_gates
        _require(1 <= low <= high, "actuating.gates", "two numbers, the least first")
        _require(0 < self.num_alternatives < self.num_actuating, "operation.alternatives", "fewer than the commands")
        for family in self.families:
            self._check_family(family)
        object.__setattr__(self, "hash", sha256(self.text.encode()).hexdigest())

    @property
    def strata(self) -> tuple[tuple[int, int, int], ...]:
        """The quota slots (plant, family, slot) in order: the strata of the large benchmark."""
        return tuple(
            (plant, number, slot)
            for plant in range(len(self.plants))
            for number, family in enumerate(self.families)
            for slot in range(family.active)
        )

    def _check_family(self, family: Family) -> None:
        low, high = family.last
        where = f"family {family.name!r}"
        _require(1 <= family.replacements <= self.max_replaced, where, f"1 to {self.max_replaced} replacements")
        _require(1 <= low <= high <= self.log_length, where, f"the last one within 1 .. {self.log_length}")
        _require(family.replacements <= high, where, "room for its replacements before the last one")
        _require(0 <= family.active <= self.operations_per_family, where, "a quota within its operations")


def load_settings(name: str) -> Settings:
    """The settings that are shipped under that name: "testbed", or "small" for tests."""
    return parse_settings(files("ascertain.instances").joinpath(f"{name}.toml").read_text(encoding="utf-8"), name)


def read_settings(path: str | Path) -> Settings:
    """The settings in a file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: the settings cannot be read ({error}); a UTF-8 text file was expected") from None
    return parse_settings(text, str(path))


def parse_settings(text: str, where: str) -> Settings:
    """The settings in the text of a file; `where` begins every error message."""
    try:
        return _build(tomllib.loads(text), text)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, ModelError) as error:
        missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise FileError(f"{where}: these are not the settings of a testbed: {missing}") from None


def _build(data: dict[str, Any], text: str) -> Settings:
    actuating, probing, operation, stream = (data[key] for key in ("actuating", "probing", "operation", "stream"))
    return Settings(
        name=data["name"],
        text=text,
        num_bits=data["bits"],
        num_actuating=actuating["commands"],
        actuating_gates=_pair(actuating["gates"]),
        num_probing=probing["commands"],
        probing_gates=probing["gates"],
        plants=tuple(PlantSettings(**plant) for plant in data["plant"]),
        log_length=operation["commands"],
        num_alternatives=operation["alternatives"],
        max_replaced=operation["replaced"],
        trusted_every=operation["trusted_every"],
        log_flip=Fraction(operation["flip"]),
        replacement_window=_pair(operation["window"]["replacements"]),
        flip_window=_pair(operation["window"]["flips"]),
        stream_length=stream["commands"],
        stream_flip=Fraction(stream["flip"]),
        operations_per_family=data["operations_per_family"],
        families=tuple(_build_family(family) for family in data["family"]),
        eager_risk=Fraction(data["risk"]["eager"]),
        staged_risk=Fraction(data["risk"]["staged"]),
    )


def _build_family(data: dict[str, Any]) -> Family:
    return Family(data["name"], data["replacements"], _pair(data["last"]), data["active"])


def _pair(value: list[int]) -> tuple[int, int]:
    low, high = value
    return low, high


def _require(holds: bool, where: str, right: str) -> None:
    if not holds:
        raise ModelError(f"{where} must be {right}" if "family" not in where else f"{where} needs {right}")


def _check_mix(mix: Mapping[str, int], allowed: tuple[str, ...], where: str) -> None:
    for op, weight in mix.items():
        if op not in allowed or weight < 0:
            raise ModelError(f"{where}: {op!r} = {weight} is not a weight of one of {', '.join(allowed)}")
    if sum(mix.values()) <= 0:
        raise ModelError(f"{where}: the weights are all zero; some gate is needed")
