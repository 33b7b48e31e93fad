"""Among policies of the least worst cost, one of the least mean.

Throughout: W is a weighted configuration, t what may still be spent. L(W, t) is the least weighted cost of a policy
that settles W and costs no member more than t; INFINITE where there is none. It is 0 where W is pure, and otherwise the
least, over actions a that all members allow, of c(a) |W| plus the sum over readings y of L(W_{a,y}, t - c(a)). Two
members at distance d cost d each, which is both least worst and least mean, if d <= t.

L falls with t, and is the same for every t between what an optimal policy really spends and the t it was found for. The
recursion is searched depth first, the most promising action first, below a cutoff, and nothing is settled twice. It is
tried on the configurations of the policy at hand, small ones first, until the hypotheses themselves are reached or the
work that is allowed is used up. So the mean never rises, and the search knows whether it is the least. The work allowed
is counted and not timed, so that the same task takes the same road.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TypeAlias

from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.policy.automaton import Automaton
from ascertain.search.configuration import Member, is_pure
from ascertain.search.graph import SearchGraph
from ascertain.search.plan import Decision, Weighted, planned_action, read_policy, write_policy
from ascertain.types import UNDEFINED, Action, Reading

WORK = 60_000
"""Members times actions looked at, at least: within a tenth of a second, and enough for the benchmark's real tasks."""
WORK_PER_VISIT = 0.1
"""More for a long search: about a tenth of what the search has taken."""
DEEPEST = 150
"""Actions of a policy that is looked for: the search recurses, and Python stops at some hundreds of levels."""

Place: TypeAlias = tuple[Weighted, int]
"""A weighted configuration, and what may still be spent."""


class _OutOfWork(Exception):
    """The work that is allowed is used up."""


@dataclass(frozen=True)
class _Edge:
    action: Action
    cost: int
    bound: int
    """What the action and what is left cost at least, in weight times cost."""
    branches: list[_Node]


@dataclass(frozen=True)
class _Settled:
    """L of a configuration, the same for all t from `spends` to `budget`."""

    spends: int
    budget: int
    value: int
    action: Action


@dataclass(eq=False)
class _Node:
    """A weighted configuration that is not pure, up to the names of its labels."""

    weights: dict[Member, int]
    by_pairs: int
    """A lower bound on L."""
    least_worst: int
    """No policy for it has a lower worst cost."""
    edges: list[_Edge] | None = None
    settled: list[_Settled] = field(default_factory=list[_Settled])
    above: dict[int, int] = field(default_factory=dict[int, int])
    """`above[t]` is another lower bound on L(W, t)."""

    def look_up(self, t: int) -> _Settled | None:
        return next((known for known in self.settled if known.spends <= t <= known.budget), None)


def lower_mean(graph: SearchGraph, weights: dict[Member, int], deadline: float | None = None) -> tuple[Automaton, bool]:
    """A policy that costs no more than the finished search's, of the least mean found; whether it is the least of all.

    `graph` is that of a search for worst costs, `weights` are those of its start. A deadline, on the clock of
    `time.monotonic`, ends the work that is allowed earlier.
    """
    return _Improver(graph, weights, deadline).improve()


class _Improver:
    def __init__(self, graph: SearchGraph, weights: dict[Member, int], deadline: float | None) -> None:
        self.graph, self.deadline = graph, deadline
        self.arena = graph.arena
        self.start: Place = (frozenset(weights.items()), graph.upper(0))
        self.costs = [self.arena.cost(a) for a in range(self.arena.num_actions)]
        self.nodes: dict[Weighted, _Node] = {}
        """By configuration, under its labels renamed and as it was met."""
        self.work = int(WORK + WORK_PER_VISIT * graph.num_visits)

    def improve(self) -> tuple[Automaton, bool]:
        try:
            places = self.list_places()
        except _OutOfWork:
            return read_policy(self.graph), False
        try:
            for weighted, t in places:
                self.value(self.node(dict(weighted)), t, INFINITE, 0)
        except _OutOfWork:
            return write_policy(self.start, self.decide), False
        return write_policy(self.start, self.decide), True

    def list_places(self) -> list[Place]:
        """Where the policy at hand can be with more than two members left, small configurations first."""
        found: dict[Place, None] = {}
        open_yet = [self.start]
        while open_yet:
            place = open_yet.pop()
            if place in found or len(place[0]) <= 2:
                continue
            decision = self.decide(place)
            if not isinstance(decision, int):
                found[place] = None
                self.spend(len(place[0]))
                open_yet.extend(decision[1].values())
        return sorted(found, key=lambda place: (len(place[0]), place[1], sorted(place[0])))

    def decide(self, place: Place) -> Decision[Place]:
        """What the best policy known does in a place: of least mean where that is settled, else as the search plans."""
        weighted, t = place
        weights = dict(weighted)
        if is_pure(weights):
            return next(iter(weights))[0]
        action: Action | None = None
        if len(weights) > 2:
            node = self.nodes.get(weighted) or self.nodes.get(frozenset(self.arena.named(weights).items()))
            known = None if node is None else node.look_up(t)
            action = None if known is None else known.action
        if action is None:
            action = planned_action(self.graph, weights)
        rest, branches = t - self.costs[action], self.branch(weights, action)
        assert branches is not None, "policies do what all members allow"
        return action, {y: (frozenset(left.items()), rest) for y, left in branches.items()}

    def branch(self, weights: dict[Member, int], action: Action) -> dict[Reading, dict[Member, int]] | None:
        """What is left after each reading, weights of members that meet added up; None when a member forbids it."""
        successor, reading, state_label = self.arena.rows
        branches: dict[Reading, dict[Member, int]] = {}
        for (label, s), weight in weights.items():
            t = successor[s][action]
            if t == UNDEFINED:
                return None
            after = (state_label[t] if state_label else label, t)
            left = branches.setdefault(reading[s][action], {})
            left[after] = left.get(after, 0) + weight
        return branches

    def value(self, node: _Node, t: int, cutoff: int, depth: int) -> int:
        """L(W, t) if that is below the cutoff, and then it is settled; otherwise a lower bound that is not."""
        if node.least_worst > t:
            return INFINITE
        if len(node.weights) == 2:
            return node.by_pairs
        known = node.look_up(t)
        if known is not None:
            return known.value
        lower = max(node.by_pairs, node.above.get(t, 0))
        if lower >= cutoff:
            return lower
        if depth >= DEEPEST:
            raise _OutOfWork
        best, least, settled = cutoff, INFINITE, None
        for edge in self.expand(node):
            if edge.bound >= best:
                least = min(least, edge.bound)
                break
            total = self.follow(edge, t - edge.cost, best, depth)
            if total < best:
                best = total
                settled = _Settled(edge.cost + self.spends(edge, t - edge.cost), t, total, edge.action)
            least = min(least, total)
        if settled is None:
            node.above[t] = max(lower, least)
            return node.above[t]
        node.settled.append(settled)
        return best

    def follow(self, edge: _Edge, t: int, cutoff: int, depth: int) -> int:
        """What an action and the best that can follow cost, or a lower bound on it that is not below the cutoff."""
        if any(branch.least_worst > t for branch in edge.branches):
            return INFINITE
        total = edge.bound
        for branch in edge.branches:
            if total >= cutoff:
                break
            value = self.value(branch, t, cutoff - total + branch.by_pairs, depth + 1)
            total = INFINITE if value >= INFINITE else total + value - branch.by_pairs
        return total

    def spends(self, edge: _Edge, t: int) -> int:
        """The worst cost of what follows an action whose branches are settled."""
        most = 0
        for branch in edge.branches:
            known = branch.look_up(t)
            most = max(most, branch.least_worst if known is None else known.spends)
        return most

    def expand(self, node: _Node) -> list[_Edge]:
        """The actions that may be of use, the most promising first."""
        if node.edges is not None:
            self.spend(1 + len(node.edges))
            return node.edges
        self.spend(len(node.weights) * self.arena.num_actions)
        total, edges = sum(node.weights.values()), list[_Edge]()
        for a, cost in enumerate(self.costs):
            found = self.branch(node.weights, a)
            if found is None:
                continue
            branches = [self.node(left) for left in found.values() if not is_pure(left)]
            # Coming back to the same configuration with less to spend is of no use.
            if node in branches or any(branch.least_worst >= INFINITE for branch in branches):
                continue
            bound = cost * total + sum(branch.by_pairs for branch in branches)
            edges.append(_Edge(a, cost, bound, sorted(branches, key=lambda branch: -branch.least_worst)))
        node.edges = sorted(edges, key=lambda edge: edge.bound)
        return node.edges

    def node(self, met: dict[Member, int]) -> _Node:
        as_met = frozenset(met.items())
        if as_met in self.nodes:
            return self.nodes[as_met]
        self.spend(len(met))
        weights = self.arena.named(met)
        key = frozenset(weights.items())
        if key not in self.nodes:
            if len(weights) == 2:
                (_, s), (_, t) = weights
                if s != t and not self.arena.measure(s, t)[2]:
                    raise _OutOfWork  # what two members cost is only bounded
            far, _ = self.arena.farthest_partners(list(weights))
            worst = max(far)
            by_pairs = INFINITE if worst >= INFINITE else sum(map(int.__mul__, far, weights.values()))
            if len(weights) > 2 and worst < INFINITE:
                # The search for worst costs may know more.
                known = self.graph.find_code(self.arena.encode(weights))
                worst = max(worst, self.graph.lower(known) if known >= 0 else 0)
            self.nodes[key] = _Node(weights, by_pairs, worst)
        self.nodes[as_met] = self.nodes[key]
        return self.nodes[key]

    def spend(self, work: int) -> None:
        self.work -= work
        if self.work < 0 or (self.deadline is not None and time.monotonic() > self.deadline):
            raise _OutOfWork
