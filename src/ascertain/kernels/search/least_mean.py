"""The search for a least mean among policies of a bounded worst cost, depth first, in slices.

What is searched, and why, is in `search/least_mean.py`; what is written down, in `mean_records.py`. Throughout: v and u
are nodes of a graph of weighted configurations of more than two members (`weighted.py`), e is an edge, t what may still
be spent.

A frame of the stack is a node, its t and a cutoff, and how far its edges have been gone through: the edge at hand, the
branch of it at hand (UNTRIED before the first), what that edge costs so far, the best edge with what it costs and
spends, and the least that the others cost.
"""

from __future__ import annotations

from ascertain.kernels._jit import kernel
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.kernels.search.distances import exploring
from ascertain.kernels.search.graph import DONE, FULL, PAUSED, ConfigurationGraph, Scratch, find_node, has_room
from ascertain.kernels.search.mean_records import (
    ABOVE,
    ACTION,
    LEFT,
    PLACES,
    SPENDS,
    VALUE,
    WALKED,
    MeanPlan,
    add_record,
    bound_above,
    find_record,
    has_records,
    known_value,
    list_place,
    look_up,
)
from ascertain.kernels.search.tables import SearchTables
from ascertain.kernels.search.weighted import expand_node
from ascertain.types import IntArray, LongArray

OUT_OF_WORK = -1
"""What is returned when the work that is allowed is used up, beside DONE, PAUSED and FULL."""
NODE, REST, CUTOFF, EDGE, CHILD, SO_FAR, BEST, SPENT, CHOSEN, LEAST = range(10)
"""Columns of a frame."""
UNTRIED = -1
"""In place of a branch."""


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
