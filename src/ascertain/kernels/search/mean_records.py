"""What is known of the nodes of a search for a least mean: records, and the arrays that this search writes.

Throughout: v is a node of a graph of weighted configurations, t what may still be spent. The graph's `lower[v]` is the
sum, over the members of v, of weight times the distance of the farthest partner: a lower bound on L(v, t) for every t.

What is known of a node is a list of *records*, in the order in which they were found. A record is about the t from
SPENDS to BUDGET: there L is VALUE, attained by an ACTION; or, with ABOVE in place of an action, L at BUDGET is at least
VALUE; or, with LISTED, the policy at hand comes there with BUDGET.
"""

from __future__ import annotations

from typing import NamedTuple

from ascertain.kernels._jit import kernel
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.kernels.search.graph import ConfigurationGraph
from ascertain.types import IntArray, LongArray

NEXT, SPENDS, BUDGET, VALUE, ACTION = range(5)
"""Columns of a record."""
ABOVE, LISTED = -1, -2
"""In place of an action."""
LEFT, RECORDS, PLACES, WALKED = range(4)
"""Places in `MeanPlan.used`: the work that is left, and how many records, places and places gone through there are."""


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
def has_records(plan: MeanPlan, more: int) -> bool:
    """Whether there is room for so many more records and places."""
    return bool(plan.used[RECORDS] + more < len(plan.record) and plan.used[PLACES] + more < len(plan.place))


@kernel
def bound_above(graph: ConfigurationGraph, plan: MeanPlan, v: int, t: int) -> int:
    """The best lower bound on L of v at t that is known."""
    r = find_record(plan, v, t, ABOVE)
    lower = int(graph.lower[v])
    return lower if r < 0 else max(lower, int(plan.record[r, VALUE]))


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
def list_place(plan: MeanPlan, v: int, t: int) -> None:
    """Add a place to the list, unless it is there; the caller has made sure that there is room."""
    if find_record(plan, v, t, LISTED) >= 0:
        return
    add_record(plan, v, t, t, 0, LISTED)
    plan.place[plan.used[PLACES], 0] = v
    plan.place[plan.used[PLACES], 1] = t
    plan.used[PLACES] += 1
