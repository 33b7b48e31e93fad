"""A policy as a table that may lead back to where it was: a test that keeps looking until it has seen enough.

Node 0 is the root, and nodes are as in an automaton (automaton.py), but a child may be any node. Such a policy need not
end; `evaluate` says whether it does so with probability one, and at what cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from ascertain.errors import ModelError
from ascertain.policy.automaton import AbstractNodes


@final
@dataclass(frozen=True)
class Table(AbstractNodes):
    """A policy of which any node may follow any other."""

    UNKNOWN: ClassVar[str] = "none of these: a reading that the policy has no branch for"

    def __post_init__(self) -> None:
        super().__post_init__()
        for v, following in enumerate(self.children):
            for child in following.values():
                if not 0 <= child < self.size:
                    raise ModelError(f"policy node {v} leads to node {child}; there are nodes 0 .. {self.size - 1}")

    @property
    def is_ordered(self) -> bool:
        """Whether children come after their parents, so that every walk ends."""
        return all(v < child for v, following in enumerate(self.children) for child in following.values())
