"""How far two states are from being told apart: from a table of all pairs, or found forwards when a pair is met.

Throughout: i > j are two states, a is an action, x and y are places in lists. On a large machine most pairs are never
met, so none is measured before it is. A *query* explores the pair graph from one pair, breadth first: an action that
both allow and under which both read alike leads from a pair to another, and one that tells them apart (or, about the
current state, brings them to one label) ends there. Nothing is explored beyond a pair whose distance is known, be it
from an earlier query or because an action ends it for at most twice the least cost: no two actions are cheaper.

Then two values are computed for each explored pair, the least cost of a word within what was explored: `above`, which
such a word attains, and `below`, where a word may also stop at a pair that was not explored further and pay no more
than two actions cost there at least. The distance lies between; where the two meet it is known. A query explores more,
eight times as much each time, until that is so for its pair, or its room is used up. What is known stays known; of the
others the lower bound is kept. So all queries together walk little more than what they met, each pair mostly once.
"""

from __future__ import annotations

from ascertain.kernels._jit import kernel
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.kernels.search.tables import PairTable, SearchTables

PAIRS, FULL, WALKED = range(3)
"""Places in `PairTable.used`: pairs kept, whether a query found no room, and pairs that were explored so far."""
NONE, OPEN, GIVEN_UP = -1, -2, -3
"""In place of a choice: nothing tells the two apart; only a lower bound is kept, after a short query or a long one."""
FIRST_ROOM = 256
"""Pairs that a query explores at first; most need a few."""
SHORT_ROOM = 2_048
"""Pairs that a query for a mere bound explores at most: of the many pairs of a configuration one good bound will do."""


def exploring(tables: SearchTables) -> int:
    """Passes that a query may take: those of a long one, cut short as most are. None with a table of all pairs."""
    return tables.pairs.explored.size * tables.cost.size // 8


@kernel
def distance_met(tables: SearchTables, i: int, j: int) -> int:
    """At least this is what telling two different states apart costs: their distance, wherever that is known."""
    p = find_pair(tables, i, j, SHORT_ROOM)
    # Without room for another pair: no word is cheaper than the cheapest action.
    return int(tables.pairs.distance[p]) if p >= 0 else int(tables.least)


@kernel(work=exploring)
def look_up_pair(tables: SearchTables, i: int, j: int, room: int) -> tuple[int, int]:
    """The distance of two different states, or a lower bound, and the choice that goes with it; see `find_pair`."""
    if len(tables.distance) > 0:
        p = i * (i - 1) // 2 + j if i > j else j * (j - 1) // 2 + i
        return int(tables.distance[p]), int(tables.choice[p])
    p = find_pair(tables, i, j, room)
    if p < 0:
        return int(tables.least), OPEN
    return int(tables.pairs.distance[p]), int(tables.pairs.choice[p])


@kernel(work=exploring)
def find_pair(tables: SearchTables, i: int, j: int, room: int) -> int:
    """The number of a pair that is met, explored with this room if it is new; -1 where there is no room for it."""
    if i < j:
        i, j = j, i
    pairs = tables.pairs
    p = pairs.slot[look_for(pairs, i, j)]
    if p >= 0 and (pairs.choice[p] >= NONE or (pairs.choice[p] == GIVEN_UP or room <= SHORT_ROOM)):
        return int(p)
    return explore(tables, i, j, min(room, len(pairs.explored)))


@kernel
def look_for(pairs: PairTable, i: int, j: int) -> int:
    """The place in `slot` where the pair is or would be."""
    mask = len(pairs.slot) - 1
    key = i << 31 | j
    h = (i * 73856093) ^ (j * 19349663)
    place = (h ^ (h >> 21)) & mask
    while pairs.slot[place] >= 0 and pairs.key[pairs.slot[place]] != key:
        place = (place + 1) & mask
    return place


@kernel(work=lambda pairs: 4 * pairs.used[PAIRS])
def enter_again(pairs: PairTable) -> None:
    """Enter all pairs into slots that are empty."""
    for p in range(int(pairs.used[PAIRS])):
        key = int(pairs.key[p])
        pairs.slot[look_for(pairs, key >> 31, key & ((1 << 31) - 1))] = p


@kernel
def explore(tables: SearchTables, i: int, j: int, room: int) -> int:
    """One query; returns the number of its pair, or -1 when the table has no room for it."""
    pairs = tables.pairs
    used = pairs.used
    if used[PAIRS] + room > len(pairs.key) or 2 * (used[PAIRS] + room) > len(pairs.slot):
        used[FULL] = 1
        return -1
    least = int(tables.least)
    p, count = enter(tables, i, j, 0)
    head = 0
    limit = min(room, FIRST_ROOM)
    num_actions = len(tables.cost)
    while True:
        # A pair can lead to as many new ones as there are actions. What ends at once for so little is known already.
        while head < count and count + num_actions <= limit and pairs.direct[0] > 2 * least:
            count = lead_on(tables, head, count)
            head += 1
        value_explored(tables, head, count)
        if pairs.below[0] == pairs.above[0] or head == count or limit >= room:
            break
        limit = min(room, 8 * limit)
    used[WALKED] += count
    for x in range(count):
        q = pairs.explored[x]
        if pairs.below[x] == pairs.above[x]:
            pairs.distance[q] = pairs.below[x]
            pairs.choice[q] = choose_action(tables, x, head)
        else:
            pairs.distance[q] = max(int(pairs.distance[q]), int(pairs.below[x]), least)
    if pairs.choice[p] < NONE:
        pairs.choice[p] = OPEN if room <= SHORT_ROOM else GIVEN_UP
    return p


@kernel
def enter(tables: SearchTables, i: int, j: int, count: int) -> tuple[int, int]:
    """Give a pair a place among the explored ones, unless it is known or has one; its number, and the new count."""
    if i < j:
        i, j = j, i
    pairs = tables.pairs
    place = look_for(pairs, i, j)
    p = int(pairs.slot[place])
    if p >= 0:
        if pairs.choice[p] >= NONE:
            return p, count
        if pairs.local[p] < count and pairs.explored[pairs.local[p]] == p:
            return p, count
    else:
        p = int(pairs.used[PAIRS])
        pairs.used[PAIRS] = p + 1
        pairs.slot[place] = p
        pairs.key[p] = i << 31 | j
        pairs.distance[p] = 0
        pairs.choice[p] = OPEN
    pairs.local[p] = count
    pairs.explored[count] = p
    pairs.direct[count] = cost_at_once(tables, i, j)
    return p, count + 1


@kernel
def cost_at_once(tables: SearchTables, i: int, j: int) -> int:
    """The least cost of an action that settles the pair; INFINITE where there is none."""
    best = INFINITE
    current = len(tables.state_label) > 0
    for a in range(len(tables.cost)):
        if tables.cost[a] < best:
            x = int(tables.successor[i, a])
            y = int(tables.successor[j, a])
            if x >= 0 and y >= 0:
                ends = tables.reading[i, a] != tables.reading[j, a]
                if ends or (current and tables.state_label[x] == tables.state_label[y]):
                    best = int(tables.cost[a])
                    if best == tables.least:
                        break
    return best


@kernel
def lead_on(tables: SearchTables, x: int, count: int) -> int:
    """Write where each action leads from the explored pair in place x, entering new pairs; return the new count."""
    pairs = tables.pairs
    key = int(pairs.key[pairs.explored[x]])
    i = key >> 31
    j = key & ((1 << 31) - 1)
    num_actions = len(tables.cost)
    current = len(tables.state_label) > 0
    stops = pairs.direct[x] <= 2 * tables.least
    for a in range(num_actions):
        pairs.lead[x * num_actions + a] = -1
        to_i = int(tables.successor[i, a])
        to_j = int(tables.successor[j, a])
        if stops or to_i < 0 or to_j < 0 or to_i == to_j or tables.reading[i, a] != tables.reading[j, a]:
            continue
        if current and tables.state_label[to_i] == tables.state_label[to_j]:
            continue
        p, count = enter(tables, to_i, to_j, count)
        known = pairs.choice[p] >= NONE
        pairs.lead[x * num_actions + a] = -2 - p if known else pairs.local[p]
    return count


@kernel
def value_explored(tables: SearchTables, head: int, count: int) -> None:
    """Compute `below` and `above`, those before `head` having been led on; see the module."""
    pairs = tables.pairs
    below = pairs.below
    above = pairs.above
    least = int(tables.least)
    for x in range(count):
        above[x] = pairs.direct[x]
        below[x] = pairs.direct[x]
        if x >= head and pairs.direct[x] > 2 * least:
            below[x] = min(int(pairs.direct[x]), max(2 * least, int(pairs.distance[pairs.explored[x]])))
    num_actions = len(tables.cost)
    changed = True
    while changed:
        changed = False
        # Pairs mostly lead to later ones, so that going backwards settles most in one sweep.
        for x in range(head - 1, -1, -1):
            for a in range(num_actions):
                y = int(pairs.lead[x * num_actions + a])
                if y == -1:
                    continue
                price = int(tables.cost[a])
                low = int(below[y]) if y >= 0 else int(pairs.distance[-2 - y])
                high = int(above[y]) if y >= 0 else low
                if low < INFINITE and price + low < below[x]:
                    below[x] = price + low
                    changed = True
                if high < INFINITE and price + high < above[x]:
                    above[x] = price + high
                    changed = True


@kernel
def choose_action(tables: SearchTables, x: int, head: int) -> int:
    """The first action of a word that attains `above[x]`; NONE where nothing tells the pair apart."""
    pairs = tables.pairs
    value = pairs.above[x]
    if value >= INFINITE:
        return NONE
    key = int(pairs.key[pairs.explored[x]])
    i = key >> 31
    j = key & ((1 << 31) - 1)
    num_actions = len(tables.cost)
    current = len(tables.state_label) > 0
    for a in range(num_actions):
        to_i = int(tables.successor[i, a])
        to_j = int(tables.successor[j, a])
        if to_i < 0 or to_j < 0:
            continue
        ends = tables.reading[i, a] != tables.reading[j, a]
        if ends or (current and tables.state_label[to_i] == tables.state_label[to_j]):
            if tables.cost[a] == value:
                return a
        elif x < head:
            y = int(pairs.lead[x * num_actions + a])
            if y != -1:
                rest = int(pairs.above[y]) if y >= 0 else int(pairs.distance[-2 - y])
                if rest < INFINITE and tables.cost[a] + rest == value:
                    return a
    return NONE
