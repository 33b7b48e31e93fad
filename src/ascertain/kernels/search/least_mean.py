"""The search for a least mean among policies of a bounded worst cost, depth first, in slices.

What is searched, and why, is in `search/least_mean.py`. Throughout: v and u are nodes of a graph of weighted
configurations of more than two members, e is an edge, t what may still be spent. The graph's `lower[v]` is the sum,
over the members of v, of weight times the distance of the farthest partner: a lower bound on L(v, t) for every t.

What is known of a node is a list of *records*, in the order in which they were found. A record is about the t from
SPENDS to BUDGET: there L is VALUE, attained by an ACTION; or, with ABOVE in place of an action, L at BUDGET is at least
VALUE; or, with LISTED, the policy at hand comes there with BUDGET.

A frame of the stack is a node, its t and a cutoff, and how far its edges have been gone through: the edge at hand, the
branch of it at hand (UNTRIED before the first), what that edge costs so far, the best edge with what it costs and
spends, and the least that the others cost.
"""

from __future__ import annotations

from typing import NamedTuple

from ascertain.kernels._jit import kernel
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.kernels.search.bounds import apart, pair_distance
from ascertain.kernels.search.distances import NONE, exploring, look_up_pair
from ascertain.kernels.search.graph import (
    CHILDREN,
    DONE,
    EDGES,
    FULL,
    PAUSED,
    ConfigurationGraph,
    Scratch,
    add_node,
    branch,
    find_node,
    has_room,
    rename_labels,
)
from ascertain.kernels.search.tables import SearchTables
from ascertain.types import IntArray, LongArray

OUT_OF_WORK = -1
"""What is returned when the work that is allowed is used up, beside DONE, PAUSED and FULL."""
NEXT, SPENDS, BUDGET, VALUE, ACTION = range(5)
"""Columns of a record."""
ABOVE, LISTED = -1, -2
"""In place of an action."""
LEFT, RECORDS, PLACES, WALKED = range(4)
"""Places in `MeanPlan.used`: the work that is left, and how many records, places and places gone through there are."""
NODE, REST, CUTOFF, EDGE, CHILD, SO_FAR, BEST, SPENT, CHOSEN, LEAST = range(10)
"""Columns of a frame."""
UNTRIED = -1
"""In place of a branch."""


class MeanPlan(NamedTuple):
    """What this search writes beside the graph."""

    least_worst: LongArray
    """By node: no policy for it has a lower worst cost."""
    first: IntArray
    """By node: its first record, or -1."""
    order: IntArray
    """At the places of a node's edges these edges, the most promising first."""
    bound: LongArray
    """By edge: what the action and what is left cost at least, in weight times cost."""
    dearest: LongArray
    """By edge: the largest distance of those branches that are pairs."""
    record: LongArray
    place: LongArray
    """Nodes with what may still be spent, where the policy at hand can be."""
    used: LongArray


@kernel
def look_up(plan: MeanPlan, v: int, t: int) -> int:
    """The record that settles v with t to spend, or -1."""
    record = plan.record
    r = int(plan.first[v])
    while r >= 0 and not (record[r, ACTION] >= 0 and record[r, SPENDS] <= t <= record[r, BUDGET]):
        r = int(record[r, NEXT])
    return r


@kernel
def find_record(plan: MeanPlan, v: int, t: int, kind: int) -> int:
    """The record of this kind, ABOVE or LISTED, at t; or -1."""
    record = plan.record
    r = int(plan.first[v])
    while r >= 0 and not (record[r, ACTION] == kind and record[r, BUDGET] == t):
        r = int(record[r, NEXT])
    return r


@kernel
def add_record(plan: MeanPlan, v: int, spends: int, t: int, value: int, action: int) -> None:
    """Put a record behind those of v; the caller has made sure that there is room."""
    record = plan.record
    new = int(plan.used[RECORDS])
    plan.used[RECORDS] = new + 1
    record[new, NEXT] = -1
    record[new, SPENDS] = spends
    record[new, BUDGET] = t
    record[new, VALUE] = value
    record[new, ACTION] = action
    r = int(plan.first[v])
    if r < 0:
        plan.first[v] = new
        return
    while record[r, NEXT] >= 0:
        r = int(record[r, NEXT])
    record[r, NEXT] = new


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


@kernel
def has_records(plan: MeanPlan, more: int) -> bool:
    """Whether there is room for so many more records and places."""
    return bool(plan.used[RECORDS] + more < len(plan.record) and plan.used[PLACES] + more < len(plan.place))


@kernel(work=lambda tables, graph: 8 * graph.first_member[1] + exploring(tables), sliced=True, unfinished=PAUSED)
def list_places(
    tables: SearchTables,
    worst: ConfigurationGraph,
    graph: ConfigurationGraph,
    plan: MeanPlan,
    scratch: Scratch,
    limit: int,
) -> int:
    """List where the policy of the search for worst costs can be with more than two members left; its start is listed.

    At most `limit` places are gone through in one call.
    """
    used = plan.used
    for _ in range(limit):
        if used[WALKED] >= used[PLACES]:
            return DONE
        if used[LEFT] < 0:
            return OUT_OF_WORK
        v = int(plan.place[used[WALKED], 0])
        t = int(plan.place[used[WALKED], 1])
        k = int(graph.first_member[v + 1] - graph.first_member[v])
        if not has_room(graph, len(tables.cost), k) or not has_records(plan, k):
            return FULL
        if graph.num_edges[v] < 0 and not expand_node(tables, worst, graph, plan, scratch, v):
            return OUT_OF_WORK
        e = find_planned(worst, graph, v)
        if e < 0:
            return OUT_OF_WORK
        used[WALKED] += 1
        rest = t - int(tables.cost[graph.edge_action[e]])
        for i in range(graph.first_child[e], graph.first_child[e + 1]):
            list_place(plan, int(graph.child[i]), rest)
    return PAUSED


@kernel
def find_planned(worst: ConfigurationGraph, graph: ConfigurationGraph, v: int) -> int:
    """The edge of v that the search for worst costs plans, or -1."""
    first = int(graph.first_member[v])
    k = int(graph.first_member[v + 1]) - first
    known = find_node(worst, False, graph.members[first : first + k], graph.weights, k)[0]
    begin = int(graph.first_edge[v])
    for e in range(begin, begin + int(graph.num_edges[v])):
        if known >= 0 and graph.edge_action[e] == worst.plan[known]:
            return e
    return -1


@kernel
def list_place(plan: MeanPlan, v: int, t: int) -> None:
    """Add a place to the list, unless it is there; the caller has made sure that there is room."""
    if find_record(plan, v, t, LISTED) >= 0:
        return
    add_record(plan, v, t, t, 0, LISTED)
    plan.place[plan.used[PLACES], 0] = v
    plan.place[plan.used[PLACES], 1] = t
    plan.used[PLACES] += 1


@kernel
def known_value(graph: ConfigurationGraph, plan: MeanPlan, v: int, t: int, cutoff: int) -> int:
    """L of v at t, or a lower bound on it that is not below the cutoff; -1 where v has to be searched."""
    if plan.least_worst[v] > t:
        return INFINITE
    r = look_up(plan, v, t)
    if r >= 0:
        return int(plan.record[r, VALUE])
    lower = bound_above(graph, plan, v, t)
    return lower if lower >= cutoff else -1


@kernel
def bound_above(graph: ConfigurationGraph, plan: MeanPlan, v: int, t: int) -> int:
    """The best lower bound on L of v at t that is known."""
    r = find_record(plan, v, t, ABOVE)
    lower = int(graph.lower[v])
    return lower if r < 0 else max(lower, int(plan.record[r, VALUE]))


@kernel
def open_frame(stack: LongArray, depth: int, v: int, t: int, cutoff: int) -> None:
    """Put a node on the stack, none of its edges tried."""
    frame = stack[depth]
    frame[NODE] = v
    frame[REST] = t
    frame[CUTOFF] = cutoff
    frame[EDGE] = 0
    frame[CHILD] = UNTRIED
    frame[SO_FAR] = 0
    frame[BEST] = cutoff
    frame[SPENT] = 0
    frame[CHOSEN] = -1
    frame[LEAST] = INFINITE


@kernel
def dearest_branch(graph: ConfigurationGraph, plan: MeanPlan, e: int) -> int:
    """What the branches of e cost at least in the worst case."""
    most = int(plan.dearest[e])
    for i in range(graph.first_child[e], graph.first_child[e + 1]):
        most = max(most, int(plan.least_worst[graph.child[i]]))
    return most


@kernel
def spent_below(graph: ConfigurationGraph, plan: MeanPlan, e: int, t: int) -> int:
    """The worst cost of what follows an edge whose branches are settled."""
    most = int(plan.dearest[e])
    for i in range(graph.first_child[e], graph.first_child[e + 1]):
        u = int(graph.child[i])
        r = look_up(plan, u, t)
        most = max(most, int(plan.least_worst[u]) if r < 0 else int(plan.record[r, SPENDS]))
    return most


@kernel
def close_frame(graph: ConfigurationGraph, plan: MeanPlan, frame: LongArray) -> int:
    """Record what a frame that has gone through its edges has found, and return the value."""
    v = int(frame[NODE])
    t = int(frame[REST])
    if frame[CHOSEN] >= 0:
        add_record(plan, v, int(frame[SPENT]), t, int(frame[BEST]), int(frame[CHOSEN]))
        return int(frame[BEST])
    value = max(bound_above(graph, plan, v, t), int(frame[LEAST]))
    r = find_record(plan, v, t, ABOVE)
    if r >= 0:
        plan.record[r, VALUE] = value
    else:
        add_record(plan, v, t, t, value, ABOVE)
    return value


@kernel
def add_branch(frame: LongArray, lower: int, value: int) -> None:
    """Count what the branch at hand costs instead of its lower bound, and go on to the next one."""
    frame[SO_FAR] = INFINITE if value >= INFINITE else frame[SO_FAR] + value - lower
    frame[CHILD] += 1


@kernel(
    work=lambda tables, graph: tables.cost.size * graph.first_member[1] ** 2 // 16 + exploring(tables),
    sliced=True,
    unfinished=PAUSED,
)
def settle_places(
    tables: SearchTables,
    worst: ConfigurationGraph,
    graph: ConfigurationGraph,
    plan: MeanPlan,
    scratch: Scratch,
    stack: LongArray,
    limit: int,
) -> int:
    """Settle the places that are listed, one after the other; `stack[0]` is the number of frames and the next place.

    At most `limit` steps are done in one call.
    """
    used = plan.used
    depth = int(stack[0, 0])
    for _ in range(limit):
        stack[0, 0] = depth
        if used[LEFT] < 0:
            return OUT_OF_WORK
        if depth + 1 >= len(stack) or not has_records(plan, 2):
            return FULL
        if depth == 0:
            if stack[0, 1] >= used[PLACES]:
                return DONE
            v = int(plan.place[stack[0, 1], 0])
            t = int(plan.place[stack[0, 1], 1])
            stack[0, 1] += 1
            if known_value(graph, plan, v, t, INFINITE) < 0:
                depth = 1
                open_frame(stack, depth, v, t, INFINITE)
            continue
        frame = stack[depth]
        v = int(frame[NODE])
        if graph.num_edges[v] < 0:
            k = int(graph.first_member[v + 1] - graph.first_member[v])
            if not has_room(graph, len(tables.cost), k):
                return FULL
            if not expand_node(tables, worst, graph, plan, scratch, v):
                return OUT_OF_WORK
            continue
        i = int(graph.first_edge[v]) + int(frame[EDGE])
        e = int(plan.order[i]) if frame[EDGE] < graph.num_edges[v] else -1
        if e < 0 or plan.bound[e] >= frame[BEST]:
            if e >= 0:
                frame[LEAST] = min(frame[LEAST], plan.bound[e])
            value = close_frame(graph, plan, frame)
            depth -= 1
            if depth > 0:
                add_branch(stack[depth], int(graph.lower[v]), value)
            continue
        rest = int(frame[REST]) - int(tables.cost[graph.edge_action[e]])
        if frame[CHILD] == UNTRIED:
            used[LEFT] -= 1
            frame[CHILD] = graph.first_child[e]
            frame[SO_FAR] = plan.bound[e] if dearest_branch(graph, plan, e) <= rest else INFINITE
        # Branches one after the other, for as long as the edge may still be the best.
        opened = False
        while frame[CHILD] < graph.first_child[e + 1] and frame[SO_FAR] < frame[BEST]:
            u = int(graph.child[frame[CHILD]])
            cutoff = int(frame[BEST]) - int(frame[SO_FAR]) + int(graph.lower[u])
            value = known_value(graph, plan, u, rest, cutoff)
            if value < 0:
                depth += 1
                open_frame(stack, depth, u, rest, cutoff)
                opened = True
                break
            add_branch(frame, int(graph.lower[u]), value)
        if opened:
            continue
        if frame[SO_FAR] < frame[BEST]:
            frame[BEST] = frame[SO_FAR]
            frame[CHOSEN] = graph.edge_action[e]
            frame[SPENT] = int(tables.cost[graph.edge_action[e]]) + spent_below(graph, plan, e, rest)
        frame[LEAST] = min(frame[LEAST], frame[SO_FAR])
        frame[EDGE] += 1
        frame[CHILD] = UNTRIED
    stack[0, 0] = depth
    return PAUSED


@kernel(work=lambda k: k)
def settled_action(
    worst: ConfigurationGraph,
    graph: ConfigurationGraph,
    plan: MeanPlan,
    code: IntArray,
    weight: LongArray,
    k: int,
    t: int,
) -> int:
    """What to do with these members and t to spend: as settled, and otherwise as the search for worst costs plans."""
    v = find_node(graph, True, code, weight, k)[0]
    r = look_up(plan, v, t) if v >= 0 else -1
    if r >= 0:
        return int(plan.record[r, ACTION])
    known = find_node(worst, False, code, weight, k)[0]
    return int(worst.plan[known]) if known >= 0 else -1
