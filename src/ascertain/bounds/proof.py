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
given, the result may be small but is never wrong.

*Rounding.* The multipliers of the floating-point solution are rounded in a few ways, and the best proof is kept. Small
denominators come first: on machines without noise, and wherever the numbers are simple, they give the exact optimum.
Then a fine grid.

*A program without solution* needs multipliers that balance exactly, so its potentials are computed, not rounded. With
all lambda_h = 0 the load of an edge, the sum over g of y_g KL_g(e) + x_g(e), may not exceed u_J - u_J'. Around a cycle
these differences cancel, so the load must vanish inside every strongly connected part of the joint graph. Given z, y
and capacity multipliers x that vanish there, the least w and u are values of two optimal stopping problems,

    w_J = max(0, max over edges of z TV(e) - x(e) + (1 - TV(e)) w_J')        solved by policy iteration
    u_J = max(0, max over edges of load(e) + u_J')                            the longest path between parts

and are found in rationals. Rounding only ever raises an x that does not vanish, which costs a little of what is proved
and never its truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast, final

import numpy as np

from ascertain.bounds.divergence import round_value
from ascertain.bounds.joint import JointGraph
from ascertain.bounds.lattice import Cut, cut_line
from ascertain.bounds.linear import LinearProgram, LinearSolution
from ascertain.types import BoolArray, IntArray

DENOMINATORS = (1, 12, 5040)
"""Largest denominators that are tried: whole numbers, the simplest fractions, and 7! for what is less simple."""
FINE_BITS = 46
"""Bits of the largest multiplier on the fine grid: a float has 53, of which the last hold rounding errors."""

Move: TypeAlias = tuple[Fraction, Fraction, int]
"""An edge as the coupled flow sees it: its reward, the part of the flow that stays coupled, and the node after it."""
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
    # lambda_h is the least number that satisfies its inequality on every edge: nothing here can be wrong, only weak.
    u = (*potential, Fraction(0))  # the potential of the free node is 0
    weight = Fraction(0)
    for e, (s, t) in enumerate(graph.ends()):
        weight = max(weight, (load[e] - u[s] + u[t]) / graph.cost(e))
    if graph.is_cut:
        pairs = zip(graph.rivals, rivals, strict=True)
        weight = max(
            weight, sum((known.best_rate * total_multiplier(proof.cuts) for known, proof in pairs), Fraction(0))
        )
    gain = -potential[0]
    for proof in rivals:
        gain += sum((y * cut_line(cut, program.confidence, proof.base)[0] for cut, y in proof.cuts), Fraction(0))
        gain += proof.variation * program.confidence - proof.coupled[0]
    return TruthProof(graph, weight, potential, rivals, gain)


def edge_loads(graph: JointGraph, rivals: Sequence[RivalProof]) -> list[Fraction]:
    """The sum over rivals of y KL + x on every edge."""
    load = [Fraction(0)] * len(graph.source)
    ends = graph.ends()
    for r, proof in enumerate(rivals):
        y, z, w = total_multiplier(proof.cuts), proof.variation, (*proof.coupled, Fraction(0))
        if not y and not z:
            continue
        # Edges of one kind, and on the same side of the limit, show the same of a rival: that is multiplied once.
        kinds: list[tuple[int, bool]] = list(
            zip(graph.kind[r].tolist(), (graph.target == graph.free).tolist(), strict=True)
        )
        first = {kind: e for e, kind in reversed(list(enumerate(kinds)))}
        shown = {kind: y * graph.divergence(r, e) if y else Fraction(0) for kind, e in first.items()}
        parts = {kind: graph.variation(r, e) for kind, e in first.items()}
        still = not z and not any(w)
        for e, (s, t) in enumerate(ends):
            part = parts[kinds[e]]
            load[e] += shown[kinds[e]]
            if part is not None and not still:
                load[e] += max(Fraction(0), z * part - w[s] + (1 - part) * w[t])
    return load


def total_multiplier(cuts: Sequence[tuple[Cut, Fraction]]) -> Fraction:
    """The sum of y over the cuts of one KL row."""
    return sum((y for _, y in cuts), Fraction(0))


def combine_truths(program: LinearProgram, truths: Sequence[TruthProof]) -> ProgramProof:
    """What the multipliers of all truths prove together."""
    # eta_g: the budget alpha of rival g is weighted by the label that asks most of it.
    # Right side and sum of lambda as in the module docstring; only truths that contribute are kept.
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


def prove(solved: LinearSolution) -> ProgramProof:
    """The best bound that the multipliers of this solution prove, over a few ways of rounding them."""
    parts = (*solved.potential, *solved.coupled, *solved.variation, *solved.entropy.values())
    largest = max([1e-9, *(float(part.max()) for part in parts if part.size)])
    ways = [_simple(d) for d in DENOMINATORS]
    ways.append(_fine(2.0 ** (FINE_BITS - math.ceil(math.log2(largest)))))
    proofs = [round_multipliers(solved, way) for way in ways]
    if not solved.feasible:
        proofs += [round_multipliers(solved, way, settled=True) for way in ways]
    return max(proofs, key=lambda proof: math.inf if proof.value is None else proof.value)


def _simple(denominator: int) -> RoundingRule:
    return lambda v: Fraction(v).limit_denominator(denominator)


def _fine(scale: float) -> RoundingRule:
    whole = Fraction(scale)
    return lambda v: Fraction(round(v * scale)) / whole


def round_multipliers(solved: LinearSolution, way: RoundingRule, *, settled: bool = False) -> ProgramProof:
    """The proof that all multipliers give, each rounded by itself; `settled`, once potentials are computed exactly."""
    truths: list[TruthProof] = []
    for i, graph in enumerate(solved.program.graphs):
        inside = edges_in_cycles(graph) if settled else None
        rivals = tuple(_round_rival(solved, i, r, way, inside) for r in range(len(graph.rivals)))
        potential = tuple(way(v) for v in solved.potential[i])
        if settled:
            potential = longest_paths(graph, edge_loads(graph, rivals))
        truths.append(weigh_truth(solved.program, graph, potential, rivals))
    return combine_truths(solved.program, truths)


def edges_in_cycles(graph: JointGraph) -> BoolArray:
    """Which edges join two nodes of one strongly connected part."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components  # pyright: ignore[reportUnknownVariableType]

    size = graph.free + 1
    ones = np.ones(len(graph.source))
    joined = csr_array((ones, (graph.source, graph.target)), shape=(size, size))
    found = cast("Any", connected_components(joined, directed=True, connection="strong"))
    part: IntArray = found[1]
    return part[graph.source] == part[graph.target]


def _round_rival(solved: LinearSolution, i: int, r: int, way: RoundingRule, inside: BoolArray | None) -> RivalProof:
    """Multipliers of one rival, each rounded by itself; where edges are given, such that its load vanishes on them."""
    graph = solved.program.graphs[i]
    known = graph.rivals[r]
    cuts, z = used_cuts(solved, i, r, way), way(solved.variation[i][r])
    if inside is None:
        return RivalProof(known.hypothesis, known.base, cuts, z, tuple(way(v) for v in solved.coupled[i][r]))
    # A KL row whose rival has KL on a cycle (or in the free node, which is one) cannot be used: its load is positive.
    if total_multiplier(cuts) and (graph.is_cut or any(graph.divergence(r, int(e)) for e in np.flatnonzero(inside))):
        cuts = ()
    x = [Fraction(0) if inside[e] else way(solved.capacity[i][r, e]) for e in range(len(graph.source))]
    return RivalProof(known.hypothesis, known.base, cuts, z, coupled_values(graph, r, z, x))


def coupled_values(graph: JointGraph, r: int, z: Fraction, x: list[Fraction]) -> tuple[Fraction, ...]:
    """The least w: the value of the coupled flow of rival r in each node, given the x of its edges.

    Policy iteration: change to a better edge wherever there is one, value the new choice, until nothing is better.
    There are finitely many choices and values only rise, so it ends.
    """
    leaving = [list[Move]() for _ in graph.nodes]
    for e, (s, t) in enumerate(graph.ends()):
        part = graph.variation(r, e)
        if part is not None:
            leaving[s].append((z * part - x[e], 1 - part, t))
    # Where no edge is chosen the flow ends, which is worth what the free node is.
    choice: list[Move] = [(Fraction(0), Fraction(0), len(leaving))] * len(leaving)
    value = [Fraction(0)] * (len(leaving) + 1)
    while True:
        changed = False
        for s, moves in enumerate(leaving):
            for reward, stays, t in moves:
                if reward + stays * value[t] > value[s] and choice[s] != (reward, stays, t):
                    choice[s] = (reward, stays, t)
                    changed = True
        if not changed:
            return tuple(value[:-1])
        value = _walk_choices(choice)


def _walk_choices(choice: list[Move]) -> list[Fraction]:
    """The values of a choice of one edge in each node: each node has one successor, perhaps on a cycle."""
    value = {len(choice): Fraction(0)}
    for first in range(len(choice)):
        # Follow the choice to a node of known value, or round a cycle; then value the path backwards.
        path: list[int] = []
        s = first
        while s not in value and s not in path:
            path.append(s)
            s = choice[s][2]
        if s not in value:
            value[s] = _value_cycle([choice[node] for node in path[path.index(s) :]])
        for node in reversed(path):
            reward, stays, after = choice[node]
            value.setdefault(node, reward + stays * value[after])
    return [value[s] for s in range(len(value))]


def _value_cycle(moves: list[Move]) -> Fraction:
    """The value of the first node of a cycle: reward + stays * itself; on a cycle that keeps everything it is 0."""
    reward, stays = Fraction(0), Fraction(1)
    for gain, part, _ in moves:
        reward += stays * gain
        stays *= part
    return Fraction(0) if stays == 1 else reward / (1 - stays)


def longest_paths(graph: JointGraph, load: list[Fraction]) -> tuple[Fraction, ...]:
    """The least u (Bellman and Ford); loads vanish on cycles, so that no path gains by going round one."""
    value = [Fraction(0)] * (graph.free + 1)
    ends = [(s, t, gain) for (s, t), gain in zip(graph.ends(), load, strict=True)]
    for _ in range(len(value)):
        changed = False
        for s, t, gain in ends:
            if gain + value[t] > value[s]:
                value[s] = gain + value[t]
                changed = True
        if not changed:
            break
    return tuple(value[:-1])
