"""How far each pair of elements is from being told apart: Dijkstra's algorithm, backwards over the pair graph.

Throughout: i, j, x, y are elements, a an action, and p = i (i - 1) / 2 + j, for i > j, the number of a pair. The pair
graph has an edge from {x, y} to {successor[x, a], successor[y, a]} for each a that both allow and under which both
behave alike; it is walked backwards, each edge once, from the pairs that one action settles.

The queues. Pairs are settled in the order of their distance, so those reached over an action of cost c are reached in
the order of their distance too: one first-in-first-out queue for each distinct cost replaces a heap, whatever the
costs are, and the next pair to settle is the least of the queues' heads. A pair enters a queue at most once, and its
entry is live while that queue is the one of its choice; others are skipped.

A pair is *closed* once nothing can reach it more cheaply: when it is settled or, sooner, when it was reached over the
cheapest action. One bit a pair says so; most edges end there, and the bits stay in the cache where distances would not.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ascertain.kernels._jit import kernel
from ascertain.types import IntArray, LongArray

ShortArray: TypeAlias = npt.NDArray[np.int16]
"""Actions, where one is kept for each pair."""

ByteArray: TypeAlias = npt.NDArray[np.uint8]
"""Bits, eight to an entry."""

INFINITE = 2**62
"""The distance of a pair that nothing tells apart: above every sum of costs that is allowed, and one cost more still
fits a signed 64-bit integer."""


class Pairs(NamedTuple):
    """Costs of actions, distances of pairs, and the queues."""

    cost: LongArray
    order: IntArray
    """The actions by cost."""
    queue_of: IntArray
    """`queue_of[a]` is the rank of a's cost among the distinct costs."""
    distance: LongArray
    choice: ShortArray
    closed: ByteArray
    queue: IntArray
    """`queue[k]` has room for all pairs and is filled from `head[k]` to `tail[k]`."""
    head: IntArray
    tail: IntArray


@kernel(work=lambda successor: 2 * successor.size)
def index_predecessors(successor: IntArray, start: IntArray, source: IntArray) -> None:
    """List, for each e and a, the x with successor[x, a] == e, ascending.

    They are `source[start[k] : start[k + 1]]` with k = e * actions + a. `start` is one longer than there are such k and
    all zero on entry; `source` has room for every defined entry of `successor`.
    """
    n, num_actions = successor.shape
    for x in range(n):
        for a in range(num_actions):
            if successor[x, a] >= 0:
                start[successor[x, a] * num_actions + a] += 1
    for k in range(n * num_actions):
        start[k + 1] += start[k]
    # start[k] is now where the list of k ends; filling backwards brings it to where the list begins.
    for x in range(n - 1, -1, -1):
        for a in range(num_actions):
            if successor[x, a] >= 0:
                k = successor[x, a] * num_actions + a
                start[k] -= 1
                source[start[k]] = x


@kernel(work=lambda successor: successor.size * len(successor) // 2)
def seed_pairs(successor: IntArray, behaviour: IntArray, label: IntArray, meeting: bool, pairs: Pairs) -> None:
    """Settle what takes no action or one: distance 0 for equal labels, else the cheapest action that ends it at once.

    An action ends it when both allow it and either they behave differently or, with `meeting`, it leads them to equal
    labels. Without `meeting` each element has a label of its own. On entry `head`, `tail` and `closed` are 0.
    """
    cost, order, queue_of, distance, choice, closed, queue, _, tail = pairs
    n = len(label)
    least = cost[order[0]]
    p = -1
    for i in range(n):
        for j in range(i):
            p += 1
            distance[p] = INFINITE
            choice[p] = -1
            if label[i] == label[j]:
                distance[p] = 0
                closed[p >> 3] |= 1 << (p & 7)
                continue
            for a in order:
                x = successor[i, a]
                y = successor[j, a]
                if x >= 0 and y >= 0 and (behaviour[i, a] != behaviour[j, a] or (meeting and label[x] == label[y])):
                    distance[p] = cost[a]
                    choice[p] = a
                    if cost[a] <= 2 * least:  # two actions cannot be cheaper
                        closed[p >> 3] |= 1 << (p & 7)
                    k = queue_of[a]
                    queue[k, tail[k]] = p
                    tail[k] += 1
                    break


@kernel(work=lambda: 3, sliced=True)
def spread_pairs(start: IntArray, source: IntArray, pairs: Pairs, limit: int) -> int:
    """Settle pairs in the order of their distance until none is queued or `limit` edges are walked; return the number.

    Call again while some `head` is below its `tail`. At the end `distance` is least and `choice[p]` begins an optimal
    word (-1 for pairs at distance 0 or INFINITE).
    """
    cost, _, queue_of, distance, choice, closed, queue, head, tail = pairs
    num_actions = len(cost)
    least = int(cost[0])
    for a in range(1, num_actions):
        least = min(least, int(cost[a]))
    edges = 0
    while edges < limit:
        k = _nearest_head(distance, choice, queue_of, queue, head, tail)
        if k < 0:
            break
        p = int(queue[k, head[k]])
        head[k] += 1
        closed[p >> 3] |= 1 << (p & 7)
        i = larger_element(p)
        j = p - i * (i - 1) // 2
        for a in range(num_actions):
            reached = distance[p] + cost[a]
            from_i = i * num_actions + a
            from_j = j * num_actions + a
            for xi in range(start[from_i], start[from_i + 1]):
                x = int(source[xi])
                for yi in range(start[from_j], start[from_j + 1]):
                    y = int(source[yi])
                    edges += 1
                    q = x * (x - 1) // 2 + y if x > y else y * (y - 1) // 2 + x
                    if closed[q >> 3] >> (q & 7) & 1:
                        continue
                    # Where a itself tells x from y the distance is already smaller than `reached`.
                    if reached < distance[q]:
                        distance[q] = reached
                        choice[q] = a
                        if cost[a] == least:
                            closed[q >> 3] |= 1 << (q & 7)
                        queue[queue_of[a], tail[queue_of[a]]] = q
                        tail[queue_of[a]] += 1
    return edges


@kernel
def larger_element(p: int) -> int:
    """The i of pair number p; the square root is rounded, so it is put right in integers."""
    i = int((1.0 + math.sqrt(1.0 + 8.0 * p)) / 2.0)
    while i * (i - 1) // 2 > p:
        i -= 1
    while (i + 1) * i // 2 <= p:
        i += 1
    return i


@kernel
def _nearest_head(
    distance: LongArray, choice: ShortArray, queue_of: IntArray, queue: IntArray, head: IntArray, tail: IntArray
) -> int:
    """The queue whose first live pair is nearest, or -1 when all are empty; other entries are dropped."""
    best = -1
    least = INFINITE
    for k in range(len(head)):
        while head[k] < tail[k] and queue_of[choice[queue[k, head[k]]]] != k:
            head[k] += 1
        if head[k] < tail[k] and distance[queue[k, head[k]]] < least:
            best = k
            least = distance[queue[k, head[k]]]
    return best
