"""What a conformance run shows, as plain data: that the plant conforms, or that it is none of the models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ascertain.conformance.plan import CompletePlan, SamplePlan
from ascertain.conformance.sample import STOP
from ascertain.conformance.specification import Specification
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action


def conforms_claim(
    plan: CompletePlan, hypothesis: int, reset: Action, steps: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """No machine of the fault domain but the specification shows these steps, which begin where a reset leads."""
    shared = _shared(plan.spec, hypothesis, reset, steps)
    return {"claim": "conforms", **shared, "access": _access(plan.spec), "extra": plan.suite.extra}


def sampled_claim(
    plan: SamplePlan, hypothesis: int, reset: Action, steps: Sequence[tuple[str, str]], first: int
) -> dict[str, Any]:
    """The words of the sample agreed; `first` is the number of resets before the first of them, itself included."""
    return {
        "claim": "sampled",
        **_shared(plan.spec, hypothesis, reset, steps),
        "access": _access(plan.spec),
        "seed": plan.seed,
        "stop": STOP,
        "words": plan.num_words,
        "first": first,
        "confidence": str(plan.confidence),
        "bound": str(plan.bound),
    }


def none_of_these_claim(task: Task, steps: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """No hypothesis can have shown these steps."""
    known = {name: y for y, name in enumerate(task.model.readings)}
    actions = {name: a for a, name in enumerate(task.model.actions)}
    return {"claim": "none-of-these", "transcript": [[actions[a], known.get(y, y)] for a, y in steps]}


def _shared(spec: Specification, hypothesis: int, reset: Action, steps: Sequence[tuple[str, str]]) -> dict[str, Any]:
    known = {name: y for y, name in enumerate(spec.model.readings)}
    actions = {name: a for a, name in enumerate(spec.model.actions)}
    return {
        "hypothesis": hypothesis,
        "reset": reset,
        "actions": list(spec.actions),
        "classes": [None if s == UNDEFINED else s for s in spec.block.tolist()],
        "transcript": [[actions[a], known[y]] for a, y in steps],
    }


def _access(spec: Specification) -> list[list[int]]:
    return [[spec.actions[i] for i in word] for word in spec.access]
