"""A guide: the few actions at a memory that tell most about what is still in doubt, moves towards sensors included.

For two states s and t and an action a, let Q(s, t, a) be the divergence of the two reading laws plus what is to come,
discounted by cost:

    Q(s, t, a) = KL_a(s || t) + g^c(a) max over a' of Q(s', t', a'),          0 < g < 1,

so that walking to a far sensor is worth what the sensor will tell. At a memory every pair of hypotheses of different
labels counts for the square root of the product of their weights: pairs of which both are likely count most, that is,
the leader against the rivals with the least evidence against them (*least evidence first*). Actions are offered by

    sum over pairs of sqrt(mu_h mu_g) (Q(h, g, a) + Q(g, h, a)),

times (1 + preference[h, a]) when the expected visits of the program bound are given (*Chernoff*): the experiment that
an observer who knew the truth would make. A guide only narrows what `planning/pricing.py` chooses from; guarantees
come from evaluation and do not depend on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ascertain.planning.belief_graph import AbstractGuide
from ascertain.planning.information_state import NOWHERE, Book, FloatArray
from ascertain.planning.pricing import weigh
from ascertain.types import UNDEFINED, Action, BoolArray, IntArray, LongArray

_MOST_NATS = 40.0
"""What a reading that excludes a state counts for."""
_DISCOUNT = 0.85
MAX_STATES = 300


class Informative(AbstractGuide):
    """The `num_options` actions that promise most information."""

    def __init__(self, book: Book, num_options: int, preference: FloatArray | None = None) -> None:
        self.book, self._num_options = book, min(num_options, book.num_actions)
        label = book.task.label
        self.apart = np.argwhere(np.triu(label[:, None] != label[None, :]))
        self.promise = promise_of_pairs(book)
        self.preference = preference

    @property
    def num_options(self) -> int:
        return self._num_options

    def offer(self, state: IntArray, penalty: LongArray, allowed: BoolArray) -> IntArray:
        if self.book.exchangeable:
            ranks = np.arange(self.num_options, dtype=np.int32)[None, :].repeat(len(state), 0)
            return np.where(allowed[:, : self.num_options], ranks, NOWHERE).astype(np.int32)
        root = np.sqrt(weigh(penalty))
        score = np.zeros((len(state), self.book.num_actions))
        for h, g in self.apart.tolist():
            both = np.flatnonzero((root[:, h] * root[:, g] > 0) & (state[:, h] != NOWHERE) & (state[:, g] != NOWHERE))
            worth = self.promise[state[both, h], state[both, g]] + self.promise[state[both, g], state[both, h]]
            if self.preference is not None:
                worth = worth * (1 + self.preference[h] + self.preference[g])
            score[both] += (root[both, h] * root[both, g])[:, None] * worth
        score = np.where(allowed, score, -1.0)
        best = np.argsort(-score, axis=1, kind="stable")[:, : self.num_options]
        return np.where(np.take_along_axis(allowed, best, axis=1), best, NOWHERE).astype(np.int32)


@final
@dataclass(frozen=True)
class Only(AbstractGuide):
    """One action over and over: what hypotheses have become is then known from few memories."""

    action: Action

    @property
    def num_options(self) -> int:
        return 1

    def offer(self, state: IntArray, penalty: LongArray, allowed: BoolArray) -> IntArray:
        return np.where(allowed[:, [self.action]], self.action, NOWHERE).astype(np.int32)


def promise_of_pairs(book: Book) -> FloatArray:
    """`Q[s, t, a]`, by repeated improvement until it stands."""
    rate = divergences(book)
    successor = np.maximum(book.successor, 0)
    defined = book.successor != UNDEFINED
    both = defined[:, None, :] & defined[None, :, :]
    fade = _DISCOUNT ** (book.cost / book.cost.mean())
    promise = np.where(both, rate, 0.0)
    for _ in range(200):
        best = promise.max(axis=2)
        after = best[successor[:, None, :], successor[None, :, :]]
        new = np.where(both, rate + fade[None, None, :] * after, 0.0)
        if np.abs(new - promise).max() < 1e-6:
            break
        promise = new
    return promise


def divergences(book: Book) -> FloatArray:
    """`KL[s, t, a]` in nats, cut at a large number where it is infinite."""
    chance = book.chance
    n, num_actions, _ = chance.shape
    result = np.zeros((n, n, num_actions))
    for s in range(n):
        mine, theirs = chance[s][None, :, :], chance
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(mine > 0, mine * np.log(mine / theirs), 0.0)
        result[s] = np.minimum(np.where(np.isnan(terms), 0.0, terms).sum(axis=2), _MOST_NATS)
    return result
