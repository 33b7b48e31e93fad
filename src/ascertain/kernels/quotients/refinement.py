"""The coarsest stable partition: rounds of splitting all states at once, then Hopcroft's "process the smaller half".

Throughout: s, e, x are states, a an action, b a block. A partition is *stable* when a leads all states of a block into
one block, or is undefined in all of them.

`hash_rows` and `number_rows` do one round for all states: they number them by the tuple (block of s, blocks of the
successors of s). Every edge is read once and in order, which is quick, but a long chain takes as many rounds as it has
states. A round may trust its hashes: it then splits no block without reason, and what it fails to split is found by
`is_stable`.
`split_by_halves` therefore takes over when rounds stop paying. It keeps a stack of splitters. A splitter B divides
every block b, for every a, into the states that a leads into B and the others; the smaller part becomes a new block
and a splitter. The larger need not become one if b is none: among the states that a leads into b, those that it does
not lead into the smaller part it leads into the larger. So an edge is visited again only after the block that it leads
into has halved: at most log2(states) times.
"""

from __future__ import annotations

from ascertain.kernels._jit import kernel
from ascertain.types import IntArray, LongArray

MASK = 2**62 - 1
"""Hashes keep 62 bits, so that they are nonnegative 64-bit integers with a bit to spare."""
LOW = 2**32 - 1
"""The half of a slot that holds a state: states are numbered with 31 bits."""


@kernel(work=lambda table: table.size)
def hash_rows(table: IntArray, name: IntArray, block: IntArray, multiplier: LongArray, code: LongArray) -> None:
    """Hash (block[s], name[table[s, a] + 1] for each a) to 62 bits, `code[s]`; there is a multiplier for each part.

    A loop of its own, because loads that do not wait for one another are what makes it quick.
    """
    n, num_actions = table.shape
    for s in range(n):
        total = int(block[s]) * int(multiplier[num_actions])
        for a in range(num_actions):
            total += int(name[table[s, a] + 1]) * int(multiplier[a])
        # Compiled sums wrap and Python's do not; they agree under the mask. The shift brings high bits down.
        total &= MASK
        code[s] = total ^ total >> 31


@kernel(work=lambda table: table.size)
def number_rows(
    table: IntArray, name: IntArray, block: IntArray, code: LongArray, slots: LongArray, exact: bool, fresh: IntArray
) -> int:
    """Number states by what was hashed, by first appearance, in `fresh`; return how many numbers there are.

    `slots`, all -1 on entry, is a hash table whose size is a power of two above the number of states; an entry holds
    half of the hash above 32 bits for the state. Blocks are never mixed. If `exact`, rows are compared in full; else
    two rows of one block with equal hashes count as equal.
    """
    mask = len(slots) - 1
    count = 0
    for s in range(len(block)):
        # The lower bits choose the slot, the upper ones are kept in it: most mismatches show without a look at the row.
        upper = int(code[s]) >> 31
        slot = code[s] & mask
        while slots[slot] >= 0:
            x = int(slots[slot]) & LOW
            same = slots[slot] >> 32 == upper and block[s] == block[x]
            if same and (not exact or _rows_agree(table, name, s, x)):
                break
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = upper << 32 | s
            fresh[s] = count
            count += 1
        else:
            fresh[s] = fresh[slots[slot] & LOW]
    return count


@kernel(work=lambda successor: successor.size)
def is_stable(successor: IntArray, name: IntArray, block: IntArray, first: IntArray) -> bool:
    """Whether each state agrees with the first of its block in the blocks that actions lead to; `first` is scratch."""
    first[:] = -1
    for s in range(len(block)):
        b = block[s]
        if first[b] < 0:
            first[b] = s
        elif not _rows_agree(successor, name, s, int(first[b])):
            return False
    return True


@kernel
def _rows_agree(table: IntArray, name: IntArray, s: int, x: int) -> bool:
    agree = True
    for a in range(table.shape[1]):
        agree = agree and name[table[s, a] + 1] == name[table[x, a] + 1]
    return agree


@kernel(work=lambda block: block.size)
def arrange_blocks(
    block: IntArray, count: int, element: IntArray, place: IntArray, first: IntArray, past: IntArray, stack: IntArray
) -> int:
    """Lay the states out block by block and stack every block but the largest; return the height of the stack.

    `element[first[b] : past[b]]` are the states of b, and s stands at `place[s]` in `element`. On entry `past` is 0.
    """
    n = len(block)
    for s in range(n):
        past[block[s]] += 1
    largest = 0
    total = 0
    for b in range(count):
        if past[b] > past[largest]:
            largest = b
    for b in range(count):
        first[b] = total
        total += past[b]
        past[b] = first[b]
    for s in range(n):
        b = block[s]
        element[past[b]] = s
        place[s] = past[b]
        past[b] += 1
    height = 0
    for b in range(count):
        if b != largest:
            stack[height] = b
            height += 1
    return height


@kernel(work=lambda: 4, sliced=True)
def split_by_halves(
    start: IntArray,
    source: IntArray,
    num_actions: int,
    block: IntArray,
    element: IntArray,
    place: IntArray,
    first: IntArray,
    past: IntArray,
    marked: IntArray,
    stack: IntArray,
    touched: IntArray,
    splitter: IntArray,
    progress: LongArray,
    limit: int,
) -> None:
    """Process stacked splitters until none is left or `limit` more edges were visited.

    `progress` holds the number of blocks, the height of the stack and the edges visited so far. On entry `marked` is 0,
    no block mixes states that allow different actions, and the one block that is not stacked need not be, because the
    predecessors of all states together are whole blocks. Call again while the stack is not empty.
    """
    count = progress[0]
    height = progress[1]
    visits = progress[2]
    limit += visits
    while height > 0 and visits < limit:
        height -= 1
        b = stack[height]
        # The splitter may itself be divided while it is at work, so its states are set aside.
        size = past[b] - first[b]
        for k in range(size):
            splitter[k] = element[first[b] + k]
        for a in range(num_actions):
            num_touched = 0
            for k in range(size):
                edge = splitter[k] * num_actions + a
                for xi in range(start[edge], start[edge + 1]):
                    x = source[xi]
                    visits += 1
                    c = block[x]
                    if past[c] - first[c] == 1:
                        continue
                    if marked[c] == 0:
                        touched[num_touched] = c
                        num_touched += 1
                    swap_places(element, place, int(place[x]), int(first[c] + marked[c]))
                    marked[c] += 1
            for k in range(num_touched):
                c = touched[k]
                if marked[c] < past[c] - first[c]:
                    _detach_smaller(int(c), int(count), block, element, first, past, marked)
                    # Whether c itself is still to be processed or was, the new and smaller part has to be.
                    stack[height] = count
                    height += 1
                    count += 1
                marked[c] = 0
    progress[0] = count
    progress[1] = height
    progress[2] = visits


@kernel
def swap_places(element: IntArray, place: IntArray, i: int, j: int) -> None:
    """Exchange the elements at two places."""
    x = element[i]
    y = element[j]
    element[i] = y
    element[j] = x
    place[y] = i
    place[x] = j


@kernel
def _detach_smaller(
    c: int, fresh: int, block: IntArray, element: IntArray, first: IntArray, past: IntArray, marked: IntArray
) -> None:
    """Make the smaller of the marked and unmarked states of c the new block `fresh`; the marked stand first."""
    middle = first[c] + marked[c]
    if middle - first[c] <= past[c] - middle:
        first[fresh] = first[c]
        past[fresh] = middle
        first[c] = middle
    else:
        first[fresh] = middle
        past[fresh] = past[c]
        past[c] = middle
    for k in range(first[fresh], past[fresh]):
        block[element[k]] = fresh


@kernel(work=lambda block: block.size)
def renumber_blocks(block: IntArray, number: IntArray) -> None:
    """Number blocks by first appearance, in place. On entry `number`, indexed by block, is -1."""
    count = 0
    for s in range(len(block)):
        if number[block[s]] < 0:
            number[block[s]] = count
            count += 1
        block[s] = number[block[s]]
