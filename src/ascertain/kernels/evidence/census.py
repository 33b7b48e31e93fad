"""How many readings every state of a Boolean plant contradicts, bit-sliced, and how many states share each count.

Throughout: states are taken 64 to a word, words in *tiles*. `slices[t, i]` is bit i of the states of tile t, and
`planes[t, j]` is bit j of their counts of contradicted readings. Nothing is beaten here: all states are candidates, and
a candidate counts for the evidence to the end. In a plant of fewer than 6 bits the one word holds each state several
times; `present` marks those that count.
"""

from __future__ import annotations

import numpy as np

from ascertain.kernels._jit import kernel
from ascertain.kernels.evidence.look_ahead import count_bits
from ascertain.kernels.evidence.worlds import MISSING, Steps, add_contradictions, fill_tile
from ascertain.kernels.model.boolean import ALL, NONE, ONE, apply_to_slices, gates_each
from ascertain.types import LongArray, WordArray


@kernel(
    work=lambda steps, slices, planes, many: (
        slices.shape[0]
        * slices.shape[2]
        * (steps.commands.size * (gates_each(steps.circuit.offset) + planes.shape[1]) + 3 * many.size)
    )
)
def count_states(
    steps: Steps,
    slices: WordArray,
    planes: WordArray,
    first_word: int,
    fresh: bool,
    present: np.uint64,
    room: WordArray,
    many: LongArray,
) -> None:
    """Every state of the tiles through further steps; `many[k]` grows by how many were contradicted k times in all.

    `fresh`: the tiles begin with the states from 64 first_word on, before any reading. `room` is for a row more than
    there are planes. Counts beyond `many` do not occur; without room in it nothing is counted, only done.
    """
    circuit, commands, readings, _ = steps
    gates, offset, tap = circuit
    num_tiles, num_bits, width = slices.shape
    num_planes = planes.shape[1]
    for t in range(num_tiles):
        tile, counts = slices[t], planes[t]
        if fresh:
            fill_tile(tile, num_bits, first_word + t * width, width)
            counts[:] = NONE
        for i in range(commands.size):
            if commands[i] == MISSING:
                continue
            apply_to_slices(gates, offset, commands[i], tile, width)
            if readings[i] != MISSING:
                read = ALL if readings[i] else NONE
                add_contradictions(tile[tap[commands[i]]], read, counts, num_planes, width, room[0])
        _count_each(counts, num_planes, present, room, many)


@kernel
def _count_each(planes: WordArray, num_planes: int, present: np.uint64, room: WordArray, many: LongArray) -> None:
    """Add to `many[k]` how many states have count k.

    The counts are the leaves of a binary tree over the planes, the highest first: row j of `room` marks the states that
    agree with k in the planes from j on. From one k to the next only the rows below the highest bit that changes are
    made again, two in the mean.
    """
    root = room[num_planes]
    for w in range(root.size):
        root[w] = present
    for k in range(many.size):
        changed = num_planes - 1
        if k > 0:
            changed = 0
            while (k >> changed) & 1 == 0:
                changed += 1
        for j in range(changed, -1, -1):
            above, row, plane = room[j + 1], room[j], planes[j]
            flip = NONE if (k >> j) & 1 else ALL
            for w in range(row.size):
                row[w] = above[w] & (plane[w] ^ flip)
        leaf = room[0]
        total = NONE
        for w in range(leaf.size):
            total += count_bits(leaf[w])
        many[k] += np.int64(total)


@kernel(work=lambda planes: planes.size)
def list_counts(
    planes: WordArray, first_word: int, low: int, high: int, present: np.uint64, listed: WordArray, size: int
) -> int:
    """List the states of the tiles whose count is at least `low` and less than `high` behind the first `size`.

    Stops where the list is full. Returns how many are listed then.
    """
    num_tiles, num_planes, width = planes.shape
    for t in range(num_tiles):
        for w in range(width):
            # Less than a constant, bit by bit from the lowest: x < c where c has the bit and x has not, or both agree
            # there and it holds for the bits below.
            less, least = NONE, NONE
            for j in range(num_planes):
                x = ~planes[t, j, w]
                less = (x | less) if (high >> j) & 1 else (x & less)
                least = (x | least) if (low >> j) & 1 else (x & least)
            if high >> num_planes:
                less = ALL
            found = less & ~least & present
            while found != NONE:
                if size == listed.size:
                    return size
                bit = found & (~found + ONE)
                found ^= bit
                place = count_bits(bit - ONE)
                listed[size] = (np.uint64(first_word + t * width + w) << np.uint64(6)) | place
                size += 1
    return size
