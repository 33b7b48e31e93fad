"""The rows of a proof, formed on the graph of configurations: each is a node, held up by nodes that cost enough.

Throughout: v and u are nodes, a is an action, y a reading, b what a row has to say. A row says that v costs at least b.
For every action that all members allow, unless its price is b already, it names a reading and a node u that is a part
of what is left after it, and that costs at least `need` = b less the price: of the branches that do, the one of which
such a part is a row already, or else has fewest members. Parts are two labels in one state, the farthest pair, the
dearest set of a size whose D is known, and the whole. Where some branch has as many labels as cost `need` at least,
nothing is named. See `search/proof.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from ascertain.kernels._jit import kernel
from ascertain.kernels.search.bounds import NEVER, dearest_subset, farthest_pair, usable_size
from ascertain.kernels.search.distances import exploring
from ascertain.kernels.search.graph import (
    ConfigurationGraph,
    Scratch,
    branch,
    find_node,
    has_room,
    intern_node,
    rename_labels,
)
from ascertain.kernels.search.tables import SearchTables
from ascertain.types import IntArray, LongArray

DONE, PAUSED, FULL = range(3)
"""Why `form_rows` returned: all are formed; the limit is reached; an array has no room."""
AT, ROWS, MOVES, ASKED = range(4)
"""Places in `Rows.used`: where in the queue, rows formed, moves of all rows, demands for further rows."""


class Rows(NamedTuple):
    """The rows so far."""

    need: LongArray
    """By node: what is asked of it, 0 for nothing."""
    number: IntArray
    """By node: its row, -1 where none is formed yet."""
    node: IntArray
    """By row."""
    first_move: LongArray
    """By row, and one more."""
    action: IntArray
    """By move, like the next two."""
    reading: IntArray
    target: IntArray
    """A node; its row comes later, unless there is one already."""
    asked: IntArray
    """Nodes of which more is asked than before."""
    part: IntArray
    """Scratch: the part of the branch at hand."""
    best: IntArray
    """Scratch: the part that is named, as things are."""
    used: LongArray


@kernel(work=lambda tables, graph: tables.cost.size * graph.first_member[1] ** 2 // 8 + exploring(tables), sliced=True)
def form_rows(
    tables: SearchTables, graph: ConfigurationGraph, scratch: Scratch, rows: Rows, queue: IntArray, limit: int
) -> int:
    """Form the rows of the nodes in the queue, at most so many of them."""
    used = rows.used
    num_actions = len(tables.cost)
    for _ in range(limit):
        if used[AT] == len(queue):
            return DONE
        v = int(queue[used[AT]])
        if rows.number[v] < 0:
            k = int(graph.first_member[v + 1] - graph.first_member[v])
            if (
                not has_room(graph, num_actions, k)
                or used[MOVES] + num_actions > len(rows.action)
                or used[ASKED] + num_actions > len(rows.asked)
            ):
                return FULL
            if not form_row(tables, graph, scratch, rows, v):
                return FULL
        used[AT] += 1
    return PAUSED


@kernel
def form_row(tables: SearchTables, graph: ConfigurationGraph, scratch: Scratch, rows: Rows, v: int) -> bool:
    """Form the row of v; the caller has made sure that there is room. False where that of the table of pairs was over.

    Then nothing is formed, as a distance that was known before could not be found again.
    """
    used = rows.used
    r = int(used[ROWS])
    used[ROWS] = r + 1
    rows.node[r] = v
    rows.number[v] = r
    first = int(graph.first_member[v])
    k = int(graph.first_member[v + 1]) - first
    code = graph.members[first : first + k]
    meets = k == 2 and code[0] >> tables.bits == code[1] >> tables.bits
    for a in range(len(tables.cost)):
        need = int(rows.need[v]) - int(tables.cost[a])
        if need <= 0 or meets:
            continue
        size = branch(tables, code, graph.weights, k, a, scratch)
        if size == -1:
            continue
        if size == -2:
            y = find_meeting(tables, code, k, a, rows)
            count = 2
        else:
            y, count = choose_part(tables, graph, scratch, rows, size, need)
            if y < 0:
                used[ROWS] = r
                used[MOVES] = rows.first_move[r]
                rows.number[v] = -1
                return False
        if count > 0:
            move = int(used[MOVES])
            u = intern_node(tables, graph, rows.best, graph.weights, count)
            rows.action[move] = a
            rows.reading[move] = y
            rows.target[move] = u
            used[MOVES] = move + 1
            if need > rows.need[u]:
                rows.need[u] = need
                rows.asked[used[ASKED]] = u
                used[ASKED] += 1
    rows.first_move[r + 1] = used[MOVES]
    return True


@kernel
def find_meeting(tables: SearchTables, code: IntArray, k: int, a: int, rows: Rows) -> int:
    """The reading after which two labels are in one state, and the two as a part in `rows.best`; there are such."""
    for i in range(k):
        s = int(code[i]) >> tables.bits
        for j in range(i):
            t = int(code[j]) >> tables.bits
            if (
                tables.successor[s, a] == tables.successor[t, a]
                and tables.reading[s, a] == tables.reading[t, a]
                and (code[i] ^ code[j]) & ((1 << tables.bits) - 1) != 0
            ):
                rows.best[0] = tables.successor[s, a] << tables.bits
                rows.best[1] = tables.successor[s, a] << tables.bits | 1
                return int(tables.reading[s, a])
    return -1


@kernel
def choose_part(
    tables: SearchTables, graph: ConfigurationGraph, scratch: Scratch, rows: Rows, size: int, need: int
) -> tuple[int, int]:
    """A reading and the size of the part in `rows.best`, 0 where the number of labels says enough; -1 for none.

    `scratch.key` has what is left, as `branch` writes it.
    """
    chosen = -1
    fewest = 0
    is_row = False
    begin = 0
    while begin < size:
        end = begin + 1
        y = int(scratch.key[begin]) >> 31
        while end < size and (int(scratch.key[end]) >> 31) == y:
            end += 1
        num_labels = rename_labels(tables, scratch, begin, end)
        if len(tables.by_leaves) > 0 and tables.by_leaves[num_labels] >= need:
            return y, 0
        count = find_part(tables, graph, scratch, rows, end - begin, need) if num_labels > 1 else 0
        if count > 0:
            u = find_node(graph, False, rows.part, graph.weights, count)[0]
            known = u >= 0 and rows.need[u] >= need
            if chosen < 0 or (known and not is_row) or (known == is_row and count < fewest):
                chosen = y
                fewest = count
                is_row = known
                for i in range(count):
                    rows.best[i] = rows.part[i]
        begin = end
    return chosen, fewest


@kernel
def find_part(tables: SearchTables, graph: ConfigurationGraph, scratch: Scratch, rows: Rows, k: int, need: int) -> int:
    """Write a small part of the k members in `scratch.code` that costs `need` to `rows.part`; its size, 0 for none."""
    distance, one, other = farthest_pair(tables, scratch.code, k)
    if distance >= need:
        tables.chosen[0] = one
        tables.chosen[1] = other
        return take_chosen(tables, scratch, rows, 2)
    for m in range(3, usable_size(tables.subsets, k) + 1):
        value = dearest_subset(tables, scratch.code, k, m)
        if value >= need or value >= NEVER:
            return take_chosen(tables, scratch, rows, m)
    u = find_node(graph, False, scratch.code, graph.weights, k)[0]
    if u < 0 or graph.lower[u] < need:
        return 0
    for i in range(k):
        rows.part[i] = scratch.code[i]
    return k


@kernel
def take_chosen(tables: SearchTables, scratch: Scratch, rows: Rows, m: int) -> int:
    """Write the chosen members, labels renamed as those of nodes are, to `rows.part`; how many they are."""
    mask = (1 << tables.bits) - 1
    current = len(tables.state_label) > 0
    num_labels = 0
    for i in range(m):
        c = int(scratch.code[tables.chosen[i]])
        label = c & mask
        if scratch.rename[label] < 0:
            scratch.rename[label] = label if current else num_labels
            num_labels += 1
        rows.part[i] = (c & ~mask) | int(scratch.rename[label])
    for i in range(m):
        scratch.rename[int(scratch.code[tables.chosen[i]]) & mask] = -1
    return m
