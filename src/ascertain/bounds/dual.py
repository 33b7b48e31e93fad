"""Rational multipliers: what proves a program bound to someone who trusts no floating point.

Write the program of `bounds.linear` as "minimise V subject to rows". Take any multipliers that are not negative: u_J,
w_g,J, z_g and y for each cut of a KL row. With

    x_g(e) = max(0, z_g TV_g(e) - w_g,J + (1 - TV_g(e)) w_g,J')               for each edge e from J to J'
    lambda_h >= (sum over g of y_g KL_g(e) + x_g(e) - u_J + u_J') / c(e)      for each edge e of h
    eta_g = max over labels l of sum over h of label l of (z_h,g + sum of y sigma)

every valid policy satisfies

    (sum over h of lambda_h) AO >= sum over h (- u_start + sum over g (sum of y b + z_g p - w_g,start))
                                   - alpha sum over g of eta_g

because weighting the rows with the multipliers and adding them up leaves exactly that. So AO is at least the quotient,
and infinite if all lambda_h can be 0 and the right side is positive (Farkas). In the free node u and w are 0, every
coupled flow ends on entering, and lambda_h >= sum over g of y_g times its best rate.

KL is rounded up and what is required down, and lambda_h is *defined* by the above, so that whatever multipliers are
given (`bounds.proof` rounds those of the floating-point solution), the result may be small but is never wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from ascertain.bounds.divergence import round_value
from ascertain.bounds.joint import JointGraph
from ascertain.bounds.lattice import Cut, cut_line
from ascertain.bounds.linear import LinearProgram, LinearSolution

RoundingRule: TypeAlias = Callable[[float], Fraction]
"""How multipliers of the floating-point solution become rationals."""


@final
@dataclass(frozen=True)
class RivalProof:
    """The multipliers of one rival: y of each cut that is used, z, and w of every node."""

    hypothesis: int
    base: Fraction | None
    cuts: tuple[tuple[Cut, Fraction], ...]
    variation: Fraction
    coupled: tuple[Fraction, ...]


@final
@dataclass(frozen=True, eq=False)
class TruthProof:
    """The multipliers of one truth: lambda, u of every node, and those of its rivals."""

    graph: JointGraph
    weight: Fraction
    potential: tuple[Fraction, ...]
    rivals: tuple[RivalProof, ...]
    gain: Fraction
    """What this truth adds to the right side, before the shares are subtracted."""


@final
@dataclass(frozen=True, eq=False)
class ProgramProof:
    """Multipliers that prove a bound; None as the value says that the complexity is infinite."""

    alpha: Fraction
    beta: Fraction
    value: Fraction | None
    truths: tuple[TruthProof, ...]


def used_cuts(solved: LinearSolution, i: int, r: int, way: RoundingRule) -> tuple[tuple[Cut, Fraction], ...]:
    """The cuts of a KL row whose multiplier is not rounded to 0."""
    if (i, r) not in solved.program.cuts:
        return ()
    pairs = zip(solved.program.cuts[i, r], (way(v) for v in solved.entropy[i, r]), strict=True)
    return tuple((cut, y) for cut, y in pairs if y)


def weigh_truth(
    program: LinearProgram, graph: JointGraph, potential: tuple[Fraction, ...], rivals: tuple[RivalProof, ...]
) -> TruthProof:
    """The least lambda that these multipliers need, and what they give."""
    load = edge_loads(graph, rivals)
    u = (*potential, Fraction(0))  # the potential of the free node is 0
    weight = Fraction(0)
    for e, (s, t) in enumerate(graph.ends()):
        weight = max(weight, (load[e] - u[s] + u[t]) / graph.cost(e))
    if graph.is_cut:
        pairs = zip(graph.rivals, rivals, strict=True)
        weight = max(weight, sum((known.best_rate * total(proof.cuts) for known, proof in pairs), Fraction(0)))
    gain = -potential[0]
    for proof in rivals:
        gain += sum((y * cut_line(cut, program.confidence, proof.base)[0] for cut, y in proof.cuts), Fraction(0))
        gain += proof.variation * program.confidence - proof.coupled[0]
    return TruthProof(graph, weight, potential, rivals, gain)


def edge_loads(graph: JointGraph, rivals: Sequence[RivalProof]) -> list[Fraction]:
    """The sum over rivals of y KL + x on every edge."""
    load = [Fraction(0)] * len(graph.source)
    ends = list(enumerate(graph.ends()))
    for r, proof in enumerate(rivals):
        y, z, w = total(proof.cuts), proof.variation, (*proof.coupled, Fraction(0))
        if not y and not z:
            continue
        for e, (s, t) in ends:
            if y:
                load[e] += y * graph.divergence(r, e)
            part = graph.variation(r, e)
            if part is not None:
                load[e] += max(Fraction(0), z * part - w[s] + (1 - part) * w[t])
    return load


def total(cuts: Sequence[tuple[Cut, Fraction]]) -> Fraction:
    return sum((y for _, y in cuts), Fraction(0))


def combine_truths(program: LinearProgram, truths: Sequence[TruthProof]) -> ProgramProof:
    """What the multipliers of all truths prove together."""
    # eta_g: the budget alpha of rival g is weighted by the label that asks most of it.
    spent: dict[tuple[int, int], Fraction] = {}
    for i, truth in enumerate(truths):
        for r, proof in enumerate(truth.rivals):
            slopes = sum((y * cut_line(cut, program.confidence, proof.base)[1] for cut, y in proof.cuts), Fraction(0))
            key = program.share_key(i, r)
            spent[key] = spent.get(key, Fraction(0)) + proof.variation + slopes
    most: dict[int, Fraction] = {}
    for (g, _), share in spent.items():
        most[g] = max(most.get(g, Fraction(0)), share)
    right = sum((truth.gain for truth in truths), Fraction(0)) - program.alpha * sum(most.values(), Fraction(0))
    weight = sum((truth.weight for truth in truths), Fraction(0))
    kept = tuple(truth for truth in truths if truth.weight or truth.gain)
    if right <= 0:
        return ProgramProof(program.alpha, program.beta, Fraction(0), ())
    if weight == 0:
        return ProgramProof(program.alpha, program.beta, None, kept)
    return ProgramProof(program.alpha, program.beta, round_value(right / weight), kept)
