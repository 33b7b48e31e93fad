"""How different two laws are: relative entropy, and the logarithms they need, rounded outward.

The logarithm of a rational other than 1 is irrational, so it is enclosed in an interval of rationals on the grid of
2^-96. Relative entropy, KL(P || Q) = sum over y of P(y) log(P(y) / Q(y)), is infinite (None) where P gives something
that Q never gives. The binary relative entropy d(p || q) is that of two coins. Everything is in nats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import final

from ascertain.model.noisy import Law

GRID_BITS = 96
"""Logarithms are rounded to multiples of 2^-96, about 10^-29: far finer than the nine decimals that are reported, and
small enough that sums of many of them stay short."""
_DIGITS = Context(prec=70, Emax=10**9, Emin=-(10**9))
"""Decimal arithmetic with 70 digits: what is lost stays below `_MARGIN` even for numbers of a million digits."""
_MARGIN = Fraction(1, 10**55)
"""Added on both sides of a logarithm; more than Decimal can lose, and far below the grid."""


@final
@dataclass(frozen=True)
class Interval:
    """A real number lies between these rationals."""

    low: Fraction
    high: Fraction

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def times(self, factor: Fraction) -> Interval:
        """The interval of factor times the number; the factor is not negative."""
        return Interval(self.low * factor, self.high * factor)


ZERO = Interval(Fraction(0), Fraction(0))
"""The interval of the number 0, exactly: the start of every sum."""


def round_down(value: Fraction) -> Fraction:
    """The largest multiple of 2^-GRID_BITS that is not above the value."""
    return Fraction(math.floor(value * (1 << GRID_BITS)), 1 << GRID_BITS)


def round_up(value: Fraction, bits: int = GRID_BITS) -> Fraction:
    """The least multiple of 2^-bits that is not below the value."""
    return Fraction(math.ceil(value * (1 << bits)), 1 << bits)


def round_value(value: Fraction) -> Fraction:
    """A bound as results print it: a simple fraction as it is, any other rounded down to nine decimals."""
    return value if value.denominator <= 10**6 else Fraction(math.floor(value * 10**9), 10**9)


def log_interval(x: Fraction) -> Interval:
    """Around log x, for x > 0; exact for x = 1.

    Decimal rounds its logarithm correctly to 70 digits, so that what is lost, below 10^-60 for numbers of a million
    digits, is far less than the margin.
    """
    if x == 1:
        return ZERO
    parts = (_DIGITS.ln(Decimal(x.numerator)), _DIGITS.ln(Decimal(x.denominator)))
    log = Fraction(parts[0]) - Fraction(parts[1])
    return Interval(round_down(log - _MARGIN), round_up(log + _MARGIN))


def relative_entropy(law: Law, other: Law) -> Interval | None:
    """KL(law || other); None where it is infinite."""
    if law == other:
        return ZERO
    against, total = dict(other), ZERO
    for y, p in law:
        if y not in against:
            return None
        total += log_interval(p / against[y]).times(p)
    return Interval(max(round_down(total.low), Fraction(0)), round_up(total.high))


def binary_entropy(p: Fraction, q: Fraction) -> Interval | None:
    """d(p || q), for p and q in [0, 1]; None where it is infinite."""
    coins = [tuple((y, part) for y, part in ((0, 1 - x), (1, x)) if part) for x in (p, q)]
    return relative_entropy(coins[0], coins[1])


def required_divergence(alpha: Fraction, beta: Fraction) -> Interval | None:
    """d(1 - alpha - beta || alpha), the least KL of the stopped transcripts of two hypotheses of different labels."""
    return binary_entropy(1 - alpha - beta, alpha)
