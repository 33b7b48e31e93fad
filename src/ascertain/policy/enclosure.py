"""How a chain ends, enclosed: rational bounds from both sides, proved by exact inequalities and not by trust in floats.

Let P be the matrix of the arrows among the passing places (absorption.py has the words), v the true solution of
v = c + P v, and let x be any vector, with residual r = c + P x - x.

*Steps.* Suppose S >= 1 + P S with S >= 0, place by place. Iterating, S >= 1 + P + ... + P^n for every n, so S bounds
the expected number of steps from above, and P^n tends to 0.

*Theorem.* If |r| <= e at every passing place, then x - e S <= v <= x + e S.

*Proof.* Let u = x + e S. Then u - P u = (x - P x) + e (S - P S) >= (c - r) + e >= c. So u - v >= P (u - v) >= ... >=
P^n (u - v), which tends to 0, because u and v are bounded. The other side is the same with signs changed. QED.

So u is a *supersolution*, u >= c + P u, and that inequality alone proves, for non-negative u, that u bounds v from
above; a certificate that lists u is checked without solving anything.

Here x is a vector of integers in units of 2^-BITS. Floats propose it: a sparse triangular factorisation solves for the
steps and, again and again, for a correction from the residual. The residual itself is computed in integers, from the
exact probabilities, rounded down by less than one unit; S is in units of 2^-STEP_BITS, and S >= 1 + P S is checked in
integers too. A float that is wrong can therefore make the enclosure wide, or fail, but never false.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from ascertain.errors import LimitError
from ascertain.policy.absorption import NOTHING, Fates, Triple, known_value
from ascertain.policy.chain import Chain

TOO_LONG = "the policy may look for so long that no bound on its expected cost can be proved"
"""Said wherever the proof fails: in floats the matrix is singular, or the number of steps has no bound."""
BITS = 160
"""Binary digits after the point of all that is enclosed: 48 decimals, so that a risk of 10^-30 keeps eighteen."""
STEP_BITS = 20
"""Binary digits after the point of the expected steps, which only scale the width: a millionth is exact enough."""
ROUNDS = 12
"""Rounds of refinement: each gains the bits that a float solution has right, 40 or so, and five were enough for a walk
of 14,000 places; the others are for chains that are badly conditioned. It ends once the residual no longer falls."""
Solver: TypeAlias = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]
"""From b to a float solution of x = b + P x."""
_Row: TypeAlias = tuple[int, list[tuple[int, int]], list[int]]
"""A denominator; numerators of the arrows among passing places; numerators of the constants, in units, one a column."""


@final
@dataclass(frozen=True)
class Enclosure:
    """At every place: no more than `upper`, no less than `upper - width`, for each of the three numbers."""

    upper: list[Triple]
    width: list[Fraction]


def enclose(chain: Chain, fates: Fates) -> Enclosure:
    """Bounds at every place, about 2^-140 apart for each step that is expected; LimitError when none can be proved."""
    # Children first: the matrix is then block triangular, and factorising it fills in nothing outside the blocks.
    passing = [i for c in fates.components for i in c if known_value(chain, fates, i) is None]
    upper: list[Triple] = [known_value(chain, fates, i) or NOTHING for i in range(chain.size)]
    width = [Fraction(0)] * chain.size
    if not passing:
        return Enclosure(upper, width)
    rows = _rows(chain, fates, passing)
    steps, solve = _bound_steps(rows)
    solved = [_refine(rows, column, solve) for column in range(3)]
    # The theorem: x plus the residual times the steps is an upper bound, and twice that is as wide as it can be.
    for r, i in enumerate(passing):
        wrong, abstain, cost = (Fraction(x[r] + error * steps[r], 1 << BITS) for x, error in solved)
        upper[i] = (min(wrong, Fraction(1)), min(abstain, Fraction(1)), cost)
        width[i] = Fraction(2 * max(error for _, error in solved) * steps[r], 1 << BITS)
    return Enclosure(upper, width)


def _rows(chain: Chain, fates: Fates, passing: Sequence[int]) -> list[_Row]:
    number = {i: r for r, i in enumerate(passing)}
    rows: list[_Row] = []
    for i in passing:
        cost = Fraction(0) if i in fates.endless else chain.cost[i]
        whole = math.lcm(cost.denominator, *(p.denominator for _, p in chain.arrows[i]))
        arrows: list[tuple[int, int]] = []
        constants = [0, 0, int(cost * whole) << BITS]
        for j, p in chain.arrows[i]:
            weight = int(p * whole)
            known = known_value(chain, fates, j)
            if known is None:
                arrows.append((number[j], weight))
            else:
                constants[0] += weight * int(known[0]) << BITS
                constants[1] += weight * int(known[1]) << BITS
        rows.append((whole, arrows, constants))
    return rows


def _bound_steps(rows: list[_Row]) -> tuple[list[int], Solver]:
    """S, checked, in units of 2^-STEP_BITS, and a function that solves x = b + P x in floats."""
    from scipy.sparse import linalg

    try:
        solve: Solver = cast(Any, linalg).splu(_matrix(rows), permc_spec="NATURAL", diag_pivot_thresh=0.0).solve
    except RuntimeError:  # singular in floats
        raise LimitError(TOO_LONG) from None
    guess: list[float] = solve(np.ones(len(rows))).tolist()
    if not all(0 < x < 2.0**60 for x in guess):
        raise LimitError(TOO_LONG)
    # A thousandth more than floats say, so that rounding does not spoil S >= 1 + P S, which is then checked exactly.
    unit = 1 << STEP_BITS
    steps = [math.ceil(x * (1 + 2.0**-10) * unit) + 1 for x in guess]
    for r, (whole, arrows, _) in enumerate(rows):
        if whole * (steps[r] - unit) < sum(weight * steps[j] for j, weight in arrows):
            raise LimitError(TOO_LONG)
    return steps, solve


def _matrix(rows: list[_Row]) -> Any:
    """1 - P in floats."""
    from scipy.sparse import csc_matrix

    entries = [(r, j, -weight / whole) for r, (whole, arrows, _) in enumerate(rows) for j, weight in arrows]
    entries += [(r, r, 1.0) for r in range(len(rows))]
    r, j, x = (np.array(column) for column in zip(*entries, strict=True))
    return csc_matrix((x.astype(np.float64), (r, j)), shape=(len(rows), len(rows)))


def _refine(rows: list[_Row], column: int, solve: Solver) -> tuple[list[int], int]:
    """x in units of 2^-BITS, and what the steps are to be multiplied by so that x plus or minus that encloses v."""
    x = [0] * len(rows)
    residual = _residual(rows, column, x)
    size = max(map(abs, residual))
    for _ in range(ROUNDS):
        correction = solve(np.array([float(r) for r in residual])).tolist()
        better = [a + round(b) for a, b in zip(x, correction, strict=True)]
        residual = _residual(rows, column, better)
        found = max(map(abs, residual))
        if found >= size:
            break
        x, size = better, found
    # The residual is rounded down by less than one unit; steps are larger than they seem by 2^STEP_BITS.
    return x, -(-(size + 1) >> STEP_BITS)


def _residual(rows: list[_Row], column: int, x: list[int]) -> list[int]:
    """c + P x - x, rounded down."""
    return [
        (constants[column] + sum(weight * x[j] for j, weight in arrows)) // whole - x[r]
        for r, (whole, arrows, constants) in enumerate(rows)
    ]
