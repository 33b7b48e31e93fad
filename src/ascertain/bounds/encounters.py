"""Encounters: what two hypotheses can be made to show together, for every pair of states at once.

Throughout: s and t are states, a an action that both allow. Doing a in s and in t shows two reading laws; where these
differ, or where the labels come to agree in a task about the current state, that is an *encounter*. Its kind is the
pair of laws and the cost of the action. `reachable[s, t]` is the set of kinds that some common word of actions leads
to from (s, t), as bits; it is what information bounds need to know of a pair: the best rate, whether a reading can
settle the pair for good (infinite KL), and whether log-likelihood ratios lie on a lattice.

A task about the *current* state asks nothing of two hypotheses once their labels agree. To grant the observer that
without cost is to let it read a label there that only h gives, so such an encounter is *revealing*: TV 1, KL infinite.
(With M the event that the labels of h and g agree at some time and E that the answer is the label of h, the event
"E without M, or M and the label read is h's" has probability at least 1 - alpha - beta under h and at most alpha
under g.)

An action that g does not allow may be done only when g is already ruled out, which takes a reading that g never
gives. So a pair without reachable infinite KL never does such an action, and one with it has no KL row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np

from ascertain.bounds.divergence import Interval, relative_entropy
from ascertain.model.noisy import Law, total_variation
from ascertain.quotients.separation import list_few_reachable, successors_within
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, IntArray, LongArray

MOST_STATES = 5_000
"""The tables hold a word of bits for every ordered pair: 200 MB at this many states, for each 62 kinds."""
WORD = 62
"""Kinds to a word of bits: as many as a signed 64-bit integer holds without its sign, with one bit to spare."""
SAME = -1
"""In place of a kind: the two laws are equal."""
BLOCKED = -2
"""In place of a kind: one of the two does not allow the action."""
REVEALING = 0
"""The kind of an encounter after which labels agree."""


@final
@dataclass(frozen=True)
class Kind:
    """Two different laws, the first that of the truth, under an action of this cost."""

    law: Law
    other: Law
    cost: Fraction
    variation: Fraction
    entropy: Interval | None
    """KL(law || other); None when infinite."""

    @property
    def rate(self) -> Fraction | None:
        """KL for each unit of cost, rounded up; None when infinite."""
        return None if self.entropy is None else self.entropy.high / self.cost


@final
@dataclass(frozen=True, eq=False)
class Encounters:
    """The pairs of states that hypotheses can become; `element[h]` is where the state of h stands in `states`."""

    task: Task
    states: IntArray
    element: LongArray
    successor: IntArray
    law: IntArray
    kinds: tuple[Kind, ...]
    number: dict[tuple[int, int, Fraction], int]
    """The kind of two law numbers and a cost."""
    label: IntArray | None
    """The labels of elements in a task about the current state; None in one about the start."""

    def kind_at(self, s: int, t: int, action: int) -> int:
        """What an action shows in elements s and t: a kind, SAME or BLOCKED."""
        s_next, t_next = self.successor[s, action], self.successor[t, action]
        if UNDEFINED in (s_next, t_next):
            return BLOCKED
        if self.label is not None and self.label[s_next] == self.label[t_next]:
            return REVEALING
        k, m = int(self.law[s, action]), int(self.law[t, action])
        return SAME if k == m else self.number[k, m, self.task.cost[action]]

    def kinds_at(self, action: int) -> LongArray:
        """`kind_at` for every two elements at once; -1 where the laws are equal or one of the two blocks the action."""
        # A table from two law numbers to the kind; its last row and column are for laws that are not defined (-1).
        top = int(self.law.max()) + 1
        code = np.full((top + 1, top + 1), UNDEFINED, dtype=np.int64)
        for (k, m, cost), kind in self.number.items():
            if cost == self.task.cost[action]:
                code[k, m] = kind
        law, after = self.law[:, action], self.successor[:, action]
        shown = code[law[:, None], law[None, :]]
        both = (after != UNDEFINED)[:, None] & (after != UNDEFINED)[None, :]
        shown[~both] = UNDEFINED
        if self.label is not None:
            label = self.label[after]
            shown[both & (label[:, None] == label[None, :])] = REVEALING
        return shown

    @cached_property
    def words(self) -> tuple[LongArray, ...]:
        """The kinds that some word leads to from every two elements, `WORD` of them in each word of bits."""
        n, num_actions = self.successor.shape
        words = [np.zeros((n, n), dtype=np.int64) for _ in range((len(self.kinds) + WORD - 1) // WORD)]
        for a in range(num_actions):
            shown = self.kinds_at(a)
            for w, word in enumerate(words):
                here = (shown >= w * WORD) & (shown < (w + 1) * WORD)
                word[here] |= np.left_shift(1, shown[here] - w * WORD)
        return _close(self.successor, words)

    def reachable(self, s: int, t: int) -> list[int]:
        """The kinds that some word leads to from elements s and t."""
        bits = [int(word[s, t]) for word in self.words]
        return [k for k in range(len(self.kinds)) if bits[k // WORD] >> k % WORD & 1]


def find_encounters(task: Task) -> Encounters:
    """The encounters of every two states that hypotheses of the task can become."""
    model = task.model
    states = list_few_reachable(task, MOST_STATES, "information bounds take")
    successor, law = successors_within(model, states), model.behaviour[states]
    label = None if task.state_label is None else task.state_label[states]
    kinds, number = _list_kinds(model.laws, law, task.cost)
    element = np.searchsorted(states, task.state).astype(np.int64)
    return Encounters(task, states, element, successor, law, kinds, number, label)


def _list_kinds(
    laws: tuple[Law, ...], law: IntArray, cost: tuple[Fraction, ...]
) -> tuple[tuple[Kind, ...], dict[tuple[int, int, Fraction], int]]:
    """All kinds that may occur, the revealing one first, and their numbers."""
    certain = ((0, Fraction(1)),)
    kinds = [Kind(certain, ((1, Fraction(1)),), Fraction(1), Fraction(1), None)]
    number: dict[tuple[int, int, Fraction], int] = {}
    for a, price in enumerate(cost):
        present = [int(k) for k in np.unique(law[:, a]) if k != UNDEFINED]
        for k in present:
            for m in present:
                if k != m and (k, m, price) not in number:
                    number[k, m, price] = len(kinds)
                    pair = laws[k], laws[m]
                    kinds.append(Kind(*pair, price, total_variation(*pair), relative_entropy(*pair)))
    return tuple(kinds), number


def _close(successor: IntArray, words: list[LongArray]) -> tuple[LongArray, ...]:
    """What one action shows, or what is shown later, until nothing is added: the least fixed point."""
    # For each action the pairs that allow it and where it leads them, as index arrays.
    steps = [
        np.ix_(allowed, allowed) + np.ix_(successor[allowed, a], successor[allowed, a])
        for a in range(successor.shape[1])
        for allowed in [np.flatnonzero(successor[:, a] != UNDEFINED)]
    ]
    for word in words:
        changed = True
        while changed:
            before = word.copy()
            for i, j, x, y in steps:
                word[i, j] |= word[x, y]
            changed = not np.array_equal(before, word)
    return tuple(words)
