"""Every memory that can come about, as a finite graph: all actions at each of them, or those that a guide offers.

Breadth first, a layer at a time, with arrays. A memory is *closed* when no label but one has more than `close` of the
mass: nobody would ask on, so nothing follows it. A *guide* names a few actions at each memory (`guiding.py`); with all
of them the graph is the whole problem, and lower bounds can be read off it (`planning/pricing.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

from ascertain.errors import LimitError
from ascertain.planning.information_state import DEAD, IMPOSSIBLE, NOWHERE, UNIT, Book, FloatArray
from ascertain.types import UNDEFINED, BoolArray, IntArray, LongArray

Memories: TypeAlias = tuple[IntArray, LongArray]
"""`state[v, i]` and `penalty[v, i]` of some memories."""
SmallArray: TypeAlias = npt.NDArray[np.int16]


class AbstractGuide(ABC):
    """The interface of whatever narrows the choice at a memory."""

    @property
    @abstractmethod
    def num_options(self) -> int: ...

    @abstractmethod
    def offer(self, state: IntArray, penalty: LongArray, allowed: BoolArray) -> IntArray:
        """`offer[v, k]`: the k-th action to consider at v, -1 when there is none."""


@final
@dataclass(frozen=True)
class EveryAction(AbstractGuide):
    """No narrowing: all actions that are allowed."""

    num_actions: int

    @property
    def num_options(self) -> int:
        return self.num_actions

    def offer(self, state: IntArray, penalty: LongArray, allowed: BoolArray) -> IntArray:
        return np.where(allowed, np.arange(self.num_actions, dtype=np.int32)[None, :], NOWHERE).astype(np.int32)


@final
@dataclass(frozen=True, eq=False)
class Ledgers:
    """Memories and where they lead."""

    book: Book
    state: IntArray
    """`state[v, i]`, -1 where the hypothesis is forgotten."""
    penalty: LongArray
    """`penalty[v, i]`, DEAD where it is dead; the least is 0, but at the start, where it may be lower."""
    option: IntArray
    """`option[v, k]`: an action (or a rank), -1 where there are fewer options."""
    child: IntArray
    """`child[v, k, y]`, -1 where y cannot be read."""
    shift: LongArray
    """`shift[v, k, y]`: what was taken from all penalties so that the least is 0."""
    slot: SmallArray | None
    """`slot[v, k, y, i]` for hypotheses by rank or without names; None when every slot stays where it is."""
    whole: bool
    """Whether every allowed action is an option at every memory that is not closed."""

    @property
    def size(self) -> int:
        return len(self.state)


def spread(
    book: Book,
    *,
    cap: float,
    close: float,
    guide: AbstractGuide | None = None,
    start: LongArray | None = None,
    max_nodes: int = 100_000,
) -> Ledgers:
    """The memories of a task; LimitError when there are more than `max_nodes`.

    `cap` in nats: a penalty above it is dead; `close`: the mass of rivals, relative to all, at which nobody asks on;
    `start[h]`: the penalty that h begins with, none if not given.
    """
    return Spreading(book, int(cap * UNIT), close, guide or EveryAction(book.num_actions), max_nodes).spread(start)


class Spreading:
    """Memories met so far, and how they grow."""

    def __init__(self, book: Book, cap: int, close: float, guide: AbstractGuide, max_nodes: int) -> None:
        self.book, self.cap, self.close, self.guide, self.max_nodes = book, cap, close, guide, max_nodes
        label: list[int] = book.task.label.tolist()
        self.pairs = [(i, j) for j in range(len(label)) for i in range(j) if label[i] == label[j]]
        self.mine = np.array(label)[:, None] == np.arange(len(book.task.labels))[None, :]
        self.number: dict[bytes, int] = {}
        self.found: list[Memories] = []

    def spread(self, start: LongArray | None) -> Ledgers:
        frontier = self.begin(start)
        layers: list[tuple[IntArray, IntArray, LongArray, SmallArray | None]] = []
        while len(frontier[0]):
            layer, frontier = self.grow(*frontier)
            layers.append(layer)
            if len(self.number) > self.max_nodes:
                raise LimitError(f"the readings of this task lead to more than {self.max_nodes} different memories")
        slots = [layer[3] for layer in layers if layer[3] is not None]
        return Ledgers(
            self.book,
            np.concatenate([memories[0] for memories in self.found]),
            np.concatenate([memories[1] for memories in self.found]),
            np.concatenate([layer[0] for layer in layers]),
            np.concatenate([layer[1] for layer in layers]),
            np.concatenate([layer[2] for layer in layers]),
            np.concatenate(slots) if slots else None,
            isinstance(self.guide, EveryAction),
        )

    def begin(self, start: LongArray | None) -> Memories:
        """The memory of nothing."""
        n = self.book.num_slots
        penalty = np.zeros((1, n), dtype=np.int64) if start is None else start.reshape(1, n).astype(np.int64)
        return self.intern(*self.join(self.book.task.state.reshape(1, n).copy(), penalty))[1]

    def grow(
        self, state: IntArray, penalty: LongArray
    ) -> tuple[tuple[IntArray, IntArray, LongArray, SmallArray | None], Memories]:
        """Where the memories of a layer lead, and the new ones among those."""
        option = self.guide.offer(state, penalty, self.find_allowed(state, penalty))
        option[self.find_closed(penalty)] = NOWHERE
        shape = (*option.shape, self.book.num_readings)
        child, shift = np.full(shape, NOWHERE, dtype=np.int32), np.zeros(shape, dtype=np.int64)
        slot = (
            np.zeros((*shape, state.shape[1]), dtype=np.int16) if self.book.exchangeable or self.book.nameless else None
        )
        fresh: list[Memories] = [(state[:0], penalty[:0])]
        for k in range(shape[1]):
            asked = np.flatnonzero(option[:, k] != NOWHERE)
            for y in range(shape[2]):
                read = self.read_rank if self.book.exchangeable else self.read
                rows, after, least, moved = read(state[asked], penalty[asked], option[asked, k], y)
                index, new = self.intern(*after)
                child[asked[rows], k, y], shift[asked[rows], k, y] = index, least
                if slot is not None and moved is not None:
                    slot[asked[rows], k, y] = moved
                fresh.append(new)
        after_all = np.concatenate([f[0] for f in fresh]), np.concatenate([f[1] for f in fresh])
        return (option, child, shift, slot), after_all

    def find_allowed(self, state: IntArray, penalty: LongArray) -> BoolArray:
        """Which actions every hypothesis with a place allows and are of use; which ranks are not dead.

        An action that moves no hypothesis with a place, and reads alike in all of them, leads back to where it was
        asked. Those with a place count although they are dead: ruling one out may free an action that it forbids.
        """
        if self.book.exchangeable:
            return penalty < DEAD
        place, gone = np.maximum(state, 0), state == NOWHERE
        after, law = self.book.successor[place], self.book.task.model.behaviour[place]
        allowed = ((after != UNDEFINED) | gone[:, :, None]).all(axis=1)
        moves = ((after != place[:, :, None]) & ~gone[:, :, None]).any(axis=1)
        some = law[np.arange(len(law)), (penalty < DEAD).argmax(axis=1)]
        tells = ((law != some[:, None, :]) & ~gone[:, :, None]).any(axis=1)
        return allowed & (moves | tells)

    def find_closed(self, penalty: LongArray) -> BoolArray:
        """Where one label has nearly all the mass."""
        weight: FloatArray = np.where(penalty >= DEAD, 0.0, np.exp(-np.minimum(penalty, DEAD) / UNIT))
        rival = weight if self.book.exchangeable else weight @ self.mine
        best = rival.argmax(axis=1)
        rival[np.arange(len(best)), best] = 0.0
        return rival.sum(axis=1) <= self.close * weight.sum(axis=1)

    def read(
        self, state: IntArray, penalty: LongArray, action: IntArray, y: int
    ) -> tuple[LongArray, Memories, LongArray, SmallArray | None]:
        """The rows that may read y after their action, what becomes of them, and what is taken from all penalties."""
        book, place = self.book, np.maximum(state, 0)
        added = penalty + book.penalty[place, action[:, None], y]
        possible = (state != NOWHERE) & (added < IMPOSSIBLE)
        alive = possible & (added < DEAD)
        rows = np.flatnonzero(alive.any(axis=1))
        moved = np.where(possible, book.successor[place, action[:, None]], NOWHERE)[rows].astype(np.int32)
        moved, added = self.join(moved, np.where(alive, added, DEAD)[rows])
        added, least = self.settle(added)
        if book.complete:
            moved[added >= DEAD] = NOWHERE
        return (rows, *self.sort_places(moved, added, least)) if book.nameless else (rows, (moved, added), least, None)

    def sort_places(
        self, moved: IntArray, added: LongArray, least: LongArray
    ) -> tuple[Memories, LongArray, SmallArray]:
        """Slots by place, and by penalty in one place."""
        order = np.lexsort((added, moved), axis=1)
        memories = np.take_along_axis(moved, order, axis=1), np.take_along_axis(added, order, axis=1)
        return memories, least, np.argsort(order, axis=1, kind="stable").astype(np.int16)

    def read_rank(
        self, state: IntArray, penalty: LongArray, action: IntArray, y: int
    ) -> tuple[LongArray, Memories, LongArray, SmallArray | None]:
        """The same for exchangeable hypotheses: a rank is asked for, and the ranks are sorted anew, ties in order."""
        table = self.book.penalty[self.book.task.state]
        hit, miss = int(table[0, 0, y]), int(table[1, 0, y])
        ranks = np.arange(penalty.shape[1], dtype=np.int32)[None, :]
        asked: BoolArray = ranks == action[:, None]
        added = np.where(penalty >= DEAD, DEAD, np.minimum(penalty + np.where(asked, hit, miss), DEAD))
        rows = np.flatnonzero((added < DEAD).any(axis=1))
        added, least = self.settle(added[rows])
        order = np.argsort(added, axis=1, kind="stable")
        added = np.take_along_axis(added, order, axis=1)
        moved = np.where(added >= DEAD, NOWHERE, self.book.task.state[None, :]).astype(np.int32)
        return rows, (moved, added), least, np.argsort(order, axis=1, kind="stable").astype(np.int16)

    def settle(self, added: LongArray) -> tuple[LongArray, LongArray]:
        """Take the least from all; what then exceeds the cap is dead."""
        least: LongArray = added.min(axis=1) if len(added) else np.zeros(0, dtype=np.int64)
        added = added - least[:, None]
        return np.where(added > self.cap, DEAD, added), least

    def join(self, state: IntArray, penalty: LongArray) -> Memories:
        """Join hypotheses of one label in one place, adding their likelihoods, rounded down."""
        for i, j in self.pairs:
            met = np.flatnonzero((state[:, i] == state[:, j]) & (state[:, i] != NOWHERE))
            if len(met) == 0:
                continue
            p, q = penalty[met, i], penalty[met, j]
            low: LongArray = np.minimum(p, q)
            gap: LongArray = np.minimum(np.abs(p - q), 40 * UNIT)
            gain: LongArray = np.floor(np.log1p(np.exp(-gap / UNIT)) * (1 - 1e-12) * UNIT).astype(np.int64)
            joined: LongArray = np.where(gap == 40 * UNIT, low, low - gain)
            penalty[met, i] = np.where(low >= DEAD, DEAD, joined)
            penalty[met, j], state[met, j] = DEAD, NOWHERE
        return state, penalty

    def intern(self, state: IntArray, penalty: LongArray) -> tuple[IntArray, Memories]:
        """The numbers of these memories, and those that are new."""
        key = np.ascontiguousarray(np.concatenate([state.astype(np.int64), penalty], axis=1))
        rows = key.view(np.dtype((np.void, key.shape[1] * 8))).reshape(-1)
        _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
        index = np.empty(len(first), dtype=np.int32)
        new: list[int] = []
        for k, row in enumerate(first.tolist()):
            data = key[row].tobytes()
            if data not in self.number:
                self.number[data] = len(self.number)
                new.append(row)
            index[k] = self.number[data]
        fresh = (state[new], penalty[new])
        self.found.append(fresh)
        return index[inverse.reshape(-1)], fresh


def narrow(ledgers: Ledgers, keep: BoolArray) -> tuple[Ledgers, LongArray]:
    """The memories to keep and those they lead to, where nothing more is asked; and the memory that each of them is."""
    after = ledgers.child[keep]
    some = keep.copy()
    some[after[after != NOWHERE]] = True
    some[0] = True
    node = np.flatnonzero(some)
    number: IntArray = np.full(ledgers.size, NOWHERE, dtype=np.int32)
    number[node] = np.arange(len(node), dtype=np.int32)
    asks = keep[node]
    child = np.where(ledgers.child[node] == NOWHERE, NOWHERE, number[np.maximum(ledgers.child[node], 0)])
    smaller = Ledgers(
        ledgers.book,
        ledgers.state[node],
        ledgers.penalty[node],
        np.where(asks[:, None], ledgers.option[node], NOWHERE).astype(np.int32),
        np.where(asks[:, None, None], child, NOWHERE).astype(np.int32),
        ledgers.shift[node],
        None if ledgers.slot is None else ledgers.slot[node],
        False,
    )
    return smaller, node
