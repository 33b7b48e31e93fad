"""Going on after a fault of the plant, from a reset: when what was read before still holds, and which action it takes.

After a fault nobody knows where the plant is. A hypothesis says where it began, and every step of the model stays
among the states that are linked by transitions, whichever way they point: the *part* of the model that the hypothesis
is about. (In a union of machines each machine is a part, or several.) A *reset* is an action that, in each such part,
is allowed everywhere, leads everywhere to one state, and reads the same everywhere. So after a reset every hypothesis
knows again where the plant is, whatever went wrong before, and doing it is the same to the model as doing it without a
fault: the transcript goes on with it, and all earlier steps keep what they show.

That is so only where a lost reading says nothing. With noise it may: which answer is garbled can depend on what was
read, and leaving such readings out would make wrong answers more probable than alpha. Without noise a hypothesis is
ruled out only by a reading that it cannot give, so that losing one rules out nobody. Hence: machines without noise
only. The action that failed, which may have run or not, is no step; nor is one doubt too many.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ascertain.model.tables import AbstractMachine
from ascertain.task.question import AbstractQuestion
from ascertain.types import UNDEFINED, Action, LongArray


def find_reset(question: AbstractQuestion) -> Action | None:
    """The cheapest reset that the question may use, of several the first; None where there is none."""
    if not question.model.is_exact or question.model.listed is None:
        return None
    model = cast("AbstractMachine", question.model)
    states = _list_parts(model, cast("Any", question).state)
    found = [a for a in question.actions if _is_reset(model, states, a)]
    return min(found, key=lambda a: (question.cost[a], a), default=None)


def why_not(question: AbstractQuestion, reset: Action | None) -> str | None:
    """Why a run cannot go on from this reset; None where it can."""
    if question.model.is_noisy:
        return "readings are noisy, and which of them a fault has lost may depend on what was read"
    if reset is None:
        return "the model has no reset that leads back from wherever the plant may be now"
    model, starts = cast("AbstractMachine", question.model), cast("Any", question).state
    if question.about == "start" and len(set(model.successor[starts, reset].tolist())) == 1:
        return f"{model.actions[reset]!r} leads every hypothesis to one state, where nothing tells how it began"
    return None


def _list_parts(model: AbstractMachine, starts: LongArray) -> list[LongArray]:
    """The states of each part of the model that holds a hypothesis."""
    tails, heads = model.arrows()
    part = np.arange(model.num_states)
    while True:  # every state takes the least number that it is linked to, until nothing changes
        least = np.minimum(part[tails], part[heads])
        after = part.copy()
        np.minimum.at(after, tails, least)
        np.minimum.at(after, heads, least)
        after = after[after]  # numbers are those of states of the same part, so that this makes long chains short
        if (after == part).all():
            break
        part = after
    return [np.flatnonzero(part == number) for number in sorted({int(part[s]) for s in starts})]


def _is_reset(model: AbstractMachine, parts: list[LongArray], action: Action) -> bool:
    """Whether the action is allowed everywhere in each part, and leads to one state and reads the same there."""
    for states in parts:
        after, read = model.successor[states, action], model.behaviour[states, action]
        if after[0] == UNDEFINED or (after != after[0]).any() or (read != read[0]).any():
            return False
    return True
