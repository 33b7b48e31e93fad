"""D of all small sets of states, exactly, and the bound that they give for larger ones.

Throughout: R is a set of m states, 3 <= m <= `most`. A subset never costs more than the whole, so a configuration costs
at least D(R) for each R among its members whose labels are all different (in a task about the current state: for each
R). Sets of m states s_1 < ... < s_m are ranked by the sum over i of binomial(s_i, i); sizes follow one another in one
table, which starts INFINITE and falls, sweep after sweep, until it solves the recursion: every entry stands for a
policy, costs are positive, so what is left at the end is D.
"""

from __future__ import annotations

from typing import NamedTuple

from ascertain.kernels._jit import kernel
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.types import IntArray, LongArray

NEVER = 2**31 - 1
"""Infinite, in a table of 32 bits."""
MOST_CHOICES = 6_000
"""A configuration is searched for its dearest set of m members only if it has at most this many of them."""


class Subsets(NamedTuple):
    """Values of small sets; `most` is 2 where there are none."""

    most: int
    first: LongArray
    """`first[m]` is where the sets of size m begin in `value`."""
    binomial: LongArray
    """`binomial[s, i]`, for i up to `most`."""
    value: IntArray


@kernel(work=lambda cost, subsets, m: (subsets.value.size - subsets.first[m]) * cost.size * m)
def sweep_subsets(
    successor: IntArray,
    reading: IntArray,
    cost: LongArray,
    distance: LongArray,
    state_label: IntArray,
    subsets: Subsets,
    m: int,
    settled: int,
    chosen: IntArray,
    key: LongArray,
) -> int:
    """Bring every set of size m up to date once, in the order of their ranks; return how many values fell.

    Values up to `settled` are known to be final. `chosen` and `key` are scratch for m entries each.
    """
    n = successor.shape[0]
    for i in range(m):
        chosen[i] = i
    rank = int(subsets.first[m])
    fallen = 0
    while True:
        if subsets.value[rank] > settled:
            value = value_set(successor, reading, cost, distance, state_label, subsets, chosen, m, key)
            if value < subsets.value[rank]:
                subsets.value[rank] = value
                fallen += 1
        rank += 1
        i = 0
        while i < m - 1 and chosen[i] + 1 == chosen[i + 1]:
            chosen[i] = i
            i += 1
        chosen[i] += 1
        if chosen[m - 1] >= n:
            return fallen


@kernel
def value_set(
    successor: IntArray,
    reading: IntArray,
    cost: LongArray,
    distance: LongArray,
    state_label: IntArray,
    subsets: Subsets,
    chosen: IntArray,
    m: int,
    key: LongArray,
) -> int:
    """The least, over actions, of the cost plus the largest value of a branch, by the table as it stands."""
    current = len(state_label) > 0
    if current and is_plain(state_label, chosen, m):
        return 0
    best = NEVER
    for a in range(len(cost)):
        if cost[a] >= best:
            continue
        size = move_set(successor, reading, state_label, chosen, m, a, key)
        if size < 0:
            continue
        rest = 0
        begin = 0
        while begin < size and rest < NEVER:
            end = begin + 1
            while end < size and (key[end] >> 31) == (key[begin] >> 31):
                end += 1
            rest = max(rest, value_branch(distance, state_label, subsets, key, begin, end))
            begin = end
        if rest < NEVER:
            # What does not fit is cut off just below infinity: a lower bound still.
            best = min(best, int(cost[a]) + rest, NEVER - 1)
    return best


@kernel
def is_plain(state_label: IntArray, chosen: IntArray, m: int) -> bool:
    """Whether all these states have one label."""
    same = True
    for i in range(1, m):
        same = same and state_label[chosen[i]] == state_label[chosen[0]]
    return same


@kernel
def move_set(
    successor: IntArray, reading: IntArray, state_label: IntArray, chosen: IntArray, m: int, a: int, key: LongArray
) -> int:
    """Write reading << 31 | successor of each state to `key`, ascending, and return how many there are.

    -1 when the action is forbidden, or, in a task about the start, makes two states meet with equal readings.
    """
    for i in range(m):
        to = int(successor[chosen[i], a])
        if to < 0:
            return -1
        x = (int(reading[chosen[i], a]) << 31) | to
        j = i
        while j > 0 and key[j - 1] > x:
            key[j] = key[j - 1]
            j -= 1
        key[j] = x
    size = 1
    for i in range(1, m):
        if key[i] == key[size - 1]:
            if len(state_label) == 0:
                return -1
            continue
        key[size] = key[i]
        size += 1
    return size


@kernel
def value_branch(
    distance: LongArray, state_label: IntArray, subsets: Subsets, key: LongArray, begin: int, end: int
) -> int:
    """The value of the set at `begin .. end - 1` of `key`."""
    low = (1 << 31) - 1
    m = end - begin
    if m == 1:
        return 0
    if m == 2:
        i = int(key[end - 1]) & low
        j = int(key[begin]) & low
        if len(state_label) > 0 and state_label[i] == state_label[j]:
            return 0
        apart = int(distance[i * (i - 1) // 2 + j])
        # What is finite stays so, even where 32 bits cannot hold it: less than D is a valid bound too.
        return NEVER if apart >= INFINITE else min(NEVER - 1, apart)
    rank = int(subsets.first[m])
    for i in range(m):
        rank += int(subsets.binomial[int(key[begin + i]) & low, i + 1])
    return int(subsets.value[rank])


@kernel
def dearest_subset(subsets: Subsets, bits: int, current: bool, code: IntArray, k: int, m: int, best: IntArray) -> int:
    """The largest value of a set of m members; their places go to `best[0 : m]`, and `best` has 3 m + 1 entries.

    `code` holds the members, ascending. About the start their labels must all differ. -1 where no set is fit.
    """
    chosen = best[m : 2 * m]
    partial = best[2 * m : 3 * m + 1]
    # partial[i] is what the members chosen[i], chosen[i + 1], ... add to the rank: the first ones change most often.
    partial[m] = subsets.first[m]
    for i in range(m - 1, -1, -1):
        chosen[i] = i
        partial[i] = partial[i + 1] + subsets.binomial[int(code[i]) >> bits, i + 1]
    worst = -1
    while True:
        if subsets.value[partial[0]] > worst and (current or all_labels_differ(bits, code, chosen, m)):
            worst = int(subsets.value[partial[0]])
            for i in range(m):
                best[i] = chosen[i]
        i = 0
        while i < m - 1 and chosen[i] + 1 == chosen[i + 1]:
            chosen[i] = i
            i += 1
        chosen[i] += 1
        if chosen[m - 1] >= k:
            return worst
        for j in range(i, -1, -1):
            partial[j] = partial[j + 1] + subsets.binomial[int(code[chosen[j]]) >> bits, j + 1]


@kernel
def all_labels_differ(bits: int, code: IntArray, chosen: IntArray, m: int) -> bool:
    """Whether no two of the chosen members have equal labels."""
    mask = (1 << bits) - 1
    for i in range(m):
        for j in range(i):
            if code[chosen[i]] & mask == code[chosen[j]] & mask:
                return False
    return True


@kernel
def usable_size(subsets: Subsets, k: int) -> int:
    """The largest m for which a configuration of k members is searched; 2 when none."""
    m = min(subsets.most, k)
    while m > 2:
        choices = 1
        for i in range(m):
            choices = choices * (k - i) // (i + 1)
        if choices <= MOST_CHOICES:
            return m
        m -= 1
    return 2
