"""The graph of configurations that a search has met: nodes kept once, with bounds, and their branches.

Throughout: v is a node, k its size, e an edge, a an action, y a reading. A member is one integer, `state << bits |
label`; a node's members are ascending. In a task about the start the labels of a node are renamed in the order of first
appearance, because D depends only on which members have equal labels: configurations that differ by names are one node.

Nodes lie one after another in `members` (and, for mean costs, `weights`). An edge is an action that every member allows
and that may be of use: not one that leads to two labels in one state or to another branch known to be infinite, nor
back to the same node, nor one with the same branches as another edge and no lower cost. The *value* of an edge is its
cost plus the largest bound of its branches; for mean costs it is the cost times the node's weight plus the sum of the
bounds.
"""

from __future__ import annotations

from typing import NamedTuple

from ascertain.kernels._jit import kernel
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.kernels.search.bounds import MOST_LOOKS, bound_members, bound_node
from ascertain.kernels.search.distances import WALKED, exploring
from ascertain.kernels.search.tables import SearchTables
from ascertain.types import IntArray, LongArray

HASH_MASK = 2**40 - 1
"""Digests keep 40 bits, so that a product with a multiplier of `find_node`, at most 23 bits, fits a 64-bit integer."""
NODES, MEMBERS, EDGES, CHILDREN, EXPANDED, VISITS, BEGUN, NEXT = range(8)
"""Places in `ConfigurationGraph.used`: the lengths in use of four arrays, two counts of the work done, and what is
left of an expansion that is not over: the node, plus one, and the action that it goes on with."""
DONE, PAUSED, RAISED, FULL = range(4)
"""Why `deepen` and `expand` returned: it is done; the slice is over; the root's lower bound rose; an array has no
room."""

FEW = 64
"""Members that are sorted by insertion."""
MOST_PASSES = 50_000
"""Passes of innermost loops, about, after which an expansion pauses: those of a node of a thousand members and as many
actions are too many for limits to be looked at only afterwards."""
MOST_WALKED = 100_000
"""Pairs explored after which it pauses: some hundredths of a second."""


class ConfigurationGraph(NamedTuple):
    """What a search writes; see the module."""

    slot: IntArray
    """Open addressing: a node, or -1."""
    digest: LongArray
    first_member: LongArray
    members: IntArray
    weights: LongArray
    """Beside `members` for mean costs; otherwise of length 1 and unused."""
    total: LongArray
    """The weight of each node; 1 for worst costs."""
    lower: LongArray
    upper: LongArray
    plan: IntArray
    """The action that attains `upper`, or -1."""
    first_edge: LongArray
    num_edges: IntArray
    """-1 where the node has not been expanded, or not to the end."""
    edge_action: IntArray
    first_child: LongArray
    child: IntArray
    used: LongArray
    """How much of each array is in use, and counts of the work done."""


class Scratch(NamedTuple):
    """Room for one expansion."""

    key: LongArray
    weight: LongArray
    code: IntArray
    rename: IntArray
    """Label to new label; -1 between uses."""
    family: IntArray
    """The branches of the edge that is being made."""
    trial: IntArray
    """The members that a word has led to, and the word behind them (`kernels/search/greedy.py`)."""


@kernel
def branch(tables: SearchTables, code: IntArray, weight: LongArray, k: int, action: int, scratch: Scratch) -> int:
    """Sort the members by reading, successor and label into `scratch.key` as (reading << 31 | member); return how many.

    -1 when a member forbids the action, -2 when two labels meet in one state with the same reading.
    """
    # Arrays are taken out of their tuples before loops: machine code counts references where that is done.
    bits = tables.bits
    mask = (1 << bits) - 1
    successor = tables.successor
    reading = tables.reading
    state_label = tables.state_label
    mean = tables.mean
    current = len(state_label) > 0
    key = scratch.key
    moved = scratch.weight
    for i in range(k):
        s = int(code[i]) >> bits
        to = int(successor[s, action])
        if to < 0:
            return -1
        label = int(state_label[to]) if current else int(code[i]) & mask
        # Insertion sort: most configurations are small, and nearly sorted.
        x = (int(reading[s, action]) << 31) | (to << bits) | label
        w = int(weight[i]) if mean else 1
        j = i
        while j > 0 and k <= FEW and key[j - 1] > x:
            key[j] = key[j - 1]
            moved[j] = moved[j - 1]
            j -= 1
        key[j] = x
        moved[j] = w
    if k > FEW:
        sort_keys(key, moved, k)
    size = 0
    for i in range(k):
        if size > 0 and key[size - 1] == key[i]:
            moved[size - 1] += moved[i]
            continue
        if size > 0 and (int(key[size - 1]) >> bits) == (int(key[i]) >> bits):
            return -2
        key[size] = key[i]
        moved[size] = moved[i]
        size += 1
    return size


@kernel
def sort_keys(key: LongArray, weight: LongArray, k: int) -> None:
    """Shell sort, for large configurations. Equal keys may change places: their weights are added up anyway."""
    gap = 1
    while 9 * gap < k:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, k):
            x = int(key[i])
            w = int(weight[i])
            j = i
            while j >= gap and key[j - gap] > x:
                key[j] = key[j - gap]
                weight[j] = weight[j - gap]
                j -= gap
            key[j] = x
            weight[j] = w
        gap //= 3


@kernel
def rename_labels(tables: SearchTables, scratch: Scratch, begin: int, end: int) -> int:
    """Write the members at `begin .. end - 1` of `scratch.key` to `scratch.code`, labels renamed; the number of labels.

    In a task about the current state names are kept and the number is 1 or more than 1.
    """
    mask = (1 << tables.bits) - 1
    current = len(tables.state_label) > 0
    low = (1 << 31) - 1
    key = scratch.key
    rename = scratch.rename
    code = scratch.code
    num_labels = 0
    for i in range(begin, end):
        x = int(key[i]) & low
        label = x & mask
        if rename[label] < 0:
            rename[label] = label if current else num_labels
            num_labels += 1
        code[i - begin] = (x & ~mask) | int(rename[label])
    for i in range(begin, end):
        rename[int(key[i]) & mask] = -1
    return num_labels


@kernel
def find_node(graph: ConfigurationGraph, mean: bool, code: IntArray, weight: LongArray, k: int) -> tuple[int, int, int]:
    """The node with these members (-1 if there is none), its place in `slot`, and the digest."""
    h = k
    for i in range(k):
        h = (h * 1000003 + int(code[i])) & HASH_MASK
        if mean:
            h = (h * 1000003 + (int(weight[i]) & 0xFFFFF)) & HASH_MASK
    # A last mixing of bits; the place in the table depends on high and low ones.
    h = ((h ^ (h >> 17)) * 5915587) & HASH_MASK
    slot = graph.slot
    digest = graph.digest
    place = (h ^ (h >> 20)) & (len(slot) - 1)
    while slot[place] >= 0:
        v = int(slot[place])
        if digest[v] == h and same_members(graph, mean, v, code, weight, k):
            return v, place, h
        place = (place + 1) & (len(slot) - 1)
    return -1, place, h


@kernel
def same_members(graph: ConfigurationGraph, mean: bool, v: int, code: IntArray, weight: LongArray, k: int) -> bool:
    """Whether node v has exactly these members, and for mean costs these weights."""
    members = graph.members
    weights = graph.weights
    first = int(graph.first_member[v])
    if graph.first_member[v + 1] - first != k:
        return False
    for i in range(k):
        if members[first + i] != code[i]:
            return False
        if mean and weights[first + i] != weight[i]:
            return False
    return True


@kernel
def add_node(
    graph: ConfigurationGraph,
    mean: bool,
    code: IntArray,
    weight: LongArray,
    k: int,
    place: int,
    digest: int,
    bound: int,
    upper: int,
) -> int:
    """Append a node; the caller has looked it up, knows its bounds and has made sure that there is room."""
    v = int(graph.used[NODES])
    first = int(graph.used[MEMBERS])
    total = 0
    for i in range(k):
        graph.members[first + i] = code[i]
        if mean:
            graph.weights[first + i] = weight[i]
            total += int(weight[i])
    graph.slot[place] = v
    graph.digest[v] = digest
    graph.first_member[v] = first
    graph.first_member[v + 1] = first + k
    graph.total[v] = total if mean else 1
    graph.lower[v] = bound
    graph.upper[v] = upper
    graph.plan[v] = -1
    graph.num_edges[v] = -1
    graph.used[NODES] = v + 1
    graph.used[MEMBERS] = first + k
    return v


@kernel(work=lambda tables, k: min(k * k // 2, MOST_LOOKS) + exploring(tables))
def intern_node(tables: SearchTables, graph: ConfigurationGraph, code: IntArray, weight: LongArray, k: int) -> int:
    """The node with these members, added if it is new; the caller has made sure that there is room."""
    v, place, digest = find_node(graph, tables.mean, code, weight, k)
    if v >= 0:
        return v
    bound, upper = bound_node(tables, code, weight, k)
    return add_node(graph, tables.mean, code, weight, k, place, digest, bound, upper)


@kernel
def has_room(graph: ConfigurationGraph, num_actions: int, k: int) -> bool:
    """Whether so many edges of a node of k members fit, without an array overflowing or the hash table crowding."""
    most = num_actions * k
    used = graph.used
    return (
        used[NODES] + most + 1 < len(graph.lower)
        and 2 * (used[NODES] + most) < len(graph.slot)
        and used[MEMBERS] + most < len(graph.members)
        and used[EDGES] + num_actions + 1 < len(graph.edge_action)
        and used[CHILDREN] + most < len(graph.child)
    )


@kernel
def expand(tables: SearchTables, graph: ConfigurationGraph, scratch: Scratch, v: int) -> int:
    """Make the edges of v, adding the nodes that they lead to; go on with it if it was PAUSED or FULL before.

    Until it is DONE v counts as not expanded. What was begun of another node is given up.
    """
    first = int(graph.first_member[v])
    k = int(graph.first_member[v + 1]) - first
    code = graph.members[first : first + k]
    weight = graph.weights[first : first + k] if tables.mean else graph.weights
    used = graph.used
    if used[BEGUN] != v + 1:
        used[BEGUN] = v + 1
        used[NEXT] = 0
        graph.first_edge[v] = used[EDGES]
    passes = 0
    walked = int(tables.pairs.used[WALKED]) + MOST_WALKED
    for a in range(int(used[NEXT]), len(tables.cost)):
        used[NEXT] = a
        if not has_room(graph, 1, k):
            return FULL
        if passes > MOST_PASSES or tables.pairs.used[WALKED] > walked:
            return PAUSED
        before = int(used[NODES])
        size = branch(tables, code, weight, k, a, scratch)
        if size >= 0:
            count = collect_branches(tables, graph, scratch, size, v)
            if count >= 0:
                keep_edge(tables, graph, scratch.family, v, a, count)
        # Each new node was bounded.
        passes += 8 * k + (int(used[NODES]) - before) * min(k * k // 2, MOST_LOOKS)
    used[BEGUN] = 0
    used[EXPANDED] += 1
    graph.num_edges[v] = used[EDGES] - graph.first_edge[v]
    return DONE


@kernel
def collect_branches(tables: SearchTables, graph: ConfigurationGraph, scratch: Scratch, size: int, v: int) -> int:
    """The nodes of what is left after each reading, ascending, in `scratch.family`; -1 when the action is no use to v.

    Pure branches are left out. An action is no use when a branch is infinite or is v itself.
    """
    count = 0
    begin = 0
    while begin < size:
        end = begin + 1
        y = int(scratch.key[begin]) >> 31
        while end < size and (int(scratch.key[end]) >> 31) == y:
            end += 1
        if rename_labels(tables, scratch, begin, end) > 1:
            k = end - begin
            weight = scratch.weight[begin:end]
            u, place, digest = find_node(graph, tables.mean, scratch.code, weight, k)
            if u < 0:
                bound, upper = bound_node(tables, scratch.code, weight, k)
                if bound >= INFINITE:
                    return -1
                u = add_node(graph, tables.mean, scratch.code, weight, k, place, digest, bound, upper)
            # An action that leads back to v or to where nothing settles can be on no cheapest policy.
            if u == v or graph.lower[u] >= INFINITE:
                return -1
            count = insert_child(scratch.family, count, u, tables.mean)
        begin = end
    return count


@kernel
def insert_child(family: IntArray, count: int, u: int, mean: bool) -> int:
    """Insert u into the ascending family; a second branch to the same node matters only to a sum."""
    j = count
    while j > 0 and family[j - 1] > u:
        j -= 1
    if not mean and j > 0 and family[j - 1] == u:
        return count
    for i in range(count, j, -1):
        family[i] = family[i - 1]
    family[j] = u
    return count + 1


@kernel
def keep_edge(tables: SearchTables, graph: ConfigurationGraph, family: IntArray, v: int, a: int, count: int) -> None:
    """Append the edge, unless another edge of v has the same branches: then the cheaper action stays."""
    for e in range(int(graph.first_edge[v]), int(graph.used[EDGES])):
        first = int(graph.first_child[e])
        if graph.first_child[e + 1] - first != count:
            continue
        i = 0
        while i < count and graph.child[first + i] == family[i]:
            i += 1
        if i == count:
            if tables.cost[a] < tables.cost[graph.edge_action[e]]:
                graph.edge_action[e] = a
            return
    e = int(graph.used[EDGES])
    first = int(graph.used[CHILDREN])
    for i in range(count):
        graph.child[first + i] = family[i]
    graph.edge_action[e] = a
    graph.first_child[e] = first
    graph.first_child[e + 1] = first + count
    graph.used[EDGES] = e + 1
    graph.used[CHILDREN] = first + count


@kernel(work=lambda count: 2 * count)
def rehash(slot: IntArray, digest: LongArray, count: int) -> None:
    """Enter the first `count` nodes into an empty table."""
    mask = len(slot) - 1
    for v in range(count):
        h = int(digest[v])
        place = (h ^ (h >> 20)) & mask
        while slot[place] >= 0:
            place = (place + 1) & mask
        slot[place] = v


@kernel(work=lambda graph: 1000 * graph.used[NODES])
def bound_again(tables: SearchTables, graph: ConfigurationGraph) -> None:
    """Raise the lower bounds of all nodes to what `bound_members` now says."""
    for v in range(int(graph.used[NODES])):
        first = int(graph.first_member[v])
        k = int(graph.first_member[v + 1]) - first
        bound = bound_members(tables, graph.members[first : first + k], graph.weights, k)
        graph.lower[v] = max(graph.lower[v], bound)
