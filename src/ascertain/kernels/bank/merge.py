"""Layers of an operation: every way it may stand after t commands, equal states with equal replacements merged.

A layer lists entries in groups, group r from `start[r]` to `start[r + 1]`: states reached with r replacements. Of an
entry, `mis` is the least number of contradicted trusted readings; of the numbers of contradicted ordinary readings
that occur with it, those below `low` are the set bits of the row `below`, and the least of the others is `above`
(NO_COUNT: there is none). See `bank/layers.py` for why no more is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ascertain.kernels._jit import kernel
from ascertain.kernels.bank.steps import (
    CONTRADICTED,
    GONE,
    TILE,
    FlagArray,
    Tables,
    find_slot,
    step_tile,
    step_work,
    word_length,
)
from ascertain.kernels.model.boolean import NONE, ONE, WordArray
from ascertain.types import IntArray, LongArray

NO_COUNT = 2**31 - 1
"""The largest 32-bit integer: in a minimum it gives way to every count."""
TOP = np.uint64(63)
"""Shifts the last bit of a word to the first place, where it is carried into the next word."""
STEPS, LARGEST = 0, 1
"""Places in `Room.done`: model steps, and the size of the largest layer."""


class Layer(NamedTuple):
    """Room for a layer; `start` has a place for each group and one for the end."""

    start: LongArray
    state: WordArray
    mis: IntArray
    above: IntArray
    below: WordArray


class Room(NamedTuple):
    """What the work needs besides: a hash table of at least twice as many slots as it has entries, and a tile."""

    slot: IntArray
    tile: WordArray
    flags: FlagArray
    done: LongArray


@kernel(work=lambda tables, first, last, here: (last - first) * here.start[-1] * step_work(tables))
def merge_positions(tables: Tables, low: int, first: int, last: int, here: Layer, there: Layer, room: Room) -> int:
    """Take the layer `here`, before position `first`, to the one before `last`; return the position reached.

    The layers take turns: after an even number of positions the result is in `here`, after an odd one in `there`. It
    is cut short when the next layer does not fit; the layer before it is then whole, and can be gone on with.
    """
    old, new = here, there
    for t in range(first, last):
        if not _merge_one(tables, low, t, old, new, room):
            return t
        old, new = new, old
    return last


@kernel
def _merge_one(tables: Tables, low: int, t: int, old: Layer, new: Layer, room: Room) -> bool:
    """Fill `new` with what follows `old`; False when it does not fit."""
    c = tables.sent[t]
    first_word, last_word = tables.alternative[c], tables.alternative[c + 1]
    new.start[0] = 0
    end = int(new.start[0])  # and not 0, for which `_move_group` would be compiled apart
    for r in range(old.start.size - 1):
        # Group r of the new layer comes from group r by what was sent and from group r - 1 by an alternative. The hash
        # table serves one group at a time, so that only as many slots are emptied as its entries can need.
        most = old.start[r + 1] - old.start[r]
        if r > 0:
            most += (old.start[r] - old.start[r - 1]) * (last_word - first_word)
        mask = _clear_slots(room.slot, most)
        # The first round, first_word - 1, stands for what was sent, which is word c.
        for w in range(first_word - 1, last_word if r > 0 else first_word):
            sent = w < first_word
            end = _move_group(tables, low, t, c if sent else w, old, r if sent else r - 1, new, end, mask, room)
            if end < 0:
                return False
        new.start[r + 1] = end
    room.done[LARGEST] = max(room.done[LARGEST], end)
    return True


@kernel
def _clear_slots(slot: IntArray, most: int) -> int:
    """Empty as many slots as `most` entries want, a power of two; returns the mask of their numbers."""
    size = 4
    while size < 2 * most and size < slot.size:
        size *= 2
    slot[:size] = -1
    return size - 1


@kernel
def _move_group(
    tables: Tables, low: int, t: int, w: int, old: Layer, r: int, new: Layer, end: int, mask: int, room: Room
) -> int:
    """Add group r of `old`, after word w, to the last group of `new`, which ends at `end`; the new end, or -1: full.

    Arrays are taken out of their tuples first: inside the loop every access through a tuple would count references.
    """
    slot, tile, flags = room.slot, room.tile, room.flags
    old_state, old_mis, old_above, old_below = old.state, old.mis, old.above, old.below
    state, mis, above, below = new.state, new.mis, new.above, new.below
    trusted = tables.trusted[t]
    room.done[STEPS] += (old.start[r + 1] - old.start[r]) * word_length(tables, w)
    for at in range(old.start[r], old.start[r + 1], TILE):
        last = min(at + TILE, old.start[r + 1])
        step_tile(tables, t, w, old_state, at, last, tile, flags)
        for j in range(last - at):
            if flags[j] == GONE:
                continue
            i = at + j
            e, h = find_slot(slot, mask, state, tile[j])
            contradicts = flags[j] == CONTRADICTED
            m = old_mis[i] + (1 if contradicts and trusted else 0)
            if e < 0:
                if end == state.size:
                    return -1
                e = end
                end += 1
                slot[h] = e
                state[e] = tile[j]
                mis[e] = m + 1  # more than m, so that the counts are emptied next
            # Only paths with the least `mis` matter (`bank/layers.py`, 1): a lesser one drops the counts so far.
            if m < mis[e]:
                mis[e] = m
                above[e] = NO_COUNT
                for k in range(below.shape[1]):
                    below[e, k] = NONE
            if m == mis[e]:
                _join_counts(low, old_above[i], old_below, i, contradicts and not trusted, above, below, e)
    return end


@kernel
def _join_counts(
    low: int, count: int, source: WordArray, i: int, flipped: bool, above: IntArray, below: WordArray, e: int
) -> None:
    """Add the counts of entry i, `count` and the bits of `source[i]`, each one more if `flipped`, to those of e."""
    # Only the least count from `low` on matters, and which counts there are below it (`bank/layers.py`, 2).
    if not flipped:
        above[e] = min(above[e], count)
        for k in range(below.shape[1]):
            below[e, k] |= source[i, k]
        return
    if count != NO_COUNT:
        count += 1
    # All counts below `low` one higher: the row of bits moves up by one, from word to word.
    carry = NONE
    for k in range(below.shape[1]):
        row = source[i, k]
        below[e, k] |= (row << ONE) | carry
        carry = row >> TOP
    # A count that has come to `low` is no longer a bit; it is the least from there on. It stands in bit `low`, or,
    # where the words end there, in the carry out of the last.
    if low > 0:
        k, bit = low >> 6, np.uint64(low & 63)
        if k < below.shape[1]:
            carry = (below[e, k] >> bit) & ONE
            below[e, k] &= ~(ONE << bit)
        if carry != NONE:
            count = low
    above[e] = min(above[e], count)


@kernel(work=lambda layer: layer.start[-1] * (2 + 32 * layer.below.shape[1]))
def nearest_counts(layer: Layer, low: int, high: int, flips: IntArray) -> None:
    """For every entry the count of flips nearest to the window [low, high], the lesser one if two are."""
    for e in range(layer.start[-1]):
        # Below the window the highest count is nearest, from its begin on the least.
        most = _highest_count(layer, e)
        above = layer.above[e]
        if most < 0 or (above != NO_COUNT and max(above - high, 0) < low - most):
            flips[e] = above
        else:
            flips[e] = most


@kernel
def _highest_count(layer: Layer, e: int) -> int:
    """The highest count that is a bit of the entry; -1 when there is none."""
    for k in range(layer.below.shape[1] - 1, -1, -1):
        for bit in range(63, -1, -1):
            if (layer.below[e, k] >> np.uint64(bit)) & ONE != NONE:
                return 64 * k + bit
    return -1
