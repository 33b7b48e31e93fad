"""What records of journals and risk files look like: the keys of each kind, and what stands there.

Files may come from anyone. Python takes True for 1 and does not mind what it is not asked about, so that types are
compared exactly and keys that are not known are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from ascertain.observer.records import Record

Check: TypeAlias = Callable[[object], bool]


def _is_text(value: object) -> bool:
    return type(value) is str


def _is_number(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_flag(value: object) -> bool:
    return type(value) is bool


def _is_table(value: object) -> bool:
    return type(value) is dict


def _is_names(value: object) -> bool:
    return type(value) is list and all(_is_text(name) for name in cast("list[object]", value))


def _is_steps(value: object) -> bool:
    pairs = cast("list[object]", value) if type(value) is list else [None]
    return all(_is_names(pair) and len(cast("list[object]", pair)) == 2 for pair in pairs)


def _or_nothing(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _is_reading(value: object) -> bool:
    """The number of a reading; the text of one that the model does not have; nothing, where it was lost."""
    return value is None or _is_number(value) or _is_text(value)


COMMITMENTS: Mapping[str, Mapping[str, Check]] = {
    "ascertain-journal": {"task_sha256": _is_text, "settings": _is_table, "bank": _or_nothing(_is_table)},
    "ascertain-conformance": {
        "task_sha256": _is_text,
        "hypothesis": _is_number,
        "reset": _is_number,
        "method": _is_table,
        "words": _is_number,
    },
    "ascertain-answers": {"plant": _is_text, "reset": _is_text},
}
"""What the first record holds besides, by the format that it names: runs, conformance runs, answers of learning."""

SHAPES: Mapping[str, Mapping[str, Check]] = {
    "plant": {
        "identity": _or_nothing(_is_text),
        "address": _is_text,
        "time": _is_text,
        "actions": _is_names,
        "readings": _is_names,
    },
    "intent": {"action": _is_number},
    "reading": {"action": _is_number, "reading": _is_reading},
    "doubt": {"action": _is_number},
    "stage": {"stage": _is_text, "after": _is_number, "why": _is_text, "bank_sha256": _or_nothing(_is_text)},
    "verdict": {
        "verdict": _is_text,
        "label": _or_nothing(_is_text),
        "reason": _or_nothing(_is_text),
        "cause?": _is_text,
        "ran?": _is_flag,
        "time?": _is_text,
    },
    "word": {"number": _is_number, "steps": _is_steps},
    "end": {"time": _is_text},
    "run": {"actions": _is_names, "readings": _is_names},
    "round": {"seed": _is_text},
}
"""What every other record holds, by its kind; a key that ends in "?" may be missing."""

RISK_SHAPES: Mapping[str, Mapping[str, Check]] = {
    "risk": {"format": _is_text, "version": _is_number, "total": _is_text, "schedule": _or_nothing(_is_text)},
    "share": {
        "number": _is_number,
        "alpha": _is_text,
        "scheduled": _is_flag,
        "time": _is_text,
        "task_sha256": _is_text,
        "run": _is_text,
    },
    "outcome": {"number": _is_number, "outcome": _is_text, "time": _is_text},
    "returned": {"number": _is_number, "time": _is_text},
}
"""What the records of a risk file hold."""


def check_shape(record: Record, number: int) -> str | None:
    """What is wrong with a record; None where nothing is."""
    kind = record["record"]
    if (kind == "commitment") != (number == 0):
        return "is the commitment, which comes first" if number else "is not a commitment, which comes first"
    shape = _commitment(record) if kind == "commitment" else SHAPES.get(kind)
    if shape is None:
        return f"is of a kind that is not known ({kind[:40]!r})"
    return compare_shape(record, shape)


def compare_shape(record: Record, shape: Mapping[str, Check]) -> str | None:
    """What is wrong with the keys of a record, or with what stands there; None where nothing is."""
    checks = {key.rstrip("?"): check for key, check in shape.items()}
    for key in record:
        if key not in checks and key != "record":
            return f"has a key that is not known ({key[:40]!r})"
    for key in shape:
        if key.rstrip("?") not in record and not key.endswith("?"):
            return f"has no {key!r}"
    wrong = (key for key, check in checks.items() if key in record and not check(record[key]))
    return next((f"has a {key!r} of the wrong type" for key in wrong), None)


def _commitment(record: Mapping[str, Any]) -> Mapping[str, Check] | None:
    format_ = record.get("format")
    more = COMMITMENTS.get(format_) if isinstance(format_, str) else None
    return None if more is None else {"format": _is_text, "version": _is_number, "made_by": _is_text, **more}
