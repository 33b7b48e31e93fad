"""Information states: what a policy needs to know of all readings so far, and the tables they are updated with.

The *information state* after some readings says, for every hypothesis h, which state the plant would be in now, and the
*penalty* of h: minus the logarithm of its likelihood relative to that of the likeliest hypothesis. It is sufficient:
what a policy can achieve from here on depends on nothing else. Readings add to penalties, so histories that lead to the
same states and penalties are one information state; with flip noise penalties lie on a lattice, and few remain
(`belief_graph.py`). Three rules keep them few. None can harm a guarantee, since a policy may forget what it likes and
is judged by its exact risk (`controller.py`):

- a hypothesis whose penalty exceeds a cap is *eliminated*: it stays so, whatever is read later;
- two hypotheses of one label in one state have one future: they are merged, and their likelihoods added. Where the
  current state is asked for, all that are in one state have the label of that state;
- an action is allowed while every hypothesis that is not impossible allows it. On machines that are not complete
  eliminated hypotheses therefore keep their state.

*Penalties are rounded up*, in units of 2^-30 nats, and eliminated hypotheses have no weight. So the weights that an
information state gives to hypotheses never exceed the true ones, which is what the lower bounds of `lagrangian.py`
need.

An information state has one *slot* for each hypothesis. What a slot stands for is a matter of symmetry:

- *named*: slot h is hypothesis h.
- *ranked*, for *exchangeable* hypotheses: nothing moves, and action i, the sensor of hypothesis i, has one law where i
  is true and another one where it is not. Then only the multiset of penalties matters. Slots are sorted by penalty,
  ties staying in order, and action i asks the sensor of the hypothesis in slot i. Eight sensors have some ten thousand
  sorted information states instead of ten to the eighth.
- *nameless*, where every hypothesis has a label of its own: only which states are taken, each with its penalty, matters
  to what should be asked. Slots are sorted by state and penalty; actions stay what they are. Five states that actions
  permute have 120 arrangements, and one sorted one.

References: Bertsekas, Dynamic Programming and Optimal Control, on imperfect state information; Smallwood and Sondik,
Operations Research 21 (1973), on partially observed Markov decision processes.

Throughout: v is a node (an information state), i a slot, h a hypothesis, s a state, a an action, y a reading.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, final

import numpy as np

from ascertain.errors import TaskError
from ascertain.quotients.separation import list_reachable
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, FloatArray, IntArray, LongArray

Slots: TypeAlias = Literal["named", "ranked", "nameless"]
"""What the slots of an information state stand for."""
UNIT = 1 << 30
"""Penalties are counted in nats / UNIT: each is rounded by at most 2e-9 nats, and sums stay exact integers."""
IMPOSSIBLE = 1 << 60
"""The penalty of a reading of probability zero: added to any other penalty it still fits into 63 bits."""
ELIMINATED = 1 << 59
"""The penalty of an eliminated hypothesis: 2^29 nats, far above every real sum, and below IMPOSSIBLE."""


@final
@dataclass(frozen=True, eq=False)
class LikelihoodTables:
    """The tables of a task that information states are updated with."""

    task: Task
    successor: IntArray
    penalty: LongArray
    """`penalty[s, a, y]`: -log K(y | s, a) in units, rounded up; IMPOSSIBLE where the probability is zero."""
    chance: FloatArray
    """`chance[s, a, y]`: K(y | s, a), rounded to the nearest float."""
    cost: FloatArray
    complete: bool
    """Whether every action is defined in every state that can be reached."""
    slots: Slots

    @property
    def num_slots(self) -> int:
        return self.task.num_hypotheses

    @property
    def num_actions(self) -> int:
        return self.penalty.shape[1]

    @property
    def num_readings(self) -> int:
        return self.penalty.shape[2]

    @property
    def num_answers(self) -> int:
        """Labels where slots are named, else slots: whoever is in a slot is named by it."""
        return len(self.task.labels) if self.slots == "named" else self.num_slots

    def answers_at(self, state: IntArray) -> IntArray:
        """`[v, i]`: the answer that is right for slot i; `state[v, i]` decides where the current state is asked for."""
        if self.slots != "named":
            return np.broadcast_to(np.arange(self.num_slots, dtype=np.int32), state.shape)
        if self.task.state_label is not None:
            return self.task.state_label[np.maximum(state, 0)]
        return np.broadcast_to(self.task.label, state.shape)


def tabulate_likelihoods(task: Task, slots: Slots = "named") -> LikelihoodTables:
    """The tables of a task; TaskError where it has not the symmetry that the slots need."""
    if slots == "nameless" and not may_be_nameless(task):
        raise TaskError("hypotheses without names need labels of their own, and states in ascending order")
    if slots == "ranked" and not is_exchangeable(task):
        raise TaskError("hypotheses can be ranked only where they are exchangeable, each with a sensor of its own")
    model = task.model
    shape = (model.num_states, model.num_actions, len(model.readings))
    penalty, chance = np.full(shape, IMPOSSIBLE, dtype=np.int64), np.zeros(shape)
    for k, law in enumerate(model.laws):
        places = model.behaviour == k
        for y, p in law:
            penalty[places, y], chance[places, y] = penalty_of(p), float(p)
    reached = list_reachable(model, task.state)
    complete = bool((model.successor[reached] != UNDEFINED).all())
    cost = np.array([float(c) for c in task.cost])
    return LikelihoodTables(task, model.successor, penalty, chance, cost, complete, slots)


def penalty_of(probability: Fraction) -> int:
    """-log p in units, rounded up: one unit more than the float says covers its error."""
    if probability == 1:
        return 0
    nats = math.log(probability.denominator) - math.log(probability.numerator)
    return math.ceil(nats * UNIT) + 1


def weights_of(penalty: LongArray) -> FloatArray:
    """exp(-penalty), and 0 for what is eliminated."""
    return np.where(penalty >= ELIMINATED, 0.0, np.exp(-np.minimum(penalty, ELIMINATED) / UNIT))


def weigh_answers(weight: FloatArray, right: IntArray, num_answers: int) -> FloatArray:
    """`[v, l]`: the weight of those slots for which answer l is right."""
    return np.stack([np.where(right == k, weight, 0.0).sum(axis=1) for k in range(num_answers)], axis=1)


def smallest_slots(task: Task) -> Slots:
    """The slots that give the task the fewest information states."""
    return "ranked" if is_exchangeable(task) else "nameless" if may_be_nameless(task) else "named"


def is_exchangeable(task: Task) -> bool:
    """Whether action i tells hypothesis i from all others, which it does not tell apart, and nothing moves."""
    model, n = task.model, task.num_hypotheses
    if (
        task.about == "current"
        or n < 3
        or n != model.num_actions
        or len(set(task.label.tolist())) < n
        or len(set(task.cost)) > 1
    ):
        return False
    states = task.state
    if not (model.successor[states] == states[:, None]).all():
        return False
    behaviour = model.behaviour[states]
    # One law on the diagonal, another one off it: sensor i knows hypothesis i and no other.
    wanted = np.full_like(behaviour, behaviour[1, 0])
    np.fill_diagonal(wanted, behaviour[0, 0])
    return np.array_equal(behaviour, wanted)


def may_be_nameless(task: Task) -> bool:
    """Whether every hypothesis has a label of its own; their states must ascend, as slots are sorted by state."""
    if task.about == "current":
        return False
    return len(set(task.label.tolist())) == task.num_hypotheses and bool((np.diff(task.state) > 0).all())
