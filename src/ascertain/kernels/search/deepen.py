"""Iterative deepening on the graph of configurations, in slices, and the fixpoint that proves infinity.

`deepen` answers "is D(v) <= t?" depth first, for t the lower bound of the root, until lower and upper meet. A frame of
the stack is a node and its budget t. At a node the edge of least lower value is followed while that value is within
the budget; into a branch goes what is left of the budget. A visit ends when the node's lower bound exceeds its budget,
which is raised to the least value of its edges, or its upper bound is within it. Costs are positive, so budgets fall
along the stack and cycles do no harm; bounds are kept with the nodes, so nothing is proved twice.

Throughout: v and u are nodes, e is an edge, i a place in the list of branches.

Deepening alone would never end on an infinite node that lies on a cycle. `prove_infinite` finds the largest set of
nodes in which every edge of every node has a branch in the set (or one known to be infinite): an adversary who always
answers with that branch never lets the experiment end, so all of them are infinite.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ascertain.kernels._jit import kernel
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.kernels.search.distances import WALKED, exploring
from ascertain.kernels.search.graph import (
    CHILDREN,
    DONE,
    EDGES,
    FULL,
    MOST_PASSES,
    MOST_WALKED,
    NODES,
    PAUSED,
    RAISED,
    VISITS,
    ConfigurationGraph,
    Scratch,
    expand,
)
from ascertain.kernels.search.tables import SearchTables
from ascertain.types import LongArray

FEW_VISITS = 20
"""Visits before which nobody needs to hear that the bound of the root has risen: small tasks take one call."""


@kernel
def edge_value(graph: ConfigurationGraph, price: int, e: int, bound: LongArray, mean: bool) -> int:
    """The price of the edge plus the largest (or the sum) of the bounds of its branches."""
    rest = 0
    for i in range(graph.first_child[e], graph.first_child[e + 1]):
        b = int(bound[graph.child[i]])
        if b >= INFINITE:
            return INFINITE
        rest = rest + b if mean else max(rest, b)
    return price + rest


@kernel(
    work=lambda tables, graph: min(tables.cost.size * graph.first_member[1] ** 2 // 4, MOST_PASSES) + exploring(tables),
    sliced=True,
)
def deepen(tables: SearchTables, graph: ConfigurationGraph, scratch: Scratch, stack: LongArray, limit: int) -> int:
    """Continue the search from `stack` for at most `limit` visits; see the module.

    `stack[0]` is the number of frames and of visits that are left of a slice; frame i is `stack[i] = (node, budget)`.
    Node 0 is the root.
    """
    depth = int(stack[0, 0])
    pause = int(tables.pairs.used[WALKED]) + MOST_WALKED
    for _ in range(limit):
        if tables.pairs.used[WALKED] > pause:
            break
        stack[0, 1] -= 1
        if depth == 0:
            if graph.lower[0] >= graph.upper[0]:
                stack[0, 0] = 0
                return DONE
            depth = 1
            stack[1, 0] = 0
            stack[1, 1] = graph.lower[0]
        v = int(stack[depth, 0])
        budget = int(stack[depth, 1])
        # The question of this frame is answered: D(v) exceeds the budget, or is within it.
        if graph.lower[v] > budget or graph.upper[v] <= budget:
            depth -= 1
            if depth == 0 and graph.used[VISITS] >= FEW_VISITS:
                stack[0, 0] = 0
                return RAISED
            continue
        if graph.num_edges[v] < 0:
            status = expand(tables, graph, scratch, v)
            if status != DONE:
                stack[0, 0] = depth
                stack[0, 1] += 1  # the visit is not over
                return status
        graph.used[VISITS] += 1
        e = choose_edge(tables, graph, v)
        if graph.lower[v] > budget or graph.upper[v] <= budget:
            continue
        # Neither is known yet: ask the hardest branch of the most promising action.
        u, rest = choose_branch(tables, graph, v, e, budget)
        depth += 1
        stack[depth, 0] = u
        stack[depth, 1] = rest
        if depth + 1 >= len(stack):
            stack[0, 0] = depth
            return FULL
    stack[0, 0] = depth
    return PAUSED


@kernel
def choose_edge(tables: SearchTables, graph: ConfigurationGraph, v: int) -> int:
    """The edge of least lower value; the bounds of v are brought up to date on the way."""
    best = -1
    least = INFINITE
    begin = int(graph.first_edge[v])
    for e in range(begin, begin + int(graph.num_edges[v])):
        a = int(graph.edge_action[e])
        price = int(tables.cost[a]) * int(graph.total[v])
        value = edge_value(graph, price, e, graph.lower, tables.mean)
        if value < least:
            least = value
            best = e
        if value < graph.upper[v]:
            reached = edge_value(graph, price, e, graph.upper, tables.mean)
            if reached < graph.upper[v]:
                graph.upper[v] = reached
                graph.plan[v] = a
    graph.lower[v] = max(graph.lower[v], least)
    return best


@kernel
def choose_branch(tables: SearchTables, graph: ConfigurationGraph, v: int, e: int, budget: int) -> tuple[int, int]:
    """The unsettled branch with the largest lower bound, and the budget that is left for it."""
    price = int(tables.cost[graph.edge_action[e]]) * int(graph.total[v])
    left = budget - price
    if tables.mean:
        left = budget - edge_value(graph, price, e, graph.lower, True)
    chosen = -1
    for i in range(graph.first_child[e], graph.first_child[e + 1]):
        u = int(graph.child[i])
        open_yet = graph.upper[u] > graph.lower[u] if tables.mean else graph.upper[u] > left
        if open_yet and (chosen < 0 or graph.lower[u] > graph.lower[chosen]):
            chosen = u
    if tables.mean:
        # Never more than would change something: either the upper bound falls or the lower bound rises.
        left = min(left + int(graph.lower[chosen]), int(graph.upper[chosen]) - 1)
    return chosen, left


@kernel(work=lambda graph: 2 * (graph.used[EDGES] + graph.used[CHILDREN]))
def prove_infinite(graph: ConfigurationGraph, alive: npt.NDArray[np.bool_]) -> int:
    """Raise to INFINITE the lower bounds of the largest set that cannot be left; return how many were raised."""
    count = int(graph.used[NODES])
    for v in range(count):
        alive[v] = graph.lower[v] >= INFINITE or (graph.num_edges[v] >= 0 and graph.upper[v] >= INFINITE)
    changed = True
    while changed:
        changed = False
        # Branches mostly come after the node that led to them, so going backwards settles most in one sweep.
        for v in range(count - 1, -1, -1):
            if alive[v] and graph.lower[v] < INFINITE and can_leave(graph, v, alive):
                alive[v] = False
                changed = True
    raised = 0
    for v in range(count):
        if alive[v] and graph.lower[v] < INFINITE:
            graph.lower[v] = INFINITE
            raised += 1
    return raised


@kernel
def can_leave(graph: ConfigurationGraph, v: int, alive: npt.NDArray[np.bool_]) -> bool:
    """Whether some edge of v has no branch that is alive."""
    begin = int(graph.first_edge[v])
    for e in range(begin, begin + int(graph.num_edges[v])):
        held = False
        for i in range(graph.first_child[e], graph.first_child[e + 1]):
            if alive[graph.child[i]]:
                held = True
                break
        if not held:
            return True
    return False
