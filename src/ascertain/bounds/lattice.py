"""When log-likelihood ratios lie on a lattice, two hypotheses need more KL than d(1 - alpha - beta || alpha).

Let X = log(L_h / L_g) at the end of the experiment. Its mean under h is KL(P_h || P_g). If every reading that h can
give changes X by a multiple of log rho, then X lies on the lattice of these multiples. Let E be the event that the
label of h is answered, p = 1 - alpha - beta <= P_h(E), and e = P_g(E). A change of measure says E_h[exp(-X); E] <= e
and E_h[exp(-X)] <= 1. In units of log rho, X = k, and for any numbers 0 <= v <= t, with A(t) = min over integers k of
k + t rho^-k (increasing in t),

    E_h[k] = E_h[k + t rho^-k; E] + E_h[k + v rho^-k; not E] - t E_h[rho^-k; E] - v E_h[rho^-k; not E]
           >= A(t) P_h(E) + A(v) P_h(not E) - (t - v) e - v
           >= p A(t) + (1 - p) A(v) - (t - v) e - v.

The right side is linear in e. The best t and v are corners of A, t = rho^i / (1 - 1/rho) for an integer i, where
A(t) = i + rho / (rho - 1). So a *step* is two integers (i, j), j <= i, and says

    E_h[k] >= b - sigma e,    b = p i + (1 - p) j + C (1 - rho^j),    sigma = C (rho^i - rho^j),    C = rho / (rho - 1),

all of it rational; no logarithm is left, for the mean of one reading is rational in these units too. Without the
lattice the same argument with real k gives d(p || e) and its tangents: at a point q in (0, p),

    KL >= d(p || q) - (p / q - (1 - p) / (1 - q)) (e - q).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from ascertain.bounds.divergence import binary_entropy
from ascertain.bounds.encounters import Kind

MOST_DIVISIONS = 200
"""Divisions in one run of Euclid's algorithm: two powers of a common root with exponents up to `MOST_EXPONENT` need no
more than that, so this many never miss a lattice that is of use."""
MOST_EXPONENT = 64
"""A lattice so fine that a single reading moves further than this gains nothing over the bound without a lattice."""


@final
@dataclass(frozen=True)
class Tangent:
    """The line that touches d(p || .) in a rational point."""

    point: Fraction


@final
@dataclass(frozen=True)
class LatticeStep:
    """Two corners of A: the inequality above for t = rho^i C and v = rho^j C."""

    i: int
    j: int


Cut: TypeAlias = Tangent | LatticeStep
"""A line below the KL that is needed, as a function of e."""


def cut_line(cut: Cut, p: Fraction, base: Fraction | None) -> tuple[Fraction, Fraction]:
    """(b, sigma), both rounded so that the KL needed is at least b - sigma e for e in [0, p]."""
    if isinstance(cut, Tangent):
        needed = binary_entropy(p, cut.point)
        assert needed is not None and 0 < cut.point < p
        slope = p / cut.point - (1 - p) / (1 - cut.point)
        return needed.low + slope * cut.point, slope
    assert base is not None and cut.j <= cut.i
    factor = base / (base - 1)
    low = base**cut.j
    return p * cut.i + (1 - p) * cut.j + factor * (1 - low), factor * (base**cut.i - low)


def best_cut(p: Fraction, e: Fraction, base: Fraction | None) -> Cut:
    """The cut that is largest at e, which is positive and below p."""
    if base is None:
        return Tangent(e)
    i = _best_corner(p, e, base)
    return LatticeStep(i, min(i, _best_corner(1 - p, 1 - e, base)))


def _best_corner(weight: Fraction, share: Fraction, base: Fraction) -> int:
    """The integer i that maximises weight * i - share * C * rho^i; a concave function of i."""
    if weight == 0:
        return -MOST_EXPONENT
    # The derivative vanishes at log(weight / share) / log(rho), up to a constant below 1: the best integer is near.
    guess = round(math.log(float(weight / share)) / math.log(float(base)))
    factor = base / (base - 1)
    near = range(max(guess - 2, -MOST_EXPONENT), guess + 3)
    return max(near, key=lambda i: weight * i - share * factor * base**i)


def find_base(kinds: Iterable[Kind]) -> Fraction | None:
    """The largest rho > 1 such that every likelihood ratio is a power of it; None where there is none.

    Euclid's algorithm on the logarithms, done with the ratios themselves.
    """
    base: Fraction | None = None
    ratios = {ratio for kind in kinds for ratio in likelihood_ratios(kind)}
    for ratio in ratios:
        x = max(ratio, 1 / ratio)
        if x > 1:
            base = x if base is None else _common_root(base, x)
            if base is None:
                return None
    # A ratio that is no small power of the base would need a lattice too fine to be of use.
    return base if base is None or all(exponent(r, base) is not None for r in ratios) else None


def likelihood_ratios(kind: Kind) -> list[Fraction]:
    """L_h / L_g of each reading that h can give; g can give them all."""
    against = dict(kind.other)
    return [p / against[y] for y, p in kind.law]


def _common_root(x: Fraction, y: Fraction) -> Fraction | None:
    """The largest number of which both are powers; a remainder of such numbers is never longer than they are."""
    longest = max(x.numerator, y.numerator)
    for _ in range(MOST_DIVISIONS):
        if x < y:
            x, y = y, x
        if y == 1:
            return x
        # Euclid: a common root of x and y is one of y and x / y; every remainder is a power of it too.
        x /= y
        if x.numerator > longest:
            return None
    return None


def exponent(ratio: Fraction, base: Fraction) -> int | None:
    """The m with ratio = base^m; None where there is none that is small."""
    m = round(math.log(ratio) / math.log(base))
    return m if abs(m) <= MOST_EXPONENT and base**m == ratio else None


def mean_step(kind: Kind, base: Fraction) -> Fraction:
    """KL(law || other) in units of log rho."""
    moves = [exponent(ratio, base) for ratio in likelihood_ratios(kind)]
    return sum((p * m for (_, p), m in zip(kind.law, moves, strict=True) if m is not None), Fraction(0))
