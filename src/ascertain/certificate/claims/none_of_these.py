"""The claim that no hypothesis can have shown what was read, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ascertain.task.question import AbstractQuestion


def none_of_these_claim(question: AbstractQuestion, steps: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """`steps` begin where the hypotheses are posed; a reading that the model does not have stays a name."""
    readings = {name: y for y, name in enumerate(question.model.readings)}
    actions = {name: a for a, name in enumerate(question.model.actions)}
    return {"claim": "none-of-these", "transcript": [[actions[a], readings.get(y, y)] for a, y in steps]}


def with_plant(claim: Mapping[str, Any], header: Mapping[str, Any] | None) -> dict[str, Any]:
    """The claim with the plant that it was earned on, and when, where that was recorded.

    `header` is `run_header` of the records. Claims that hold the records themselves do without.
    """
    return {**claim, **({} if header is None or header["ended"] is None else {"plant": dict(header)})}
