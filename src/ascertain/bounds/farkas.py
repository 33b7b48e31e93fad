"""Exact multipliers for a program without solution: they must balance exactly, so they are computed, not rounded.

With all lambda_h = 0 the load of an edge, the sum over g of y_g KL_g(e) + x_g(e), may not exceed u_J - u_J'. Around a
cycle these differences cancel, so the load must vanish inside every strongly connected part of the joint graph. Given
z, y and tolls x that vanish there, the least w and u are values of two optimal stopping problems,

    w_J = max(0, max over edges of z TV(e) - x(e) + (1 - TV(e)) w_J')        solved by policy iteration
    u_J = max(0, max over edges of load(e) + u_J')                            the longest path between parts

and are found in rationals. A toll is only ever raised by rounding where it does not vanish, which costs a little of
what is proved and never its truth.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components  # pyright: ignore[reportUnknownVariableType]

from ascertain.bounds.dual import (
    ProgramProof,
    RivalProof,
    RoundingRule,
    TruthProof,
    combine_truths,
    edge_loads,
    total,
    used_cuts,
    weigh_truth,
)
from ascertain.bounds.joint import JointGraph
from ascertain.bounds.linear import LinearProgram, LinearSolution
from ascertain.types import BoolArray, IntArray


def settle_potentials(program: LinearProgram, solved: LinearSolution, way: RoundingRule) -> ProgramProof:
    """The proof that these multipliers give once potentials are exact."""
    truths: list[TruthProof] = []
    for i, graph in enumerate(program.graphs):
        inside = edges_in_cycles(graph)
        rivals = tuple(_settle_rival(program, solved, i, r, way, inside) for r in range(len(graph.rivals)))
        truths.append(weigh_truth(program, graph, longest_paths(graph, edge_loads(graph, rivals)), rivals))
    return combine_truths(program, truths)


def edges_in_cycles(graph: JointGraph) -> BoolArray:
    """Which edges join two nodes of one strongly connected part."""
    size = graph.free + 1
    ones = np.ones(len(graph.source))
    joined = csr_array((ones, (graph.source, graph.target)), shape=(size, size))
    found = cast("Any", connected_components(joined, directed=True, connection="strong"))
    part: IntArray = found[1]
    return part[graph.source] == part[graph.target]


def _settle_rival(
    program: LinearProgram, solved: LinearSolution, i: int, r: int, way: RoundingRule, inside: BoolArray
) -> RivalProof:
    """Multipliers of one rival whose load vanishes on these edges."""
    graph = program.graphs[i]
    known = graph.rivals[r]
    cuts = used_cuts(program, solved, i, r, way)
    if total(cuts) and (graph.is_cut or any(graph.payment(r, int(e)) for e in np.flatnonzero(inside))):
        cuts = ()
    toll = [Fraction(0) if inside[e] else way(solved.toll[i][r, e]) for e in range(len(graph.source))]
    z = way(solved.variation[i][r])
    return RivalProof(known.hypothesis, known.base, cuts, z, coupled_values(graph, r, z, toll))


def coupled_values(graph: JointGraph, r: int, z: Fraction, toll: list[Fraction]) -> tuple[Fraction, ...]:
    """The least w: what the coupled flow of rival r is worth in each node, given what its edges cost."""
    leaving = [list[tuple[Fraction, Fraction, int]]() for _ in graph.nodes]
    for e, (s, t) in enumerate(graph.ends()):
        part = graph.variation(r, e)
        if part is not None:
            leaving[s].append((z * part - toll[e], 1 - part, t))
    choice: list[tuple[Fraction, Fraction, int] | None] = [None] * len(leaving)
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


def _walk_choices(choice: list[tuple[Fraction, Fraction, int] | None]) -> list[Fraction]:
    """The values of a choice of one edge in each node (or none): each node has one way to go, perhaps in a circle."""
    value: list[Fraction | None] = [Fraction(0) if move is None else None for move in choice]
    value.append(Fraction(0))
    for first in range(len(choice)):
        path: list[int] = []
        s = first
        while value[s] is None and s not in path:
            path.append(s)
            move = choice[s]
            assert move is not None
            s = move[2]
        if value[s] is None:
            value[s] = _around(choice, path[path.index(s) :])
        for node in reversed(path):
            move = choice[node]
            if value[node] is None and move is not None:
                after = value[move[2]]
                assert after is not None
                value[node] = move[0] + move[1] * after
    return [v if v is not None else Fraction(0) for v in value]


def _around(choice: list[tuple[Fraction, Fraction, int] | None], circle: list[int]) -> Fraction:
    """The value of the first node of a circle: reward + stays * itself; a circle that keeps everything earns 0."""
    reward, stays = Fraction(0), Fraction(1)
    for node in circle:
        move = choice[node]
        assert move is not None
        reward += stays * move[0]
        stays *= move[1]
    return Fraction(0) if stays == 1 else reward / (1 - stays)


def longest_paths(graph: JointGraph, load: list[Fraction]) -> tuple[Fraction, ...]:
    """The least u; loads vanish on circles, so that no path gains by going round."""
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
