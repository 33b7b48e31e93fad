"""What shows that a plant is none of the models: the steps of a run, by name."""

from __future__ import annotations

from collections.abc import Sequence

from ascertain.errors import TaskError
from ascertain.evidence.evidence import Step
from ascertain.model.abstract import AbstractModel
from ascertain.policy.verdict import NoneOfThese
from ascertain.task.question import AbstractQuestion
from ascertain.types import Action

Witness = tuple[tuple[str, str], ...]
"""What was done and read, by name."""
LOST = "?"
"""In the place of a reading that was lost, as plants write it."""


def write_witness(model: AbstractModel, steps: Sequence[Step]) -> Witness:
    return tuple((model.actions[s.action], LOST if s.reading is None else model.readings[s.reading]) for s in steps)


def see_outside(model: AbstractModel, steps: Sequence[Step], action: Action, reading: str) -> NoneOfThese:
    """The verdict after one more step, whose reading no state of the model gives at this action."""
    if reading in {model.readings[y] for y in model.possible_readings(action)}:
        raise TaskError(f"the model has the reading {reading!r} at action {model.actions[action]!r}")
    return NoneOfThese((*write_witness(model, steps), (model.actions[action], reading)))


def is_none_of_these(question: AbstractQuestion, steps: Sequence[Step]) -> bool:
    """Whether no hypothesis, on a model whose states are listed, can have shown these steps.

    Not where an action may not have run: then nothing is certain about where the plant is.
    """
    model = question.model.deterministic
    candidates = question.candidates
    if model is None or candidates is None or question.model.listed is None or not all(s.certain for s in steps):
        return False
    left = set(candidates)
    for step in steps:
        law = {s: model.reading_law(s, step.action) for s in left}
        # What does not allow an action is not contradicted by its being done.
        if not all(law.values()):
            return False
        left = {model.next_state(s, step.action) for s in left if step.reading is None or step.reading in law[s]}
    return not left
