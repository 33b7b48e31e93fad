"""From the plans of a search to a policy: an automaton in which equal subtrees are shared.

Each settled node of the graph of configurations has an action that attains its upper bound; a pair begins its cheapest
word. The configurations are walked with the labels of the task, which the graph has renamed, and made into decision
nodes from the answers upwards, each kept once.
"""

from __future__ import annotations

from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.search.configuration import Member, is_pure
from ascertain.search.graph import SearchGraph
from ascertain.types import Reading

PlanNode = tuple[int, int, tuple[tuple[Reading, int], ...]]
"""(action, label, children by reading)."""
Weighted = frozenset[tuple[Member, int]]
"""A configuration, its members with their weights, as a key."""


def read_policy(graph: SearchGraph) -> Automaton:
    """The policy that the plans of the graph describe from the start; the start has a finite upper bound."""
    return _Reader(graph).read()


class _Reader:
    """Turns configurations into decisions, deepest first, without recursion: plans can be long."""

    def __init__(self, graph: SearchGraph) -> None:
        self.graph = graph
        self.number: dict[PlanNode, int] = {}
        self.made: dict[Weighted, int] = {}

    def read(self) -> Automaton:
        start = frozenset(self.graph.start.items())
        stack = [start]
        while stack:
            here = stack[-1]
            if here in self.made or self.make(here, stack):
                stack.pop()
        return self.automaton(self.made[start])

    def make(self, here: Weighted, stack: list[Weighted]) -> bool:
        """Make the decision for a configuration if its branches are made; otherwise put those on the stack."""
        members = dict(here)
        if is_pure(members):
            self.made[here] = self.keep((NOWHERE, next(iter(members))[0], ()))
            return True
        if len(members) == 2:
            action = self.graph.arena.first_action(*members)
        else:
            action = int(self.graph.data.plan[self.graph.intern(members)])
        branches = {y: frozenset(left.items()) for y, left in self.graph.branch(members, action).items()}
        missing = [after for after in branches.values() if after not in self.made]
        if missing:
            stack.extend(missing)
            return False
        children = tuple(sorted((y, self.made[after]) for y, after in branches.items()))
        self.made[here] = self.keep((action, NOWHERE, children))
        return True

    def keep(self, decision: PlanNode) -> int:
        return self.number.setdefault(decision, len(self.number))

    def automaton(self, root: int) -> Automaton:
        """Number decisions from the root: they were made children first, so reversing puts parents first."""
        # Equal decisions share a number, which is what makes the tree an automaton.
        decisions = list(self.number)
        last = len(decisions) - 1
        assert root == last, "the start is made last"
        order = decisions[::-1]
        return Automaton(
            action=tuple(action for action, _, _ in order),
            label=tuple(label for _, label, _ in order),
            children=tuple({y: last - child for y, child in children} for _, _, children in order),
        )
