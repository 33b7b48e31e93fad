"""Boolean plants run on arrays: states as they are, or bit-sliced, 64 to a word, which is by far the quickest.

*Slices* hold bit i of every state in row i: bit j of `slices[i, w]` is bit i of state 64 w + j. Readings are without
noise throughout.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ascertain.errors import ModelError
from ascertain.kernels._jit import kernel
from ascertain.kernels.model.boolean import (
    ALL,
    NONE,
    ONE,
    BitArray,
    apply_command,
    apply_to_slices,
    run_states,
    transpose_block,
)
from ascertain.model.boolean import BooleanPlant
from ascertain.types import Action, IntArray, WordArray

SLICE_TILE = 128
"""Words of each slice that go through a whole word of commands together; with 24 bits they take 24 kB."""


def simulate_states(
    plant: BooleanPlant, states: WordArray, commands: Sequence[Action] | IntArray
) -> tuple[WordArray, BitArray]:
    """Where each state ends after the commands, and `readings[i, j]`, what state j shows at command i."""
    after = _as_states(plant, states)
    word = _as_word(plant, commands)
    readings = np.empty((word.size, after.size), dtype=np.uint8)
    for i, c in enumerate(word):
        run_states(plant.gates, plant.offset, after, word[i : i + 1])
        readings[i] = after >> np.uint64(plant.tap[c]) & ONE
    return after, readings


def simulate_slices(
    plant: BooleanPlant, slices: WordArray, commands: Sequence[Action] | IntArray
) -> tuple[WordArray, WordArray]:
    """The slices after the commands, and `readings[i]`, the slice of what the states show at command i."""
    if slices.dtype != np.uint64 or slices.ndim != 2 or len(slices) != plant.num_bits:
        raise ModelError(f"slices must be {plant.num_bits} rows of uint64; they are {slices.dtype} {slices.shape}")
    after = np.array(slices, order="C")
    word = _as_word(plant, commands)
    readings = np.empty((word.size, after.shape[1]), dtype=np.uint64)
    tile = np.empty((plant.num_bits, SLICE_TILE), dtype=np.uint64)
    run_slices(plant.gates, plant.offset, plant.tap, after, word, readings, tile)
    return after, readings


def to_slices(states: WordArray, num_bits: int) -> WordArray:
    """The states bit-sliced; the last word is filled up with states 0."""
    slices = np.empty((num_bits, -(-states.size // 64)), dtype=np.uint64)
    slice_states(np.ascontiguousarray(states, dtype=np.uint64), slices, np.empty(64, dtype=np.uint64))
    return slices


def from_slices(slices: WordArray, num_states: int) -> WordArray:
    """The first `num_states` states that the slices hold."""
    if not 0 <= num_states <= 64 * slices.shape[1]:
        raise ModelError(f"{slices.shape[1]} words hold {64 * slices.shape[1]} states; {num_states} were asked for")
    states = np.empty(num_states, dtype=np.uint64)
    words = np.ascontiguousarray(slices[:, : -(-num_states // 64)])
    join_slices(words, states, np.empty(64, dtype=np.uint64))
    return states


def slice_all(num_bits: int, first_word: int = 0, num_words: int | None = None) -> WordArray:
    """All states of a plant bit-sliced, or `num_words` words of them from `first_word` on."""
    total = max(1, (1 << num_bits) // 64)
    slices = np.empty((num_bits, total if num_words is None else num_words), dtype=np.uint64)
    fill_slices(slices, first_word)
    return slices


def _as_states(plant: BooleanPlant, states: WordArray) -> WordArray:
    """A copy that may be written on."""
    if states.dtype != np.uint64 or states.ndim != 1:
        raise ModelError(f"states must be a row of uint64; they are {states.dtype} {states.shape}")
    if states.size and int(states.max()) >> plant.num_bits:
        raise ModelError(f"a state is {int(states.max())}; {plant.num_bits} bits were expected")
    return np.array(states, order="C")


def _as_word(plant: BooleanPlant, commands: Sequence[Action] | IntArray) -> IntArray:
    word = np.ascontiguousarray(commands, dtype=np.int32)
    if word.ndim != 1 or (word.size and not (int(word.min()) >= 0 and int(word.max()) < plant.num_actions)):
        raise ModelError(f"commands must be a row of numbers in 0 .. {plant.num_actions - 1}")
    return word


@kernel
def run_state(
    gates: IntArray, offset: IntArray, tap: IntArray, state: np.uint64, commands: IntArray, readings: BitArray
) -> np.uint64:
    """One state after a word of commands; `readings[i]` becomes the bit tapped after command i."""
    for i in range(commands.size):
        c = commands[i]
        state = apply_command(gates, offset, c, state)
        readings[i] = (state >> np.uint64(tap[c])) & ONE
    return state


@kernel
def run_slices(
    gates: IntArray,
    offset: IntArray,
    tap: IntArray,
    slices: WordArray,
    commands: IntArray,
    readings: WordArray,
    tile: WordArray,
) -> None:
    """Every sliced state, in place, through a word of commands; `readings[i]` becomes the slice tapped at command i.

    `readings` may have no rows. `tile` is room for a row of SLICE_TILE words for each bit: rows of the slices
    themselves lie a power of two apart and would push each other out of the cache.
    """
    num_bits, num_words = slices.shape
    for low in range(0, num_words, SLICE_TILE):
        width = min(SLICE_TILE, num_words - low)
        for bit in range(num_bits):
            for w in range(width):
                tile[bit, w] = slices[bit, low + w]
        for i in range(commands.size):
            c = commands[i]
            apply_to_slices(gates, offset, c, tile, width)
            if readings.shape[0] > 0:
                for w in range(width):
                    readings[i, low + w] = tile[tap[c], w]
        for bit in range(num_bits):
            for w in range(width):
                slices[bit, low + w] = tile[bit, w]


@kernel
def join_slices(slices: WordArray, states: WordArray, block: WordArray) -> None:
    """Fill `states` from slices; the inverse of `slice_states`."""
    num_bits, num_words = slices.shape
    for w in range(num_words):
        for bit in range(64):
            block[bit] = slices[bit, w] if bit < num_bits else NONE
        transpose_block(block)
        for j in range(min(64, states.size - 64 * w)):
            states[64 * w + j] = block[j]


@kernel
def fill_slices(slices: WordArray, first: int) -> None:
    """Fill slices with the states 64 first, 64 first + 1, ...: all states of a plant, when they begin at 0."""
    num_bits, num_words = slices.shape
    for bit in range(num_bits):
        if bit < 6:
            # Within a word bit i of the number j is 1 where j >> i is odd: 0xAAAA... for i = 0, 0xCCCC... for 1.
            pattern = NONE
            for j in range(64):
                pattern |= np.uint64((j >> bit) & 1) << np.uint64(j)
            for w in range(num_words):
                slices[bit, w] = pattern
        else:
            for w in range(num_words):
                slices[bit, w] = ALL if ((first + w) >> (bit - 6)) & 1 else NONE


@kernel
def slice_states(states: WordArray, slices: WordArray, block: WordArray) -> None:
    """Fill `slices` from states; what is left over in the last word is zero. `block` is room for 64 words."""
    num_bits, num_words = slices.shape
    for w in range(num_words):
        for j in range(64):
            at = 64 * w + j
            block[j] = states[at] if at < states.size else NONE
        transpose_block(block)
        for bit in range(num_bits):
            slices[bit, w] = block[bit]
