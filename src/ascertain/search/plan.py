"""From the plans of a search to a policy: an automaton in which equal subtrees are shared.

Each settled node of the graph of configurations has an action that attains its upper bound; a pair begins its cheapest
word. The configurations are walked with the labels of the task, which the graph has renamed, and made into decision
nodes from the answers upwards, each kept once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeAlias, TypeVar

from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.search.configuration import Member, is_pure
from ascertain.search.graph import SearchGraph
from ascertain.types import Action, Reading

PlanNode: TypeAlias = tuple[int, int, tuple[tuple[Reading, int], ...]]
"""(action, label, children by reading)."""
Weighted: TypeAlias = frozenset[tuple[Member, int]]
"""A configuration, its members with their weights, as a key."""
Place = TypeVar("Place", bound=Hashable)
"""Where a plan can be: a configuration, perhaps with what may still be spent."""
Decision: TypeAlias = int | tuple[Action, dict[Reading, Place]]
"""A label to answer, or an action and where each reading leads."""


def read_policy(graph: SearchGraph) -> Automaton:
    """The policy that the plans of the graph describe from the start; the start has a finite upper bound."""

    def decide(here: Weighted) -> Decision[Weighted]:
        members = dict(here)
        if is_pure(members):
            return next(iter(members))[0]
        action = planned_action(graph, members)
        return action, {y: frozenset(left.items()) for y, left in graph.branch(members, action).items()}

    return write_policy(frozenset(graph.start.items()), decide)


def planned_action(graph: SearchGraph, members: dict[Member, int]) -> Action:
    """What the plans of the graph do in a configuration that is not pure."""
    if len(members) == 2:
        (_, s), (_, t) = members
        action = None if s == t else graph.arena.measure(s, t)[1]
        if action is not None:
            return action
    return int(graph.data.plan[graph.intern(members)])


def write_policy(start: Place, decide: Callable[[Place], Decision[Place]]) -> Automaton:
    """The policy that decides so, from this place on; no place leads back to itself."""
    return _Writer(decide).write(start)


class _Writer(Generic[Place]):
    """Turns places into decisions, deepest first, without recursion: plans can be long."""

    def __init__(self, decide: Callable[[Place], Decision[Place]]) -> None:
        self.decide = decide
        self.number: dict[PlanNode, int] = {}
        self.made: dict[Place, int] = {}
        self.waiting: dict[Place, tuple[Action, dict[Reading, Place]]] = {}
        """Decisions whose branches are not made yet."""

    def write(self, start: Place) -> Automaton:
        stack = [start]
        while stack:
            here = stack[-1]
            if here in self.made or self.make(here, stack):
                stack.pop()
        return self.automaton(self.made[start])

    def make(self, here: Place, stack: list[Place]) -> bool:
        """Make the decision for a place if its branches are made; otherwise put those on the stack."""
        decision = self.waiting.pop(here, None) or self.decide(here)
        if isinstance(decision, int):
            self.made[here] = self.keep((NOWHERE, decision, ()))
            return True
        action, branches = decision
        missing = [after for after in branches.values() if after not in self.made]
        if missing:
            self.waiting[here] = decision
            stack.extend(missing)
            return False
        children = tuple(sorted((y, self.made[after]) for y, after in branches.items()))
        self.made[here] = self.keep((action, NOWHERE, children))
        return True

    def keep(self, decision: PlanNode) -> int:
        return self.number.setdefault(decision, len(self.number))

    def automaton(self, root: int) -> Automaton:
        decisions = list(self.number)
        assert root == len(decisions) - 1, "the start is made last"
        return share_decisions(decisions)


def share_decisions(decisions: list[PlanNode]) -> Automaton:
    """The policy of these decisions, each there once, children by their numbers before their parents, the root last."""
    # Reversing puts parents first. That equal decisions share a number makes the tree an automaton.
    last = len(decisions) - 1
    order = decisions[::-1]
    return Automaton(
        action=tuple(action for action, _, _ in order),
        label=tuple(label for _, label, _ in order),
        children=tuple({y: last - child for y, child in children} for _, _, children in order),
    )
