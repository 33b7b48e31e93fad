"""What a search reads, and its lower bounds: the farthest pair, the number of labels and the dearest small set.

Throughout: a member is one integer, `state << bits | label`; members of a configuration are ascending. R is a set of m
states, 3 <= m <= `most`.

*The farthest pair.* A configuration costs at least what its farthest pair costs, because a policy for the whole settles
each of its pairs.

*The dearest small set.* A subset never costs more than the whole, so a configuration costs at least D(R) for each R
among its members whose labels are all different (in a task about the current state: for each R). Sets of m states s_1 <
... < s_m are ranked by the sum over i of binomial(s_i, i); sizes follow one another in one table, which starts INFINITE
and falls, sweep after sweep, until it solves the recursion: every entry stands for a policy, costs are positive, so
what is left at the end is D.
"""

from __future__ import annotations

from ascertain.kernels._jit import kernel
from ascertain.kernels.quotients.pairs import INFINITE, larger_element
from ascertain.kernels.search.distances import NONE, WALKED, distance_met, exploring, look_up_pair
from ascertain.kernels.search.tables import SearchTables, Subsets
from ascertain.types import IntArray, LongArray

NEVER = 2**31 - 1
"""Infinite, in a table of 32 bits: half the memory of 64, and costs that small sets reach are far below it."""
MOST_LOOKS = 2_048
"""Pairs of a configuration that are looked at, evenly spaced: all of 64 members, and a node of thousands is bounded in
a time that does not grow with their square. Any pair gives a valid bound."""
MOST_WALKED = 50_000
"""Pairs that may be explored in bounding one configuration, before no further pair of it is looked at: a hundredth of a
second or two, so that limits are kept."""
MOST_CHOICES = 6_000
"""A configuration is searched for its dearest set of m members only if it has at most this many of them: each is one
look-up, so that bounding a node stays within some tens of microseconds of compiled code."""


@kernel
def apart(distance: LongArray, bits: int, p: int, q: int) -> int:
    """The distance of two members where those of all pairs are known; 0 when their labels are equal.

    Searches spend most of their time here, so that it is called with what it needs and no more.
    """
    mask = (1 << bits) - 1
    if p & mask == q & mask:
        return 0
    i = p >> bits
    j = q >> bits
    if i == j:
        return INFINITE
    return int(distance[i * (i - 1) // 2 + j] if i > j else distance[j * (j - 1) // 2 + i])


@kernel
def pair_distance(tables: SearchTables, p: int, q: int) -> int:
    """The distance of two members, or a lower bound, where pairs are measured when they are met."""
    mask = (1 << tables.bits) - 1
    if p & mask == q & mask:
        return 0
    i = p >> tables.bits
    j = q >> tables.bits
    return INFINITE if i == j else distance_met(tables, i, j)


@kernel
def bound_node(tables: SearchTables, code: IntArray, weight: LongArray, k: int) -> tuple[int, int]:
    """A lower bound for the members, and an upper bound: of two members the distance is both, wherever it is known."""
    if k == 2 and code[0] >> tables.bits != code[1] >> tables.bits:
        # These are policies already, so that more work is spent on them than on a mere bound.
        i = int(code[0]) >> tables.bits
        j = int(code[1]) >> tables.bits
        between, choice = look_up_pair(tables, i, j, len(tables.pairs.explored))
        if choice >= NONE:
            if tables.mean and between < INFINITE:
                between *= int(weight[0]) + int(weight[1])
            return between, between
    return bound_members(tables, code, weight, k), INFINITE


@kernel
def bound_members(tables: SearchTables, code: IntArray, weight: LongArray, k: int) -> int:
    """The pair bound: the farthest pair, or for mean costs each member's farthest partner times the member's weight.

    For worst costs, what that many labels cost if that is more, and where D of small sets is known, the dearest of
    them.
    """
    if not tables.mean:
        worst = farthest_distance(tables, code, k)
        if len(tables.by_leaves) > 0:
            # Labels are numbered in the order of the members.
            last = 0
            for i in range(k):
                last = max(last, int(code[i]) & ((1 << tables.bits) - 1))
            worst = max(worst, int(tables.by_leaves[last + 1]))
        m = usable_size(tables.subsets, k)
        if m > 2 and worst < INFINITE:
            value = dearest_subset(tables, code, k, m)
            worst = INFINITE if value >= NEVER else max(worst, value)
        return worst
    total = 0
    distance = tables.distance
    dense = len(distance) > 0
    bits = tables.bits
    stride = 1 + k * k // (2 * MOST_LOOKS)
    pause = int(tables.pairs.used[WALKED]) + MOST_WALKED
    for i in range(k):
        if tables.pairs.used[WALKED] > pause:
            break
        far = 0
        for j in range(i % stride, k, stride):
            if j != i:
                p = int(code[i])
                q = int(code[j])
                far = max(far, apart(distance, bits, p, q) if dense else pair_distance(tables, p, q))
        if far >= INFINITE:
            return INFINITE
        total += far * int(weight[i])
    return total


@kernel
def farthest_distance(tables: SearchTables, code: IntArray, k: int) -> int:
    """The distance of the two members that are farthest apart, as far as is looked: see `farthest_pair`."""
    distance = tables.distance
    bits = tables.bits
    if len(distance) == 0 or k * (k - 1) // 2 > MOST_LOOKS:
        return farthest_pair(tables, code, k)[0]
    # Searches spend much of their time here.
    worst = 0
    for i in range(k):
        p = int(code[i])
        for j in range(i):
            worst = max(worst, apart(distance, bits, p, int(code[j])))
    return worst


@kernel(work=lambda tables, k: min(k * k // 2, MOST_LOOKS) + exploring(tables))
def farthest_pair(tables: SearchTables, code: IntArray, k: int) -> tuple[int, int, int]:
    """The distance of the two members that are farthest apart, and their places; the first such pair.

    Of more than MOST_LOOKS pairs that many are looked at.
    """
    pause = int(tables.pairs.used[WALKED]) + MOST_WALKED
    worst = -1
    one = 0
    other = 0
    num_pairs = k * (k - 1) // 2
    distance = tables.distance
    dense = len(distance) > 0
    bits = tables.bits
    if num_pairs > MOST_LOOKS:
        for look in range(MOST_LOOKS):
            if tables.pairs.used[WALKED] > pause:
                break
            p = look * num_pairs // MOST_LOOKS
            i = larger_element(p)
            j = p - i * (i - 1) // 2
            u = int(code[i])
            v = int(code[j])
            d = apart(distance, bits, u, v) if dense else pair_distance(tables, u, v)
            if d > worst:
                worst = d
                one = j
                other = i
        return worst, one, other
    for i in range(k):
        if tables.pairs.used[WALKED] > pause:
            break
        for j in range(i):
            u = int(code[i])
            v = int(code[j])
            d = apart(distance, bits, u, v) if dense else pair_distance(tables, u, v)
            if d > worst:
                worst = d
                one = j
                other = i
    return worst, one, other


@kernel(work=lambda tables, k: k * k + exploring(tables))
def find_partners(tables: SearchTables, code: IntArray, k: int, far: LongArray, partner: LongArray) -> None:
    """For each member the distance of its farthest partner, and the partner's place: the first of them."""
    distance = tables.distance
    dense = len(distance) > 0
    bits = tables.bits
    for i in range(k):
        far[i] = -1
        for j in range(k):
            u = int(code[i])
            v = int(code[j])
            d = 0 if i == j else apart(distance, bits, u, v) if dense else pair_distance(tables, u, v)
            if d > far[i]:
                far[i] = d
                partner[i] = j


@kernel(work=lambda tables, key: tables.cost.size * key.size, sliced=True, unfinished=True)
def sweep_subsets(tables: SearchTables, settled: int, key: LongArray, swept: LongArray, limit: int) -> bool:
    """Bring every set of m states, m the largest size, up to date once, by rank; whether sets are left after so many.

    Values up to `settled` are known to be final. `key` is scratch for m entries. `swept` says how many sets of this
    sweep were looked at, none where it begins, and how many values fell.
    """
    subsets = tables.subsets
    chosen = tables.chosen
    n = tables.successor.shape[0]
    m = subsets.most
    if swept[0] == 0:
        for i in range(m):
            chosen[i] = i
    for _ in range(limit):
        rank = int(subsets.first[m] + swept[0])
        if subsets.value[rank] > settled:
            value = value_set(tables, m, key)
            if value < subsets.value[rank]:
                subsets.value[rank] = value
                swept[1] += 1
        swept[0] += 1
        advance_choice(chosen, m)
        if chosen[m - 1] >= n:
            return False
    return True


@kernel
def advance_choice(chosen: IntArray, m: int) -> int:
    """The next choice of m ascending numbers, the first places changing most often; the last place that changed."""
    i = 0
    while i < m - 1 and chosen[i] + 1 == chosen[i + 1]:
        chosen[i] = i
        i += 1
    chosen[i] += 1
    return i


@kernel
def value_set(tables: SearchTables, m: int, key: LongArray) -> int:
    """The least, over actions, of the cost plus the largest value of a branch of the chosen states, by the table."""
    if len(tables.state_label) > 0 and is_plain(tables.state_label, tables.chosen, m):
        return 0
    cost = tables.cost
    best = NEVER
    for a in range(len(cost)):
        if cost[a] >= best:
            continue
        size = move_set(tables, m, a, key)
        if size < 0:
            continue
        rest = 0
        begin = 0
        while begin < size and rest < NEVER:
            end = begin + 1
            while end < size and (key[end] >> 31) == (key[begin] >> 31):
                end += 1
            rest = max(rest, value_branch(tables, key, begin, end))
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
def move_set(tables: SearchTables, m: int, a: int, key: LongArray) -> int:
    """Write reading << 31 | successor of each chosen state to `key`, ascending, and return how many there are.

    -1 when the action is forbidden, or, in a task about the start, makes two states meet with equal readings.
    """
    for i in range(m):
        s = tables.chosen[i]
        to = int(tables.successor[s, a])
        if to < 0:
            return -1
        x = (int(tables.reading[s, a]) << 31) | to
        j = i
        while j > 0 and key[j - 1] > x:
            key[j] = key[j - 1]
            j -= 1
        key[j] = x
    size = 1
    for i in range(1, m):
        if key[i] == key[size - 1]:
            if len(tables.state_label) == 0:
                return -1
            continue
        key[size] = key[i]
        size += 1
    return size


@kernel
def value_branch(tables: SearchTables, key: LongArray, begin: int, end: int) -> int:
    """The value of the set at `begin .. end - 1` of `key`."""
    low = (1 << 31) - 1
    m = end - begin
    if m == 1:
        return 0
    if m == 2:
        i = int(key[end - 1]) & low
        j = int(key[begin]) & low
        if len(tables.state_label) > 0 and tables.state_label[i] == tables.state_label[j]:
            return 0
        # Where there is a table of small sets there is one of all pairs.
        between = int(tables.distance[i * (i - 1) // 2 + j])
        # What is finite stays so, even where 32 bits cannot hold it: less than D is a valid bound too.
        return NEVER if between >= INFINITE else min(NEVER - 1, between)
    rank = int(tables.subsets.first[m])
    for i in range(m):
        rank += int(tables.subsets.binomial[int(key[begin + i]) & low, i + 1])
    return int(tables.subsets.value[rank])


@kernel
def dearest_subset(tables: SearchTables, code: IntArray, k: int, m: int) -> int:
    """The largest value of a set of m members; their places go to `tables.chosen[0 : m]`.

    `code` holds the members, ascending. About the start their labels must all differ. -1 where no set is fit.
    """
    subsets = tables.subsets
    bits = tables.bits
    best = tables.chosen
    current = len(tables.state_label) > 0
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
        i = advance_choice(chosen, m)
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
