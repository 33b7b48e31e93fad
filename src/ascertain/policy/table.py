"""A policy as a table that may lead back to where it was: a test that keeps looking until it has seen enough.

Node 0 is the root, and nodes are as in an automaton (automaton.py), but a child may be any node. Such a policy need not
end; `evaluate` says whether it does so with probability one, and at what cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from ascertain.errors import ModelError
from ascertain.policy.automaton import NOWHERE
from ascertain.policy.policy import Abstain, Answer, Ask, Decision
from ascertain.types import Reading


@final
@dataclass(frozen=True)
class Table:
    """Node v asks `action[v]` and goes on to `children[v][y]`, or answers `label[v]`, or abstains where both are -1."""

    action: tuple[int, ...]
    label: tuple[int, ...]
    children: tuple[Mapping[Reading, int], ...]

    def __post_init__(self) -> None:
        size = len(self.action)
        if size == 0 or not size == len(self.label) == len(self.children):
            raise ModelError("a policy needs at least one node, and an action, a label and children for each")
        for v, following in enumerate(self.children):
            for child in following.values():
                if not 0 <= child < size:
                    raise ModelError(f"policy node {v} leads to node {child}; there are nodes 0 .. {size - 1}")

    @property
    def size(self) -> int:
        return len(self.action)

    @property
    def is_ordered(self) -> bool:
        """Whether children come after their parents, so that every walk ends."""
        return all(v < child for v, following in enumerate(self.children) for child in following.values())

    def start(self) -> int:
        return 0

    def decide(self, memory: int) -> Decision:
        if memory == NOWHERE:
            return Abstain("none of these: a reading that the policy has no branch for")
        if self.action[memory] != NOWHERE:
            return Ask(self.action[memory])
        if self.label[memory] != NOWHERE:
            return Answer(self.label[memory])
        return Abstain("the policy ends without an answer here")

    def next(self, memory: int, reading: Reading) -> int:
        return self.children[memory].get(reading, NOWHERE) if memory != NOWHERE else NOWHERE
