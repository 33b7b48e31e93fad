"""The program as sparse linear algebra: what every valid policy's visit counts satisfy, solved in floating point.

Throughout: N(e) is the expected number of times that edge e of the joint graph of truth h is taken under h; f_g(e) is
the same while g is still *coupled* to h; share[g, l] is the probability that label l is answered when g is true, in
units of alpha; p = 1 - alpha - beta. The program minimises V subject to, for each truth h,

    V >= sum of N(e) c(e)                                                    multiplier lambda_h
    N out of J <= N into J + 1[J = start]                                                u_J
    sum of N(e) KL_g(e) >= b - sigma share[g, label of h]    for each cut (b, sigma)     y
    sum of f_g(e) TV_g(e) >= p - share[g, label of h]                                    z_g
    f_g out of J <= sum over edges into J of (1 - TV_g(e)) f_g(e) + 1[J = start]         w_g,J
    f_g(e) <= N(e)                                                                       x_g,e
    sum over l of share[g, l] <= alpha                       for each rival g.           eta_g

*Why a valid policy satisfies it.* Run h and g side by side with the same policy, and at each step, while their readings
have been equal, draw the next two readings from a maximal coupling: they differ with probability TV. Then f_g counts
the steps so far coupled; the transcripts, hence the answers, differ at most with probability sum f_g TV, which
therefore is at least Pr_h(label of h) - Pr_g(label of h) >= p - share. The KL row is the chain rule and a tangent of
d(p || .) or a step of the lattice (`bounds.lattice`). Visits obey the flow of an experiment that begins once and may
end anywhere. The sum of f_g TV is at most that of N TV, and is at most the flow that reaches a first edge where
readings can differ, so the total-variation rows and the flow cuts of the design follow from the coupled flow.

The floating-point solution proves nothing: `bounds.dual` turns its multipliers into rationals that do.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, cast, final

import numpy as np

from ascertain.bounds.joint import JointGraph
from ascertain.bounds.lattice import Cut, cut_line
from ascertain.types import BoolArray, FloatArray, LongArray

RivalIndex: TypeAlias = tuple[int, int]
"""The number of a graph and of one of its rivals."""


@final
@dataclass(frozen=True, eq=False)
class LinearProgram:
    """Truths with their joint graphs, the cuts of each KL row, and the risks."""

    graphs: tuple[JointGraph, ...]
    cuts: Mapping[RivalIndex, Sequence[Cut]]
    alpha: Fraction
    beta: Fraction
    transitive: bool = False
    """Whether the one truth stands for all by symmetry; then the shares of *all* its rivals' labels sum to alpha."""

    @property
    def confidence(self) -> Fraction:
        """p, the least probability of the right answer."""
        return 1 - self.alpha - self.beta

    def share_key(self, i: int, r: int) -> tuple[int, int]:
        """Which share a row of graph i and its rival r speaks of: the budget that it is part of, and the part.

        The budget is that of hypothesis g, and the part the label of the truth; under symmetry there is one budget, and
        the part that g answers the truth's label with is the part that the truth answers g's label with.
        """
        graph = self.graphs[i]
        g, label = graph.rivals[r].hypothesis, graph.met.task.label
        return (0, int(label[g])) if self.transitive else (g, int(label[graph.hypothesis]))


@final
@dataclass(frozen=True, eq=False)
class LinearSolution:
    """What the solver returned: the value, the visits and the multipliers of each graph, in floating point."""

    program: LinearProgram
    feasible: bool
    value: float
    visits: tuple[FloatArray, ...]
    share: dict[tuple[int, int], float]
    """In units of alpha."""
    potential: tuple[FloatArray, ...]
    """u[J] of each graph."""
    coupled: tuple[FloatArray, ...]
    """w[r, J] of each graph."""
    variation: tuple[FloatArray, ...]
    """z[r] of each graph."""
    entropy: dict[RivalIndex, FloatArray]
    """y of each cut."""
    capacity: tuple[FloatArray, ...]
    """x[r, e] of each graph, the multipliers of f_g(e) <= N(e)."""


@final
@dataclass(eq=False)
class _Rows:
    """A sparse system A x >= b, gathered entry by entry."""

    row: list[LongArray] = field(default_factory=list[LongArray])
    column: list[LongArray] = field(default_factory=list[LongArray])
    value: list[FloatArray] = field(default_factory=list[FloatArray])
    right: list[FloatArray] = field(default_factory=list[FloatArray])
    size: int = 0

    def new(self, right: FloatArray) -> int:
        """Reserve rows with these right sides; returns the number of the first."""
        self.right.append(right)
        self.size += len(right)
        return self.size - len(right)

    def put(self, row: Any, column: Any, value: Any) -> None:
        row, column, value = np.broadcast_arrays(np.atleast_1d(row), column, value)
        self.row.append(row.astype(np.int64))
        self.column.append(column.astype(np.int64))
        self.value.append(value.astype(np.float64))


def solve_program(program: LinearProgram, time_limit: float | None = None) -> LinearSolution | None:
    """The solution, or, where there is none, multipliers that say so; None when time ran out or the solver failed."""
    deadline = None if time_limit is None else time.monotonic() + time_limit
    first = _run(program, elastic=False, time_limit=time_limit)
    if first is None or first.feasible:
        return first
    left = None if deadline is None else max(deadline - time.monotonic(), 0.1)
    return _run(program, elastic=True, time_limit=left)


def _run(program: LinearProgram, *, elastic: bool, time_limit: float | None) -> LinearSolution | None:
    """Minimise V; when elastic, minimise instead the share of every right side that has to be waived.

    The elastic program always has a solution. Where it has to waive something, its multipliers are a Farkas proof that
    the program itself has none. Unknown 0 is V, or the share that is waived.
    """
    from scipy.optimize import linprog  # pyright: ignore[reportUnknownVariableType]
    from scipy.sparse import csr_array

    rows, places = _Rows(), _Layout(program, elastic)
    for i in range(len(program.graphs)):
        _add_graph(rows, places, program, i)
    budgets = {g: i for i, g in enumerate(dict.fromkeys(g for g, _ in places.share))}
    first = rows.new(np.full(len(budgets), -1.0))
    for (g, _), column in places.share.items():
        rows.put(first + budgets[g], column, -1.0)
    right = np.concatenate(rows.right)
    entries = (np.concatenate(rows.value), (np.concatenate(rows.row), np.concatenate(rows.column)))
    matrix = cast("Any", csr_array(entries, shape=(rows.size, places.width)))
    goal = np.zeros(places.width)
    goal[0] = 1.0
    options = {} if time_limit is None else {"time_limit": max(time_limit, 0.01)}
    found = cast("Any", linprog(goal, A_ub=-matrix, b_ub=-right, bounds=(0, None), method="highs", options=options))
    if found.status == 2 and not elastic:
        return LinearSolution(program, False, 0.0, (), {}, (), (), (), {}, ())
    if found.status != 0:
        return None
    # HiGHS gives multipliers that may be negative by a rounding error.
    multiplier = np.maximum(-np.asarray(found.ineqlin.marginals, dtype=np.float64), 0.0)
    return places.unpack(np.asarray(found.x, dtype=np.float64), multiplier, not elastic)


class _Layout:
    """Where each unknown and each row stands.

    Unknowns: V; one share for each (budget, part); then for each graph the N(e), the f_g(e) rival by rival, and the
    cost that is spent inside the free node. The first rows of each family of constraints are noted as they are made.
    """

    def __init__(self, program: LinearProgram, elastic: bool) -> None:
        self.program = program
        self.elastic = elastic
        self.share: dict[tuple[int, int], int] = {}
        self.visit: list[int] = []
        self.flow: list[int] = []
        self.inside: list[int] = []
        self.potential: list[int] = []
        self.coupled: list[int] = []
        self.variation: list[int] = []
        self.capacity: list[int] = []
        self.entropy: dict[RivalIndex, int] = {}
        width = 1
        for i, graph in enumerate(program.graphs):
            for r in range(len(graph.rivals)):
                if program.share_key(i, r) not in self.share:
                    self.share[program.share_key(i, r)] = width
                    width += 1
        for graph in program.graphs:
            num_edges = len(graph.source)
            self.visit.append(width)
            self.flow.append(width + num_edges)
            self.inside.append(width + num_edges * (1 + len(graph.rivals)))
            width = self.inside[-1] + 1
        self.width = width

    def unpack(self, x: FloatArray, m: FloatArray, feasible: bool) -> LinearSolution:
        graphs = self.program.graphs
        shapes = [(len(g.rivals), len(g.nodes), len(g.source)) for g in graphs]
        cut = {key: m[at : at + len(self.program.cuts[key])] for key, at in self.entropy.items()}
        return LinearSolution(
            self.program,
            feasible,
            float(x[0]),
            tuple(x[at : at + e] for at, (_, _, e) in zip(self.visit, shapes, strict=True)),
            {key: float(x[at]) for key, at in self.share.items()},
            tuple(m[at : at + n] for at, (_, n, _) in zip(self.potential, shapes, strict=True)),
            tuple(m[at : at + r * n].reshape(r, n) for at, (r, n, _) in zip(self.coupled, shapes, strict=True)),
            tuple(m[at : at + r] for at, (r, _, _) in zip(self.variation, shapes, strict=True)),
            cut,
            tuple(m[at : at + r * e].reshape(r, e) for at, (r, _, e) in zip(self.capacity, shapes, strict=True)),
        )


def edge_tables(graph: JointGraph) -> tuple[FloatArray, FloatArray, BoolArray]:
    """TV[r, e], KL[r, e], and whether the coupled flow may pass, as floats."""
    shape = graph.kind.shape
    varied, gained, passes = np.zeros(shape), np.zeros(shape), np.ones(shape, dtype=np.bool_)
    known: dict[tuple[int, int, bool], tuple[float | None, float]] = {}
    for r in range(shape[0]):
        for e in range(shape[1]):
            key = (r, int(graph.kind[r, e]), bool(graph.target[e] == graph.free))
            if key not in known:
                part = graph.variation(r, e)
                known[key] = (None if part is None else float(part), float(graph.divergence(r, e)))
            part, gained[r, e] = known[key]
            passes[r, e] = part is not None
            varied[r, e] = part or 0.0
    return varied, gained, passes


def _add_graph(rows: _Rows, at: _Layout, program: LinearProgram, i: int) -> None:
    graph = program.graphs[i]
    num_edges, num_nodes, num_rivals = len(graph.source), len(graph.nodes), len(graph.rivals)
    edges = np.arange(num_edges)
    visit, flow = at.visit[i] + edges, at.flow[i]
    varied, gained, passes = edge_tables(graph)
    if not at.elastic:
        # V >= sum of N(e) c(e) plus what is spent inside the free node.
        price = rows.new(np.zeros(1))
        rows.put(price, 0, 1.0)
        rows.put(price, visit, [-float(graph.cost(e)) for e in range(num_edges)])
        rows.put(price, at.inside[i], -1.0)
    # N out of J <= N into J + 1[J = start]; the free node is no row, so flow into it is unlimited.
    start = np.zeros(num_nodes)
    start[0] = -1.0
    at.potential.append(rows.new(start))
    rows.put(at.potential[i] + graph.source, visit, -1.0)
    kept = graph.target < graph.free
    rows.put(at.potential[i] + graph.target[kept], visit[kept], 1.0)
    at.coupled.append(rows.new(np.tile(start, num_rivals)))
    at.variation.append(rows.new(np.full(num_rivals, float(program.confidence))))
    at.capacity.append(rows.new(np.zeros(num_rivals * num_edges)))
    capacity = at.capacity[i] + np.arange(num_rivals * num_edges).reshape(num_rivals, num_edges)
    for r in range(num_rivals):
        here, free = flow + r * num_edges + edges, passes[r]
        node = at.coupled[i] + r * num_nodes
        # f_g out of J <= sum over edges into J of (1 - TV) f_g + 1[J = start].
        rows.put(node + graph.source, here, -1.0)
        rows.put(node + graph.target[kept], here[kept], 1.0 - varied[r][kept])
        # sum of f_g TV >= p - share, the share in units of alpha.
        rows.put(at.variation[i] + r, here, varied[r])
        rows.put(at.variation[i] + r, at.share[program.share_key(i, r)], float(program.alpha))
        # f_g(e) <= N(e), and f_g(e) <= 0 where g does not allow the action.
        rows.put(capacity[r], here, -1.0)
        rows.put(capacity[r][free], visit[free], 1.0)
        if at.elastic:
            rows.put(at.variation[i] + r, 0, float(program.confidence))
        _add_cuts(rows, at, program, (i, r), visit, gained[r])


def _add_cuts(
    rows: _Rows, at: _Layout, program: LinearProgram, place: RivalIndex, visit: Any, gained: FloatArray
) -> None:
    """The KL row of one rival, once for each cut; inside the free node each unit of cost adds the best rate."""
    if place not in program.cuts:
        return
    rival = program.graphs[place[0]].rivals[place[1]]
    lines = [cut_line(cut, program.confidence, rival.base) for cut in program.cuts[place]]
    first = rows.new(np.array([float(b) for b, _ in lines]))
    at.entropy[place] = first
    for k, (b, slope) in enumerate(lines):
        rows.put(first + k, visit, gained)
        rows.put(first + k, at.inside[place[0]], float(rival.best_rate) if program.graphs[place[0]].is_cut else 0.0)
        rows.put(first + k, at.share[program.share_key(*place)], float(slope * program.alpha))
        if at.elastic:
            rows.put(first + k, 0, float(b))
