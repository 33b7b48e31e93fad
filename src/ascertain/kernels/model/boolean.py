"""Boolean plants simulated: one state, many states, and many states bit-sliced, 64 to a word.

Throughout: `gates`, `offset` and `tap` are a plant's arrays; t is a gate's target, a and b are its sources; c is a
command. Of *slices*, row i holds bit i of every state: bit j of `slices[i, w]` is bit i of state 64 w + j, so that one
word operation does a gate for 64 states. Slices and arrays of states are worked on in tiles that stay in the cache,
whole words of commands at a time. Shifts want both sides unsigned: Numba makes a float of an unsigned and a signed.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ascertain.kernels._jit import kernel
from ascertain.kernels.model.boolean_code import AND, CLEAR, CNOT, COPY, NOT, OR, SET, TOFFOLI, XOR
from ascertain.types import IntArray, WordArray

BitArray: TypeAlias = npt.NDArray[np.uint8]
"""Readings, one to a byte."""

ONE = np.uint64(1)
"""Unsigned, as whatever is shifted or masked must be."""
NONE = np.uint64(0)
"""A word of a slice in which the bit of every state is 0."""
ALL = np.uint64(2**64 - 1)
"""A word of a slice in which the bit of every state is 1."""
LOW_HALF = np.uint64(2**32 - 1)
"""The lower half of a word."""
STATE_TILE = 1024
"""States that go through a whole word of commands together: their 8 kB stay in the first cache."""


def gates_each(offset: IntArray) -> int:
    """How many gates a command has in the mean, and one more for the reading: passes of a loop over gates."""
    return 1 + int(offset[-1]) // max(offset.size - 1, 1)


@kernel
def apply_command(gates: IntArray, offset: IntArray, c: int, state: np.uint64) -> np.uint64:
    """One state after the gates of command c."""
    for g in range(offset[c], offset[c + 1]):
        op = gates[g, 0]
        t = np.uint64(gates[g, 1])
        x = (state >> np.uint64(gates[g, 2])) & ONE
        y = (state >> np.uint64(gates[g, 3])) & ONE
        if op == CNOT:
            state ^= x << t
        elif op == TOFFOLI:
            state ^= (x & y) << t
        elif op == NOT:
            state ^= ONE << t
        else:
            state &= ~(ONE << t)
            if op == AND:
                state |= (x & y) << t
            elif op == OR:
                state |= (x | y) << t
            elif op == XOR:
                state |= (x ^ y) << t
            elif op == COPY:
                state |= x << t
            elif op == SET:
                state |= ONE << t
    return state


@kernel(work=lambda offset, states, commands: states.size * commands.size * gates_each(offset))
def run_states(gates: IntArray, offset: IntArray, states: WordArray, commands: IntArray) -> None:
    """Every state, in place, through a word of commands."""
    for low in range(0, states.size, STATE_TILE):
        tile = states[low : min(low + STATE_TILE, states.size)]
        for i in range(commands.size):
            c = commands[i]
            for g in range(offset[c], offset[c + 1]):
                _gate_on_states(gates[g, 0], gates[g, 1], gates[g, 2], gates[g, 3], tile)


@kernel
def _gate_on_states(op: int, target: int, source: int, other: int, states: WordArray) -> None:
    """One gate on every state. Each loop is branch-free, so that it is vectorised."""
    t, a, b = np.uint64(target), np.uint64(source), np.uint64(other)
    bit = ONE << t
    kept = ~bit
    if op == AND:
        for j in range(states.size):
            s = states[j]
            states[j] = (s & kept) | ((((s >> a) & (s >> b)) & ONE) << t)
    elif op == OR:
        for j in range(states.size):
            s = states[j]
            states[j] = (s & kept) | ((((s >> a) | (s >> b)) & ONE) << t)
    elif op == XOR:
        for j in range(states.size):
            s = states[j]
            states[j] = (s & kept) | ((((s >> a) ^ (s >> b)) & ONE) << t)
    elif op == COPY:
        for j in range(states.size):
            s = states[j]
            states[j] = (s & kept) | (((s >> a) & ONE) << t)
    elif op == CNOT:
        for j in range(states.size):
            s = states[j]
            states[j] = s ^ (((s >> a) & ONE) << t)
    elif op == TOFFOLI:
        for j in range(states.size):
            s = states[j]
            states[j] = s ^ ((((s >> a) & (s >> b)) & ONE) << t)
    elif op == NOT:
        for j in range(states.size):
            states[j] ^= bit
    elif op == SET:
        for j in range(states.size):
            states[j] |= bit
    elif op == CLEAR:
        for j in range(states.size):
            states[j] &= kept


@kernel
def apply_to_slices(gates: IntArray, offset: IntArray, c: int, slices: WordArray, width: int) -> None:
    """The first `width` words of every slice after the gates of command c."""
    for g in range(offset[c], offset[c + 1]):
        op = gates[g, 0]
        t, a, b = slices[gates[g, 1]], slices[gates[g, 2]], slices[gates[g, 3]]
        if op == AND:
            for w in range(width):
                t[w] = a[w] & b[w]
        elif op == OR:
            for w in range(width):
                t[w] = a[w] | b[w]
        elif op == XOR:
            for w in range(width):
                t[w] = a[w] ^ b[w]
        elif op == COPY:
            for w in range(width):
                t[w] = a[w]
        elif op == CNOT:
            for w in range(width):
                t[w] ^= a[w]
        elif op == TOFFOLI:
            for w in range(width):
                t[w] ^= a[w] & b[w]
        elif op == NOT:
            for w in range(width):
                t[w] = ~t[w]
        elif op == SET:
            for w in range(width):
                t[w] = ALL
        elif op == CLEAR:
            for w in range(width):
                t[w] = NONE


@kernel
def transpose_block(block: WordArray) -> None:
    """Swap bit j of word i with bit i of word j, for all i and j below 64.

    In six rounds: blocks of 32 words by 32 bits are exchanged across the diagonal, then blocks of 16 within each
    quarter, and so on down to single bits.
    """
    width = 32
    low = LOW_HALF
    for _ in range(6):
        shift = np.uint64(width)
        for i in range(64):
            if i & width == 0:
                differ = ((block[i] >> shift) ^ block[i + width]) & low
                block[i + width] ^= differ
                block[i] ^= differ << shift
        width >>= 1
        low ^= low << np.uint64(width)
