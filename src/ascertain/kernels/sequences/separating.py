"""A splitting tree whose words are cheapest: leaves are divided, in the order of what that costs, by smaller halves.

Throughout: s, x are states, a an action, b a block, v a node of the tree. A node is a range of `element`; the blocks
are the leaves, and `leaf[b]` is the node of block b. A node that was *split* has two children, child[v] and
child[v] + 1, whose members read differently along its word: action[v] alone where below[v] is -1, else action[v] and
then the word of node below[v].

Two kinds of events split leaves. *By reading*: a divides every leaf by what is read. *By a split*: node v was split,
and a divides every leaf that it leads into v by the child that it leads into. An event costs what its words cost. For
each a, what it leads a leaf into is one node that no event of a has taken yet: true at first (the root), and kept by
every event, if those of a take nodes after their parents. So it is enough to look at what a leads into the smaller
child, and every edge is visited at most log2(states) times for each action.

Events are taken in the order of their costs. Then the word of the node at which two states part is a cheapest one that
separates them: if a cheapest word is a w, what a leads the two to parted at a node that costs as much as w, and the
event of a at that node has divided their leaf at the latest. Nodes are numbered as they come, so costs of splits never
fall, and a pointer for each action is all the queue that is needed.
"""

from __future__ import annotations

from typing import NamedTuple

from ascertain.kernels._jit import kernel
from ascertain.kernels.quotients.refinement import swap_places
from ascertain.types import IntArray, LongArray

FAR = 2**62
"""Above every cost of a word."""


class Growth(NamedTuple):
    """The tree so far, and what its growing needs."""

    first: IntArray
    """`element[first[v] : past[v]]` are the members of node v."""
    past: IntArray
    parent: IntArray
    child: IntArray
    action: IntArray
    below: IntArray
    weight: LongArray
    """What the word of a split node costs; `weight`, `action`, `below` and `child` are -1 at leaves."""
    element: IntArray
    place: IntArray
    """s stands at `place[s]` in `element`."""
    block: IntArray
    leaf: IntArray
    marked: IntArray
    """How many members of a block are marked; they stand first."""
    touched: IntArray
    splitter: IntArray
    start: IntArray
    """Scratch for counting readings: one more than there are, and one."""
    order: IntArray
    """The split nodes, the earliest first."""
    pointer: LongArray
    """For each action the place in `order` of the next event by a split; -1: its event by reading is still to come."""
    progress: LongArray
    """Numbers of nodes, blocks and splits, edges visited, and whether all is done."""


@kernel(work=lambda: 4, sliced=True)
def divide_leaves(
    behaviour: IntArray, first_source: IntArray, source: IntArray, cost: LongArray, growth: Growth, limit: int
) -> None:
    """Take events until none is left or `limit` more edges were visited; call again while `progress[4]` is 0.

    The sources of s under a are `source[first_source[k] : first_source[k + 1]]` with k = s * actions + a. On entry
    there is one node, one block, and all states in it.
    """
    n, num_actions = behaviour.shape
    progress, pointer, order, weight = growth.progress, growth.pointer, growth.order, growth.weight
    limit += progress[3]
    while progress[3] < limit:
        a = -1
        least = FAR
        for b in range(num_actions):
            if pointer[b] < 0:
                key = cost[b]
            elif pointer[b] < progress[2]:
                key = cost[b] + weight[order[pointer[b]]]
            else:
                continue
            if key < least:
                least = key
                a = b
        if a < 0 or progress[1] == n:
            progress[4] = 1
            break
        if pointer[a] < 0:
            _split_by_reading(behaviour, a, least, growth)
        else:
            _split_by_node(int(order[pointer[a]]), first_source, source, a, num_actions, least, growth)
        pointer[a] += 1


@kernel
def _split_by_reading(behaviour: IntArray, a: int, key: int, growth: Growth) -> None:
    first, past, _, _, _, _, _, element, place, block, leaf, marked, touched, splitter, start, _, _, _ = growth
    n = len(splitter)
    start[:] = 0
    for s in range(n):
        start[behaviour[s, a] + 1] += 1
    for y in range(1, len(start)):
        start[y] += start[y - 1]
    # start[y] is where the states that read y begin; filling moves it to where they end.
    for s in range(n):
        y = behaviour[s, a]
        splitter[start[y]] = s
        start[y] += 1
    growth.progress[3] += n
    begin = 0
    for y in range(len(start)):
        num_touched = 0
        for k in range(begin, start[y]):
            num_touched = _mark(
                int(splitter[k]), num_touched, first, past, element, place, block, leaf, marked, touched
            )
        begin = start[y]
        _divide_touched(num_touched, a, -1, key, growth)


@kernel
def _split_by_node(
    v: int, first_source: IntArray, source: IntArray, a: int, num_actions: int, key: int, growth: Growth
) -> None:
    first, past, _, child, _, _, _, element, place, block, leaf, marked, touched, splitter, _, _, _, progress = growth
    small = child[v]
    if past[small + 1] - first[small + 1] < past[small] - first[small]:
        small += 1
    # Marking moves states within their blocks, so those of the child are set aside.
    size = past[small] - first[small]
    for k in range(size):
        splitter[k] = element[first[small] + k]
    num_touched = 0
    for k in range(size):
        edge = splitter[k] * num_actions + a
        progress[3] += 1 + first_source[edge + 1] - first_source[edge]
        for xi in range(first_source[edge], first_source[edge + 1]):
            num_touched = _mark(int(source[xi]), num_touched, first, past, element, place, block, leaf, marked, touched)
    _divide_touched(num_touched, a, v, key, growth)


@kernel
def _mark(
    x: int,
    num_touched: int,
    first: IntArray,
    past: IntArray,
    element: IntArray,
    place: IntArray,
    block: IntArray,
    leaf: IntArray,
    marked: IntArray,
    touched: IntArray,
) -> int:
    """Mark a state, and return how many blocks have marked states now; a block of one state is left alone."""
    b = block[x]
    v = leaf[b]
    if past[v] - first[v] == 1:
        return num_touched
    if marked[b] == 0:
        touched[num_touched] = b
        num_touched += 1
    swap_places(element, place, int(place[x]), int(first[v] + marked[b]))
    marked[b] += 1
    return num_touched


@kernel
def _divide_touched(num_touched: int, a: int, v: int, key: int, growth: Growth) -> None:
    """Split the leaves that have both marked and unmarked states; nothing is marked afterwards."""
    first, past, progress = growth.first, growth.past, growth.progress
    for k in range(num_touched):
        b = growth.touched[k]
        node = growth.leaf[b]
        middle = first[node] + growth.marked[b]
        growth.marked[b] = 0
        if middle == past[node]:
            continue
        low = progress[0]
        progress[0] += 2
        growth.child[node] = low
        growth.action[node] = a
        growth.below[node] = v
        growth.weight[node] = key
        growth.order[progress[2]] = node
        progress[2] += 1
        first[low] = first[node]
        past[low] = middle
        first[low + 1] = middle
        past[low + 1] = past[node]
        growth.parent[low] = node
        growth.parent[low + 1] = node
        # The smaller part becomes a new block: a state changes its block as often as it is in the smaller half.
        fresh = progress[1]
        progress[1] += 1
        small = low if middle - first[node] <= past[node] - middle else low + 1
        growth.leaf[fresh] = small
        growth.leaf[b] = 2 * low + 1 - small
        for i in range(first[small], past[small]):
            growth.block[growth.element[i]] = fresh
