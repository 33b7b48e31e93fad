"""A policy as the tree that a person reads, made once for every medium.

A node that several branches share is drawn where it is first met, with a name ("#1"), and referred to ("as at #1")
afterwards, so that the outline is no larger than the policy. Every node says what the branch to it has cost so far. A
branch is *worst* where it can still come to the largest cost of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, final

from ascertain.drawing.printable import printable

NOWHERE = -1
"""In place of an action or a label: there is none."""


@final
@dataclass(frozen=True)
class Names:
    """What a tree is written with: names and costs by number."""

    actions: Sequence[str]
    readings: Sequence[str]
    labels: Sequence[str]
    cost: Sequence[Fraction]


@final
@dataclass(frozen=True)
class Outline:
    """One node: the reading that leads to it, what it says, and what follows."""

    reading: str
    """Empty at the root."""
    text: str
    kind: Literal["ask", "answer", "abstain", "again"]
    number: int
    """Its node in the policy."""
    name: str = ""
    """Of a node that other branches refer to."""
    cost: str = ""
    """So far; empty at the root, and where costs are not known."""
    worst: bool = False
    """Whether what it comes to in the end can be the worst of all."""
    children: tuple[Outline, ...] = ()

    @property
    def lines(self) -> int:
        """How many lines a list of it takes."""
        return 1 + sum(child.lines for child in self.children)

    @property
    def width(self) -> int:
        """How many leaves are below, itself if it is one."""
        return sum(child.width for child in self.children) or 1

    @property
    def sign(self) -> str:
        """What tells an answer from an action at a glance."""
        return {"answer": "✔ ", "abstain": "✘ "}.get(self.kind, "")


def outline_nodes(
    action: Sequence[int], label: Sequence[int], children: Sequence[Mapping[int, int]], names: Names | None
) -> Outline:
    """The outline of a policy from its root, node 0; by numbers where there are no names."""
    parents = [0] * len(action)
    for following in children:
        for child in following.values():
            parents[child] += 1
    still = _worst_costs(action, children, names)
    shared: dict[int, str] = {}

    def named(what: str, words: Sequence[str] | None, k: int) -> str:
        return printable(words[k]) if words is not None else f"{what} {k}"

    def draw(v: int, reading: str, spent: Fraction) -> Outline:
        cost = str(spent) if names is not None and reading else ""
        worst = still is not None and spent + still[v] == still[0]
        if action[v] == NOWHERE:
            answered = label[v] != NOWHERE
            text = named("label", names and names.labels, label[v]) if answered else "no answer"
            return Outline(reading, text, "answer" if answered else "abstain", v, cost=cost, worst=worst)
        if v in shared:
            return Outline(reading, f"as at {shared[v]}", "again", v, cost=cost, worst=worst)
        if parents[v] > (v > 0):
            shared[v] = f"#{len(shared) + 1}"
        text = named("action", names and names.actions, action[v])
        after = spent if names is None else spent + names.cost[action[v]]
        below = tuple(
            draw(c, named("reading", names and names.readings, y), after) for y, c in sorted(children[v].items())
        )
        return Outline(reading, text, "ask", v, shared.get(v, ""), cost, worst, below)

    return draw(0, "", Fraction(0))


def _worst_costs(
    action: Sequence[int], children: Sequence[Mapping[int, int]], names: Names | None
) -> list[Fraction] | None:
    """What each node can still cost; None where costs are not known, or where the policy may go in circles."""
    if names is None or any(child <= v for v, following in enumerate(children) for child in following.values()):
        return None
    still = [Fraction(0)] * len(action)
    for v in reversed(range(len(action))):
        if action[v] != NOWHERE:
            still[v] = names.cost[action[v]] + max((still[c] for c in children[v].values()), default=Fraction(0))
    return still
