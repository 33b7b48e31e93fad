"""The claim that no hypothesis can have shown what was read, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ascertain.task.task import Task


def none_of_these_claim(task: Task, steps: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """`steps` begin where the hypotheses are posed; a reading that the model does not have stays a name."""
    readings = {name: y for y, name in enumerate(task.model.readings)}
    actions = {name: a for a, name in enumerate(task.model.actions)}
    return {"claim": "none-of-these", "transcript": [[actions[a], readings.get(y, y)] for a, y in steps]}
