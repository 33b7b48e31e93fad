"""Hypotheses filtered by readings: all states of a Boolean plant bit-sliced, then the few that are left one by one.

Throughout: h is a hypothesis, c a command, y a reading (-1: missing), k the number of readings that a hypothesis
contradicts. After reading i a hypothesis is *beaten* when k has reached `threshold[i]`, and stays beaten. Thresholds
never fall, so a hypothesis is beaten at a contradicted reading or not at all.

The sweep takes the states 64 to a word, in tiles that stay in the cache, each tile through all readings. k is kept
bit-sliced too, shifted by a constant: with p planes the counter holds 2^p - threshold + k, so that reaching the
threshold is the carry out of the last plane, and a threshold that rises is a subtraction. What happens to the counter
of a beaten state does not matter. Words that hold beaten states only are squeezed out of the tile as it goes on, and
its last few states go on one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ascertain.kernels._jit import kernel
from ascertain.kernels.evidence.look_ahead import count_bits
from ascertain.kernels.model.boolean import (
    ALL,
    NONE,
    ONE,
    WordArray,
    apply_command,
    apply_to_slices,
    gates_each,
    transpose_block,
)
from ascertain.kernels.model.boolean_code import Circuit
from ascertain.types import IntArray, LongArray

TILE = 256
"""Words of each slice in a tile; with 24 bits and a few planes they take about 60 kB, which the second cache holds."""
DENSE = 12
"""A word that holds this many states that are not beaten is transposed whole: that takes 192 exchanges, and picking a
state out takes one for each bit and plane."""
MISSING = -1
"""In place of a reading: nothing was read. In place of a command: nothing was done."""
FEW = 2
"""A tile goes on state by state once at most this many of its words are left: they hold few states by then, and a gate
on so short a row costs more than its loop."""


class Steps(NamedTuple):
    """What was done and read on a plant, and the threshold after each reading."""

    circuit: Circuit
    commands: IntArray
    readings: IntArray
    threshold: LongArray


class Listed(NamedTuple):
    """Hypotheses side by side: where each is now, and its count of contradicted readings or its penalty."""

    hypothesis: WordArray
    current: WordArray
    penalty: LongArray


class Room(NamedTuple):
    """What a sweep works in, and writes to; `tile`, `planes`, `word` and `kept` are TILE words wide."""

    tile: WordArray
    """A row for each bit of a state."""
    planes: WordArray
    """A row for each plane of the counters, one for who is left, and one for carries."""
    word: IntArray
    kept: IntArray
    block: WordArray
    """64 words."""
    listed: Listed


@kernel(
    work=lambda steps, room, num_words: (
        num_words * steps.commands.size * (gates_each(steps.circuit.offset) + room.planes.shape[0]) // 3
    )
)
def sweep_states(steps: Steps, room: Room, first_word: int, num_words: int, size: int) -> int:
    """Filter the states 64 first_word .. 64 (first_word + num_words) - 1 and list those left behind the first `size`.

    Returns how many are listed then. Of a plant of fewer than 6 bits the one word holds each state several times; the
    caller keeps the first 2^num_bits.
    """
    circuit, commands, readings, threshold = steps
    gates, offset, tap = circuit
    tile, planes, word, kept, block, listed = room
    hypothesis, current, count = listed
    num_bits, num_planes = tile.shape[0], planes.shape[0] - 2
    last = commands.size
    for low in range(0, num_words, TILE):
        width = min(TILE, num_words - low)
        # Every counter begins at 2^p - threshold, so that the threshold-th contradiction carries out of the last plane.
        fill_tile(tile, num_bits, first_word + low, width)
        _start_planes(planes, num_planes, width, (1 << num_planes) - threshold[0] if last else 0)
        for w in range(width):
            word[w] = low + w
        i = 0
        while i < last:
            # By how much the threshold rose is taken off the counters. They stay at 0 or above, as 2^p is no less than
            # any threshold: 2^p - old + k >= new - old.
            if i > 0 and threshold[i] > threshold[i - 1]:
                _lower_counters(planes, num_planes, width, threshold[i] - threshold[i - 1])
            if commands[i] != MISSING:
                apply_to_slices(gates, offset, commands[i], tile, width)
                if readings[i] != MISSING:
                    _count_contradictions(
                        tile[tap[commands[i]]], ALL if readings[i] else NONE, planes, num_planes, width
                    )
            i += 1
            left = _words_left(planes[num_planes], width)
            # Squeezed only when half of the words are empty: moving the others costs less than going on with all.
            if 2 * left <= width:
                _squeeze(tile, num_bits, planes, num_planes, word, kept, width)
                width = left
                if width <= FEW:
                    break
        # What is left is written down state by state; a counter plus `base` is k again.
        base = threshold[i - 1] - (1 << num_planes) if i else 0
        for w in range(width):
            left = planes[num_planes, w]
            if num_bits + num_planes <= 64 and _is_dense(left):
                _turn_over(tile, num_bits, planes, num_planes, w, block)
                for b in range(64):
                    if (left >> np.uint64(b)) & ONE != NONE:
                        hypothesis[size] = (np.uint64(first_word + word[w]) << np.uint64(6)) | np.uint64(b)
                        current[size] = block[b] & ((ONE << np.uint64(num_bits)) - ONE)
                        count[size] = base + int(block[b] >> np.uint64(num_bits)) if i else 0
                        if i == last:
                            size += 1
                        else:
                            size += _finish(steps, i, size, current, count)
                continue
            while left != NONE:
                b = int(np.int64(count_bits((left & (~left + ONE)) - ONE)))  # the place of its lowest bit
                left &= left - ONE
                hypothesis[size] = (np.uint64(first_word + word[w]) << np.uint64(6)) | np.uint64(b)
                current[size] = np.uint64(_gather(tile, num_bits, w, b))
                count[size] = base + _gather(planes, num_planes, w, b) if i else 0
                size += _finish(steps, i, size, current, count)
    return size


@kernel
def _finish(steps: Steps, start: int, at: int, current: WordArray, count: LongArray) -> int:
    """One state through the readings from `start` on, in place; 1 when it is left after them, 0 when it is beaten."""
    circuit, commands, readings, threshold = steps
    gates, offset, tap = circuit
    state = current[at]
    k = count[at]
    for i in range(start, commands.size):
        c = commands[i]
        if c != MISSING:
            state = apply_command(gates, offset, c, state)
            if readings[i] != MISSING and int((state >> np.uint64(tap[c])) & ONE) != readings[i]:
                k += 1
                if k >= threshold[i]:
                    return 0
    current[at] = state
    count[at] = k
    return 1


@kernel
def fill_tile(tile: WordArray, num_bits: int, first: int, width: int) -> None:
    """The states from 64 first on, bit-sliced. Within a word bit i of the number j is 1 where j >> i is odd."""
    for bit in range(num_bits):
        row = tile[bit]
        # The lowest six bits of a state are its place in the word, the others the number of the word.
        if bit < 6:
            pattern = NONE
            for j in range(64):
                pattern |= np.uint64((j >> bit) & 1) << np.uint64(j)
            for w in range(width):
                row[w] = pattern
        elif (first >> (bit - 6)) == ((first + width - 1) >> (bit - 6)):  # the same in all words of the tile
            pattern = ALL if (first >> (bit - 6)) & 1 else NONE
            for w in range(width):
                row[w] = pattern
        else:
            for w in range(width):
                row[w] = ALL if ((first + w) >> (bit - 6)) & 1 else NONE


@kernel
def _start_planes(planes: WordArray, num_planes: int, width: int, value: int) -> None:
    """Every counter at `value`, every state left."""
    for j in range(num_planes):
        word = ALL if (value >> j) & 1 else NONE
        for w in range(width):
            planes[j, w] = word
    for w in range(width):
        planes[num_planes, w] = ALL


@kernel
def _lower_counters(planes: WordArray, num_planes: int, width: int, by: int) -> None:
    """Subtract from every counter, with borrow from plane to plane; states that are left do not go below zero."""
    borrow = planes[num_planes + 1]
    for w in range(width):
        borrow[w] = NONE
    for j in range(num_planes):
        bit = ALL if (by >> j) & 1 else NONE
        row = planes[j]
        for w in range(width):
            # The full subtractor, for 64 counters at once: it borrows where x < bit + b.
            x, b = row[w], borrow[w]
            row[w] = x ^ bit ^ b
            borrow[w] = (~x & (bit | b)) | (bit & b)


@kernel
def _count_contradictions(tapped: WordArray, read: np.uint64, planes: WordArray, num_planes: int, width: int) -> None:
    """Add one to the counter of every state whose tapped bit is not what was read; a carry out of the last beats it."""
    left = planes[num_planes]
    # Two and three planes, for thresholds up to 4 and 8 as runs begin with: in one pass, carries in registers.
    if num_planes == 2:
        low, high = planes[0], planes[1]
        for w in range(width):
            m = tapped[w] ^ read
            x = low[w]
            y = high[w]
            carry = x & m
            low[w] = x ^ m
            high[w] = y ^ carry
            left[w] &= ~(y & carry)
        return
    if num_planes == 3:
        low, middle, high = planes[0], planes[1], planes[2]
        for w in range(width):
            m = tapped[w] ^ read
            x = low[w]
            y = middle[w]
            z = high[w]
            first = x & m
            second = y & first
            low[w] = x ^ m
            middle[w] = y ^ first
            high[w] = z ^ second
            left[w] &= ~(z & second)
        return
    # Any number of planes: a pass for each, carries in the row that is there for it.
    carries = planes[num_planes + 1]
    add_contradictions(tapped, read, planes, num_planes, width, carries)
    for w in range(width):
        left[w] &= ~carries[w]


@kernel
def add_contradictions(
    tapped: WordArray, read: np.uint64, planes: WordArray, num_planes: int, width: int, carries: WordArray
) -> None:
    """Add one to the count of every state whose tapped bit is not what was read; what the last plane carries is left
    in `carries`."""
    for w in range(width):
        carries[w] = tapped[w] ^ read
    for j in range(num_planes):
        row = planes[j]
        for w in range(width):
            x, carry = row[w], carries[w]
            row[w] = x ^ carry
            carries[w] = x & carry


@kernel
def _words_left(left: WordArray, width: int) -> int:
    """How many words hold a state that is not beaten."""
    number = 0
    for w in range(width):
        number += 1 if left[w] != NONE else 0
    return number


@kernel
def _squeeze(
    tile: WordArray, num_bits: int, planes: WordArray, num_planes: int, word: IntArray, kept: IntArray, width: int
) -> None:
    """Move the words that hold a state that is not beaten to the front; `word[w]` still says where each came from."""
    size = 0
    for w in range(width):
        if planes[num_planes, w] != NONE:
            kept[size] = w
            word[size] = word[w]
            size += 1
    for bit in range(num_bits):
        row = tile[bit]
        for v in range(size):
            row[v] = row[kept[v]]
    for j in range(num_planes + 1):
        row = planes[j]
        for v in range(size):
            row[v] = row[kept[v]]


@kernel
def _turn_over(tile: WordArray, num_bits: int, planes: WordArray, num_planes: int, w: int, block: WordArray) -> None:
    """The 64 states of word w: `block[b]` becomes the b-th of them, with its counter in the bits above."""
    for row in range(64):
        block[row] = NONE
    for bit in range(num_bits):
        block[bit] = tile[bit, w]
    for j in range(num_planes):
        block[num_bits + j] = planes[j, w]
    transpose_block(block)


@kernel
def _is_dense(word: np.uint64) -> bool:
    """Whether so many bits are set that turning the whole word's states over is quicker than picking them out."""
    for _ in range(DENSE):
        if word == NONE:
            return False
        word &= word - ONE
    return True


@kernel
def _gather(rows: WordArray, num_rows: int, w: int, b: int) -> int:
    """The number whose bit j is bit b of `rows[j, w]`."""
    value = 0
    for j in range(num_rows):
        value |= int((rows[j, w] >> np.uint64(b)) & ONE) << j
    return value


@kernel(work=lambda steps, listed: 3 * listed.current.size * steps.commands.size * gates_each(steps.circuit.offset))
def filter_states(steps: Steps, listed: Listed) -> int:
    """Listed states through further readings; those left move to the front, in order. Returns how many they are."""
    # The loop of `_finish` again, on purpose: a call with all these arrays for every state takes four times as long.
    circuit, commands, readings, threshold = steps
    gates, offset, tap = circuit
    hypothesis, current, count = listed
    size = 0
    for j in range(hypothesis.size):
        state, k, beaten = current[j], count[j], False
        for i in range(commands.size):
            c = commands[i]
            if c == MISSING:
                continue
            state = apply_command(gates, offset, c, state)
            if readings[i] != MISSING and int((state >> np.uint64(tap[c])) & ONE) != readings[i]:
                k += 1
                if k >= threshold[i]:
                    beaten = True
                    break
        if not beaten:
            hypothesis[size] = hypothesis[j]
            current[size] = state
            count[size] = k
            size += 1
    return size


@kernel(work=lambda listed: 2 * listed.current.size)
def filter_laws(
    successor: IntArray, law: IntArray, action: int, cost: LongArray, threshold: int, listed: Listed
) -> int:
    """Listed states of a machine through one reading; those left move to the front, in order. Returns how many.

    `cost[k]` is the penalty of the reading under law k, -1 where the law never gives it. A state is beaten when its
    penalty reaches the threshold.
    """
    hypothesis, current, penalty = listed
    size = 0
    for j in range(hypothesis.size):
        # Every state that is listed allows the action, so that its law is a row of `cost`. Penalties are rounded down
        # and the threshold up: what reaches it is beaten.
        s = current[j]
        c = cost[law[s, action]]
        total = penalty[j] + c
        if c >= 0 and total < threshold:
            hypothesis[size] = hypothesis[j]
            current[size] = np.uint64(successor[s, action])
            penalty[size] = total
            size += 1
    return size
