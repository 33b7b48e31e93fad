"""The claim that a partition of the states is the coarsest stable one, as plain data.

That no coarser one is stable is shown by splits. They start from one part that holds all classes (from one part for
each label in a task about the current state); a split (p, a) divides part p by whether action a is allowed, by the law
of its reading and by the part that it leads into. What stays with the lowest class keeps the number p, and the other
groups get the next free numbers in the order of their lowest classes. In the end every class is alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ascertain.errors import CertificateError
from ascertain.quotients.abstract import number_by_appearance
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action, IntArray, LongArray


def quotient_claim(task: Task, block: IntArray) -> dict[str, Any]:
    """`block[s]` is the class of state s in the coarsest stable partition; classes are numbered from 0 without gaps."""
    classes, first = np.unique(block, return_index=True)
    if len(block) != task.model.num_states or not np.array_equal(classes, np.arange(len(classes))):
        raise CertificateError("the partition must number its classes from 0 without gaps and give one to each state")
    successor = task.model.successor[first]
    successor = np.where(successor == UNDEFINED, UNDEFINED, np.asarray(block)[successor])
    behaviour = task.model.behaviour[first]
    label = np.zeros_like(first) if task.state_label is None else task.state_label[first].astype(np.int64)
    splits = find_splits(successor, behaviour, number_by_appearance(label).astype(np.int64))
    return {"claim": "quotient", "block": [int(c) for c in block], "splits": [list(split) for split in splits]}


def find_splits(successor: IntArray, behaviour: IntArray, start: LongArray) -> list[tuple[int, Action]]:
    """Splits, in the order in which they are to be replayed, that leave every class alone."""
    part = start.copy()
    members = [np.flatnonzero(part == p) for p in range(int(part.max()) + 1)]
    splits: list[tuple[int, Action]] = []
    before = -1
    while before < len(members) < len(part):
        before = len(members)
        for a in range(successor.shape[1]):
            for p in parts_divided(successor[:, a], behaviour[:, a], part):
                _split(successor[:, a], behaviour[:, a], part, members, p)
                splits.append((p, a))
    if len(members) < len(part):
        raise CertificateError("the partition is not the coarsest: two of its classes cannot be told apart")
    return splits


def parts_divided(successor: IntArray, behaviour: IntArray, part: LongArray) -> list[int]:
    """The parts in which an action does not do the same everywhere; its columns of the tables are given."""
    key = number_by_appearance(_keys(successor, behaviour, part))
    count = int(key.max()) + 1
    pairs = np.unique(part * count + key)
    parts, groups = np.unique(pairs // count, return_counts=True)
    return [int(p) for p in parts[groups > 1]]


def _split(successor: IntArray, behaviour: IntArray, part: LongArray, members: list[LongArray], p: int) -> None:
    """Divide part p in place."""
    old = members[p]
    group = number_by_appearance(_keys(successor[old], behaviour[old], part))
    members[p] = old[group == 0]
    for g in range(1, int(group.max()) + 1):
        members.append(old[group == g])
        part[members[-1]] = len(members) - 1


def _keys(successor: IntArray, behaviour: IntArray, part: LongArray) -> LongArray:
    """A number for what the action does: its law, and the part that it leads into; -1 where it is not allowed."""
    number = behaviour.astype(np.int64) * len(part) + part[successor]
    return np.where(successor == UNDEFINED, UNDEFINED, number)
