"""Lower bounds on a grid, where the whole belief graph is too large: information states between its points are split.

The value W of the stopping problem at given prices (`lagrangian.py`) is the least of linear functions of the weights,
one for each policy. So it is concave, and homogeneous: W(t x) = t W(x). Together, for weights that are not negative,

    W(x_1 + ... + x_k) >= W(x_1) + ... + W(x_k),

which says that an observer who is told, for nothing, which part the truth was drawn from, does no worse. Therefore an
information state may be replaced by several that add up to it, and whatever is computed then is a lower bound. (These
are the bounds of Lovejoy, Operations Research 39, 1991, for partially observed Markov decision processes: a concave
function lies above its chords.)

*The grid* has the penalties 0, s, 2 s, ... up to what an answer needs; beyond that a hypothesis lies between the last
of them and none at all. Readings lead between its points. In the cell of weights x_h = u_h + r_h (v_h - u_h), where u_h
and v_h are the weights of the two penalties beside that of h, the point is split as Kuhn's triangulation does it: with
hypotheses sorted by r_h, the largest first, the corner where the first j of them are at v and the others at u has the
part r_j - r_{j+1}. So n hypotheses have at most n parts, the likeliest being at 0 in all of them.

*How much is lost.* What is still to be read grows with the logarithm of a weight, and a chord of the logarithm over s
nats lies at most s^2 / 8 below it: a hundredth of a nat or two in each step if s is half a nat. Nothing is lost where
readings add multiples of s. Therefore s is a part of the smallest penalty that a reading adds.

Coarse grids are solved first, and tell what prices finer ones begin with, for as long as these are small enough.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ascertain.errors import LimitError
from ascertain.planning.belief_graph import BeliefGraph, Edges, GraphBuilder, InformationStates, find_closed
from ascertain.planning.column_generation import ColumnGeneration, Prices
from ascertain.planning.information_state import (
    ELIMINATED,
    IMPOSSIBLE,
    UNIT,
    LikelihoodTables,
    tabulate_likelihoods,
    weights_of,
)
from ascertain.planning.limits import SearchLimits
from ascertain.policy.automaton import NOWHERE
from ascertain.task.task import Task
from ascertain.types import BoolArray, FloatArray, IntArray, LongArray

PARTS = (1, 2, 3, 4)
"""The step of a grid is the smallest penalty that a reading adds, divided by each of these in its turn."""
MOST_HYPOTHESES = 5
"""Points of a grid multiply with every hypothesis."""
MOST_ROUNDS, LEAST_ROUNDS = 40, 12
"""Rounds of column generation on each grid: fewer where there is not work enough for more."""
MOST_ENTRIES = 12_000_000
"""Points of a grid times actions times parts after them: some 300 MB."""
SETTLED = Fraction(1005, 1000)
"""A finer grid that raises the bound by less than this is the last."""
LEAST_PART = 1e-9
"""Smaller parts of an information state are left out, which lowers the bound by as little."""
EVERYTHING = 1e6
"""Nats up to which hypotheses are remembered before they are moved to the grid: all of them."""


def bound_by_interpolation(task: Task, alpha: Fraction, beta: Fraction, limits: SearchLimits) -> Fraction:
    """A lower bound on the complexity; LimitError where even the coarsest grid has too many points."""
    tables = tabulate_likelihoods(task, "named")
    if tables.num_slots > MOST_HYPOTHESES:
        raise LimitError(f"a grid for more than {MOST_HYPOTHESES} hypotheses has too many points")
    smallest = _smallest_penalty(tables)
    best, prices = _bound_on_grid(tables, smallest, alpha, beta, limits, None)
    for parts in PARTS[1:]:
        with suppress(LimitError):
            found, prices = _bound_on_grid(tables, smallest // parts, alpha, beta, limits, prices)
            best, before = max(best, found), best
            if best >= SETTLED * before:
                continue
        break
    return best


def _smallest_penalty(tables: LikelihoodTables) -> int:
    """The smallest difference, in units, that one reading makes between two states; LimitError where none makes any."""
    found: list[int] = []
    for penalty in np.swapaxes(tables.penalty, 0, 2).reshape(-1, tables.penalty.shape[0]):
        levels = np.unique(penalty[penalty < IMPOSSIBLE]).tolist()
        found += [more - less for less, more in pairwise(levels)]
    # Rounding makes equal penalties differ by some units.
    found = [one for one in found if one > UNIT // 1000]
    if not found:
        raise LimitError("no reading makes a hypothesis likelier than another, short of ruling one out")
    return min(found)


def _bound_on_grid(
    tables: LikelihoodTables, step: int, alpha: Fraction, beta: Fraction, limits: SearchLimits, prices: Prices | None
) -> tuple[Fraction, Prices]:
    """The best bound that prices prove on one grid, and these prices."""
    n = tables.num_slots
    last = math.ceil((math.log(1 / alpha) + math.log(n)) * UNIT / step)
    graph = GridBuilder(tables, step, last, float(alpha) / (4 * n), limits).build()
    program = ColumnGeneration(graph, alpha, beta, limits)
    rounds = min(MOST_ROUNDS, max(LEAST_ROUNDS, limits.max_work // (graph.size * tables.num_actions)))
    mixture = program.generate(rounds, start=program.uniform_prices(1.0) if prices is None else prices)
    return mixture.lower, mixture.prices


class GridBuilder:
    """A belief graph on a grid. Each reading leads to the parts of what follows it, which stand for one another's sum.

    `child[v, a, k]` are therefore not the information states after each reading, but all parts after all readings of an
    action; their factors are those of the readings times the parts. Nothing but lower bounds can be read off it.
    """

    def __init__(self, tables: LikelihoodTables, step: int, last: int, rival_part: float, limits: SearchLimits) -> None:
        """`step` in units; `last` is the number of the last penalty of the grid."""
        self.tables, self.step, self.last = tables, step, last
        possible: BoolArray = np.any(tables.chance > 0, axis=0)
        self.readings: list[list[int]] = [np.flatnonzero(possible[a]).tolist() for a in range(tables.num_actions)]
        """By action, what some state reads."""
        self.width = tables.num_slots * max(map(len, self.readings))
        most = min(limits.max_bound_nodes, MOST_ENTRIES // (tables.num_actions * self.width))
        self.builder = GraphBuilder(tables, EVERYTHING, rival_part, None, most, limits)

    def build(self) -> BeliefGraph:
        """The whole graph; LimitError when it has too many nodes."""
        found = "the grid has more than {} points that can be reached"
        return self.builder.grow(self.builder.begin(None), self.expand, found)

    def expand(self, state: IntArray, penalty: LongArray) -> tuple[Edges, InformationStates]:
        """Where these information states lead, and the new ones among those."""
        builder, tables = self.builder, self.tables
        allowed = builder.find_allowed(state, penalty)
        allowed[find_closed(tables, state, weights_of(penalty), builder.rival_part)] = False
        every: IntArray = np.arange(tables.num_actions, dtype=np.int32)
        option = np.where(allowed, every[None, :], NOWHERE).astype(np.int32)
        child = np.full((*option.shape, self.width), NOWHERE, dtype=np.int32)
        shift = np.zeros(child.shape, dtype=np.int64)
        fresh: list[InformationStates] = [(state[:0], penalty[:0])]
        for a in range(tables.num_actions):
            asked = np.flatnonzero(allowed[:, a])
            used = np.zeros(len(state), dtype=np.int64)
            for y in self.readings[a]:
                rows, after, least, _ = builder.update(state[asked], penalty[asked], option[asked, a], y)
                for part, corner, share in self.split(*after):
                    index, new = builder.intern(*corner)
                    v = asked[rows[part]]
                    child[v, a, used[v]] = index
                    # Rounded up by a unit at least, which is more than all rounding of shares and weights.
                    shift[v, a, used[v]] = least[part] + np.ceil(-np.log(share) * UNIT).astype(np.int64) + 1
                    used[v] += 1
                    fresh.append(new)
        after_all = np.concatenate([f[0] for f in fresh]), np.concatenate([f[1] for f in fresh])
        return (option, child, shift, None), after_all

    def split(self, state: IntArray, penalty: LongArray) -> list[tuple[LongArray, InformationStates, FloatArray]]:
        """Corners of cells: which of these information states have each, the corners, and what part they are."""
        none = self.last + 1
        weight = np.append(weights_of(np.arange(none) * self.step), 0.0)
        above: LongArray = np.where(penalty >= ELIMINATED, none, np.minimum(penalty // self.step, self.last))
        below: LongArray = np.minimum(above + 1, none)
        width = weight[above] - weight[below]
        ratio = np.where(width > 0, (weights_of(penalty) - weight[below]) / np.where(width > 0, width, 1.0), 0.0)
        order = np.argsort(-ratio, axis=1, kind="stable")
        falling = np.clip(np.take_along_axis(ratio, order, axis=1), 0.0, 1.0)
        ends = np.ones((len(state), 1)), np.zeros((len(state), 1))
        share = np.concatenate([ends[0], falling], axis=1) - np.concatenate([falling, ends[1]], axis=1)
        place: LongArray = np.argsort(order, axis=1, kind="stable")
        found: list[tuple[LongArray, InformationStates, FloatArray]] = []
        for j in range(share.shape[1]):
            part = np.flatnonzero(share[:, j] > LEAST_PART)
            if len(part) == 0:
                continue
            level = np.where(place[part] < j, above[part], below[part])
            corner = np.where(level > self.last, ELIMINATED, level * self.step)
            left = state[part].copy()
            if self.tables.complete:
                left[corner >= ELIMINATED] = NOWHERE
            found.append((part, (left, corner), share[part, j]))
        return found
