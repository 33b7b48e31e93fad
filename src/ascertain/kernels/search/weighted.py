"""The graph of weighted configurations that a search for a least mean walks: its nodes, and their edges in order.

Throughout: v and u are nodes of more than two members, e is an edge, a an action. Branches of two members are no nodes:
what these cost, their distance says.
"""

from __future__ import annotations

from ascertain.kernels._jit import kernel
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.kernels.search.bounds import apart, pair_distance
from ascertain.kernels.search.distances import NONE, look_up_pair
from ascertain.kernels.search.graph import (
    CHILDREN,
    EDGES,
    ConfigurationGraph,
    Scratch,
    add_node,
    branch,
    find_node,
    rename_labels,
)
from ascertain.kernels.search.mean_records import LEFT, MeanPlan
from ascertain.kernels.search.tables import SearchTables
from ascertain.types import IntArray, LongArray


@kernel
def weigh_members(tables: SearchTables, code: IntArray, weight: LongArray, k: int) -> tuple[int, int]:
    """The sum of weights times the distance of the farthest partner, and the largest such distance."""
    distance = tables.distance
    dense = len(distance) > 0
    bits = tables.bits
    total = 0
    worst = 0
    for i in range(k):
        far = 0
        for j in range(k):
            if j != i:
                p = int(code[i])
                q = int(code[j])
                far = max(far, apart(distance, bits, p, q) if dense else pair_distance(tables, p, q))
        if far >= INFINITE:
            return INFINITE, INFINITE
        worst = max(worst, far)
        total += far * int(weight[i])
    return total, worst


@kernel
def add_weighted(
    tables: SearchTables,
    worst: ConfigurationGraph,
    graph: ConfigurationGraph,
    plan: MeanPlan,
    code: IntArray,
    weight: LongArray,
    place: int,
    digest: int,
) -> int:
    """Add a node of more than two members; -1 where nothing settles it.

    `worst` is the graph of a search for worst costs, which may know more of what it costs in the worst case.
    """
    k = len(weight)
    plan.used[LEFT] -= k
    total, least = weigh_members(tables, code, weight, k)
    if least >= INFINITE:
        return -1
    known = find_node(worst, False, code, weight, k)[0]
    if known >= 0:
        least = max(least, int(worst.lower[known]))
        if least >= INFINITE:
            return -1
    u = add_node(graph, True, code, weight, k, place, digest, total, INFINITE)
    plan.least_worst[u] = least
    plan.first[u] = -1
    return u


@kernel
def expand_node(
    tables: SearchTables,
    worst: ConfigurationGraph,
    graph: ConfigurationGraph,
    plan: MeanPlan,
    scratch: Scratch,
    v: int,
) -> bool:
    """Make the edges of v, one for each action that may be of use, and sort them by their bounds.

    Branches of two members cost what their distance says; of an edge only the larger ones are listed, the dearest
    first. False when a pair is met whose distance is only bounded.
    """
    low = (1 << 31) - 1
    bits = tables.bits
    mask = (1 << bits) - 1
    key = scratch.key
    code = scratch.code
    child = graph.child
    begin = int(graph.first_member[v])
    k = int(graph.first_member[v + 1]) - begin
    members = graph.members[begin : begin + k]
    weights = graph.weights[begin : begin + k]
    first_edge = int(graph.used[EDGES])
    graph.first_edge[v] = first_edge
    graph.num_edges[v] = 0
    plan.used[LEFT] -= k * len(tables.cost)
    for a in range(len(tables.cost)):
        size = branch(tables, members, weights, k, a, scratch)
        if size < 0:
            continue
        bound = int(tables.cost[a]) * int(graph.total[v])
        dearest = 0
        first = int(graph.used[CHILDREN])
        count = first
        begin = 0
        while begin < size:
            end = begin + 1
            y = int(key[begin]) >> 31
            while end < size and (int(key[end]) >> 31) == y:
                end += 1
            if end - begin == 2:
                p = int(key[begin]) & low
                q = int(key[begin + 1]) & low
                if p & mask != q & mask:
                    apart, choice = look_up_pair(tables, p >> bits, q >> bits, len(tables.pairs.explored))
                    if choice < NONE:
                        graph.num_edges[v] = -1
                        return False
                    if apart >= INFINITE:
                        break
                    bound += apart * int(scratch.weight[begin] + scratch.weight[begin + 1])
                    dearest = max(dearest, apart)
            elif end - begin > 2 and rename_labels(tables, scratch, begin, end) > 1:
                weight = scratch.weight[begin:end]
                u, place, digest = find_node(graph, True, code, weight, end - begin)
                if u < 0:
                    u = add_weighted(tables, worst, graph, plan, code, weight, place, digest)
                # Coming back to the same configuration with less to spend is of no use either.
                if u < 0 or u == v:
                    break
                bound += int(graph.lower[u])
                j = count
                while j > first and comes_before(plan.least_worst, u, int(child[j - 1])):
                    child[j] = child[j - 1]
                    j -= 1
                child[j] = u
                count += 1
            begin = end
        if begin == size and not is_repeated(tables, graph, plan, v, a, bound, dearest, count):
            e = int(graph.used[EDGES])
            graph.edge_action[e] = a
            graph.first_child[e] = first
            graph.first_child[e + 1] = count
            graph.used[EDGES] = e + 1
            graph.used[CHILDREN] = count
            graph.num_edges[v] += 1
            plan.bound[e] = bound
            plan.dearest[e] = dearest
            j = e
            while j > first_edge and plan.bound[plan.order[j - 1]] > bound:
                plan.order[j] = plan.order[j - 1]
                j -= 1
            plan.order[j] = e
    return True


@kernel
def is_repeated(
    tables: SearchTables,
    graph: ConfigurationGraph,
    plan: MeanPlan,
    v: int,
    a: int,
    bound: int,
    dearest: int,
    count: int,
) -> bool:
    """Whether v has an edge already that costs the same and leads to the same as the one whose branches end `child`."""
    first = int(graph.used[CHILDREN])
    begin = int(graph.first_edge[v])
    for e in range(begin, begin + int(graph.num_edges[v])):
        if plan.bound[e] != bound or plan.dearest[e] != dearest:
            continue
        other = int(graph.first_child[e])
        if tables.cost[graph.edge_action[e]] == tables.cost[a] and graph.first_child[e + 1] - other == count - first:
            i = 0
            while first + i < count and graph.child[first + i] == graph.child[other + i]:
                i += 1
            if first + i == count:
                return True
    return False


@kernel
def comes_before(least_worst: LongArray, u: int, w: int) -> bool:
    """Whether u is dearer, or else of a lower number."""
    return bool(least_worst[u] > least_worst[w] or (least_worst[u] == least_worst[w] and u < w))
