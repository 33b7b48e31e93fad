"""Which pairs of elements some word settles: one bit a pair, for machines too large for a table of distances.

Pairs are numbered as in `kernels.pairs`; bit p of `settled` is 1 when a word settles pair p. The others are *open*.
Pairs that no action or one action settles are found first, usually almost all of them; each pair that is left is looked
at once forwards, and from then on only what leads to a newly settled pair.
"""

from __future__ import annotations

from ascertain.kernels._jit import kernel
from ascertain.kernels.quotients.pairs import ByteArray, larger_element
from ascertain.types import IntArray


@kernel(work=lambda successor: successor.size * len(successor) // 2)
def settle_at_once(successor: IntArray, behaviour: IntArray, label: IntArray, meeting: bool, settled: ByteArray) -> int:
    """Settle the pairs that need no action or one; return how many stay open. `settled` is 0 on entry.

    Labels and `meeting` are as in `kernels.pairs.seed_pairs`.
    """
    n, num_actions = successor.shape
    p = -1
    left = 0
    for i in range(n):
        for j in range(i):
            p += 1
            done = label[i] == label[j]
            for a in range(num_actions):
                if done:
                    break
                x = successor[i, a]
                y = successor[j, a]
                if x >= 0 and y >= 0:
                    done = behaviour[i, a] != behaviour[j, a] or (meeting and label[x] == label[y])
            if done:
                settled[p >> 3] |= 1 << (p & 7)
            else:
                left += 1
    return left


@kernel(work=lambda successor, settled, queue: 8 * settled.size + queue.size * successor.shape[1])
def settle_forwards(successor: IntArray, settled: ByteArray, queue: IntArray) -> int:
    """Settle the open pairs that one action leads to a settled one, and queue them; return how many were queued."""
    n, num_actions = successor.shape
    p = -1
    tail = 0
    for i in range(n):
        for j in range(i):
            p += 1
            if settled[p >> 3] >> (p & 7) & 1:
                continue
            for a in range(num_actions):
                x = int(successor[i, a])
                y = int(successor[j, a])
                if x < 0 or y < 0 or x == y:
                    continue
                q = x * (x - 1) // 2 + y if x > y else y * (y - 1) // 2 + x
                if settled[q >> 3] >> (q & 7) & 1:
                    settled[p >> 3] |= 1 << (p & 7)
                    queue[tail] = p
                    tail += 1
                    break
    return tail


@kernel(work=lambda num_actions, queue, tail: 2 * num_actions * queue.size if tail else 0)
def settle_backwards(
    start: IntArray, source: IntArray, num_actions: int, settled: ByteArray, queue: IntArray, tail: int
) -> int:
    """Settle every open pair that leads to a queued one, and so on; return how many pairs the queue has seen."""
    head = 0
    while head < tail:
        p = int(queue[head])
        head += 1
        i = larger_element(p)
        j = p - i * (i - 1) // 2
        for a in range(num_actions):
            from_i = i * num_actions + a
            from_j = j * num_actions + a
            for xi in range(start[from_i], start[from_i + 1]):
                x = int(source[xi])
                for yi in range(start[from_j], start[from_j + 1]):
                    y = int(source[yi])
                    q = x * (x - 1) // 2 + y if x > y else y * (y - 1) // 2 + x
                    if not settled[q >> 3] >> (q & 7) & 1:
                        settled[q >> 3] |= 1 << (q & 7)
                        queue[tail] = q
                        tail += 1
    return tail
