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

The floating-point solution proves nothing: `bounds.proof` turns its multipliers into rationals that do.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

    system = _System(program, elastic)
    for i in range(len(program.graphs)):
        system.add_graph(i)
    system.add_budgets()
    row, column, value = (np.concatenate([entry[k] for entry in system.entries]) for k in range(3))
    matrix = cast("Any", csr_array((value, (row, column)), shape=(system.size, system.width)))
    right = np.concatenate(system.right)
    goal = np.zeros(system.width)
    goal[0] = 1.0
    options = {} if time_limit is None else {"time_limit": max(time_limit, 0.01)}
    found = cast("Any", linprog(goal, A_ub=-matrix, b_ub=-right, bounds=(0, None), method="highs", options=options))
    if found.status == 2 and not elastic:
        return LinearSolution(program, False, 0.0, (), {}, (), (), (), {}, ())
    if found.status != 0:
        return None
    # HiGHS gives multipliers that may be negative by a rounding error.
    multiplier = np.maximum(-np.asarray(found.ineqlin.marginals, dtype=np.float64), 0.0)
    return system.unpack(np.asarray(found.x, dtype=np.float64), multiplier)


class _System:
    """The sparse system A x >= b, gathered entry by entry, and where each unknown and each row stands.

    Unknowns: V; one share for each (budget, part); then for each graph the N(e), the f_g(e) rival by rival, and the
    cost that is spent inside the free node. The first rows of each family of constraints are noted as they are made.
    """

    def __init__(self, program: LinearProgram, elastic: bool) -> None:
        self.program, self.elastic = program, elastic
        self.entries: list[tuple[LongArray, LongArray, FloatArray]] = []
        self.right: list[FloatArray] = []
        self.size = 0
        self.visit, self.flow, self.inside = list[int](), list[int](), list[int]()
        self.potential, self.coupled = list[int](), list[int]()
        self.variation, self.capacity = list[int](), list[int]()
        self.entropy: dict[RivalIndex, int] = {}
        shares = (program.share_key(i, r) for i, graph in enumerate(program.graphs) for r in range(len(graph.rivals)))
        self.share = {key: 1 + k for k, key in enumerate(dict.fromkeys(shares))}
        self.width = 1 + len(self.share)
        for graph in program.graphs:
            num_edges = len(graph.source)
            self.visit.append(self.width)
            self.flow.append(self.width + num_edges)
            self.inside.append(self.width + num_edges * (1 + len(graph.rivals)))
            self.width = self.inside[-1] + 1

    def new(self, right: FloatArray) -> int:
        """Reserve rows with these right sides; returns the number of the first."""
        self.right.append(right)
        self.size += len(right)
        return self.size - len(right)

    def put(self, row: Any, column: Any, value: Any) -> None:
        row, column, value = np.broadcast_arrays(np.atleast_1d(row), column, value)
        self.entries.append((row.astype(np.int64), column.astype(np.int64), value.astype(np.float64)))

    def add_graph(self, i: int) -> None:
        """The rows of one truth."""
        program, graph = self.program, self.program.graphs[i]
        num_edges, num_nodes, num_rivals = len(graph.source), len(graph.nodes), len(graph.rivals)
        edges = np.arange(num_edges)
        visit, flow = self.visit[i] + edges, self.flow[i]
        varied, gained, passes = edge_tables(graph)
        if not self.elastic:
            # V >= sum of N(e) c(e) plus what is spent inside the free node.
            price = self.new(np.zeros(1))
            self.put(price, 0, 1.0)
            self.put(price, visit, [-float(graph.cost(e)) for e in range(num_edges)])
            self.put(price, self.inside[i], -1.0)
        # N out of J <= N into J + 1[J = start]; the free node is no row, so flow into it is unlimited.
        start = np.zeros(num_nodes)
        start[0] = -1.0
        self.potential.append(self.new(start))
        self.put(self.potential[i] + graph.source, visit, -1.0)
        kept = graph.target < graph.free
        self.put(self.potential[i] + graph.target[kept], visit[kept], 1.0)
        self.coupled.append(self.new(np.tile(start, num_rivals)))
        self.variation.append(self.new(np.full(num_rivals, float(program.confidence))))
        self.capacity.append(self.new(np.zeros(num_rivals * num_edges)))
        capacity = self.capacity[i] + np.arange(num_rivals * num_edges).reshape(num_rivals, num_edges)
        for r in range(num_rivals):
            here, free = flow + r * num_edges + edges, passes[r]
            node, differ = self.coupled[i] + r * num_nodes, self.variation[i] + r
            # f_g out of J <= sum over edges into J of (1 - TV) f_g + 1[J = start].
            self.put(node + graph.source, here, -1.0)
            self.put(node + graph.target[kept], here[kept], 1.0 - varied[r][kept])
            # sum of f_g TV >= p - share, the share in units of alpha.
            self.put(differ, here, varied[r])
            self.put(differ, self.share[program.share_key(i, r)], float(program.alpha))
            # f_g(e) <= N(e), and f_g(e) <= 0 where g does not allow the action.
            self.put(capacity[r], here, -1.0)
            self.put(capacity[r][free], visit[free], 1.0)
            if self.elastic:
                self.put(differ, 0, float(program.confidence))
            if (i, r) in program.cuts:
                self.add_cuts((i, r), visit, gained[r])

    def add_cuts(self, place: RivalIndex, visit: LongArray, gained: FloatArray) -> None:
        """The KL row of one rival, once for each cut; inside the free node each unit of cost adds the best rate."""
        program, graph = self.program, self.program.graphs[place[0]]
        rival = graph.rivals[place[1]]
        lines = [cut_line(cut, program.confidence, rival.base) for cut in program.cuts[place]]
        first = self.entropy[place] = self.new(np.array([float(b) for b, _ in lines]))
        for k, (b, slope) in enumerate(lines, first):
            self.put(k, visit, gained)
            self.put(k, self.inside[place[0]], float(rival.best_rate) if graph.is_cut else 0.0)
            self.put(k, self.share[program.share_key(*place)], float(slope * program.alpha))
            if self.elastic:
                self.put(k, 0, float(b))

    def add_budgets(self) -> None:
        """The shares of each budget sum to at most one alpha."""
        budgets = {g: i for i, g in enumerate(dict.fromkeys(g for g, _ in self.share))}
        first = self.new(np.full(len(budgets), -1.0))
        for (g, _), column in self.share.items():
            self.put(first + budgets[g], column, -1.0)

    def unpack(self, x: FloatArray, m: FloatArray) -> LinearSolution:
        """The solution x and the multipliers m, taken apart."""
        shapes = [(len(g.rivals), len(g.nodes), len(g.source)) for g in self.program.graphs]
        return LinearSolution(
            program=self.program,
            feasible=not self.elastic,
            value=float(x[0]),
            visits=tuple(x[at : at + e] for at, (_, _, e) in zip(self.visit, shapes, strict=True)),
            share={key: float(x[at]) for key, at in self.share.items()},
            potential=tuple(m[at : at + n] for at, (_, n, _) in zip(self.potential, shapes, strict=True)),
            coupled=tuple(m[at : at + r * n].reshape(r, n) for at, (r, n, _) in zip(self.coupled, shapes, strict=True)),
            variation=tuple(m[at : at + r] for at, (r, _, _) in zip(self.variation, shapes, strict=True)),
            entropy={key: m[at : at + len(self.program.cuts[key])] for key, at in self.entropy.items()},
            capacity=tuple(
                m[at : at + r * e].reshape(r, e) for at, (r, _, e) in zip(self.capacity, shapes, strict=True)
            ),
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
