"""The least score of every endpoint met so far, in a hash table.

Scores are packed into one integer, so that less is less: 20 bits of `mis`, 22 of so + sy and 21 of max(so, sy). They
fit, because logs have at most 10^6 readings and windows begin at 2^20 or before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ascertain.kernels._jit import kernel
from ascertain.kernels.bank.steps import find_slot
from ascertain.kernels.model.boolean import WordArray
from ascertain.types import IntArray, LongArray

LARGEST_BITS = 21
"""For max(so, sy): a distance is at most the 10^6 of the longest log or the 2^20 of the latest window, below 2^21."""
TOTAL_BITS = 22
"""For so + sy: twice as much. The 20 bits above are for `mis`, at most 10^6; the sign stays free."""
NO_SCORE = 2**63 - 1
"""Greater than every score: the largest integer."""


class Best(NamedTuple):
    """Endpoints in the order in which they were met, each with its least score."""

    slot: IntArray
    """A power of two of slots, at least twice as many as there are places for states; -1 where free."""
    state: WordArray
    score: LongArray
    used: LongArray
    """`used[0]` is the number of endpoints."""


@kernel
def record(best: Best, state: np.uint64, score: int) -> bool:
    """Note a path that ends in a state; False when there is no room for another state."""
    e, h = find_slot(best.slot, best.slot.size - 1, best.state, state)
    if e < 0:
        e = best.used[0]
        if e == best.state.size:
            return False
        best.used[0] = e + 1
        best.slot[h] = e
        best.state[e] = state
        best.score[e] = score
    elif score < best.score[e]:
        best.score[e] = score
    return True


@kernel(work=lambda best: 5 * best.used[0])
def fill_slots(best: Best) -> None:
    """Enter the states that are there into free slots."""
    for e in range(best.used[0]):
        _, h = find_slot(best.slot, best.slot.size - 1, best.state, best.state[e])
        best.slot[h] = e


@kernel
def pack(mis: int, so: int, sy: int) -> int:
    """The score of these parts as one integer."""
    high = (int(mis) << TOTAL_BITS) + int(so) + int(sy)
    return (high << LARGEST_BITS) + int(max(so, sy))


@kernel
def distance(count: int, low: int, high: int) -> int:
    """How far a count is from the window [low, high]."""
    return max(low - count, count - high, 0)
