"""Means, and how far chance moves a figure: standard errors over operations drawn independently."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


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
