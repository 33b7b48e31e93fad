"""What can be reached in a graph."""

from __future__ import annotations

from ascertain.kernels._jit import kernel
from ascertain.types import BoolArray, LongArray


@kernel(work=lambda target, queue: target.size + queue.size)
def mark_reached(start: LongArray, target: LongArray, reached: BoolArray, queue: LongArray, tail: int) -> int:
    """Mark everything that the nodes in the first `tail` places of the queue lead to; return how many are marked.

    Arrows lead from v to `target[start[v] : start[v + 1]]`. The nodes in the queue, each there once, are marked on
    entry; it has room for all.
    """
    head = 0
    while head < tail:
        v = queue[head]
        head += 1
        for e in range(start[v], start[v + 1]):
            w = target[e]
            if not reached[w]:
                reached[w] = True
                queue[tail] = w
                tail += 1
    return tail
