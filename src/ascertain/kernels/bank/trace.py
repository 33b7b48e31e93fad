"""Tracing paths back through layers: for each path, known by where it is, one entry of the layer before it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ascertain.kernels._jit import kernel
from ascertain.kernels.bank.merge import Layer, Room
from ascertain.kernels.bank.steps import CONTRADICTED, GONE, TILE, Tables, find_slot, step_tile, step_work
from ascertain.kernels.model.boolean import ONE, WordArray
from ascertain.types import IntArray


class Trails(NamedTuple):
    """Paths that are being traced back: where each is, its counts, and what its last step was found to be."""

    state: WordArray
    replaced: IntArray
    mis: IntArray
    flips: IntArray
    word: IntArray
    """The word that was done last; -1 while it is not known."""
    flag: IntArray
    """What became of the reading there."""
    following: IntArray
    """The next trail in the same state; -1 at the last one."""
    entry: IntArray
    """The entry of the layer before, once the word is known."""


@kernel(work=lambda tables, layer: layer.start[-1] * step_work(tables))
def trace_back(tables: Tables, t: int, layer: Layer, trails: Trails, room: Room) -> int:
    """Take every trail back over position t, to an entry of the layer before it; returns how many were.

    What was sent is tried before its alternatives, and entries are tried in order: the answer is always the same.
    The hash table of the room is a power of two of at least twice as many slots as there are trails.
    """
    _fill_slots(trails, room.slot)
    found = 0
    c = int(np.int64(tables.sent[t]))
    # What was sent leaves the number of replacements as it is; an alternative raises it by one.
    for r in range(layer.start.size - 1):
        found += _trace_group(tables, t, c, layer, r, r, trails, room)
    for w in range(np.int64(tables.alternative[c]), np.int64(tables.alternative[c + 1])):
        for r in range(layer.start.size - 2):
            if found < trails.state.size:
                found += _trace_group(tables, t, w, layer, r, r + 1, trails, room)
    return found


@kernel
def _fill_slots(trails: Trails, slot: IntArray) -> None:
    # Trails in the same state hang together: the slot holds the last, and each names the one before it.
    slot[:] = -1
    mask = slot.size - 1
    for i in range(trails.state.size):
        trails.word[i] = -1
        trails.following[i], h = find_slot(slot, mask, trails.state, trails.state[i])
        slot[h] = i


@kernel
def _trace_group(tables: Tables, t: int, w: int, layer: Layer, r: int, after: int, trails: Trails, room: Room) -> int:
    """Find trails with `after` replacements that group r leads to by word w, and take them back; returns how many."""
    slot, tile, flags = room.slot, room.tile, room.flags
    mask, states, before = slot.size - 1, trails.state, layer.state
    found = 0
    for at in range(layer.start[r], layer.start[r + 1], TILE):
        last = min(at + TILE, layer.start[r + 1])
        step_tile(tables, t, w, before, at, last, tile, flags)
        for j in range(last - at):
            if flags[j] == GONE:
                continue
            i, _ = find_slot(slot, mask, states, tile[j])
            while i >= 0:
                if trails.word[i] < 0 and trails.replaced[i] == after:
                    found += _take_back(layer, at + j, r, w, flags[j], tables.trusted[t], trails, i)
                i = trails.following[i]
    return found


@kernel
def _take_back(layer: Layer, e: int, r: int, w: int, flag: int, trusted: bool, trails: Trails, i: int) -> int:
    """Whether trail i can have come from entry e; if so its counts are those before the step, and its word is known.

    Its state is left alone while others are looked up by theirs; the caller moves it to that of `entry`.
    """
    # The counts that the path had before this step must be counts of the entry.
    wrong = flag == CONTRADICTED
    mis = trails.mis[i] - (1 if wrong and trusted else 0)
    flips = trails.flips[i] - (1 if wrong and not trusted else 0)
    if layer.mis[e] != mis or flips < 0 or not _holds(layer, e, flips):
        return 0
    trails.mis[i], trails.flips[i], trails.replaced[i] = mis, flips, r
    trails.word[i], trails.flag[i], trails.entry[i] = w, flag, e
    return 1


@kernel
def _holds(layer: Layer, e: int, flips: int) -> bool:
    """Whether the count is among those of the entry."""
    if layer.above[e] == flips:
        return True
    k = flips >> 6
    return k < layer.below.shape[1] and (layer.below[e, k] >> np.uint64(flips & 63)) & ONE != np.uint64(0)
