"""Steps of an operation: states through whatever may have been done at one position of the log.

Throughout: t is a position, c a command, r the number of replacements so far, and w a *word*, by its number: word c is
the command c alone, and those from `alternative[c]` to `alternative[c + 1]` are what may have been done in its place.
The commands of word w are `commands[word[w] : word[w + 1]]`.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ascertain.kernels._jit import kernel
from ascertain.kernels.model.boolean import LOW_HALF, ONE, WordArray, apply_command, gates_each, run_states
from ascertain.types import BoolArray, IntArray

FITS, CONTRADICTED, GONE = 0, 1, 2
"""What a step makes of the reading: not contradicted, contradicted, or no step because a command is not defined."""
TILE = 1024
"""States that go through a word together: 8 kB of them and their flags stay in the first cache."""
HASH_LOW = np.uint64(0x9E3779B1)
"""2^32 over the golden ratio, a prime: multiples of it are spread evenly (Knuth's multiplicative hashing)."""
HASH_HIGH = np.uint64(0x85EBCA6B)
"""Another odd multiplier, of MurmurHash3, so that equal halves of a state do not cancel."""
HALF = np.uint64(32)
"""Shifts the upper half of a state down."""
LOW_31 = np.uint64(2**31 - 1)
"""A hash has 31 bits, so that it is not negative in any integer type."""
FlagArray: TypeAlias = npt.NDArray[np.uint8]
"""What became of the reading of each state of a tile, one to a byte."""


class Tables(NamedTuple):
    """An operation as kernels see it. On a machine the arrays of a Boolean plant are empty, and the other way round."""

    is_boolean: bool
    gates: IntArray
    offset: IntArray
    tap: IntArray
    successor: IntArray
    behaviour: IntArray
    likely: BoolArray
    """`likely[behaviour, y]`: whether y is among the likeliest readings. No rows: the behaviour is the reading."""
    sent: IntArray
    readings: IntArray
    trusted: BoolArray
    alternative: IntArray
    word: IntArray
    commands: IntArray


def step_work(tables: Tables) -> int:
    """What leading a state over a position, by every word in the mean, takes in passes of innermost loops."""
    words = tables.word.size / max(tables.alternative.size - 1, 1)
    return int(words * (5 + (gates_each(tables.offset) if tables.is_boolean else 1)))


@kernel
def step_word(tables: Tables, t: int, w: int, state: np.uint64) -> tuple[np.uint64, int]:
    """One state after word w at position t, and what becomes of the reading there."""
    y = tables.readings[t]
    begin, end = tables.word[w], tables.word[w + 1]
    if tables.is_boolean:
        for i in range(begin, end):
            state = apply_command(tables.gates, tables.offset, tables.commands[i], state)
        shown = np.int64((state >> np.uint64(tables.tap[tables.sent[t]])) & ONE)
        return state, CONTRADICTED if y >= 0 and shown != y else FITS
    s, flag = np.int64(state), FITS
    for i in range(begin, end):
        c = tables.commands[i]
        if tables.successor[s, c] < 0:
            return state, GONE
        # On a machine it is the output of the last command done that is read; for the empty word, nothing.
        if i == end - 1 and y >= 0:
            flag = _contradicts(tables, tables.behaviour[s, c], y)
        s = np.int64(tables.successor[s, c])
    return np.uint64(s), flag


@kernel
def step_tile(
    tables: Tables, t: int, w: int, source: WordArray, first: int, last: int, tile: WordArray, flags: FlagArray
) -> None:
    """`step_word` for the states of `source` from `first` on, before `last`: at most TILE, which `tile` has room for.

    A loop copies states, as assigning slices takes seconds to compile.
    """
    states = tile[: last - first]
    for j in range(last - first):
        states[j] = source[first + j]
    if not tables.is_boolean:
        for j in range(states.size):
            state, flag = step_word(tables, t, w, states[j])
            states[j] = state
            flags[j] = flag
        return
    word = tables.commands[tables.word[w] : tables.word[w + 1]]
    run_states(tables.gates, tables.offset, states, word)
    y = tables.readings[t]
    bit = np.uint64(tables.tap[tables.sent[t]])
    if y < 0:
        flags[: states.size] = FITS
    else:
        wanted = np.uint64(y)
        for j in range(states.size):
            flags[j] = np.uint8(((states[j] >> bit) & ONE) ^ wanted)


@kernel(work=lambda tables: 10 * tables.sent.size)
def run_log(tables: Tables, state: np.uint64) -> tuple[np.uint64, int]:
    """Where the log as sent leads, and how many of its commands were done before one was not defined."""
    for t in range(tables.sent.size):
        state, flag = step_word(tables, t, int(np.int64(tables.sent[t])), state)
        if flag == GONE:
            return state, t
    return state, tables.sent.size


@kernel
def word_length(tables: Tables, w: int) -> int:
    """How many commands word w has: the model steps that it takes."""
    return int(tables.word[w + 1]) - int(tables.word[w])


@kernel
def hash_state(state: np.uint64) -> int:
    """31 bits. Halves of a state are multiplied apart, so that nothing overflows."""
    mixed = ((state & LOW_HALF) * HASH_LOW) ^ ((state >> HALF) * HASH_HIGH)
    return int(np.int64(((mixed >> HALF) ^ (mixed >> np.uint64(17))) & LOW_31))


@kernel
def find_slot(slot: IntArray, mask: int, states: WordArray, state: np.uint64) -> tuple[int, int]:
    """The entry of a state in a table of slots, or -1, and its slot, or the free one where it belongs."""
    # Linear probing: at most half of the slots are taken, so that a free one is always met.
    h = hash_state(state) & mask
    e = slot[h]
    while e >= 0 and states[e] != state:
        h = (h + 1) & mask
        e = slot[h]
    return e, h


@kernel
def _contradicts(tables: Tables, behaviour: int, y: int) -> int:
    if tables.likely.shape[0] == 0:
        return FITS if behaviour == y else CONTRADICTED
    return FITS if tables.likely[behaviour, y] else CONTRADICTED
