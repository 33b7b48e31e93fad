"""The splitting tree of Lee and Yannakakis, for machines on which actions may be forbidden.

Throughout: B, C are blocks, nodes of a tree whose root holds every state and whose leaves partition them. An action is
*valid* for B when every member allows it and no two members meet with equal readings. A leaf B is split by a valid
action a under which readings differ, or, readings being alike, under which the members move into one block C of the
tree but not into one child of C: then B is split as C is, and the word of B is a followed by the word of C.

When no leaf can be split, every valid action maps each leaf of the largest size onto a leaf of that size, readings
alike: an experiment on such a leaf never splits it without losing two members for good. So D of all states is
infinite; and if instead every leaf is one state, the tree is a policy. (Lee and Yannakakis, IEEE Trans. Computers
43(3), 1994, where all actions are allowed.)
"""

from __future__ import annotations

from typing import NamedTuple

from ascertain.kernels._jit import kernel
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.types import IntArray, LongArray


class Tree(NamedTuple):
    """Blocks as ranges of `order`; a tree on n states has at most 2 n of them. Block 0 is the root."""

    order: IntArray
    begin: IntArray
    end: IntArray
    parent: IntArray
    depth: IntArray
    action: IntArray
    """The first action of the block's word; -1 for a leaf."""
    onward: IntArray
    """The block whose word follows the first action; -1 where that action splits at once."""
    price: LongArray
    """The cost of the block's word."""
    leaf: IntArray
    """`leaf[s]` is the leaf that holds s."""
    seen: LongArray
    """Scratch, one place a state: who was met there last."""
    outcome: LongArray
    """Scratch, one place a state: which child it goes to."""
    tally: LongArray
    """`tally[0]` is the number of blocks, `tally[1]` a stamp."""


@kernel(work=lambda successor: 2 * successor.size)
def grow_tree(successor: IntArray, reading: IntArray, cost: LongArray, tree: Tree) -> bool:
    """Split leaves once, each by its cheapest word; False when none can be split. To be called again until then.

    At first the tree is one leaf that holds every state, `leaf` and `seen` are zero and `tally` is (1, 0).
    """
    changed = False
    for b in range(int(tree.tally[0])):
        if tree.action[b] < 0 and tree.end[b] - tree.begin[b] > 1:
            a, onward, price = choose_split(successor, reading, cost, tree, b)
            if a >= 0:
                tree.action[b] = a
                tree.onward[b] = onward
                tree.price[b] = price
                split_leaf(successor, reading, tree, b)
                changed = True
    return changed


@kernel
def choose_split(successor: IntArray, reading: IntArray, cost: LongArray, tree: Tree, b: int) -> tuple[int, int, int]:
    """The first action of the cheapest word that splits leaf b, the block that goes on, and the price; -1 if none."""
    best = -1
    best_onward = -1
    best_price = INFINITE
    for a in range(len(cost)):
        valid, alike = is_valid(successor, reading, tree, b, a)
        if not valid:
            continue
        if not alike:
            if cost[a] < best_price:
                best = a
                best_onward = -1
                best_price = int(cost[a])
            continue
        onward = enclosing_block(successor, tree, b, a)
        if tree.action[onward] >= 0 and cost[a] + tree.price[onward] < best_price:
            best = a
            best_onward = onward
            best_price = int(cost[a] + tree.price[onward])
    return best, best_onward, best_price


@kernel
def is_valid(successor: IntArray, reading: IntArray, tree: Tree, b: int, a: int) -> tuple[bool, bool]:
    """Whether a is valid for block b, and whether all members read alike."""
    begin = int(tree.begin[b])
    end = int(tree.end[b])
    first = reading[tree.order[begin], a]
    alike = True
    # Each call has a stamp of its own, so that `seen` need never be cleared.
    tree.tally[1] += 1
    stamp = int(tree.tally[1])
    collided = False
    for i in range(begin, end):
        s = tree.order[i]
        t = successor[s, a]
        if t < 0:
            return False, False
        if reading[s, a] != first:
            alike = False
        if tree.seen[t] == stamp:
            collided = True
        tree.seen[t] = stamp
    if not collided:
        return True, alike
    if alike:
        return False, True
    # Some members meet; that is harmless if they read differently.
    for i in range(begin, end):
        s = tree.order[i]
        for j in range(begin, i):
            r = tree.order[j]
            if successor[r, a] == successor[s, a] and reading[r, a] == reading[s, a]:
                return False, False
    return True, False


@kernel
def enclosing_block(successor: IntArray, tree: Tree, b: int, a: int) -> int:
    """The lowest block that holds everything that block b moves to."""
    begin = int(tree.begin[b])
    common = int(tree.leaf[successor[tree.order[begin], a]])
    for i in range(begin + 1, int(tree.end[b])):
        common = lowest_common(tree, common, int(tree.leaf[successor[tree.order[i], a]]))
    return common


@kernel
def lowest_common(tree: Tree, b: int, c: int) -> int:
    """The lowest block above both (or equal to one of them)."""
    while b != c:
        if tree.depth[b] >= tree.depth[c]:
            b = int(tree.parent[b])
        else:
            c = int(tree.parent[c])
    return b


@kernel
def child_towards(tree: Tree, block: int, s: int) -> int:
    """The child of `block` that holds s."""
    c = int(tree.leaf[s])
    while tree.parent[c] != block:
        c = int(tree.parent[c])
    return c


@kernel
def split_leaf(successor: IntArray, reading: IntArray, tree: Tree, b: int) -> None:
    """Make the children of b, in the order of their outcomes."""
    begin = int(tree.begin[b])
    end = int(tree.end[b])
    a = int(tree.action[b])
    for i in range(begin, end):
        s = tree.order[i]
        if tree.onward[b] < 0:
            key = int(reading[s, a])
        else:
            key = child_towards(tree, int(tree.onward[b]), int(successor[s, a]))
        j = i
        while j > begin and tree.outcome[j - 1] > key:
            tree.outcome[j] = tree.outcome[j - 1]
            tree.order[j] = tree.order[j - 1]
            j -= 1
        tree.outcome[j] = key
        tree.order[j] = s
    # Children are numbered only now: while b was being read, `leaf` still spoke of the old leaves.
    i = begin
    while i < end:
        c = int(tree.tally[0])
        tree.tally[0] = c + 1
        tree.begin[c] = i
        key = int(tree.outcome[i])
        while i < end and tree.outcome[i] == key:
            tree.leaf[tree.order[i]] = c
            i += 1
        tree.end[c] = i
        tree.parent[c] = b
        tree.depth[c] = tree.depth[b] + 1
        tree.action[c] = -1
