"""From the plans of a search to a policy: an automaton in which equal subtrees are shared.

Each settled node of the graph of configurations has an action that attains its upper bound; a pair begins its cheapest
word. The configurations are walked with the labels of the task, which the graph has renamed, and made into decision
nodes from the answers upwards, each kept once.
"""

from __future__ import annotations

from collections.abc import Mapping

from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.search.configuration import Arena, Configuration, Member, is_pure
from ascertain.search.graph import SearchGraph
from ascertain.types import Action, Reading

MemberWeights = Mapping[Member, int]
PlanNode = tuple[int, int, tuple[tuple[Reading, int], ...]]
"""(action, label, children by reading)."""


def read_policy(graph: SearchGraph, weight: MemberWeights | None = None) -> Automaton:
    """The policy that the plans of the graph describe from the start; the start has a finite upper bound."""
    return _Reader(graph).read(weight)


class _Reader:
    """Turns configurations into decisions, deepest first, without recursion: plans can be long."""

    def __init__(self, graph: SearchGraph) -> None:
        self.graph = graph
        self.arena: Arena = graph.arena
        self.number: dict[PlanNode, int] = {}
        self.made: dict[frozenset[tuple[Member, int]], int] = {}

    def read(self, weight: MemberWeights | None) -> Automaton:
        start = self.weighted(self.arena.start, weight)
        stack = [start]
        while stack:
            here = stack[-1]
            if here in self.made or self.make(here, stack):
                stack.pop()
        return self.automaton(self.made[start])

    def weighted(self, configuration: Configuration, weight: MemberWeights | None) -> frozenset[tuple[Member, int]]:
        return frozenset((member, 1 if weight is None else weight[member]) for member in configuration)

    def make(self, here: frozenset[tuple[Member, int]], stack: list[frozenset[tuple[Member, int]]]) -> bool:
        """Make the decision for a configuration if its branches are made; otherwise put those on the stack."""
        weight = dict(here)
        configuration = frozenset(weight)
        if is_pure(configuration):
            label = next(iter(configuration))[0]
            self.made[here] = self.keep((NOWHERE, label, ()))
            return True
        action = self.planned(configuration, weight)
        branches = self.branch(weight, action)
        missing = [after for after in branches.values() if after not in self.made]
        if missing:
            stack.extend(missing)
            return False
        children = tuple(sorted((y, self.made[after]) for y, after in branches.items()))
        self.made[here] = self.keep((action, NOWHERE, children))
        return True

    def planned(self, configuration: Configuration, weight: MemberWeights) -> Action:
        if len(configuration) == 2:
            return self.arena.first_action(*configuration)
        node = self.graph.intern(configuration, weight if self.graph.mean else None)
        return int(self.graph.data.plan[node])

    def branch(self, weight: MemberWeights, action: Action) -> dict[Reading, frozenset[tuple[Member, int]]]:
        """What is left after each reading; the weights of members that meet are added."""
        branches: dict[Reading, dict[Member, int]] = {}
        for (label, s), w in weight.items():
            y, member = self.arena.move((label, s), action)
            left = branches.setdefault(y, {})
            left[member] = left.get(member, 0) + w if self.graph.mean else 1
        return {y: frozenset(left.items()) for y, left in branches.items()}

    def keep(self, decision: PlanNode) -> int:
        return self.number.setdefault(decision, len(self.number))

    def automaton(self, root: int) -> Automaton:
        """Number decisions from the root: they were made children first, so reversing puts parents first."""
        decisions = list(self.number)
        last = len(decisions) - 1
        assert root == last, "the start is made last"
        order = decisions[::-1]
        return Automaton(
            action=tuple(action for action, _, _ in order),
            label=tuple(label for _, label, _ in order),
            children=tuple({y: last - child for y, child in children} for _, _, children in order),
        )
