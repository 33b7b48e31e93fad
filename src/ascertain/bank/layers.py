"""Layers: every way that an operation may stand after t commands, and why so little of it has to be kept.

Forward over the log, a path so far is known by its state s, the number r of its replacements, the number m of trusted
and the number f of ordinary readings that it contradicts. What may follow depends on s and r alone, and adds (dr, dm,
df) to the rest. So two paths with equal s and r have the same continuations, and after each of them equal numbers of
replacements, hence equal `so`. Therefore:

1. *Only the least m matters.* With m < m' the first path ends, after any continuation, with fewer contradicted trusted
   readings than the second, and scores compare these first.
2. *Among paths with that m, only the set of the f matters*, and of two counts f <= f' that are both at least `low`, the
   begin of the window [low, high] of flips, only the lesser: whatever df follows, low <= f + df <= f' + df, and from
   `low` on the distance from the window never falls as the count rises. With equal mis and equal so the score rises
   with sy.

A merged entry is thus (s, r) with the least m, the set of counts below `low`, which are `low` bits, and the least count
from `low` on. It has a fixed size, whatever the length of the log; windows that begin at 0 need one number. By
induction over the log every entry's counts belong to paths, and no path has a better score than the best entry at its
end. A window that begins beyond the number of ordinary readings may begin there: no distance grows but all by the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ascertain.bank.encoding import count_readings
from ascertain.bank.operation import Operation
from ascertain.bank.score import clip_window, score_counts
from ascertain.errors import LimitError
from ascertain.kernels._jit import is_compiled
from ascertain.kernels.bank.merge import LARGEST, NO_COUNT, STEPS, Layer, Room, merge_positions, nearest_counts
from ascertain.kernels.bank.steps import TILE, Tables
from ascertain.types import LongArray, Progress, WordArray

MEMORY_LIMIT = 2**31
"""Two GiB, which a laptop can spare: room for some 30 million candidates."""
SLICE_POSITIONS = 64
"""Positions of the log between two reports of progress, while layers are small."""
SLICE_STEPS = 2**22
"""Model steps that a slice should not exceed by much: a fraction of a second, so that progress moves and Ctrl-C is
heard."""
INTERPRETED_SLICE_STEPS = 2**12
"""The same while the kernel is interpreted, a thousand times slower: a kernel can change to its machine code only
between two calls."""


@final
@dataclass
class Merger:
    """Carries layers forward; keeps the room it works in, grown as needed, and counts the work."""

    operation: Operation
    tables: Tables
    memory_limit: int = MEMORY_LIMIT

    def __post_init__(self) -> None:
        ordinary = int(count_readings(self.operation, trusted=False)[0])
        low, _ = clip_window(self.operation.flip_window, "flips")
        self.low = min(low, ordinary)
        self.done: LongArray = np.zeros(2, dtype=np.int64)
        self.peak_bytes = 0
        self._grow(256, 0)

    @property
    def model_steps(self) -> int:
        return int(self.done[STEPS])

    @property
    def largest(self) -> int:
        """Entries of the largest layer so far."""
        return int(self.done[LARGEST])

    def start(self) -> Layer:
        """The layer before the first command: the start, without replacements or contradictions."""
        layer = self._make(1)
        layer.start[1:] = 1
        layer.state[0] = self.operation.start
        layer.mis[0] = 0
        layer.above[0] = NO_COUNT if self.low else 0
        layer.below[0] = 0
        layer.below[0, :1] = 1 if self.low else 0
        return layer

    def run(self, layer: Layer, first: int, last: int, progress: Progress | None = None) -> Layer:
        """The layer before position `last`, from the one before `first`."""
        if layer.state.size > self._here.state.size:
            self._grow(2 * layer.state.size, first)
        copy_layer(layer, self._here)
        at = first
        while at < last:
            # A layer of n entries is taken for 8 n steps a position; the alternatives make it more or fewer.
            work = SLICE_STEPS if is_compiled(merge_positions) else INTERPRETED_SLICE_STEPS
            goal = min(last, at + max(1, min(SLICE_POSITIONS, work // (1 + 8 * self._size))))
            reached = merge_positions(self.tables, self.low, at, goal, self._here, self._there, self._room)
            if (reached - at) % 2:
                self._here, self._there = self._there, self._here
            at = reached
            if at < goal:
                self._grow(2 * self._here.state.size, at)
            if progress is not None:
                progress(at, self.operation.length)
        return self._take()

    @property
    def _size(self) -> int:
        return int(self._here.start[-1])

    def _make(self, size: int) -> Layer:
        return Layer(
            start=np.zeros(self.operation.max_replaced + 2, dtype=np.int64),
            state=np.empty(size, dtype=np.uint64),
            mis=np.empty(size, dtype=np.int32),
            above=np.empty(size, dtype=np.int32),
            below=np.empty((size, -(-self.low // 64)), dtype=np.uint64),
        )

    def _take(self) -> Layer:
        layer = self._make(self._size)
        copy_layer(self._here, layer)
        return layer

    def _grow(self, size: int, at: int) -> None:
        """Room for layers of `size` entries, keeping the one that is there; refused beyond the limit."""
        # While the old layer is copied both are there: two layers and the slots, and half as much again.
        size = 1 << (size - 1).bit_length()
        fresh = 2 * layer_bytes(self, size) + 8 * size
        kept = 2 * layer_bytes(self, size // 2) + 4 * size if self.peak_bytes else 0
        if fresh + kept > self.memory_limit:
            raise LimitError(
                f"after {at} of {self.operation.length} commands there are more than {size // 2:,} candidates, which "
                f"need more than {self.memory_limit:,} bytes; allow fewer replacements or more memory"
            )
        here = self._make(size)
        if self.peak_bytes:
            copy_layer(self._here, here)
        self._here, self._there = here, self._make(size)
        self._room = make_room(2 * size, self.done)
        self.peak_bytes = max(self.peak_bytes, fresh + kept)


def make_room(slots: int, done: LongArray) -> Room:
    """Room to work in, with so many slots of a hash table; the work is counted in `done`."""
    tile, flags = np.empty(TILE, dtype=np.uint64), np.empty(TILE, dtype=np.uint8)
    return Room(np.empty(slots, dtype=np.int32), tile, flags, done)


def layer_bytes(merger: Merger, size: int) -> int:
    """What a layer of `size` entries takes."""
    return size * (16 + 8 * -(-merger.low // 64)) + 8 * (merger.operation.max_replaced + 2)


def copy_layer(source: Layer, target: Layer) -> None:
    """Copy the entries of a layer to another with room for them."""
    size = int(source.start[-1])
    target.start[:] = source.start
    for old, new in zip(source[1:], target[1:], strict=True):
        new[:size] = old[:size]


@final
@dataclass(frozen=True, eq=False)
class Ranked:
    """States in the order of their scores, and the counts of a path that attains each: one of fewest replacements."""

    state: WordArray
    score: LongArray
    """`score[i]` is (mis, so + sy, max(so, sy)) of `state[i]`."""
    replaced: LongArray
    mis: LongArray
    flips: LongArray


def rank_layer(operation: Operation, layer: Layer) -> Ranked:
    """The endpoints, from the layer after the last command: each with the least score of its paths, best first."""
    state, mis = layer.state, layer.mis.astype(np.int64)
    nearest = np.empty(state.size, dtype=np.int32)
    nearest_counts(layer, *clip_window(operation.flip_window, "flips"), nearest)
    flips = nearest.astype(np.int64)
    replaced = np.repeat(np.arange(operation.max_replaced + 1), np.diff(layer.start))
    score = score_counts(operation, mis, replaced, flips)
    # One entry a state: the first where entries are sorted by state, then by score, then by number of replacements.
    order = np.lexsort((replaced, score[:, 2], score[:, 1], score[:, 0], state))
    first = np.ones(order.size, dtype=np.bool_)
    first[1:] = state[order][1:] != state[order][:-1]
    best = order[first]
    best = best[np.lexsort((state[best], score[best, 2], score[best, 1], score[best, 0]))]
    return Ranked(state[best], score[best], replaced[best], mis[best], flips[best])
