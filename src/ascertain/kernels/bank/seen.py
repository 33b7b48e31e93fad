"""Where partial paths have been, so that of those that have the same future only the best go on.

A *place* is a position of the log together with a number of replacements. Two paths that are at the same place in the
same state have the same continuations; `bank/layers.py` shows which of them can still matter: those with the least
`mis`, and of these each number of flips below `low`, the begin of the flips' window, and the least number from there
on. An entry remembers just that of the paths that have come by, in a hash table by state and place. A table without
slots remembers nothing: every path matters, as in the paper.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ascertain.kernels._jit import kernel
from ascertain.kernels.bank.merge import NO_COUNT
from ascertain.kernels.bank.steps import HASH_LOW, hash_state
from ascertain.kernels.model.boolean import NONE, ONE, WordArray
from ascertain.types import IntArray, LongArray


class Seen(NamedTuple):
    """Entries in the order in which they were made."""

    slot: IntArray
    """A power of two of slots, at least twice as many as there is room for entries; -1 where free."""
    state: WordArray
    place: LongArray
    mis: IntArray
    above: IntArray
    """The least number of flips from `low` on, or NO_COUNT."""
    below: WordArray
    """A row of bits: the numbers of flips below `low`."""
    used: LongArray
    """`used[0]` is the number of entries."""


@kernel
def pass_by(seen: Seen, low: int, place: int, state: np.uint64, mis: int, flips: int) -> bool:
    """Whether a path matters beside those that have come by before it; if so it is remembered. There is room."""
    if seen.slot.size == 0:
        return True
    least, above, below = seen.mis, seen.above, seen.below
    e, h = _find(seen.slot, seen.state, seen.place, place, state)
    if e < 0:
        e = _enter(seen, h, place, state)
        least[e] = mis + 1  # more than `mis`, so that the counts are emptied below
    if mis > least[e]:
        return False
    if mis < least[e]:
        least[e] = mis
        above[e] = NO_COUNT
        for k in range(below.shape[1]):
            below[e, k] = NONE
    # From `low` on only a lesser count is news; below it every count that has not been there.
    if flips >= low:
        better = flips < above[e]
        above[e] = min(flips, above[e])
        return bool(better)
    bit = ONE << np.uint64(flips & 63)
    fresh = below[e, flips >> 6] & bit == NONE
    below[e, flips >> 6] |= bit
    return bool(fresh)


@kernel
def is_beaten(seen: Seen, low: int, place: int, state: np.uint64, mis: int, flips: int) -> bool:
    """Whether, since a path came by that mattered, a better one has."""
    if seen.slot.size == 0:
        return False
    # The path came by itself, so there is an entry. Below `low` counts stand beside each other, and none beats another.
    e, _ = _find(seen.slot, seen.state, seen.place, place, state)
    return bool(seen.mis[e] < mis or (flips >= low and seen.above[e] < flips))


@kernel(work=lambda seen: 8 * seen.used[0])
def fill_seen(seen: Seen) -> None:
    """Enter what has been seen into free slots."""
    for e in range(seen.used[0]):
        _, h = _find(seen.slot, seen.state, seen.place, int(seen.place[e]), seen.state[e])
        seen.slot[h] = e


@kernel
def _enter(seen: Seen, h: int, place: int, state: np.uint64) -> int:
    """A new entry, at a free slot."""
    e = int(seen.used[0])
    seen.used[0] = e + 1
    seen.slot[h] = e
    seen.state[e] = state
    seen.place[e] = place
    return e


@kernel
def _find(slot: IntArray, states: WordArray, places: LongArray, place: int, state: np.uint64) -> tuple[int, int]:
    """The entry of a state at a place, or -1, and its slot, or the free one where it belongs."""
    # Linear probing. The place is spread over the bits first: the same states come up at many places.
    mask = slot.size - 1
    h = hash_state(state ^ (np.uint64(place) * HASH_LOW)) & mask
    e = int(slot[h])
    while e >= 0 and (states[e] != state or places[e] != place):
        h = (h + 1) & mask
        e = int(slot[h])
    return e, h
