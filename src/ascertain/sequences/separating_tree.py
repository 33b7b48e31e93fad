"""Splitting trees by separation: for every two states of a machine a cheapest word that separates them, in one tree.

A *splitting tree* (Lee and Yannakakis, 1994) has sets of states for nodes, all states at the root. Each inner node has
a *word*, and its children are the members that read differently along it; the leaves are the classes of equivalent
states. Here nodes have two children, and the word of the node at which two states part is a cheapest one that separates
them. The words along the way to a leaf tell its states from all others, and are *harmonised*: two states share the word
of the node at which they part.

(The tree of `search/splitting.py` is another: its words must not make members meet, so that it is a policy.)

Time is O(actions * states * log(states)) and memory is linear: see `kernels/sequences/separating.py`. With equal costs
this is the theorem of Smetsers, Moerman and Jansen (2016) on minimal separating sequences for all pairs of states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from ascertain.drawing.outline import Outline
from ascertain.drawing.shown import Shown
from ascertain.errors import LimitError, ModelError
from ascertain.interruption import look_up
from ascertain.kernels.sequences.separating import Growth, divide_leaves
from ascertain.model import Model
from ascertain.quotients.separation import predecessors
from ascertain.types import UNDEFINED, Action, IntArray, LongArray, Reading, State

SLICE = 20_000_000
"""Edges visited in one call of the kernel; between two calls Ctrl-C works and limits are looked at."""


@final
@dataclass(frozen=True, eq=False)
class SeparatingTree(Shown):
    """The tree, by columns; node 0 is the root, and a node comes after its parent."""

    model: Model
    element: IntArray
    """The states, in an order in which the members of every node stand together."""
    first: IntArray
    """`element[first[v] : past[v]]` are the members of node v."""
    past: IntArray
    parent: IntArray
    child: IntArray
    """`child[v]` and `child[v] + 1` are the children of v; -1 at a leaf."""
    action: IntArray
    """The first action of the word of v."""
    below: IntArray
    """The node whose word comes after that action; -1: none does, as its readings differ."""
    weight: LongArray
    """What the word costs, in the integers that costs were given in."""
    leaf: IntArray
    """`leaf[s]` is the leaf that holds s."""

    def shown(self) -> Mapping[str, object]:
        return {"states": len(self.leaf), "classes": self.num_classes, "dearest": self.dearest}

    @property
    def num_classes(self) -> int:
        """How many leaves there are: classes of equivalent states."""
        return int(np.count_nonzero(self.child == UNDEFINED))

    @property
    def dearest(self) -> int:
        """What the dearest of the words costs; 0 where all states are equivalent."""
        return max(0, int(self.weight.max()))

    def members(self, node: int) -> list[State]:
        """The states of a node, ascending."""
        return sorted(self.element[self.first[node] : self.past[node]].tolist())

    @cached_property
    def _words(self) -> dict[int, tuple[Action, ...]]:
        return {}

    def word(self, node: int) -> tuple[Action, ...]:
        if node not in self._words:
            self._words[node] = self._spell(node)
        return self._words[node]

    def _spell(self, node: int) -> tuple[Action, ...]:
        word: list[Action] = []
        while node != UNDEFINED:
            word.append(int(self.action[node]))
            node = int(self.below[node])
        return tuple(word)

    def separating_word(self, one: State, other: State) -> tuple[Action, ...] | None:
        """A cheapest word that separates two states; None where they are equivalent."""
        u, v = int(self.leaf[one]), int(self.leaf[other])
        if u == v:
            return None
        while u != v:  # a node has a larger number than its parent
            u, v = (int(self.parent[u]), v) if u > v else (u, int(self.parent[v]))
        return self.word(u)

    def identifiers(self, state: State) -> list[tuple[Action, ...]]:
        """The words along the way to a state, each once: a harmonised identifier."""
        found: dict[tuple[Action, ...], None] = {}
        node = int(self.parent[self.leaf[state]])
        while node != UNDEFINED:
            found[self.word(node)] = None
            node = int(self.parent[node])
        return list(found)[::-1]

    def data(self) -> dict[str, Any]:
        """The tree as plain data, by columns; actions and states by number."""
        columns = ("element", "first", "past", "parent", "child", "action", "below")
        names = {"states": list(self.model.states), "actions": list(self.model.actions)}
        return {**names, **{name: getattr(self, name).tolist() for name in columns}}

    def outline(self) -> Outline:
        """The tree as people read it: children that one word parts stand side by side."""
        return self._outline(0, "")

    def _outline(self, node: int, reading: str) -> Outline:
        if self.child[node] == UNDEFINED:
            return Outline(reading, ", ".join(self.model.states[s] for s in self.members(node)), "answer", node)
        word = self.word(node)
        below = (self._outline(v, self._read(v, word)) for v in self._parted(node, word))
        return Outline(reading, " ".join(self.model.actions[a] for a in word), "ask", node, children=tuple(below))

    def _parted(self, node: int, word: tuple[Action, ...]) -> Iterator[int]:
        if self.child[node] == UNDEFINED or self.word(node) != word:
            yield node
            return
        for v in (int(self.child[node]), int(self.child[node]) + 1):
            yield from self._parted(v, word)

    def _read(self, node: int, word: tuple[Action, ...]) -> str:
        """What the members of a node read along a word."""
        readings = read_along(self.model, int(self.element[self.first[node]]), word)
        return " ".join(self.model.readings[y] for y in readings)


def read_along(model: Model, state: State, word: tuple[Action, ...]) -> tuple[Reading, ...]:
    """What a state of a machine without noise reads along a word."""
    readings: list[Reading] = []
    for a in word:
        readings.append(int(model.behaviour[state, a]))
        state = int(model.successor[state, a])
    return tuple(readings)


def grow_separating_tree(model: Model, *, cost: LongArray | None = None) -> SeparatingTree:
    """The splitting tree of a complete machine without noise, of up to millions of states.

    `cost` has a positive integer for each action; all cost 1 where it is not given.
    """
    n, num_actions = model.successor.shape
    if not model.is_exact or not model.is_total:
        raise ModelError("a splitting tree is for a machine without noise in which every action is allowed everywhere")
    if model.successor.size >= 2**31:
        raise LimitError(f"{model.successor.size} transitions are too many; at most 2^31 - 1 can be taken")
    price = np.ones(num_actions, dtype=np.int64) if cost is None else np.asarray(cost, dtype=np.int64)
    if price.shape != (num_actions,) or int(price.min()) < 1 or int(price.max()) * n >= 2**62:
        raise ModelError(f"{num_actions} positive costs are needed, whose sums over {n} states fit 62 bits")
    first_source, source = predecessors(model.successor)
    growth = _begin(n, num_actions, int(model.behaviour.max()) + 1)
    while not growth.progress[4]:
        look_up()
        divide_leaves(model.behaviour, first_source, source, price, growth, SLICE)
    size = int(growth.progress[0])
    names = ("first", "past", "parent", "child", "action", "below", "weight")
    columns: dict[str, Any] = {name: getattr(growth, name)[:size] for name in names}
    return SeparatingTree(model=model, element=growth.element, leaf=growth.leaf[growth.block], **columns)


def _begin(n: int, num_actions: int, num_readings: int) -> Growth:
    """A tree of one leaf that holds all states."""
    size = 2 * n - 1
    growth = Growth(
        **{
            name: np.full(size, UNDEFINED, np.int32) for name in ("first", "past", "parent", "child", "action", "below")
        },
        weight=np.full(size, UNDEFINED, np.int64),
        **{name: np.arange(n, dtype=np.int32) for name in ("element", "place")},
        **{name: np.zeros(n, np.int32) for name in ("block", "leaf", "marked", "touched", "splitter", "order")},
        start=np.zeros(num_readings + 1, np.int32),
        pointer=np.full(num_actions, -1, np.int64),
        progress=np.array([1, 1, 0, 0, 0], np.int64),
    )
    growth.first[0], growth.past[0] = 0, n
    return growth
