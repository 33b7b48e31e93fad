"""The likely memories: where too many can come about, only those that are met often enough are followed.

The probability of each memory after t readings, under the mixture of all hypotheses by their weights, is carried along
while the graph grows: in full through the guide's first choice at every memory, and faded through the others, so that
a policy may leave the guide now and then. A memory is followed once a visit to it has weight `least` or more.

What is never followed is *rounded*: its entry in the graph is replaced by a memory that is followed, with the same
hypotheses in the same places, none of them with more evidence against it, and as much as there is. Forgetting some
evidence makes a policy slower, not rash. Where there is no such memory the policy abstains, or answers if it can. How
much is lost by either is no matter of trust: policies on these memories are evaluated like any others, on the law of
the true readings.
"""

from __future__ import annotations

import numpy as np

from ascertain.errors import LimitError
from ascertain.planning.belief_graph import AbstractGuide, Ledgers, Spreading
from ascertain.planning.information_state import NOWHERE, UNIT, Book, FloatArray
from ascertain.planning.pricing import weigh
from ascertain.types import BoolArray, IntArray, LongArray

FADE = 0.2
"""What a choice that is not the guide's first counts for, and the third for that squared."""
MOST_STEPS = 400
MOST_CANDIDATES = 4000


def spread_likely(
    book: Book,
    *,
    cap: float,
    close: float,
    guide: AbstractGuide,
    start: LongArray | None = None,
    least: float,
    remaining: float,
    max_nodes: int = 100_000,
) -> Ledgers:
    """Memories of weight `least` at some time, until at most `remaining` of the probability is not closed."""
    growth = _Growth(Spreading(book, int(cap * UNIT), close, guide, max_nodes), start)
    for _ in range(MOST_STEPS):
        if not growth.step(least, remaining):
            break
        if growth.size > max_nodes:
            raise LimitError(f"the likely readings of this task lead to more than {max_nodes} different memories")
    growth.round()
    return growth.ledgers()


class _Growth:
    """Tables that grow as memories are followed."""

    def __init__(self, spreading: Spreading, start: LongArray | None) -> None:
        self.spreading, self.book = spreading, spreading.book
        state, penalty = spreading.begin(start)
        self.state, self.penalty = state, penalty
        self.mass = weigh(penalty).sum(axis=1)
        shape = (1, spreading.guide.num_options, self.book.num_readings)
        self.option: IntArray = np.full(shape[:2], NOWHERE, dtype=np.int32)
        self.child: IntArray = np.full(shape, NOWHERE, dtype=np.int32)
        self.shift: LongArray = np.zeros(shape, dtype=np.int64)
        self.part: FloatArray = np.zeros(shape)
        self.followed: BoolArray = np.zeros(1, dtype=np.bool_)
        self.now: FloatArray = np.ones(1)

    @property
    def size(self) -> int:
        return len(self.mass)

    def step(self, least: float, remaining: float) -> bool:
        """Follow what is likely now, and carry the probability on by one reading; False when little is left."""
        self.follow(np.flatnonzero(~self.followed & (self.now >= least)))
        after = np.zeros(self.size)
        for k in range(self.option.shape[1]):
            asked = np.flatnonzero((self.now > 0) & (self.option[:, k] != NOWHERE))
            child = self.child[asked, k, :]
            part = self.part[asked, k, :] * (self.now[asked] * FADE**k)[:, None]
            after += np.bincount(np.maximum(child, 0).reshape(-1), weights=part.reshape(-1), minlength=self.size)
        self.now = np.minimum(after, 1.0)
        self.now[self.now < least * 1e-6] = 0.0
        live = ~self.followed | (self.option[:, 0] != NOWHERE)
        hopeless = ~self.followed & (self.now < least)
        return float(self.now[live & ~hopeless].sum()) > remaining

    def follow(self, nodes: LongArray) -> None:
        """Grow these memories, and make room for the new ones."""
        if len(nodes) == 0:
            return
        (option, child, shift, _), (state, penalty) = self.spreading.grow(self.state[nodes], self.penalty[nodes])
        self.option[nodes], self.child[nodes], self.shift[nodes] = option, child, shift
        self.followed[nodes] = True
        new = len(state)
        self.state, self.penalty = np.concatenate([self.state, state]), np.concatenate([self.penalty, penalty])
        self.mass = np.concatenate([self.mass, weigh(penalty).sum(axis=1)])
        self.option = np.concatenate([self.option, np.full((new, option.shape[1]), NOWHERE, dtype=np.int32)])
        self.child = np.concatenate([self.child, np.full((new, *child.shape[1:]), NOWHERE, dtype=np.int32)])
        self.shift = np.concatenate([self.shift, np.zeros((new, *shift.shape[1:]), dtype=np.int64)])
        part = np.exp(-shift / UNIT) * self.mass[np.maximum(child, 0)] / self.mass[nodes][:, None, None]
        self.part = np.concatenate([self.part, np.zeros((new, *child.shape[1:]))])
        self.part[nodes] = np.where(child == NOWHERE, 0.0, part)
        self.followed = np.concatenate([self.followed, np.zeros(new, dtype=np.bool_)])
        self.now = np.concatenate([self.now, np.zeros(new)])

    def round(self) -> None:
        """Replace what is not followed by what is and claims no more."""
        target = np.arange(self.size, dtype=np.int32)
        places: dict[bytes, tuple[list[int], list[int]]] = {}
        for v in range(self.size):
            places.setdefault(self.state[v].tobytes(), ([], []))[int(self.followed[v])].append(v)
        for loose, firm in places.values():
            if loose and firm:
                known = np.array(firm[:MOST_CANDIDATES])
                for v in loose:
                    modest = known[(self.penalty[known] <= self.penalty[v]).all(axis=1)]
                    if len(modest):
                        kept = np.minimum(self.penalty[modest], 100 * UNIT).sum(axis=1)
                        target[v] = modest[int(kept.argmax())]
        self.child = np.where(self.child == NOWHERE, NOWHERE, target[np.maximum(self.child, 0)]).astype(np.int32)

    def ledgers(self) -> Ledgers:
        return Ledgers(self.book, self.state, self.penalty, self.option, self.child, self.shift, None, False)
