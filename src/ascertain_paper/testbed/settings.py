"""The settings of a testbed: one frozen file, and the SHA-256 of its text, which everything generated records.

Nothing here is computed from results: sizes, mixes of gates, families, quotas and seeds stand in the file, and any
change of it changes the hash and with it every draw, unless the file says that it draws as another one does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, cast, final

from ascertain.errors import FileError, ModelError
from ascertain.kernels.model.boolean_code import OPERATIONS
from ascertain.model.boolean import REVERSIBLE
from ascertain.model.files.text import parse_toml, read_text
from ascertain.rational import rational_field

IRREVERSIBLE = tuple(op for op in OPERATIONS if op not in REVERSIBLE)
MAX_NUMBER = 10**9
"""The largest count, position, weight or seed."""
A_HASH = "the SHA-256 of a settings file, 64 hexadecimal digits"


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
    active_distance: int = 1
    """In how many bits, at least, the end of an active operation differs from the nominal one."""
    drawn_as: str = ""
    """The hash that draws are named after where it is another file's, so that both draw the same plants."""
    hash: str = field(init=False, repr=False)
    """SHA-256 of the settings file, in hexadecimal."""

    def __post_init__(self) -> None:
        _require(3 <= self.num_bits <= 64, "bits", "at least 3 and at most 64")
        _require(self.num_probing >= self.num_bits, "probing.commands", "at least as many as there are bits")
        _require(self.trusted_every >= 1, "operation.trusted_every", "at least 1")
        low, high = self.actuating_gates
        _require(1 <= low <= high, "actuating.gates", "two numbers, the least first")
        _require(0 < self.num_alternatives < self.num_actuating, "operation.alternatives", "fewer than the commands")
        _require(1 <= self.active_distance <= self.num_bits, "operation.active_distance", "1 to the number of bits")
        _require(self.drawn_as == "" or re.fullmatch("[0-9a-f]{64}", self.drawn_as) is not None, "drawn_as", A_HASH)
        for family in self.families:
            self._check_family(family)
        object.__setattr__(self, "hash", sha256(self.text.encode()).hexdigest())

    @property
    def draws(self) -> str:
        """What every draw is named after."""
        return self.drawn_as or self.hash

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


SHIPPED = ("testbed", "tuned", "small")
"""Settings that have a name on the command line; the first is the default, the second was fitted to the paper's."""


def find_settings(name: str) -> Settings:
    """The settings that are shipped under this name, or those of a file."""
    return load_settings(name) if name in SHIPPED else read_settings(name)


def load_settings(name: str) -> Settings:
    """The settings that are shipped under that name; "small" is for tests."""
    return parse_settings(files("ascertain_paper.testbed").joinpath(f"{name}.toml").read_text(encoding="utf-8"), name)


def read_settings(path: str | Path) -> Settings:
    """The settings in a file."""
    try:
        text = read_text(path)
    except FileError as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise FileError(f"{path}: the settings cannot be read: {reason}") from None
    return parse_settings(text.replace("\r\n", "\n"), str(path))


def parse_settings(text: str, where: str) -> Settings:
    """The settings in the text of a file; `where` begins every error message."""
    start = f"{where}: these are not the settings of a testbed"
    try:
        return _build(parse_toml(text, start), text)
    except ModelError as reason:
        raise FileError(f"{start}: {reason}") from None


def _build(data: dict[str, Any], text: str) -> Settings:
    actuating, probing, operation, stream, risk = (
        _table(data, key) for key in ("actuating", "probing", "operation", "stream", "risk")
    )
    window = _table(operation, "window")
    return Settings(
        name=_text(data, "name"),
        text=text,
        num_bits=_whole(data, "bits"),
        num_actuating=_whole(actuating, "commands"),
        actuating_gates=_pair(actuating, "gates"),
        num_probing=_whole(probing, "commands"),
        probing_gates=_whole(probing, "gates"),
        plants=tuple(_build_plant(plant) for plant in _tables(data, "plant")),
        log_length=_whole(operation, "commands"),
        num_alternatives=_whole(operation, "alternatives"),
        max_replaced=_whole(operation, "replaced"),
        trusted_every=_whole(operation, "trusted_every"),
        log_flip=_probability(operation, "flip"),
        replacement_window=_pair(window, "replacements"),
        flip_window=_pair(window, "flips"),
        stream_length=_whole(stream, "commands"),
        stream_flip=_probability(stream, "flip"),
        operations_per_family=_whole(data, "operations_per_family"),
        families=tuple(_build_family(family) for family in _tables(data, "family")),
        eager_risk=_probability(risk, "eager"),
        staged_risk=_probability(risk, "staged"),
        active_distance=_whole(operation, "active_distance") if "active_distance" in operation else 1,
        drawn_as=_text(data, "drawn_as") if "drawn_as" in data else "",
    )


def _build_plant(data: dict[str, Any]) -> PlantSettings:
    actuating, probing = (_table(data, key) for key in ("actuating", "probing"))
    mixes = ({op: _whole(mix, op) for op in mix} for mix in (actuating, probing))
    return PlantSettings(_text(data, "name"), _whole(data, "seed"), *mixes)


def _build_family(data: dict[str, Any]) -> Family:
    return Family(_text(data, "name"), _whole(data, "replacements"), _pair(data, "last"), _whole(data, "active"))


# The fields of the file, each read by its type.


def _field(data: Mapping[str, Any], key: str) -> Any:
    if key not in data:
        raise ModelError(f"{key!r} is missing")
    return data[key]


def _table(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = _field(data, key)
    if not isinstance(value, dict):
        raise ModelError(f"{key} must be a table")
    return cast("dict[str, Any]", value)


def _tables(data: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    value = _field(data, key)
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in cast("list[Any]", value)):
        raise ModelError(f"{key} must be tables, each under [[{key}]]")
    return cast("list[dict[str, Any]]", value)


def _text(data: Mapping[str, Any], key: str) -> str:
    value = _field(data, key)
    if not isinstance(value, str):
        raise ModelError(f"{key} must be text")
    return value


def _whole(data: Mapping[str, Any], key: str) -> int:
    value = _field(data, key)
    if type(value) is not int or not 0 <= value <= MAX_NUMBER:
        raise ModelError(f"{key} must be a whole number from 0 to {MAX_NUMBER}")
    return value


def _pair(data: Mapping[str, Any], key: str) -> tuple[int, int]:
    value = _field(data, key)
    if not isinstance(value, list) or len(cast("list[Any]", value)) != 2:
        raise ModelError(f"{key} must be two numbers, the least first")
    low, high = cast("list[Any]", value)
    return _whole({key: low}, key), _whole({key: high}, key)


def _probability(data: Mapping[str, Any], key: str) -> Fraction:
    value = rational_field(_field(data, key), key, ModelError)
    _require(0 <= value < 1, key, "a probability below 1")
    return value


def _require(holds: bool, where: str, right: str) -> None:
    if not holds:
        raise ModelError(f"{where} must be {right}" if "family" not in where else f"{where} needs {right}")


def _check_mix(mix: Mapping[str, int], allowed: tuple[str, ...], where: str) -> None:
    for op, weight in mix.items():
        if op not in allowed or weight < 0:
            raise ModelError(f"{where}: {op!r} = {weight} is not a weight of one of {', '.join(allowed)}")
    if sum(mix.values()) <= 0:
        raise ModelError(f"{where}: the weights are all zero; some gate is needed")
