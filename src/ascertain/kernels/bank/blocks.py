"""Blocks of paths: of a Boolean plant bit-sliced, 64 to a word; of a machine in lists, one by one.

Of every path a block holds the state and both counts of contradicted readings.

A *sliced* block is rows of words. Bit j of word w belongs to path 64 w + j: in row i, bit i of its state; in the rows
after those, the binary digits, least first, of its `mis`, and then of its flips. Digits are added to by rippling the
carry, 64 paths at once. What the last word holds beyond the last path does not matter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ascertain.kernels._jit import kernel
from ascertain.kernels.bank.best import Best, distance, pack, record
from ascertain.kernels.bank.steps import CONTRADICTED, GONE, Tables, step_word, step_work
from ascertain.kernels.model.boolean import ALL, NONE, ONE, WordArray, apply_to_slices, gates_each, transpose_block
from ascertain.types import IntArray


class Shape(NamedTuple):
    """How many rows of a sliced block are bits of states, and how many digits of `mis`; the others are of flips."""

    num_bits: int
    mis_rows: int


@kernel(work=lambda tables, width, first, last: (last - first) * width * gates_each(tables.offset))
def run_block(tables: Tables, shape: Shape, block: WordArray, width: int, first: int, last: int) -> None:
    """The first `width` words of a block, in place, through the commands sent from position `first` to `last`."""
    for t in range(first, last):
        apply_to_slices(tables.gates, tables.offset, tables.sent[t], block, width)
        _count_reading(tables, shape, block, width, t)


@kernel(work=lambda tables, width, t, last: (1 + last - t) * width * gates_each(tables.offset))
def replace_block(
    tables: Tables, shape: Shape, source: WordArray, width: int, t: int, w: int, last: int, target: WordArray
) -> None:
    """`target` becomes the first `width` words of `source` after word w at position t, and what was sent up to `last`.

    `last` is the position after the last that is run.
    """
    for row in range(source.shape[0]):
        for i in range(width):
            target[row, i] = source[row, i]
    for i in range(tables.word[w], tables.word[w + 1]):
        apply_to_slices(tables.gates, tables.offset, tables.commands[i], target, width)
    _count_reading(tables, shape, target, width, t)
    run_block(tables, shape, target, width, t + 1, last)


@kernel(work=lambda tables, root: root.shape[0] * step_work(tables) // 4)
def append_children(
    tables: Tables, shape: Shape, root: WordArray, t: int, block: WordArray, paths: int, one: WordArray
) -> int:
    """Append to a block the first path of `root` after every alternative at position t; how many there are then."""
    c = tables.sent[t]
    # Widths and words as everywhere else, so that `replace_block` is not compiled apart for these.
    for w in range(np.int64(tables.alternative[c]), np.int64(tables.alternative[c + 1])):
        replace_block(tables, shape, root, one.shape[1], t, w, t + 1, one)
        # Path number `paths` is bit paths % 64 of word paths // 64, in every row.
        bit = np.uint64(paths & 63)
        for row in range(block.shape[0]):
            rest = block[row, paths >> 6] & ~(ONE << bit)
            block[row, paths >> 6] = rest | ((one[row, 0] & ONE) << bit)
        paths += 1
    return paths


@kernel(work=lambda paths: 20 * paths)
def record_block(
    block: WordArray, paths: int, shape: Shape, so: int, low: int, high: int, pair: WordArray, best: Best
) -> bool:
    """Note where all paths of a block end; False when there was no room for all. `pair` is room for two by 64 words."""
    # Two transpositions turn rows into paths: one gives the 64 states of a word, the other both counts of each, `mis`
    # in the lower bits. There is room: states have at most 64 bits, and counts of 10^6 readings at most 20 each.
    states, counts = pair[0], pair[1]
    num_bits, mis_rows = shape
    digits = (ONE << np.uint64(mis_rows)) - ONE
    for i in range((paths + 63) >> 6):
        for row in range(64):
            states[row] = block[row, i] if row < num_bits else NONE
            counts[row] = block[num_bits + row, i] if num_bits + row < block.shape[0] else NONE
        transpose_block(states)
        transpose_block(counts)
        for j in range(min(64, paths - 64 * i)):
            mis = int(np.int64(counts[j] & digits))
            flips = int(np.int64(counts[j] >> np.uint64(mis_rows)))
            if not record(best, states[j], pack(mis, so, distance(flips, low, high))):
                return False
    return True


@kernel
def _count_reading(tables: Tables, shape: Shape, block: WordArray, width: int, t: int) -> None:
    """Count the reading of position t for the paths that contradict it."""
    y = tables.readings[t]
    if y < 0:
        return
    num_bits, mis_rows = shape
    # The tap is that of the sent command, whatever was done in its place (`bank/operation.py`).
    tap = block[tables.tap[tables.sent[t]]]
    right = ALL if y else NONE
    first = num_bits if tables.trusted[t] else num_bits + mis_rows
    last = num_bits + mis_rows if tables.trusted[t] else block.shape[0]
    for i in range(width):
        carry = tap[i] ^ right  # the paths that contradict it; one is added to their digits
        for row in range(first, last):
            if carry == NONE:
                break
            digit = block[row, i]
            block[row, i] = digit ^ carry
            carry &= digit


class Paths(NamedTuple):
    """Room for paths of a machine; how many there are stands elsewhere."""

    state: WordArray
    mis: IntArray
    flips: IntArray


@kernel(work=lambda size: 10 * size)
def move_paths(tables: Tables, source: Paths, size: int, t: int, w: int, target: Paths, end: int) -> int:
    """Append to the first `end` paths of `target` those of `source` after word w at position t; the new end.

    Paths on which the word is not defined are left out. With `end` 0 the target may be the source itself.
    """
    for i in range(size):
        state, flag = step_word(tables, t, w, source.state[i])
        if flag == GONE:
            continue
        wrong = flag == CONTRADICTED
        target.mis[end] = source.mis[i] + (1 if wrong and tables.trusted[t] else 0)
        target.flips[end] = source.flips[i] + (1 if wrong and not tables.trusted[t] else 0)
        target.state[end] = state
        end += 1
    return end


@kernel(work=lambda size: 10 * size)
def record_paths(paths: Paths, size: int, so: int, low: int, high: int, best: Best) -> bool:
    """Note where all paths end; False when there was no room for all."""
    room = True
    for i in range(size):
        score = pack(paths.mis[i], so, distance(paths.flips[i], low, high))
        room = room and record(best, paths.state[i], score)
    return room
