"""The program bound: no policy's visit counts can satisfy what every pair of hypotheses asks, for less than this.

The paper bounds the cost by one pair at a time. A policy must gather evidence against *all* rivals of the truth, and go
where it can be gathered; its expected visit counts on the graph of joint states satisfy a linear program
(`bounds.linear`), whose least cost is a lower bound. Rivals may be dropped and graphs cut (`bounds.joint`): what is
left is still a bound. It is never below the pairwise bound of the pairs that are kept, and without noise never below
their distance. With more than two labels the wrong answers of a hypothesis share its alpha (`bounds.split`). A program
without solution proves that no valid policy exists at all. The value is proved by rational multipliers, which are
returned (`bounds.proof`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

import numpy as np

from ascertain.bounds.encounters import Encounters, find_encounters
from ascertain.bounds.information import PairwiseBound, bound_by_information, check_risks, rank_rivals
from ascertain.bounds.joint import JointGraph, build_joint
from ascertain.bounds.linear import LinearProgram, LinearSolution, solve_program
from ascertain.bounds.proof import ProgramProof, prove
from ascertain.bounds.split import first_cuts, solve_split
from ascertain.errors import TaskError
from ascertain.task.task import Task
from ascertain.types import FloatArray

MOST_UNKNOWNS = 400_000
"""The largest program with shared alpha that is attempted: the solver's time grows much faster than its size."""
MAX_NODES = 300
"""Nodes of a joint graph, unless it is said how many: as many as two-sided bounds take."""
EARLY_CUT = 60
"""Nodes of a graph that has to be cut: the free node begins close to the start then, and more nodes gain little."""
MOST_TOGETHER = 6
"""Rivals that are tried together when all of them are too many: joint states multiply with every rival."""


@final
@dataclass(frozen=True, eq=False)
class ProgramBound:
    """A lower bound on the complexity, its proof, and the visit counts that attain it."""

    value: Fraction | None
    """Rounded down; None when infinite."""
    vacuous: bool = False
    hypothesis: int | None = None
    """The truth whose program is the most expensive; None where nothing is asked."""
    visits: dict[int, FloatArray] = field(default_factory=dict[int, FloatArray])
    """For each truth whose program was solved: how often each action is taken in its own cheapest program, about."""
    by_hypothesis: dict[int, float] = field(default_factory=dict[int, float])
    """For each truth whose program was solved: its value, about; infinite where it has no solution."""
    share: dict[tuple[int, int], float] = field(default_factory=dict[tuple[int, int], float])
    """With shared alpha: the part of alpha that hypothesis g spends on label l, at the optimum, about."""
    dual: ProgramProof | None = None
    """What proves the value; None for a value of 0, and where alpha is 0 and a pair never has infinite KL."""
    cut: bool = False
    """Whether rivals, nodes or truths were left out or time ran out, so that the bound may not be the best."""
    symmetric: bool = False
    """Whether the truth stands for all by symmetry (`bounds.plant`)."""


def bound_by_program(
    task: Task,
    alpha: Fraction | None = None,
    beta: Fraction | None = None,
    *,
    max_nodes: int = MAX_NODES,
    max_rivals: int = 24,
    hypotheses: Sequence[int] | None = None,
    time_limit: float | None = None,
    pairwise: PairwiseBound | None = None,
) -> ProgramBound:
    """The best program bound over these truths (all, unless given); the risks are the task's unless given.

    `pairwise` is that of the same task at the same risks, where it is known already.
    """
    alpha, beta = check_risks(task, alpha, beta)
    if max_nodes < 1 or max_rivals < 1:
        raise TaskError("a program needs at least one node and one rival")
    if 2 * alpha + beta >= 1:
        return ProgramBound(Fraction(0), vacuous=True)
    met = find_encounters(task)
    deadline = None if time_limit is None else time.monotonic() + time_limit
    pairwise = pairwise or bound_by_information(task, alpha, beta, encounters=met)
    if pairwise.value is None and alpha == 0 and pairwise.pair is not None and pairwise.rate:
        return ProgramBound(None, hypothesis=pairwise.pair[0], by_hypothesis={pairwise.pair[0]: float("inf")})
    graphs, cut = _choose_graphs(met, hypotheses, pairwise.pair, max_nodes, max_rivals)
    return _bound(met, graphs, alpha, beta, cut, deadline)


def _choose_graphs(
    met: Encounters, hypotheses: Sequence[int] | None, hardest: tuple[int, int] | None, max_nodes: int, max_rivals: int
) -> tuple[dict[int, list[JointGraph]], bool]:
    """The joint graphs to try for each truth that has rivals, and whether anything was left out."""
    every = met.task.num_hypotheses
    truths = range(every) if hypotheses is None else dict.fromkeys(hypotheses)
    if not all(0 <= h < every for h in truths):
        raise TaskError(f"hypotheses are numbered 0 .. {every - 1}")
    ranked = rank_rivals(met, max_rivals)
    graphs: dict[int, list[JointGraph]] = {}
    cut = len(truths) < every
    for h in truths:
        rivals = ranked[h]
        if hardest is not None and h == hardest[0] and hardest[1] not in rivals:
            rivals = (hardest[1], *rivals[:-1])
        if rivals:
            graphs[h] = _try_sizes(met, h, rivals, max_nodes)
            cut = cut or len(rivals) < int(np.count_nonzero(met.task.label != met.task.label[h]))
            cut = cut or len(graphs[h]) > 1 or graphs[h][0].is_cut
    return graphs, cut


def _try_sizes(met: Encounters, h: int, rivals: tuple[int, ...], max_nodes: int) -> list[JointGraph]:
    """All rivals if their graph is small enough; else all on a graph that is cut early, and as many as need no cut.

    Which of the two is the better bound is not known beforehand; a late cut costs much and gains little.
    """
    whole = build_joint(met, h, rivals, max_nodes)
    if not whole.is_cut:
        return [whole]
    found = [build_joint(met, h, rivals, min(max_nodes, EARLY_CUT))]
    for count in range(min(len(rivals) - 1, MOST_TOGETHER), 0, -1):
        fewer = build_joint(met, h, rivals[:count], max_nodes)
        if not fewer.is_cut:
            return [*found, fewer]
    return found


def _bound(
    met: Encounters,
    graphs: dict[int, list[JointGraph]],
    alpha: Fraction,
    beta: Fraction,
    cut: bool,
    deadline: float | None,
) -> ProgramBound:
    """Each truth alone, then all together where they share alpha."""
    alone: dict[int, LinearSolution] = {}
    for h, choices in graphs.items():
        programs = [LinearProgram((g,), first_cuts((g,), alpha, beta, False), alpha, beta) for g in choices]
        tried = [solve_program(program, _left(deadline)) for program in programs]
        known = [found for found in tried if found is not None]
        cut = cut or len(known) < len(tried)
        if known:
            alone[h] = max(known, key=_value_of)
    values = {h: _value_of(found) for h, found in alone.items()}
    order = sorted(values, key=lambda h: (-values[h], h))
    proof = ProgramProof(alpha, beta, Fraction(0), ())
    # Programs without solution come first; where the proof of that fails in rationals the next truth is tried.
    for h in order:
        proof = _better(proof, prove(alone[h]))
        if proof.value is None or alone[h].feasible:
            break
    share: dict[tuple[int, int], float] = {}
    feasible = [alone[h].program.graphs[0] for h in order if alone[h].feasible]
    # A hypothesis with several wrong labels shares its alpha among them; never in a task about the current state.
    is_shared = met.task.state_label is None and len(np.unique(met.task.label)) > 2
    if is_shared and len(feasible) > 1 and alpha > 0 and proof.value is not None:
        kept = _fit(feasible)
        together = solve_split(kept, alpha, beta, time_limit=_left(deadline))
        cut = cut or len(kept) < len(feasible) or together is None
        joint = proof if together is None else _better(proof, prove(together))
        if together is not None and joint is not proof:
            proof, share = joint, together.share
    visits = {h: count_actions(found) for h, found in alone.items() if found.feasible}
    best = order[0] if order else None
    return ProgramBound(proof.value, False, best, visits, values, share, proof if proof.truths else None, cut)


def _value_of(found: LinearSolution) -> float:
    return found.value if found.feasible else float("inf")


def _better(proof: ProgramProof, other: ProgramProof) -> ProgramProof:
    """The proof of the larger value; the first when they are equal."""
    if proof.value is None or (other.value is not None and other.value <= proof.value):
        return proof
    return other


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(deadline - time.monotonic(), 0.01)


def _fit(graphs: list[JointGraph]) -> tuple[JointGraph, ...]:
    """As many truths, in their order, as one program can hold."""
    kept: list[JointGraph] = []
    size = 0
    for graph in graphs:
        size += len(graph.source) * (1 + len(graph.rivals))
        if size <= MOST_UNKNOWNS:
            kept.append(graph)
    return tuple(kept)


def count_actions(found: LinearSolution) -> FloatArray:
    """How often each action is taken in the program of one truth, over all nodes."""
    graph = found.program.graphs[0]
    counts = np.zeros(graph.met.successor.shape[1])
    np.add.at(counts, graph.action, found.visits[0])
    return counts
