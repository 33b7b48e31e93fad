"""From the floating-point solution of a program to a proof in rationals, over a few ways of rounding its multipliers.

Small denominators come first: on machines without noise, and wherever the numbers are simple, they give the exact
optimum. Then a fine grid. Where the program has no solution the potentials are computed exactly (`bounds.farkas`).
"""

from __future__ import annotations

import math
from fractions import Fraction

from ascertain.bounds.dual import (
    ProgramProof,
    RivalProof,
    RoundingRule,
    TruthProof,
    combine_truths,
    used_cuts,
    weigh_truth,
)
from ascertain.bounds.farkas import settle_potentials
from ascertain.bounds.linear import FloatArray, LinearProgram, LinearSolution


def prove(program: LinearProgram, solved: LinearSolution) -> ProgramProof:
    """The best bound that the multipliers of this solution prove, over a few ways of rounding them."""
    largest = max([1e-9, *(float(part.max()) for part in _parts(solved) if part.size)])
    ways: list[RoundingRule] = [_simple(d) for d in (1, 12, 5040)]
    ways.append(_fine(2.0 ** (46 - math.ceil(math.log2(largest)))))
    proofs = [_round(program, solved, way) for way in ways]
    if not solved.feasible:
        proofs += [settle_potentials(program, solved, way) for way in ways]
    return max(proofs, key=lambda proof: math.inf if proof.value is None else proof.value)


def _parts(solved: LinearSolution) -> list[FloatArray]:
    return [*solved.potential, *solved.coupled, *solved.variation, *solved.entropy.values()]


def _simple(denominator: int) -> RoundingRule:
    return lambda v: Fraction(v).limit_denominator(denominator)


def _fine(scale: float) -> RoundingRule:
    whole = Fraction(scale)
    return lambda v: Fraction(round(v * scale)) / whole


def _round(program: LinearProgram, solved: LinearSolution, way: RoundingRule) -> ProgramProof:
    truths: list[TruthProof] = []
    for i, graph in enumerate(program.graphs):
        rivals = tuple(
            RivalProof(
                graph.rivals[r].hypothesis,
                graph.rivals[r].base,
                used_cuts(program, solved, i, r, way),
                way(solved.variation[i][r]),
                tuple(way(v) for v in solved.coupled[i][r]),
            )
            for r in range(len(graph.rivals))
        )
        truths.append(weigh_truth(program, graph, tuple(way(v) for v in solved.potential[i]), rivals))
    return combine_truths(program, truths)
