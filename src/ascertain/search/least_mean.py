"""Among policies of the least worst cost, one of the least mean.

Throughout: W is a weighted configuration, t what may still be spent. L(W, t) is the least weighted cost of a policy
that settles W and costs no member more than t; INFINITE where there is none. It is 0 where W is pure, and otherwise the
least, over actions a that all members allow, of c(a) |W| plus the sum over readings y of L(W_{a,y}, t - c(a)). Two
members at distance d cost d each, which is both least worst and least mean, if d <= t.

L falls with t, and is the same for every t between what an optimal policy really spends and the t it was found for. The
recursion is searched depth first, the most promising action first, below a cutoff, and nothing is settled twice
(`kernels/search/least_mean.py`). It is tried on the configurations of the policy at hand, small ones first, until the
hypotheses themselves are reached or the work that is allowed is used up. So the mean never rises, and the search knows
whether it is the least. The work allowed is counted and not timed, so that the same task takes the same road.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from ascertain.kernels.search.graph import DONE, FULL, PAUSED
from ascertain.kernels.search.least_mean import list_places, settle_places, settled_action
from ascertain.kernels.search.mean_records import PLACES, MeanPlan, list_place
from ascertain.policy.automaton import Automaton
from ascertain.search.configuration import Member, is_pure
from ascertain.search.graph import SearchGraph, grown
from ascertain.search.plan import Decision, Weighted, planned_action, write_policy
from ascertain.types import Action

WORK = 60_000
"""Members times actions looked at, at least: a few milliseconds, and enough for the benchmark's real tasks."""
WORK_PER_VISIT = 0.1
"""More for a long search: about a tenth of what the search has taken."""
STEPS = 2_000
"""Steps between two looks at the clock, fewer where configurations are large."""
RECORDS, FRAMES = 1_024, 64
"""Room for records, and for frames of the stack, to begin with: enough for most tasks."""

Place: TypeAlias = tuple[Weighted, int]
"""A weighted configuration, and what may still be spent."""


def lower_mean(graph: SearchGraph, weights: dict[Member, int], deadline: float | None = None) -> tuple[Automaton, bool]:
    """A policy that costs no more than the finished search's, of the least mean found; whether it is the least of all.

    `graph` is that of a search for worst costs, `weights` are those of its start. A deadline, on the clock of
    `time.monotonic`, ends the work that is allowed earlier.
    """
    improver = _Improver(graph, weights, deadline)
    is_least = improver.improve()
    return write_policy((frozenset(weights.items()), graph.upper(0)), improver.decide), is_least


class _Improver:
    """A graph of weighted configurations beside that of a search for worst costs, with what is settled of each."""

    def __init__(self, worst: SearchGraph, weights: dict[Member, int], deadline: float | None) -> None:
        self.worst, self.deadline = worst, deadline
        tables = worst.arena.tables._replace(mean=True, by_leaves=np.empty(0, dtype=np.int64))
        self.graph = SearchGraph(replace(worst.arena, tables=tables), weights)
        self.stack = np.zeros((FRAMES, 10), dtype=np.int64)
        nodes, edges = len(self.graph.data.lower), len(self.graph.data.edge_action)
        self.plan = MeanPlan(
            least_worst=np.zeros(nodes, dtype=np.int64),
            first=np.zeros(nodes, dtype=np.int32),
            order=np.zeros(edges, dtype=np.int32),
            bound=np.zeros(edges, dtype=np.int64),
            dearest=np.zeros(edges, dtype=np.int64),
            record=np.zeros((RECORDS, 5), dtype=np.int64),
            place=np.zeros((RECORDS, 2), dtype=np.int64),
            used=np.array([int(WORK + WORK_PER_VISIT * worst.num_visits), 0, 0, 0], dtype=np.int64),
        )
        self.plan.least_worst[0] = worst.upper(0)
        self.plan.first[0] = -1
        self.steps = max(1, STEPS // (1 + len(weights) ** 2 // 1_000))

    def improve(self) -> bool:
        """Settle what the policy at hand can come to; whether all of it is settled."""
        if len(self.graph.start) <= 2:
            return True
        graph, worst = self.graph, self.worst.data
        list_place(self.plan, 0, self.worst.upper(0))
        if not self.run(
            lambda: list_places(graph.arena.tables, worst, graph.data, self.plan, graph.scratch, self.steps)
        ):
            return False
        # Small configurations first: larger ones are then found settled in part.
        places, first = self.plan.place[: self.plan.used[PLACES]], graph.data.first_member
        size = first[places[:, 0] + 1] - first[places[:, 0]]
        places[:] = places[np.lexsort((places[:, 0], places[:, 1], size))]
        return self.run(
            lambda: settle_places(
                graph.arena.tables, worst, graph.data, self.plan, graph.scratch, self.stack, self.steps
            )
        )

    def run(self, go_on: Callable[[], int]) -> bool:
        """Call a kernel until it is done, growing what it needs; False when the work or the time is used up."""
        while True:
            status = go_on()
            if status == FULL:
                self.grow()
            elif status == DONE or (status != PAUSED and not self.graph.arena.make_pair_room()):
                return status == DONE
            if self.deadline is not None and time.monotonic() > self.deadline:
                return False

    def grow(self) -> None:
        """Twice the room for whatever may be full."""
        self.graph.grow(self.graph.arena.num_actions)
        plan, nodes, edges = self.plan, len(self.graph.data.lower), len(self.graph.data.edge_action)
        self.plan = plan._replace(
            least_worst=grown(plan.least_worst, nodes),
            first=grown(plan.first, nodes),
            order=grown(plan.order, edges),
            bound=grown(plan.bound, edges),
            dearest=grown(plan.dearest, edges),
            record=grown(plan.record, 2 * len(plan.record)),
            place=grown(plan.place, 2 * len(plan.place)),
        )
        self.stack = grown(self.stack, 2 * len(self.stack))

    def decide(self, place: Place) -> Decision[Place]:
        """What the best policy known does in a place: of least mean where that is settled, else as the search plans."""
        weighted, t = place
        weights = dict(weighted)
        if is_pure(weights):
            return next(iter(weights))[0]
        action = self.choose(weights, t)
        rest = t - self.graph.arena.cost(action)
        branches = self.graph.branch(weights, action)
        # What two members do does not depend on what may be spent, so that they are one place whatever that is.
        return action, {y: (frozenset(left.items()), rest if len(left) > 2 else 0) for y, left in branches.items()}

    def choose(self, weights: dict[Member, int], t: int) -> Action:
        """What the best policy known does with these members and t to spend."""
        if len(weights) > 2:
            code, weight = self.graph.encode(weights)
            action = settled_action(self.worst.data, self.graph.data, self.plan, code, weight, len(code), t)
            if action >= 0:
                return action
        return planned_action(self.worst, weights)
