"""The search of the direct compiler: partial paths, best bound first, each followed to the end of the log.

A *node* is a path up to a position: the commands before it are decided, those from it on are not. Its bound (m, x + y,
max(x, y)), packed like a score, is the least score that a completion can have: m trusted readings are contradicted
already, x is what is left of `so` and y of `sy` when every opportunity that remains is used. It never falls along a
path: m does not, and a step that takes one from a distance has used up an opportunity to do so.

Evaluating a node follows what was sent to the end, which gives one complete path, and opens a node for every
alternative on the way. It ends before when the bound comes to exceed the bar, or when a path that is as good or better
has been in the same state at the same place (`seen.py`). Such an alternative is not opened either, and a node that
was beaten while it waited is put away without being evaluated. Where nothing is remembered, only the bound decides.

Different bounds are few. So open nodes are kept in piles, one for each bound, and the last one laid on the best pile
comes first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ascertain.kernels._jit import kernel
from ascertain.kernels.bank.best import Best, distance, pack, record
from ascertain.kernels.bank.seen import Seen, is_beaten, pass_by
from ascertain.kernels.bank.steps import CONTRADICTED, GONE, Tables, step_word, step_work, word_length
from ascertain.kernels.model.boolean import WordArray
from ascertain.types import IntArray, LongArray

POSITION, REPLACED, MIS, FLIPS, BELOW = range(5)
"""Columns of `Open.node`: what the path has been, and the node below it on the pile, or the next free one."""
FREE, NODES, PILES, BEST_PILE, EVALUATIONS, STEPS = range(6)
"""Places in `Open.used`: a free node, how many nodes and piles there are, where to look first, and the work done."""
EMPTY, PROVED, SPENT, FULL = range(4)
"""Why `search_nodes` has come back: no node is left; none within the limit; enough evaluations; no room."""


class Open(NamedTuple):
    """The nodes that are still to be evaluated, in piles by bound."""

    node: LongArray
    state: WordArray
    bound: LongArray
    """`bound[p]` of pile p; ascending."""
    top: IntArray
    """The node on top of each pile, or -1."""
    used: LongArray


class Chances(NamedTuple):
    """The windows, and how often a count may still rise from each position on."""

    fewest_replaced: int
    most_replaced: int
    """The window of replacements, and with the next one how many there can be."""
    allowed: int
    fewest_flips: int
    most_flips: int
    """The window of flips, and with the next one where it begins, or the number of ordinary readings if less."""
    low: int
    replaceable: LongArray
    """Positions, from each one on, at which there are alternatives."""
    ordinary: LongArray
    """Ordinary readings, from each position on."""


class Direct(NamedTuple):
    """Everything that the search works on."""

    tables: Tables
    chances: Chances
    nodes: Open
    seen: Seen
    best: Best


@kernel
def find_bound(chances: Chances, t: int, replaced: int, mis: int, flips: int) -> int:
    """The least score of a path that has been so up to position t."""
    # The admissible bound of the paper's early proof, (24) and (29). Above a window a distance can only grow. Below it
    # each replacement, or contradicted reading, that may still come takes one off.
    x = distance(replaced, chances.fewest_replaced, chances.most_replaced)
    if replaced < chances.fewest_replaced:
        x = max(0, x - min(chances.allowed - replaced, chances.replaceable[t]))
    y = distance(flips, chances.fewest_flips, chances.most_flips)
    if flips < chances.fewest_flips:
        y = max(0, y - chances.ordinary[t])
    return pack(mis, x, y)


@kernel(work=lambda search: 2 * search.tables.sent.size * step_work(search.tables), sliced=True, unfinished=SPENT)
def search_nodes(search: Direct, children: int, bar: int, stop: int, evaluations: int) -> int:
    """Take nodes in order, at most `evaluations` of them, and evaluate those not beaten; returns why it stopped.

    Nodes whose bound exceeds `bar` are not opened. It stops when the least bound exceeds `stop`, and when there are
    fewer free places than the `children` that a node may have, or the table of endpoints is full.
    """
    tables, chances, nodes, seen, best = search
    for _ in range(evaluations):
        p = _best_pile(nodes)
        if p < 0:
            return EMPTY
        if nodes.bound[p] > stop:
            return PROVED
        # Room is made sure of before a node is evaluated, so that evaluating never stops half way.
        room = min(nodes.state.size - nodes.used[NODES], nodes.top.size - nodes.used[PILES])
        if seen.slot.size > 0:
            room = min(room, seen.state.size - seen.used[0] - tables.sent.size)
        if room < children or best.used[0] == best.state.size:
            return FULL
        _evaluate(tables, chances, nodes, seen, best, _take(nodes, p), bar)
    return SPENT


@kernel
def _evaluate(tables: Tables, chances: Chances, nodes: Open, seen: Seen, best: Best, at: int, bar: int) -> None:
    """Follow what was sent from a node, to the end if nothing stops it, and open what branches off."""
    first, replaced = nodes.node[at, POSITION], nodes.node[at, REPLACED]
    mis, flips = nodes.node[at, MIS], nodes.node[at, FLIPS]
    state = nodes.state[at]
    if is_beaten(seen, chances.low, place_of(chances, first, replaced), state, mis, flips):
        return
    steps = 0
    nodes.used[EVALUATIONS] += 1
    for t in range(first, tables.sent.size):
        c = int(np.int64(tables.sent[t]))
        trusted = tables.trusted[t]
        # Alternatives first, from the state before the command; then the command itself.
        if replaced < chances.allowed:
            for w in range(np.int64(tables.alternative[c]), np.int64(tables.alternative[c + 1])):
                after, flag = step_word(tables, t, w, state)
                steps += word_length(tables, w)
                if flag != GONE:
                    wrong = 1 if flag == CONTRADICTED else 0
                    m, f = (mis + wrong, flips) if trusted else (mis, flips + wrong)
                    lay(chances, nodes, seen, bar, t + 1, replaced + 1, m, f, after)
        state, flag = step_word(tables, t, c, state)
        steps += 1
        if flag == CONTRADICTED:
            mis, flips = (mis + 1, flips) if trusted else (mis, flips + 1)
        # The path ends early: it has not happened, its bound has passed the bar, or an equal or better one was here.
        if (
            flag == GONE
            or find_bound(chances, t + 1, replaced, mis, flips) > bar
            or not pass_by(seen, chances.low, place_of(chances, t + 1, replaced), state, mis, flips)
        ):
            nodes.used[STEPS] += steps
            return
    nodes.used[STEPS] += steps
    # At the end nothing is left that could lower it: the bound is the score. There is room, as was made sure of.
    record(best, state, find_bound(chances, tables.sent.size, replaced, mis, flips))


@kernel
def place_of(chances: Chances, t: int, replaced: int) -> int:
    return t * (chances.allowed + 1) + replaced


@kernel
def lay(
    chances: Chances, nodes: Open, seen: Seen, bar: int, t: int, replaced: int, mis: int, flips: int, state: np.uint64
) -> None:
    """Lay a node on the pile of its bound, unless that exceeds the bar or it does not matter; there is room."""
    value = find_bound(chances, t, replaced, mis, flips)
    if value > bar or not pass_by(seen, chances.low, place_of(chances, t, replaced), state, mis, flips):
        return
    node, used = nodes.node, nodes.used
    p = _find_pile(nodes, value)
    at = used[FREE]
    used[FREE] = node[at, BELOW]
    used[NODES] += 1
    node[at, POSITION], node[at, REPLACED], node[at, MIS], node[at, FLIPS] = t, replaced, mis, flips
    node[at, BELOW] = nodes.top[p]
    nodes.state[at] = state
    nodes.top[p] = at
    used[BEST_PILE] = min(used[BEST_PILE], p)


@kernel
def _take(nodes: Open, p: int) -> int:
    """Take the top off a pile; what it holds can be read until the next one is laid."""
    node, used = nodes.node, nodes.used
    at = int(nodes.top[p])
    nodes.top[p] = node[at, BELOW]
    node[at, BELOW] = used[FREE]
    used[FREE] = at
    used[NODES] -= 1
    return at


@kernel
def _best_pile(nodes: Open) -> int:
    """The first pile that has a node, or -1."""
    # Piles before BEST_PILE are empty: laying a node moves it back where need be.
    p = nodes.used[BEST_PILE]
    while p < nodes.used[PILES] and nodes.top[p] < 0:
        p += 1
    nodes.used[BEST_PILE] = p
    return p if p < nodes.used[PILES] else -1


@kernel
def _find_pile(nodes: Open, value: int) -> int:
    """The pile of a bound, begun where there is none yet."""
    bound, top, used = nodes.bound, nodes.top, nodes.used
    low, high = 0, used[PILES]  # binary search for the first pile whose bound is not less
    while low < high:
        middle = (low + high) >> 1
        if bound[middle] < value:
            low = middle + 1
        else:
            high = middle
    if low == used[PILES] or bound[low] != value:
        for p in range(used[PILES], low, -1):
            bound[p], top[p] = bound[p - 1], top[p - 1]
        bound[low], top[low] = value, -1
        used[PILES] += 1
        used[BEST_PILE] = min(low, used[BEST_PILE])
    return low
