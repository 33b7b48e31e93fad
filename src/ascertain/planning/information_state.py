"""A ledger: what a policy remembers of all readings so far, and the tables it is kept with.

A hypothesis is remembered by where it would be now and by its *penalty*, minus the logarithm of its likelihood relative
to the best one. Readings add to penalties, so histories that lead to the same penalties and places are one memory:
with flip noise the penalties lie on a lattice and few memories remain (`spreading.py`). Three rules keep them few; none
can harm a guarantee, since a policy may remember what it likes and is judged by its exact risk (`remembering.py`):

- a hypothesis whose penalty exceeds `cap` is *dead*: it stays forgotten, whatever is read later;
- two hypotheses of one label in one place have one future: they are joined, and their likelihoods added;
- an action is allowed while every hypothesis that is not impossible allows it. On machines that are not complete dead
  hypotheses therefore keep their place.

*Penalties are rounded up*, in units of 2^-30 nats, and what is dead is dropped. So the weights that a ledger gives to
hypotheses never exceed the true ones, which is what the lower bound of `planning/pricing.py` needs.

Hypotheses are *exchangeable* when nothing moves and action i, the sensor of hypothesis i, gives one law where i is true
and another one where it is not. Then only the multiset of penalties matters to a policy that goes by rank, ties being
kept in the order they came about: memories are sorted, actions count ranks, and `slot` says where each rank goes. Eight
sensors have some ten thousand sorted memories instead of ten to the eighth.

Names matter as little where every hypothesis has a label of its own and all of them are worth the same: then only which
places are taken, each with its penalty, counts for what to ask. A *nameless* ledger sorts its slots by place, and
`slot` says where each goes; actions stay what they are. Five states that actions permute have 120 arrangements, and one
place each: a hundredth of the memories.

Throughout: v is a node (a memory), i a slot (a hypothesis, or a rank), s a state, a an action, y a reading.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
import numpy.typing as npt

from ascertain.errors import TaskError
from ascertain.quotients.separation import list_reachable
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, IntArray, LongArray

FloatArray = npt.NDArray[np.float64]
UNIT = 1 << 30
"""Penalties are counted in nats / UNIT."""
IMPOSSIBLE = 1 << 60
DEAD = 1 << 59
NOWHERE = -1


@final
@dataclass(frozen=True, eq=False)
class Book:
    """The tables of a task that ledgers are kept with; readings of probability zero have the penalty IMPOSSIBLE."""

    task: Task
    successor: IntArray
    penalty: LongArray
    """`penalty[s, a, y]`, rounded up."""
    chance: FloatArray
    """`chance[s, a, y]` is K(y | s, a), rounded to the nearest float."""
    cost: FloatArray
    complete: bool
    exchangeable: bool
    nameless: bool = False

    @property
    def num_slots(self) -> int:
        return self.task.num_hypotheses

    @property
    def num_actions(self) -> int:
        return self.penalty.shape[1]

    @property
    def num_readings(self) -> int:
        return self.penalty.shape[2]


def open_book(task: Task, *, by_rank: bool = True, nameless: bool = False) -> Book:
    """The tables of a task about the start; exchangeable hypotheses are told by rank unless that is not wanted."""
    if nameless and not may_be_nameless(task):
        raise TaskError("hypotheses without names need labels of their own, and states in ascending order")
    if task.about == "current":
        raise TaskError("ledgers are for questions about the start; this one is about the current state")
    model = task.model
    shape = (model.num_states, model.num_actions, len(model.readings))
    penalty, chance = np.full(shape, IMPOSSIBLE, dtype=np.int64), np.zeros(shape)
    of_law: dict[int, list[tuple[int, int, float]]] = {}
    for s in range(shape[0]):
        for a in range(shape[1]):
            k = int(model.behaviour[s, a])
            if k == UNDEFINED:
                continue
            if k not in of_law:
                law = model.reading_law(s, a)
                of_law[k] = [(y, penalty_of(p), float(p)) for y, p in law.items()]
            for y, units, p in of_law[k]:
                penalty[s, a, y], chance[s, a, y] = units, p
    reached = list_reachable(model, task.state)
    complete = bool((model.successor[reached] != UNDEFINED).all())
    cost = np.array([float(c) for c in task.cost])
    ranked = by_rank and not nameless and is_exchangeable(task)
    return Book(task, model.successor, penalty, chance, cost, complete, ranked, nameless)


def penalty_of(probability: Fraction) -> int:
    """-log p in units, rounded up: one unit more than the float says covers its error."""
    if probability == 1:
        return 0
    nats = math.log(probability.denominator) - math.log(probability.numerator)
    return math.ceil(nats * UNIT) + 1


def is_exchangeable(task: Task) -> bool:
    """Whether action i tells hypothesis i from all others, which it does not tell apart, and nothing moves."""
    model, n = task.model, task.num_hypotheses
    if n < 3 or n != model.num_actions or len(set(task.label.tolist())) < n or len(set(task.cost)) > 1:
        return False
    states = task.state
    if not (model.successor[states] == states[:, None]).all():
        return False
    behaviour = model.behaviour[states]
    wanted = np.full_like(behaviour, behaviour[1, 0])
    np.fill_diagonal(wanted, behaviour[0, 0])
    return np.array_equal(behaviour, wanted)


def may_be_nameless(task: Task) -> bool:
    """Whether every hypothesis has a label of its own; their states must ascend, as slots are sorted by place."""
    return len(set(task.label.tolist())) == task.num_hypotheses and bool((np.diff(task.state) > 0).all())
