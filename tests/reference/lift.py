"""Theorem 2.2, executable: what is found out on classes of a quotient holds for the original task as it stands.

The reduced task has the actions, readings and labels of the original, under the same numbers, so a policy for the one
is a policy for the other; members of a class give it the same readings with the same probabilities. `lift_policy`
checks these premises instead of trusting them.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from ascertain.errors import TaskError
from ascertain.policy.policy import AbstractPolicy
from ascertain.quotients.quotient import Quotient
from ascertain.types import UNDEFINED, BoolArray

Memory = TypeVar("Memory")


def lift_policy(quotient: Quotient, policy: AbstractPolicy[Memory]) -> AbstractPolicy[Memory]:
    """The policy, unchanged, for the original task: refused where the quotient does not carry it over exactly."""
    if not quotient.certified:
        raise TaskError(
            "the quotient was taken with a tolerance, so a policy on it holds only approximately; take it without one"
        )
    check_quotient(quotient)
    return policy


def check_quotient(quotient: Quotient) -> None:
    """That names agree, and that the map to classes respects allowed actions, laws, successors and labels."""
    task, reduced, block = quotient.task, quotient.reduced, quotient.block
    same_names = (task.model.actions, task.model.readings, task.labels, task.cost) == (
        reduced.model.actions,
        reduced.model.readings,
        reduced.labels,
        reduced.cost,
    )
    if not same_names:
        raise TaskError("the reduced task has other actions, readings, labels or costs than the original")
    lead = task.model.successor
    moved = np.where(lead == UNDEFINED, UNDEFINED, block[lead])
    agree: BoolArray = (reduced.model.successor[block] == moved) & (
        reduced.model.behaviour[block] == task.model.behaviour
    )
    if not agree.all():
        s, a = (int(i) for i in np.argwhere(~agree)[0])
        raise TaskError(
            f"state {task.model.states[s]!r} and its class {reduced.model.states[int(block[s])]!r} "
            f"differ in action {task.model.actions[a]!r}"
        )
    merged = quotient.hypothesis_class
    if not (
        np.array_equal(reduced.state[merged], block[task.state]) and np.array_equal(reduced.label[merged], task.label)
    ):
        raise TaskError("a hypothesis and its class differ in state or label")
