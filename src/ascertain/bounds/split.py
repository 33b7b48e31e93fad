"""Several wrong labels share alpha: the split of each hypothesis' risk over its wrong labels, at its worst.

Let share[g, l] be the probability that a policy answers l when g is true. A valid policy keeps the sum over wrong l at
most alpha, so the pairs of a truth h cannot all be as easy as alpha makes them: AO is at least the minimum over such
shares of the maximum over h of the program with right sides d(p || share[g, label of h]). That is convex in the shares,
and bounded below by its tangents: Kelley's cutting planes, each a row of one larger linear program in which shares are
unknowns. (To put alpha / (M - 1) for each of M - 1 wrong labels is *not* valid: a policy may spend all of g's risk on
one label.) A single truth alone gains nothing: the shares of its rivals are then alpha each. Nor does a task about the
current state, where the answers that different truths ask for may come to be one and the same.

*Symmetry.* If a group acts on the task (on hypotheses, labels, and policies, so that valid policies go to valid ones of
equal worst cost and a policy's answer probabilities to the permuted ones), the function minimised is invariant under
the group and convex, so the average of a minimiser over the group is a minimiser too: shares may be assumed invariant.
When the group is transitive on hypotheses, one truth stands for all, and the shares that enter its program are those
of one orbit each: share[g, label of h] depends only on the orbit of (g, label of h). See `bounds.plant`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from ascertain.bounds.joint import JointGraph
from ascertain.bounds.lattice import Cut, best_cut
from ascertain.bounds.linear import LinearProgram, LinearSolution, RivalIndex, solve_program

FIRST_SHARES = tuple(Fraction(1, 4**k) for k in range(7))
"""Shares, in units of alpha, at which cuts are made to begin with: KL depends on the logarithm of a share."""
ROUNDS = 12
"""Rounds of new cuts at most: each makes the program larger, and the value of every round is a bound already."""
PRECISION = 1e-8
"""A smaller relative rise of the value ends the rounds: the solver's own tolerance is about as large."""
LEAST_SHARE = Fraction(1, 2**60)
"""The least share at which a cut is made: a tangent of d(p || .) at 0 is vertical."""


def first_cuts(
    graphs: tuple[JointGraph, ...], alpha: Fraction, beta: Fraction, shared: bool
) -> dict[RivalIndex, list[Cut]]:
    """A cut at alpha for every KL row that stands, and a few more where alpha is shared.

    None when alpha is 0: a row that stands then asks for infinite KL, which `bounds.information` finds by itself.
    """
    if alpha == 0:
        return {}
    at = FIRST_SHARES if shared else FIRST_SHARES[:1]
    cuts: dict[RivalIndex, list[Cut]] = {}
    for i, graph in enumerate(graphs):
        for r, rival in enumerate(graph.rivals):
            if not rival.dropped:
                found = (best_cut(1 - alpha - beta, alpha * x, rival.base) for x in at)
                cuts[i, r] = list(dict.fromkeys(found))
    return cuts


def solve_split(
    graphs: tuple[JointGraph, ...],
    alpha: Fraction,
    beta: Fraction,
    *,
    transitive: bool = False,
    time_limit: float | None = None,
) -> LinearSolution | None:
    """The program of all these truths with shared alpha; None when time ran out before any solution."""
    deadline = None if time_limit is None else time.monotonic() + time_limit
    program = LinearProgram(graphs, first_cuts(graphs, alpha, beta, True), alpha, beta, transitive)
    best: LinearSolution | None = None
    for _ in range(ROUNDS):
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            break
        solved = solve_program(program, left)
        if solved is None:
            break
        # Kelley: cut at the shares of the solution, until the value hardly rises.
        settled = best is not None and solved.value <= best.value * (1 + PRECISION)
        best = solved
        more = add_cuts(solved)
        if not solved.feasible or settled or more is None:
            break
        program = replace(program, cuts=more)
    return best


def add_cuts(solved: LinearSolution) -> Mapping[RivalIndex, list[Cut]] | None:
    """Cuts at the shares of this solution beside those that there are; None where none is new."""
    program = solved.program
    cuts: dict[RivalIndex, list[Cut]] = {}
    for (i, r), found in program.cuts.items():
        # At the share that the solution gives the rival, or the least one: there the old cuts are too low if anywhere.
        share = Fraction(solved.share.get(program.share_key(i, r), 1.0)).limit_denominator(2**20)
        point = program.alpha * min(max(share, LEAST_SHARE), Fraction(1))
        cut = best_cut(program.confidence, point, program.graphs[i].rivals[r].base)
        cuts[i, r] = [*found] if cut in found else [*found, cut]
    return None if cuts == program.cuts else cuts
