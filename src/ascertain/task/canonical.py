"""The canonical JSON form of a task: what certificates are checked against.

UTF-8, keys sorted, no spaces, no floats: a number is an integer, a rational is a string "p/q" in lowest terms ("p" when
q is 1), and an undefined entry of a table is null. Two tasks are the same exactly when these bytes are.
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Any

from ascertain.model import Machine, Model
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, IntArray

FORMAT = "ascertain-task"
VERSION = 1


def canonical_bytes(data: object) -> bytes:
    """Canonical JSON of plain data, without a final newline."""
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def task_data(task: Task) -> dict[str, Any]:
    """The task as plain data: dictionaries, lists, strings and integers."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": model_data(task.model),
        "hypotheses": [[int(s), int(k)] for s, k in zip(task.state, task.label, strict=True)],
        "labels": list(task.labels),
        "cost": [str(c) for c in task.cost],
        "alpha": str(task.alpha),
        "beta": str(task.beta),
        "current": None if task.state_label is None else [int(k) for k in task.state_label],
    }


def model_data(model: Model) -> dict[str, Any]:
    """The part of a model that bears on a task: names and tables; initial states and origins do not."""
    data: dict[str, Any] = {
        "kind": model.kind,
        "states": list(model.states),
        "actions": list(model.actions),
        "readings": list(model.readings),
        "successor": _rows(model.successor),
    }
    if isinstance(model, Machine):
        return data | {"output": _rows(model.output)}
    laws = [[[y, str(p)] for y, p in law] for law in model.laws]
    return data | {"law": _rows(model.law), "laws": laws}


def _rows(table: IntArray) -> list[list[int | None]]:
    return [[None if x == UNDEFINED else x for x in row] for row in table.tolist()]


def task_hash(task: Task) -> str:
    """SHA-256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical_bytes(task_data(task))).hexdigest()


def fraction_text(value: Fraction | None) -> str:
    """A rational as results print it; None stands for infinity."""
    return "inf" if value is None else str(value)
