"""Means, and how far chance moves a figure: standard errors and limits over operations drawn independently."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from scipy.special import betaincinv


def mean(values: Sequence[int]) -> Fraction:
    """The mean, exactly."""
    return Fraction(sum(values), len(values))


def error_of_mean(values: Sequence[float]) -> float | None:
    """The standard error of the mean; None for fewer than two values."""
    return error_of_ratio(values, [1.0] * len(values))


def error_of_ratio(above: Sequence[float], below: Sequence[float]) -> float | None:
    """The standard error of sum(above) / sum(below), to first order; None for fewer than two pairs, or below zero."""
    number, total = len(above), math.fsum(below)
    if number < 2 or total <= 0:
        return None
    ratio = math.fsum(above) / total
    spread = math.fsum((a - ratio * b) ** 2 for a, b in zip(above, below, strict=True))
    return math.sqrt(spread * number / (number - 1)) / total


def binomial_limits(number: int, of: int, delta: float) -> tuple[float, float]:
    """Clopper and Pearson's limits of a probability, each exceeded with probability at most delta."""
    low = 0.0 if number == 0 else float(betaincinv(number, of - number + 1, delta))
    high = 1.0 if number == of else float(betaincinv(number + 1, of - number, 1 - delta))
    return low, high
