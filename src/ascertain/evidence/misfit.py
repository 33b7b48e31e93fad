"""Misfit: whether any state at all explains the readings, or the plant is none of those that the model allows.

The evidence compares states with each other, so a plant outside the model is certified as whichever state resembles it.
Misfit compares each state with something vaguer. Let z be a state, and f the probability with which a reading that z
does not predict may appear, whatever went before. Fix odds ratios theta > 1. A reading that z does not predict
multiplies by theta / (1 - f + theta f), any other by 1 / (1 - f + theta f). Under z the mean of that factor is
(1 - p + theta p) / (1 - f + theta f) with p <= f the true probability of an error, hence at most 1, however actions are
chosen and errors depend on the past. The mean over the theta of the products,

    G_z(t) = mean over theta of theta^k / (1 - f + theta f)^t        after t readings, k of which z did not predict,

is an e-process under z: it ever reaches 1/gamma with probability at most gamma. It grows with k alone, so that *some
state fits* exactly when one has fewer contradictions than the least count that reaches the bound.

*Laws that are exact* (noisy machines, hidden models) have no contradictions. There the alternative is the trigger's:
with probability q the reading is uniform over what the action can give,

    G_z(t) = mean over q of the product of (1 - q) + q u(y) / K(y | z, past),        q in 1/16, 1/8, 1/4, 1/2, 1.

The least G_z over the states that are not beaten is compared with 1/gamma. The true state is beaten with probability at
most alpha, so that a plant that *is* in the model raises a false alarm with probability at most gamma + alpha
(`docs/evidence.md`). Comparisons are exact: floating point decides only where it is far off.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import final

MISFIT = Fraction(1, 1000)
"""The default gamma, as for the rejection of a nominal: one false alarm in a thousand runs."""
MIXTURE = (Fraction(1, 16), Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(1))
"""The q: from a plant that is slightly off to one that ignores the state altogether. The trigger has them too."""
ODDS_RATIOS = (2, 4, 8, 16, 64)
"""From noise of twice the declared odds to readings that ignore the state; what is in between costs a factor of 2."""
_CLOSE = 1e-6
"""Logarithms nearer than this are compared exactly; they are accurate to about 1e-12 per thousand readings."""


@lru_cache(maxsize=1 << 12)  # every step of every run with the same noise asks for the same few
def least_misfit_count(num_readings: int, flip: Fraction, bound: Fraction) -> int:
    """The least number k of contradicted readings, of so many, at which G reaches the bound; `flip` is positive.

    It may exceed the number of readings: then nothing that was read so far can be a misfit.
    """
    base = [float(num_readings) * math.log1p((theta - 1) * flip) for theta in ODDS_RATIOS]
    target = _log(bound * len(ODDS_RATIOS))
    k = 0
    while True:
        gap = _log_sum([k * math.log(theta) - low for theta, low in zip(ODDS_RATIOS, base, strict=True)]) - target
        if gap > _CLOSE or (gap > -_CLOSE and _reaches(k, num_readings, flip, bound)):
            return k
        k += 1


def _reaches(k: int, num_readings: int, flip: Fraction, bound: Fraction) -> bool:
    """Whether G >= bound, in exact rationals."""
    total = sum((theta**k / (1 + (theta - 1) * flip) ** num_readings for theta in ODDS_RATIOS), Fraction(0))
    return total >= bound * len(ODDS_RATIOS)


@final
class Tally:
    """G of one hypothesis under exact laws: how often each u/K came, and for each q the logarithm of its product."""

    def __init__(self, mixture: tuple[Fraction, ...] = MIXTURE) -> None:
        self._mixture = mixture
        self._ratios: Counter[Fraction] = Counter()
        self._logs = [0.0] * len(mixture)

    def add(self, ratio: Fraction, times: int = 1) -> None:
        """So many more readings whose probability, under the hypothesis, was 1/ratio of the uniform one."""
        self._ratios[ratio] += times
        self._logs = [x + times * y for x, y in zip(self._logs, _factor_logs(ratio, self._mixture), strict=True)]

    def copy(self) -> Tally:
        """Another one that goes on from here."""
        other = Tally(self._mixture)
        other._ratios, other._logs = Counter(self._ratios), list(self._logs)
        return other

    @property
    def nats(self) -> float:
        """The logarithm of G."""
        return _log_sum(self._logs) - math.log(len(self._mixture))

    def compare(self, bound: Fraction) -> int:
        """The sign of G - bound."""
        gap = self.nats - _log(bound)
        if abs(gap) > _CLOSE:
            return 1 if gap > 0 else -1
        factors = ([((1 - q + q * r), times) for r, times in self._ratios.items()] for q in self._mixture)
        total = sum((math.prod((x**n for x, n in product), start=Fraction(1)) for product in factors), Fraction(0))
        needed = bound * len(self._mixture)
        return (total > needed) - (total < needed)

    def reaches(self, bound: Fraction) -> bool:
        """Whether G >= bound."""
        return self.compare(bound) >= 0


@lru_cache(maxsize=1 << 12)  # the laws of a machine are few, so that ratios repeat
def _factor_logs(ratio: Fraction, mixture: tuple[Fraction, ...]) -> tuple[float, ...]:
    return tuple(_log(1 - q + q * ratio) for q in mixture)


def _log_sum(logs: Sequence[float]) -> float:
    top = max(logs)
    return top + math.log(math.fsum(math.exp(x - top) for x in logs))


def _log(value: Fraction) -> float:
    """The logarithm of a positive rational of any size."""
    try:
        return math.log(value.numerator / value.denominator)
    except (OverflowError, ValueError):
        return math.log(value.numerator) - math.log(value.denominator)
