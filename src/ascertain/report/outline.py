"""A policy as the tree that a person reads, drawn once for every medium.

A node of the automaton that several branches share is drawn where it is first met and referred to ("as at #7")
afterwards, so that the outline is no larger than the automaton.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.report.printable import printable
from ascertain.task.task import Task


@dataclass(frozen=True)
class Outline:
    """One node: the reading that leads to it, what it says, and what follows."""

    reading: str
    """Empty at the root."""
    text: str
    kind: Literal["ask", "answer", "abstain", "again"]
    number: int
    """Its node in the automaton."""
    shared: bool
    """Whether other branches refer to it."""
    children: tuple[Outline, ...] = ()

    @property
    def lines(self) -> int:
        """How many lines a list of it takes."""
        return 1 + sum(child.lines for child in self.children)

    @property
    def width(self) -> int:
        """How many leaves are below, itself if it is one."""
        return sum(child.width for child in self.children) or 1


def outline_policy(task: Task, policy: Automaton) -> Outline:
    """The outline of the whole policy, by the names of the task."""
    parents = [0] * policy.size
    for children in policy.children:
        for child in children.values():
            parents[child] += 1
    seen: set[int] = set()

    def draw(v: int, reading: str) -> Outline:
        if policy.action[v] == NOWHERE:
            answered = policy.label[v] != NOWHERE
            text = printable(task.labels[policy.label[v]]) if answered else "no answer"
            return Outline(reading, text, "answer" if answered else "abstain", v, False)
        shared = parents[v] > 1
        if v in seen:
            return Outline(reading, f"as at #{v}", "again", v, shared)
        seen.add(v)
        below = tuple(draw(c, printable(task.model.readings[y])) for y, c in sorted(policy.children[v].items()))
        return Outline(reading, printable(task.model.actions[policy.action[v]]), "ask", v, shared, below)

    return draw(policy.start(), "")
