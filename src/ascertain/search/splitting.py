"""Splitting trees: words that tell all the states of a block apart step by step, or blocks that nothing tells apart.

For a task about the start. When every leaf is one state the tree is a policy for any set of states, and `action_for`
walks it. When it is not, each leaf of the largest size is *stuck*: every action is forbidden in it, or makes two of its
states meet with equal readings, or moves it onto another stuck leaf without telling anything. A configuration that
holds all states of a stuck leaf under different labels is therefore infinite. (See `kernels/search/splitting.py`.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ascertain.kernels.search.splitting import Tree, grow_tree, lowest_common
from ascertain.search.configuration import Arena, Configuration
from ascertain.types import Action, State


@dataclass(frozen=True, eq=False)
class SplittingTree:
    """The tree on all states of an arena."""

    data: Tree

    @cached_property
    def stuck(self) -> tuple[frozenset[State], ...]:
        """The leaves of the largest size, where that is more than one state."""
        tree = self.data
        leaves = [b for b in range(int(tree.tally[0])) if tree.action[b] < 0]
        states = [frozenset(tree.order[tree.begin[b] : tree.end[b]].tolist()) for b in leaves]
        size = max(map(len, states))
        return tuple(leaf for leaf in states if len(leaf) == size > 1)

    def action_for(self, states: Iterable[State]) -> Action | None:
        """The next action of the word of the lowest block that holds these states; None when that is a leaf."""
        block: int | None = None
        for s in states:
            leaf = int(self.data.leaf[s])
            block = leaf if block is None else lowest_common(self.data, block, leaf)
        action = -1 if block is None else int(self.data.action[block])
        return None if action < 0 else action

    def stuck_part(self, configuration: Configuration) -> Configuration | None:
        """Members on all states of a stuck leaf, labels all different: an infinite part. None if there is none."""
        held = {s: (label, s) for label, s in configuration}
        for leaf in self.stuck:
            if leaf <= held.keys():
                part = frozenset(held[s] for s in leaf)
                if len({label for label, _ in part}) == len(part):
                    return part
        return None


def grow_splitting_tree(arena: Arena) -> SplittingTree:
    """The splitting tree of an arena about the start."""
    successor, reading = arena.tables.successor, arena.tables.reading
    n = len(successor)
    tree = Tree(
        order=np.arange(n, dtype=np.int32),
        begin=np.zeros(2 * n, dtype=np.int32),
        end=np.full(2 * n, n, dtype=np.int32),
        parent=np.full(2 * n, -1, dtype=np.int32),
        depth=np.zeros(2 * n, dtype=np.int32),
        action=np.full(2 * n, -1, dtype=np.int32),
        onward=np.full(2 * n, -1, dtype=np.int32),
        price=np.zeros(2 * n, dtype=np.int64),
        leaf=np.zeros(n, dtype=np.int32),
        seen=np.zeros(n, dtype=np.int64),
        outcome=np.zeros(n, dtype=np.int64),
        tally=np.array([1, 0], dtype=np.int64),
    )
    while grow_tree(successor, reading, arena.tables.cost, tree):
        pass
    return SplittingTree(tree)
