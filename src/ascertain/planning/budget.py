"""Budgets: how a risk is split over tests, so that together they cost least.

A test of bit i with threshold k (both sides) is wrong with probability e_i(k) and takes n_i(k) readings of cost c_i; a
run that needs all m bits is wrong with probability at most the sum of the e_i(k_i). Thresholds are integers, so the
best split is a *mixed* one: with 24 bits, flip 1/10 and alpha = 2.5e-7, threshold 8 for nine of them and 9 for fifteen.

*Choice.* minimise sum c_i n_i(k_i) subject to sum e_i(k_i) <= alpha. Each raise of a threshold buys a fall of e_i, by a
factor of about (1-f)/f, for about c_i / (1 - 2 f): falls shrink and prices do not, so raising one threshold at a time,
the one that falls most for its price, gives the lower convex hull of what can be had; at the end thresholds are lowered
again wherever alpha still bears it. The *uniform* split gives alpha / m to every test: the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ascertain.planning.nodes import LatticeTest, evaluate_test, find_cap, least_threshold


def split_uniformly(flips: Sequence[Fraction], alpha: Fraction, beta: Fraction) -> list[LatticeTest]:
    """One test for each bit, each with an equal part of alpha and of beta."""
    m = len(flips)
    return [_test(flip, least_threshold(flip, alpha / m), beta / m) for flip in flips]


def split_best(
    flips: Sequence[Fraction], costs: Sequence[Fraction], alpha: Fraction, beta: Fraction
) -> list[LatticeTest]:
    """One test for each bit, thresholds mixed so that the sum of their risks is at most alpha for the least cost."""
    m = len(flips)
    share = beta / m
    k = [1] * m
    total = sum((_wrong(flip, 1, share) for flip in flips), Fraction(0))
    while total > alpha:
        i = max(range(m), key=lambda j: _gain(flips[j], costs[j], k[j], share))
        total -= _wrong(flips[i], k[i], share) - _wrong(flips[i], k[i] + 1, share)
        k[i] += 1
    for i in sorted(range(m), key=lambda j: -_price(flips[j], costs[j], k[j] - 1, share) if k[j] > 1 else 0):
        if k[i] > 1 and total + _wrong(flips[i], k[i] - 1, share) - _wrong(flips[i], k[i], share) <= alpha:
            total += _wrong(flips[i], k[i] - 1, share) - _wrong(flips[i], k[i], share)
            k[i] -= 1
    return [_test(flip, k[i], share) for i, flip in enumerate(flips)]


def _test(flip: Fraction, k: int, beta: Fraction) -> LatticeTest:
    return LatticeTest(flip, k, k, find_cap(flip, k, k, beta))


def _wrong(flip: Fraction, k: int, beta: Fraction) -> Fraction:
    return evaluate_test(_test(flip, k, beta), 1).says_zero


def _price(flip: Fraction, cost: Fraction, k: int, beta: Fraction) -> Fraction:
    """What raising the threshold from k to k + 1 costs."""
    more, less = (evaluate_test(_test(flip, j, beta), 1).readings for j in (k + 1, k))
    return cost * (more - less)


def _gain(flip: Fraction, cost: Fraction, k: int, beta: Fraction) -> Fraction:
    """The fall in risk for its price; nothing is gained by a second reading of what is read without noise."""
    if flip == 0:
        return Fraction(-1)
    return (_wrong(flip, k, beta) - _wrong(flip, k + 1, beta)) / _price(flip, cost, k, beta)
