"""The calibration file: the ranks that were found, what was calibrated from them, and under which frozen settings.

Canonical JSON: keys sorted, no spaces, integers, rationals as "p/q", null for an infinite rank. What follows from the
ranks (`shells`, `coverage`, `per_stratum`) is written for people and recomputed when the file is read, so that a file
whose conclusions are not those of its ranks is refused. A calibration says nothing about operations under other
settings: whoever reads it for use names the settings, and is refused when they are not the ones calibrated under.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, cast, final

from ascertain.bank.calibrate import Calibrated, calibrate_blocks, calibrate_strata, largest_rank
from ascertain.bank.conditional import calibrate_groups
from ascertain.bank.operation import Operation
from ascertain.bank.shells import KeptShells, Rank
from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import FileError, TaskError, did_you_mean
from ascertain.model.files.json_text import near, parse_json
from ascertain.model.files.text import read_text
from ascertain.task.canonical import canonical_bytes
from ascertain.version import __version__
from ascertain.writing import write_whole

FORMAT = "ascertain-calibration"
"""What the file calls itself, so that it is not taken for another kind of file."""
VERSION = 1
"""Another number when a reader of today would misunderstand what is written."""
MAX_RANK = 10**9
"""No operation has as many shells: a memory of some GB holds fewer candidates. A larger rank is a mistake."""
_HASH = re.compile(r"[0-9a-f]{64}\Z")
"""A SHA-256 as `hexdigest` writes it."""


@final
@dataclass(frozen=True, kw_only=True)
class Calibration(Shown):
    """Everything that a calibration was made from; `ranks[i][s]` belongs to block i and stratum s."""

    settings: str
    """The settings' name."""
    settings_hash: str
    """SHA-256 of the settings, in hexadecimal."""
    compiler: str
    seeds: tuple[int, ...]
    """The seeds in the settings; with them the names of the blocks determine every draw."""
    strata: tuple[str, ...]
    blocks: tuple[str, ...]
    ranks: tuple[tuple[Rank, ...], ...]
    place: int = 1
    groups: tuple[str, ...] = ()
    """Of every block, what was known of it beforehand, such as which plant; none where nothing is told apart."""
    made_by: str = field(default_factory=lambda: f"ascertain {__version__}")

    def __post_init__(self) -> None:
        if not _HASH.match(self.settings_hash):
            raise TaskError("settings_hash must be a SHA-256, 64 hexadecimal digits in lower case")
        for name, listed in (("strata", self.strata), ("blocks", self.blocks)):
            if not listed or len(set(listed)) < len(listed):
                raise TaskError(f"{name} must be a list of different names, at least one")
        if len(self.ranks) != len(self.blocks) or any(len(row) != len(self.strata) for row in self.ranks):
            raise TaskError(f"ranks must be {len(self.blocks)} rows, one a block, of {len(self.strata)}, one a stratum")
        if self.groups and len(self.groups) != len(self.blocks):
            raise TaskError(f"groups must be {len(self.blocks)} names, one a block, or none")
        calibrate_blocks(self.ranks, self.place)

    def shown(self) -> Mapping[str, object]:
        whole = self.whole
        shells = "no number will do" if whole.shells is None else whole.shells
        return {"shells": shells, "coverage": whole.coverage, "blocks": len(self.blocks), "strata": len(self.strata)}

    def listing(self) -> Listing:
        found = zip(self.strata, self.per_stratum, strict=True)
        return ("stratum", "shells", "coverage"), [(name, each.shells, each.coverage) for name, each in found]

    @property
    def whole(self) -> Calibrated:
        """How many shells cover the next block whole."""
        return calibrate_blocks(self.ranks, self.place)

    @property
    def kept(self) -> KeptShells:
        """What a bank keeps by this calibration, a shell at least; refused where no number of shells will do."""
        return _keep(self.whole)

    def kept_for(self, group: str | None) -> KeptShells:
        """What a bank keeps for an operation of this group, as far as the calibration of that group alone promises."""
        if group is None:
            return self.kept
        if group not in self.per_group:
            known = did_you_mean(group, self.per_group) or f"; its groups are {', '.join(self.per_group) or 'none'}"
            raise TaskError(f"group: {group!r} is not a group of the calibration{known}")
        return _keep(self.per_group[group])

    @property
    def per_group(self) -> dict[str, Calibrated]:
        """For every group how many shells cover its next block whole."""
        blocks = map(largest_rank, self.ranks)
        return calibrate_groups(zip(self.groups, blocks, strict=True), self.place) if self.groups else {}

    @property
    def per_stratum(self) -> tuple[Calibrated, ...]:
        """For every stratum how many shells cover its next operation."""
        return calibrate_strata(self.ranks, self.place)

    def require_settings(self, settings_hash: str) -> None:
        """Refuse to speak about operations under other settings."""
        if settings_hash != self.settings_hash:
            raise TaskError(
                f"calibrated under settings {self.settings_hash[:12]}…, these are {settings_hash[:12]}…; calibrate "
                "again under these"
            )


def _keep(found: Calibrated) -> KeptShells:
    if found.shells is None:
        raise TaskError("the calibration says that no number of shells will do; leave it out, so that all are kept")
    return KeptShells(max(1, found.shells), "calibration", found.coverage)


def hash_declarations(blocks: Sequence[Sequence[Operation]]) -> str:
    """SHA-256 of what is the same in every block of operations: of each stratum the model and what is declared."""
    declared = [[_declarations(operation) for operation in block] for block in blocks]
    if any(row != declared[0] for row in declared):
        raise TaskError("the operations of one stratum differ in their model or in what is declared; blocks are alike")
    return sha256(canonical_bytes(declared[0])).hexdigest()


def _declarations(operation: Operation) -> list[object]:
    return [
        operation.model.model_data(),
        [[list(word) for word in words] for words in operation.alternatives],
        [operation.max_replaced, list(operation.replacement_window), list(operation.flip_window)],
    ]


BY_GROUP = ("groups", "per_group")
"""The keys of a calibration file that tells groups apart; others do without, as they did before there were groups."""
MADE_FROM = tuple(field.name for field in fields(Calibration) if field.name not in BY_GROUP)
"""All else that a calibration was made from."""
KEYS = ("format", "version", *MADE_FROM, "shells", "coverage", "per_stratum")
"""Of every calibration file: what it is, what it was made from, and what follows from that."""


def calibration_data(calibration: Calibration) -> dict[str, Any]:
    whole, by_group = calibration.whole, calibration.per_group.items()
    return {
        "format": FORMAT,
        "version": VERSION,
        **{name: getattr(calibration, name) for name in MADE_FROM},
        "shells": whole.shells,
        "coverage": str(whole.coverage),
        "per_stratum": _rows("stratum", zip(calibration.strata, calibration.per_stratum, strict=True)),
        **({"groups": calibration.groups, "per_group": _rows("group", by_group)} if by_group else {}),
    }


def _rows(kind: str, found: Iterable[tuple[str, Calibrated]]) -> list[dict[str, Any]]:
    return [{kind: name, "shells": each.shells, "coverage": str(each.coverage)} for name, each in found]


def write_calibration(calibration: Calibration, path: str | Path) -> None:
    """Write the canonical form, whole or not at all."""
    write_whole(path, canonical_bytes(calibration_data(calibration)) + b"\n")


def read_calibration(path: str | Path, settings_hash: str | None = None) -> Calibration:
    """The calibration in a file; with a hash, only if it was made under those settings."""
    try:
        data = parse_json(read_text(path), str(path))
        calibration = _parse(data)
        if settings_hash is not None:
            calibration.require_settings(settings_hash)
    except TaskError as reason:
        raise FileError(f"{path}: {reason}") from None
    return calibration


def _parse(data: object) -> Calibration:
    if not isinstance(data, dict):
        raise TaskError(f'a calibration is a JSON object with "format": "{FORMAT}"')
    table = cast(dict[str, Any], data)
    if table.get("format") != FORMAT or table.get("version") != VERSION or table.get("version") is True:
        raise TaskError(f'this is not a calibration of version {VERSION}; "format": "{FORMAT}" was expected')
    for key in table:
        if key not in (*KEYS, *BY_GROUP):
            raise TaskError(f"unknown key {key[:80]!r}{near(key, KEYS)}")
    by_group = BY_GROUP if any(key in table for key in BY_GROUP) else ()
    for key in (*KEYS, *by_group):
        if key not in table:
            raise TaskError(f"the key {key!r} is missing")
    calibration = Calibration(
        **{key: _text(table[key], key) for key in ("made_by", "settings", "settings_hash", "compiler")},
        seeds=tuple(_whole(seed, "seeds") for seed in _list(table["seeds"], "seeds")),
        strata=_texts(table, "strata"),
        blocks=_texts(table, "blocks"),
        ranks=tuple(tuple(_rank(x) for x in _list(row, "ranks")) for row in _list(table["ranks"], "ranks")),
        place=_whole(table["place"], "place"),
        groups=_texts(table, "groups") if by_group else (),
    )
    _check_conclusions(table, calibration)
    return calibration


def _check_conclusions(table: dict[str, Any], calibration: Calibration) -> None:
    right = calibration_data(calibration)
    for key in ("shells", "coverage", "per_stratum", *(["per_group"] if "per_group" in table else [])):
        # As text: JSON tells 1 from true and from 1.0, which Python holds to be equal.
        if canonical_bytes(table[key]) != canonical_bytes(right.get(key)):
            raise TaskError(f"{key} does not follow from the ranks; calibrate again")


def _text(value: object, key: str) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise TaskError(f"{key} must be text that can be printed")
    return value


def _texts(table: dict[str, Any], key: str) -> tuple[str, ...]:
    return tuple(_text(name, f"every name in {key}") for name in _list(table[key], key))


def _list(value: object, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise TaskError(f"{key} must be a list{' of lists' if key == 'ranks' else ''}")
    return cast(list[Any], value)


def _whole(value: object, key: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TaskError(f"{key} must be whole numbers, not {repr(value)[:40]}")
    return value


def _rank(value: object) -> Rank:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_RANK:
        raise TaskError(f"ranks are whole numbers from 0 to {MAX_RANK}, or null for infinity; not {repr(value)[:40]}")
    return value
