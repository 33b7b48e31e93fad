"""What can be told of a hidden model by looking at it: what is missing in it, and what in it can never happen."""

from __future__ import annotations

from ascertain.model.hidden import HiddenModel
from ascertain.types import Action, State


def missing_laws(model: HiddenModel) -> int:
    """How many (state, action) pairs are not defined."""
    return sum(not law for row in model.joint for law in row)


def unused_actions(model: HiddenModel) -> list[Action]:
    """The actions that are defined in no state."""
    return [a for a in range(model.num_actions) if not any(row[a] for row in model.joint)]


def stuck_hidden_states(model: HiddenModel) -> list[State]:
    """The states in which no action is defined."""
    return [s for s, row in enumerate(model.joint) if not any(row)]


def unreached_states(model: HiddenModel) -> list[State]:
    """The states that have probability zero whatever is done from the initial beliefs; none where none is named."""
    if not model.initial:
        return []
    front = [s for belief in model.initial for s, _ in belief]
    reached = set(front)
    while front:
        s = front.pop()
        found = {t for law in model.joint[s] for t, _, _ in law} - reached
        reached |= found
        front.extend(found)
    return [s for s in range(model.num_states) if s not in reached]
