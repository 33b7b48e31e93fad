"""Endpoints as they are met, each with the least score of the paths that ended there."""

from __future__ import annotations

from typing import final

import numpy as np

from ascertain.errors import LimitError
from ascertain.kernels.bank.best import LARGEST_BITS, TOTAL_BITS, Best, fill_slots
from ascertain.kernels.model.boolean import WordArray
from ascertain.types import LongArray

FIRST_SIZE = 1024
"""Endpoints that there is room for at first: a power of two, as the hash table must be."""
ENTRY_BYTES = 24
"""A state and a score of eight bytes, and two slots of four."""


@final
class Endpoints:
    """A table that kernels write on, and that grows when they say it is full."""

    def __init__(self, memory_limit: int) -> None:
        self.memory_limit = memory_limit
        self._claim(ENTRY_BYTES * FIRST_SIZE)
        self.best = _make(FIRST_SIZE)

    @property
    def nbytes(self) -> int:
        return ENTRY_BYTES * self.best.state.size

    def grow(self) -> None:
        """Make room for twice as many."""
        self._claim(3 * self.nbytes)
        old, self.best = self.best, _make(2 * self.best.state.size)
        size = int(old.used[0])
        self.best.state[:size], self.best.score[:size], self.best.used[0] = old.state[:size], old.score[:size], size
        fill_slots(self.best)

    def _claim(self, nbytes: int) -> None:
        if nbytes > self.memory_limit:
            raise LimitError(
                f"the endpoints need {nbytes:,} bytes, more than the {self.memory_limit:,} allowed; "
                "allow fewer replacements or more memory"
            )

    def ranked(self) -> tuple[WordArray, LongArray]:
        """States and scores by score, then by state."""
        size = int(self.best.used[0])
        state, packed = self.best.state[:size], self.best.score[:size]
        order = np.lexsort((state, packed))
        return state[order], unpack(packed[order])

    def distinct(self) -> LongArray:
        """The scores that occur, packed, ascending."""
        return np.unique(self.best.score[: int(self.best.used[0])])


def unpack(packed: LongArray) -> LongArray:
    """Rows (mis, so + sy, max(so, sy)) of packed scores."""
    total = packed >> LARGEST_BITS & (1 << TOTAL_BITS) - 1
    return np.stack((packed >> LARGEST_BITS + TOTAL_BITS, total, packed & (1 << LARGEST_BITS) - 1), axis=1)


def _make(size: int) -> Best:
    return Best(
        slot=np.full(2 * size, -1, dtype=np.int32),
        state=np.empty(size, dtype=np.uint64),
        score=np.empty(size, dtype=np.int64),
        used=np.zeros(1, dtype=np.int64),
    )
