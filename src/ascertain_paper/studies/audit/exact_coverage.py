"""Coverage computed: how often the calibrated number of shells is really enough, when the law of the ranks is known.

Let the ranks be independent with the law p, and q_k = Pr(M >= k). The next rank is covered when at least r of the m
calibration ranks are as large, so that, exactly,

    Pr(M_(m+1) <= J) = sum over k of p_k Pr(Binomial(m, q_k) >= r).

Without ties this is (m + 1 - r)/(m + 1); with ties it is more. A block's rank is the largest over its strata: where
those are independent, its distribution function is the product of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from math import comb, prod

from ascertain.errors import TaskError


def exact_coverage(law: Sequence[Fraction], num_ranks: int, place: int = 1) -> Fraction:
    """The probability that the next rank is covered; `law[k]` is the probability of rank k."""
    _check_law(law)
    if not 1 <= place <= num_ranks:
        raise TaskError(f"the rank in place {place} of {num_ranks} cannot be taken; places are 1 to {num_ranks}")
    at_least = reversed(list(accumulate(reversed(law))))
    return sum((p * _tail(num_ranks, q, place) for p, q in zip(law, at_least, strict=True) if p), Fraction(0))


def law_of_largest(laws: Sequence[Sequence[Fraction]]) -> tuple[Fraction, ...]:
    """The law of the largest of independent ranks, one of each law."""
    for law in laws:
        _check_law(law)
    length = max(len(law) for law in laws)
    below = [list(accumulate([*law, *[Fraction(0)] * (length - len(law))])) for law in laws]
    joint = [prod((row[k] for row in below), start=Fraction(1)) for k in range(length)]
    return tuple(high - low for low, high in pairwise([Fraction(0), *joint]))


def _tail(number: int, q: Fraction, least: int) -> Fraction:
    """Pr(Binomial(number, q) >= least), summed over whichever side is shorter."""
    if 2 * least <= number:
        return 1 - sum((_mass(number, q, i) for i in range(least)), Fraction(0))
    return sum((_mass(number, q, i) for i in range(least, number + 1)), Fraction(0))


def _mass(number: int, q: Fraction, i: int) -> Fraction:
    return comb(number, i) * q**i * (1 - q) ** (number - i)


def _check_law(law: Sequence[Fraction]) -> None:
    if not law or min(law) < 0 or sum(law) != 1:
        raise TaskError("a law of ranks has probabilities that are not negative and sum to 1")
