"""A policy as an automaton: a decision tree whose equal subtrees are shared, or a table that may lead back.

Node 0 is the root. Node v asks `action[v]` and goes on to `children[v][y]` when y is read, or, where `action[v]` is -1,
answers `label[v]` (or abstains where that is -1 too). A reading that a node has no child for leads to abstention. In
an `Automaton` children come after their parents, so that every walk ends; in a `PolicyTable` a child may be any node.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self, final

from ascertain.drawing.outline import NOWHERE, Names, Outline, outline_nodes
from ascertain.drawing.shown import Shown
from ascertain.drawing.tree import draw_svg, draw_text, write_tree
from ascertain.errors import LimitError, ModelError
from ascertain.model.abstract import set_fields
from ascertain.policy.policy import Abstain, Answer, Ask, Decision
from ascertain.task.task import Task
from ascertain.types import Reading

MAX_DEPTH = 300
"""A deeper tree is not drawn: trees are drawn by recursion, and nobody could read it."""
MAX_SIZE = 2000
"""Nodes of a policy that shows itself unasked, when it is printed or in a notebook."""


@dataclass(frozen=True)
class AbstractNodes(Shown):
    """Node v asks `action[v]` and goes on to `children[v][y]`, or answers `label[v]`, or abstains where both are -1."""

    action: tuple[int, ...]
    label: tuple[int, ...]
    children: tuple[Mapping[Reading, int], ...]
    names: Names | None = field(default=None, kw_only=True, compare=False)
    """What a drawing is written with; without, actions and labels are drawn by number."""

    UNKNOWN: ClassVar[str]
    """Why a reading without a child is no answer."""

    def __post_init__(self) -> None:
        if not 0 < self.size == len(self.label) == len(self.children):
            raise ModelError("a policy needs at least one node, and an action, a label and children for each")

    @property
    def size(self) -> int:
        return len(self.action)

    def shown(self) -> Mapping[str, object]:
        return {"nodes": self.size}

    def named(self, task: Task) -> Self:
        """The same policy, which is drawn with the names and costs of this task."""
        model = task.model
        same = copy(self)  # which need not be checked again
        set_fields(same, names=Names(model.actions, model.readings, task.labels, task.cost))
        return same

    @property
    def outline(self) -> Outline:
        """The policy as a tree; LimitError where it is too large to draw."""
        if self.longest > MAX_DEPTH:
            raise LimitError(f"the policy is {self.longest} actions deep; at most {MAX_DEPTH} are drawn")
        return outline_nodes(self.action, self.label, self.children, self.names)

    @property
    def longest(self) -> int:
        """No path without a repetition has more actions."""
        return self.size

    def __str__(self) -> str:
        return draw_text(self.outline) if self._is_small else repr(self)

    def html(self) -> str:
        return draw_svg(self.outline, type(self).__name__) if self._is_small else super().html()

    @property
    def _is_small(self) -> bool:
        return self.size <= MAX_SIZE and self.longest <= MAX_DEPTH

    def draw(self, path: str | Path, title: str = "Policy") -> None:
        """Draw the tree: a page (.html), a picture (.svg), Graphviz text (.dot) or plain text (.txt)."""
        write_tree(path, self.outline, title)

    def start(self) -> int:
        return 0

    def decide(self, memory: int) -> Decision:
        if memory == NOWHERE:
            return Abstain(self.UNKNOWN)
        if self.action[memory] != NOWHERE:
            return Ask(self.action[memory])
        if self.label[memory] != NOWHERE:
            return Answer(self.label[memory])
        return Abstain("the policy ends without an answer here")

    def next(self, memory: int, reading: Reading) -> int:
        return self.children[memory].get(reading, NOWHERE) if memory != NOWHERE else NOWHERE


@final
@dataclass(frozen=True)
class Automaton(AbstractNodes):
    """An acyclic policy; children come after their parents, so that a walk always ends."""

    depth: int = field(init=False)
    """The largest number of actions on a path from the root."""

    UNKNOWN: ClassVar[str] = "none of these: a reading that no hypothesis explains"

    @property
    def longest(self) -> int:
        return self.depth

    def shown(self) -> Mapping[str, object]:
        return {"nodes": self.size, "depth": self.depth}

    def __post_init__(self) -> None:
        super().__post_init__()
        depth = [0] * self.size
        for v in reversed(range(self.size)):
            for child in self.children[v].values():
                if not v < child < self.size:
                    raise ModelError(f"policy node {v} leads to node {child}; children come after their parents")
            if self.action[v] != NOWHERE:
                depth[v] = 1 + max((depth[c] for c in self.children[v].values()), default=0)
        object.__setattr__(self, "depth", depth[0])


@final
@dataclass(frozen=True)
class PolicyTable(AbstractNodes):
    """A policy of which any node may follow any other: a test that keeps looking until it has seen enough.

    It need not end; `evaluate` says whether it does so with probability one, and at what cost.
    """

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


def draw_policy(path: str | Path, task: Task, policy: Automaton, title: str = "Policy") -> None:
    """Draw the policy of a task into a file, as `policy.draw` does, with the names and costs of this task."""
    policy.named(task).draw(path, title)
