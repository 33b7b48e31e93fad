"""Logarithms of rationals, rounded outward, in integers; and what is made of them.

*The series.* For x = 2^k y with 1 <= y < 2, log x = k log 2 + log y, and log y = 2 artanh(t) with t = (y - 1) / (y +
1) in [0, 1/3); log 2 is 2 artanh(1/3). artanh(t) = t + t^3/3 + t^5/5 + ..., all terms positive, so that terms rounded
down give a lower bound, and terms rounded up plus the rest of the series an upper one: after the power t^(2i+1) the
rest is less than that power times t^2 / (1 - t^2) <= 1/8 of it. Numbers are integers in units of 2^-192.

Relative entropy is infinite (None) where the first law gives something that the second never gives.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TypeAlias

from ascertain_check.work import spend

BITS = 192
ONE = 1 << BITS
Bounds: TypeAlias = tuple[Fraction, Fraction]
Law: TypeAlias = tuple[tuple[int, Fraction], ...]


@cache
def log_bounds(x: Fraction) -> Bounds:
    """Rationals on either side of log x, for x > 0; equal only for x = 1."""
    if x < 1:
        low, high = log_bounds(1 / x)
        return -high, -low
    k = (x.numerator // x.denominator).bit_length() - 1
    y = x / (1 << k)
    t = (y - 1) / (y + 1)
    two, rest = artanh(Fraction(1, 3)), artanh(t)
    return Fraction(2 * (k * two[0] + rest[0]), ONE), Fraction(2 * (k * two[1] + rest[1]), ONE)


@cache
def artanh(t: Fraction) -> tuple[int, int]:
    """Integers on either side of artanh(t) in units, for 0 <= t <= 1/3."""
    if t == 0:
        return 0, 0
    low = sum_series(t.numerator * ONE // t.denominator, up=False)
    return low, sum_series(-(-t.numerator * ONE // t.denominator), up=True)


def sum_series(t: int, *, up: bool) -> int:
    """The series at t units, every rounding in one direction."""
    spend(200)
    square = scale(t * t, up=up)
    total, power, odd = 0, t, 1
    while power > 1:
        total += (power + odd - 1) // odd if up else power // odd
        power = scale(power * square, up=up)
        odd += 2
    return total + 2 * power + 1 if up else total


def scale(product: int, *, up: bool) -> int:
    """A product of two numbers, back in units."""
    return -(-product >> BITS) if up else product >> BITS


def relative_entropy(law: Law, other: Law) -> Bounds | None:
    """Rationals on either side of KL(law || other); None where it is infinite."""
    against = dict(other)
    low = high = Fraction(0)
    for y, p in law:
        if y not in against:
            return None
        bounds = log_bounds(p / against[y])
        low, high = low + p * bounds[0], high + p * bounds[1]
    return low, high


def total_variation(law: Law, other: Law) -> Fraction:
    """The largest difference of the two probabilities of one event."""
    against = dict(other)
    return sum((max(p - against.get(y, Fraction(0)), Fraction(0)) for y, p in law), Fraction(0))


def binary_entropy(p: Fraction, q: Fraction) -> Bounds | None:
    """Rationals on either side of d(p || q), the relative entropy of two coins; None where it is infinite."""
    coins = [tuple((y, part) for y, part in ((0, 1 - x), (1, x)) if part) for x in (p, q)]
    return relative_entropy(coins[0], coins[1])
