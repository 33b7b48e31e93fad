"""What a claim about conformance says of the specification and of what was observed, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ascertain.conformance.specification import Specification
from ascertain.types import UNDEFINED, Action


def observed_data(
    spec: Specification, hypothesis: int, reset: Action, steps: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """The steps, by name, agree with the specification, and begin where a reset leads."""
    readings = {name: y for y, name in enumerate(spec.model.readings)}
    actions = {name: a for a, name in enumerate(spec.model.actions)}
    return {
        "hypothesis": hypothesis,
        "reset": reset,
        "actions": list(spec.actions),
        "classes": [None if s == UNDEFINED else s for s in spec.block.tolist()],
        "transcript": [[actions[a], readings[y]] for a, y in steps],
        "access": [[spec.actions[i] for i in word] for word in spec.access],
    }
