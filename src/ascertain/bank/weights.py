"""Weights: how a bank's one unit of belief is shared out, before any fresh reading, over shells and the nominal.

The nominal has a share of its own. The rest is shared over the shells by a *weighting*, a function of how many
candidates each shell holds, and every shell shares its part equally among its candidates. A candidate that stands in a
shell and is the nominal has the sum. With *equal* weights the nominal is a candidate like every other. All of it is a
function of the operation log and frozen settings, so that any weighting is safe: for every state z the evidence E_z is
an e-process whatever the weights are, as long as they are positive, sum to at most one and were fixed before the
readings. What a weighting decides is how long it takes. With weight w on the true candidate E_z >= w L_true / L_z, so
that certifying needs log(1/w) nats more than with all weight on the truth: doubling a candidate's weight saves log 2
nats when it is true. Better shells hold the truth more often and are smaller, hence larger weights there
(`docs/bank.md` has the figures).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from ascertain.errors import TaskError

Shares: TypeAlias = Callable[[Sequence[int]], tuple[Fraction, ...]]
"""From the sizes of the shells, the best first, to one positive share each; they sum to 1."""


@final
@dataclass(frozen=True)
class Weighting:
    """A rule fixed beforehand: the nominal's share, and how the shells share the rest."""

    name: str
    shares: Shares
    nominal: Fraction | None = Fraction(1, 16)
    """None: the nominal weighs what its shell gives it; where no shell that is kept holds it, it is a last shell."""

    def __post_init__(self) -> None:
        if self.nominal is None:
            return
        object.__setattr__(self, "nominal", Fraction(self.nominal))
        if not 0 < self.nominal < 1:
            raise TaskError(f"the nominal's share is {self.nominal}; it must be more than 0 and less than 1")


def uniform(sizes: Sequence[int]) -> tuple[Fraction, ...]:
    """Every candidate of every shell alike."""
    return _normalise([Fraction(size) for size in sizes])


def geometric(sizes: Sequence[int]) -> tuple[Fraction, ...]:
    """Each shell a quarter of the one before; next to nothing is left for late shells."""
    return _normalise([Fraction(1, 4**j) for j in range(len(sizes))])


def inverse_square(sizes: Sequence[int]) -> tuple[Fraction, ...]:
    """Shell j, from 1, in proportion to 1/j^2."""
    return _normalise([Fraction(1, j**2) for j in range(1, len(sizes) + 1)])


def inverse_cube(sizes: Sequence[int]) -> tuple[Fraction, ...]:
    """Shell j, from 1, in proportion to 1/j^3: most on the first, and yet not little on any."""
    return _normalise([Fraction(1, j**3) for j in range(1, len(sizes) + 1)])


EQUAL = Weighting("equal", uniform, None)
"""The paper's: every candidate weighs the same, the nominal one of them."""
WEIGHTINGS = {
    shares.__name__: Weighting(shares.__name__, shares) for shares in (uniform, geometric, inverse_square, inverse_cube)
} | {EQUAL.name: EQUAL}
"""Every weighting by its name, as commitments write it."""
POWERS = {"1/j^2": "inverse_square", "1/j^3": "inverse_cube"}
"""Weightings by their formula, as people may write them in a problem file."""
DEFAULT = WEIGHTINGS["inverse_cube"]
"""What a fallback uses: most weight on the best shells. The nominal was not confirmed, so that its share is small."""


def _normalise(parts: Sequence[Fraction]) -> tuple[Fraction, ...]:
    total = sum(parts, Fraction(0))
    return tuple(part / total for part in parts)
