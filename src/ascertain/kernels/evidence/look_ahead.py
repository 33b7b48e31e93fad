"""What words of commands would leave of the rivals on a Boolean plant, many words side by side.

Throughout: b is a word that has been followed so far, after which the believed state is `reference[b]` and rival j is
in `current[b, j]`; i is a command to come next. A rival that differs from the reference in d bits and must be
contradicted k times more counts for `value[(k + 1) * width + d]`, where rows of the table have the given width. Rows 0
and 1 are zero, for beaten rivals, so that no branch tells these apart; and `row[b, j]` is where the row of rival j
begins. Values are integers, which add up to the same total in every order. Places are unsigned, so that compiled code
need not look for negative ones.
"""

from __future__ import annotations

import numpy as np

from ascertain.kernels._jit import kernel
from ascertain.kernels.model.boolean import ONE, WordArray, apply_command, gates_each, run_states
from ascertain.types import IntArray, LongArray

PAIRS = np.uint64(0x5555555555555555)
"""Every second bit."""
NIBBLES = np.uint64(0x3333333333333333)
"""Two bits of every four."""
BYTES = np.uint64(0x0F0F0F0F0F0F0F0F)
"""Four bits of every eight."""
LAST = np.uint64(0x7F)
"""The last byte of a word, as far as a number of bits can fill it."""


@kernel
def count_bits(word: np.uint64) -> np.uint64:
    """How many bits are set: those of pairs added up, then of four, then of bytes. No branch, to be vectorised."""
    word = word - ((word >> np.uint64(1)) & PAIRS)
    word = (word & NIBBLES) + ((word >> np.uint64(2)) & NIBBLES)
    word = (word + (word >> np.uint64(4))) & BYTES
    word = word + (word >> np.uint64(8))
    word = word + (word >> np.uint64(16))
    word = word + (word >> np.uint64(32))
    return word & LAST


@kernel(work=lambda offset, actions, current: actions.size * current.size * (2 + gates_each(offset)))
def weigh_words(
    gates: IntArray,
    offset: IntArray,
    tap: IntArray,
    actions: IntArray,
    reference: WordArray,
    current: WordArray,
    row: WordArray,
    width: int,
    value: LongArray,
    left: LongArray,
    room: WordArray,
) -> None:
    """`left[b, i]` becomes what the rivals count for after word b and `actions[i]`, read as the reference foresees.

    `room` is for as many states as there are rivals.
    """
    step = np.uint64(width)
    for b in range(reference.size):
        rows = row[b]
        for i in range(actions.size):
            a = actions[i]
            bit = np.uint64(tap[a])
            after = apply_command(gates, offset, a, reference[b])
            for j in range(room.size):
                room[j] = current[b, j]
            run_states(gates, offset, room, actions[i : i + 1])
            for j in range(room.size):
                differ = room[j] ^ after
                room[j] = rows[j] + count_bits(differ) - step * ((differ >> bit) & ONE)
            total = 0
            for j in range(room.size):
                total += value[room[j]]
            left[b, i] = total


@kernel(work=lambda offset, word, current: word.size * current.shape[1] * (2 + gates_each(offset)))
def follow_words(
    gates: IntArray,
    offset: IntArray,
    tap: IntArray,
    word: IntArray,
    action: IntArray,
    reference: WordArray,
    current: WordArray,
    row: WordArray,
    width: int,
    next_reference: WordArray,
    next_current: WordArray,
    next_row: WordArray,
) -> None:
    """Word `word[v]` and then `action[v]`, for each v: where reference and rivals go, and their rows then."""
    step = np.uint64(width)
    for v in range(word.size):
        b = int(word[v])
        a = action[v]
        bit = np.uint64(tap[a])
        after = apply_command(gates, offset, a, reference[b])
        next_reference[v] = after
        moved = next_current[v]
        for j in range(moved.size):
            moved[j] = current[b, j]
        run_states(gates, offset, moved, action[v : v + 1])
        for j in range(moved.size):
            beaten = row[b, j] == step  # and stays in the row that it is in
            contradicted = ((moved[j] ^ after) >> bit) & ONE
            next_row[v, j] = row[b, j] if beaten else row[b, j] - step * contradicted
