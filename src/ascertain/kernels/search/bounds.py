"""What a search reads, and the lower bounds that it draws from it: the farthest pair and the dearest small set.

Throughout: a member is one integer, `state << bits | label`; members of a configuration are ascending.
"""

from __future__ import annotations

from typing import NamedTuple

from ascertain.kernels._jit import kernel
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.kernels.search.subsets import NEVER, Subsets, dearest_subset, usable_size
from ascertain.types import IntArray, LongArray


class SearchTables(NamedTuple):
    """What a search reads: the machine on states, costs, and how far each pair of states is from being told apart."""

    successor: IntArray
    reading: IntArray
    cost: LongArray
    distance: LongArray
    """Of states i > j with different labels, at i (i - 1) / 2 + j."""
    state_label: IntArray
    """The label of each state in a task about the current state; empty in one about the start."""
    bits: int
    """How many bits of a member are its label."""
    mean: bool
    """Whether costs are weighted means rather than maxima."""
    subsets: Subsets
    """D of all small sets of states, once these are worth their while."""
    chosen: IntArray
    """Scratch for the choice of a small set."""


@kernel
def pair_distance(tables: SearchTables, p: int, q: int) -> int:
    """The distance of two members; 0 when their labels are equal."""
    mask = (1 << tables.bits) - 1
    if p & mask == q & mask:
        return 0
    i = p >> tables.bits
    j = q >> tables.bits
    if i == j:
        return INFINITE
    if i < j:
        i, j = j, i
    return int(tables.distance[i * (i - 1) // 2 + j])


@kernel
def bound_members(tables: SearchTables, code: IntArray, weight: LongArray, k: int) -> int:
    """The pair bound: the farthest pair, or for mean costs each member's farthest partner times the member's weight.

    For worst costs, where D of small sets is known, the dearest of them if that is more.
    """
    if not tables.mean:
        worst = 0
        for i in range(k):
            for j in range(i):
                worst = max(worst, pair_distance(tables, int(code[i]), int(code[j])))
        m = usable_size(tables.subsets, k)
        if m > 2 and worst < INFINITE:
            current = len(tables.state_label) > 0
            value = dearest_subset(tables.subsets, tables.bits, current, code, k, m, tables.chosen)
            worst = INFINITE if value >= NEVER else max(worst, value)
        return worst
    total = 0
    for i in range(k):
        far = 0
        for j in range(k):
            if j != i:
                far = max(far, pair_distance(tables, int(code[i]), int(code[j])))
        if far >= INFINITE:
            return INFINITE
        total += far * int(weight[i])
    return total


@kernel(work=lambda k: k * k // 2)
def farthest_pair(tables: SearchTables, code: IntArray, k: int) -> tuple[int, int, int]:
    """The distance of the two members that are farthest apart, and their places; the first such pair."""
    worst = -1
    one = 0
    other = 0
    for i in range(k):
        for j in range(i):
            d = pair_distance(tables, int(code[i]), int(code[j]))
            if d > worst:
                worst = d
                one = j
                other = i
    return worst, one, other
