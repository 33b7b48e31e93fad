"""The canonical JSON form of a task: what certificates are checked against.

UTF-8, keys sorted, no spaces, no floats: a number is an integer, a rational is a string "p/q" in lowest terms ("p" when
q is 1), and an undefined entry of a table is null. Two tasks are the same exactly when these bytes are.
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Any

from ascertain.errors import TaskError
from ascertain.task.question import AbstractQuestion

FORMAT = "ascertain-task"
"""Says what the file is, to people and to the checker."""
VERSION = 1
"""Grows when the form changes, as hashes of tasks do then."""


def canonical_bytes(data: object) -> bytes:
    """Canonical JSON of plain data, without a final newline; not all that a file can hold has such a form."""
    try:
        return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise TaskError(
            f"a name holds {half!a}, half of a surrogate pair, which is not a character; tasks, journals and "
            "certificates are UTF-8, so rename it"
        ) from None
    except (ValueError, RecursionError):
        raise TaskError("an infinite number, or data nested too deeply, has no canonical form; write neither") from None


def task_data(task: AbstractQuestion) -> dict[str, Any]:
    """The task as plain data: dictionaries, lists, strings and integers."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": task.model.model_data(),
        "cost": [str(c) for c in task.cost],
        "alpha": str(task.alpha),
        "beta": str(task.beta),
        **task.question_data(),
    }


def task_hash(task: AbstractQuestion) -> str:
    """SHA-256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical_bytes(task_data(task))).hexdigest()


def fraction_text(value: Fraction | None) -> str:
    """A rational as results print it; None stands for infinity."""
    return "inf" if value is None else str(value)
