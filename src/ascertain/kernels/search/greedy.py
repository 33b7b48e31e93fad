"""One greedy step: what words that split a configuration would cost, single actions and the cheapest words of pairs.

Throughout: a is an action, k the number of members, i and j are two of them, p and q their states.
"""

from __future__ import annotations

from ascertain.kernels._jit import kernel
from ascertain.kernels.quotients.pairs import INFINITE, larger_element
from ascertain.kernels.search.bounds import bound_members
from ascertain.kernels.search.distances import SHORT_ROOM, exploring, look_up_pair
from ascertain.kernels.search.graph import Scratch, branch, rename_labels
from ascertain.kernels.search.tables import SearchTables
from ascertain.types import IntArray, LongArray

MOST_PAIRS = 400
"""Of a large configuration only about this many pairs are tried, evenly spaced: a step then takes time that grows with
the members and not with their square."""
MOST_MOVES = 40_000
"""Members times pairs that are tried, at most: of thousands of members some tens of pairs."""
LONGEST_WORD = 1024
"""A cheapest word of a pair is given up after this many actions: a first policy is to be found quickly."""


@kernel(work=lambda tables, k: (tables.cost.size + min(k * k, MOST_PAIRS)) * k * k + exploring(tables))
def rank_words(
    tables: SearchTables, code: IntArray, weight: LongArray, k: int, scratch: Scratch, value: LongArray, pair: IntArray
) -> int:
    """Estimate the words that could split the members; return how many there are.

    Word w costs about `value[w]`, INFINITE where it cannot be used. The first words are the single actions; the others
    are the cheapest words of members `pair[w]`. A word is tried until it splits and given up when it is forbidden,
    makes two labels meet, separates a pair that nothing settles, or outgrows LONGEST_WORD.
    """
    count = len(tables.cost)
    for a in range(count):
        value[a] = INFINITE
        size = branch(tables, code, weight, k, a, scratch)
        if size > 0 and (scratch.key[0] >> 31) != (scratch.key[size - 1] >> 31):
            value[a] = min(INFINITE, int(tables.cost[a]) + estimate(tables, scratch, size))
    # Pairs of different labels, evenly spaced.
    num_pairs = k * (k - 1) // 2
    looks = min(num_pairs, MOST_PAIRS, 20 + MOST_MOVES // k)
    mask = (1 << tables.bits) - 1
    for look in range(looks):
        p = look * num_pairs // looks
        i = larger_element(p)
        j = p - i * (i - 1) // 2
        if code[i] & mask != code[j] & mask:
            value[count], _ = follow_pair(tables, code, weight, k, i, j, scratch)
            pair[count, 0] = i
            pair[count, 1] = j
            count += 1
    return count


@kernel(work=lambda tables, k: k * k + exploring(tables))
def follow_pair(
    tables: SearchTables, code: IntArray, weight: LongArray, k: int, i: int, j: int, scratch: Scratch
) -> tuple[int, int]:
    """The estimate and the length of the cheapest word of members i and j, cut off at the first split.

    The word is written to `scratch.trial`, behind the members.
    """
    trial = scratch.trial
    p = int(code[i]) >> tables.bits
    q = int(code[j]) >> tables.bits
    for m in range(k):
        trial[m] = code[m]
    size = k
    spent = 0
    for step in range(LONGEST_WORD):
        if p == q:
            return INFINITE, 0
        _, a = look_up_pair(tables, p, q, SHORT_ROOM)
        if a < 0:
            return INFINITE, 0
        trial[k + step] = a
        spent += int(tables.cost[a])
        # Members that meet on the way keep the weight of the first: an estimate needs no more.
        size = branch(tables, trial, weight, size, a, scratch)
        if size < 0:
            return INFINITE, 0
        if (scratch.key[0] >> 31) != (scratch.key[size - 1] >> 31):
            return min(INFINITE, spent + estimate(tables, scratch, size)), step + 1
        if rename_labels(tables, scratch, 0, size) <= 1:
            return spent, step + 1
        for m in range(size):
            trial[m] = int(scratch.key[m]) & ((1 << 31) - 1)
        p = int(tables.successor[p, a])
        q = int(tables.successor[q, a])
    return INFINITE, 0


@kernel
def estimate(tables: SearchTables, scratch: Scratch, size: int) -> int:
    """A guess at what the branches in `scratch.key` will cost: the farthest pair, times the bits of their labels."""
    worst = 0
    begin = 0
    while begin < size:
        end = begin + 1
        while end < size and (scratch.key[end] >> 31) == (scratch.key[begin] >> 31):
            end += 1
        num_labels = rename_labels(tables, scratch, begin, end)
        if num_labels > 1:
            bound = bound_members(tables, scratch.code, scratch.weight[begin:end], end - begin)
            if bound >= INFINITE:
                return INFINITE
            bits = 0
            while (1 << bits) < num_labels:
                bits += 1
            guess = bound * bits
            worst = worst + guess if tables.mean else max(worst, guess)
        begin = end
    return worst
