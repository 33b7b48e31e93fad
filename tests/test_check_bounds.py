"""What the checker's bounds are made of: logarithms rounded outward, entropies, and what is said of a bound."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction as F
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain_check.claims.information import say_bound
from ascertain_check.encounters import BLOCKED, REVEALING, entropy_of, variation_of
from ascertain_check.logarithm import (
    BITS,
    artanh,
    binary_entropy,
    log_bounds,
    relative_entropy,
    sum_series,
    total_variation,
)

UNIT = F(1, 2**BITS)
RATIOS = st.fractions(min_value=F(1, 10**9), max_value=10**9, max_denominator=10**9)


def true_log(x: F) -> F:
    """To 120 digits, which is twice as many as the checker has."""
    with localcontext() as context:
        context.prec = 120
        return F((Decimal(x.numerator) / Decimal(x.denominator)).ln())


@given(RATIOS)
def test_the_bounds_of_a_logarithm_are_on_either_side_of_it_and_close(x: F) -> None:
    low, high = log_bounds(x)
    assert low <= true_log(x) <= high
    assert (low == high) == (x == 1)
    assert high - low < 2**12 * UNIT


@pytest.mark.parametrize("x", [F(1), F(2), F(3, 2), F(9), F(19), F(1, 9), F(2**40 + 1, 2**40), F(2) ** 300])
def test_the_bounds_of_some_logarithms_are_close_and_those_of_inverses_are_turned_round(x: F) -> None:
    low, high = log_bounds(x)
    assert low <= true_log(x) <= high
    assert log_bounds(1 / x) == (-high, -low)


def test_numbers_are_in_units_of_two_to_the_minus_192() -> None:
    """Whoever writes a second checker finds the same integers."""
    low = 2175477684985608827238781545112397082682172448338067872507
    assert BITS == 192
    assert artanh(F(0)) == (0, 0)
    assert artanh(F(1, 3)) == (low, low + 65)
    found = [(sum_series(t, up=False), sum_series(t, up=True)) for t in (0, 1, 2, 5, 1000, 2**BITS // 3)]
    assert found == [(0, 1), (0, 3), (2, 5), (5, 8), (1000, 1003), (low, low + 63)]


@given(st.integers(2, 2**192 // 3))
def test_a_series_rounded_down_is_below_one_rounded_up_by_less_than_a_unit_for_each_term(t: int) -> None:
    low, high = sum_series(t, up=False), sum_series(t, up=True)
    assert low < high < low + 1000
    exact = sum(F(t, 2**BITS) ** k / k for k in range(1, 14, 2)) / UNIT
    assert low <= exact + F(t, 2**BITS) ** 15 / UNIT
    assert exact <= high


def random_law(rng: Random) -> tuple[tuple[int, F], ...]:
    weights = [rng.randrange(4) for _ in range(3)]
    weights[rng.randrange(3)] += 1
    return tuple((y, F(w, sum(weights))) for y, w in enumerate(weights) if w)


def test_entropies_and_variations_are_those_of_their_definitions() -> None:
    rng, seen = Random(1), set[bool]()
    for _ in range(200):
        law, other = random_law(rng), random_law(rng)
        p, q = dict(law), dict(other)
        found = relative_entropy(law, other)
        infinite = any(y not in q for y in p)
        assert (found is None) == infinite
        if found is not None:
            terms = [[x * bound for bound in log_bounds(x / q[y])] for y, x in law]
            assert found == tuple(sum(column, F(0)) for column in zip(*terms, strict=True))
        events = [[y for y in range(3) if mask >> y & 1] for mask in range(8)]
        gaps = [sum((p.get(y, F(0)) - q.get(y, F(0)) for y in event), F(0)) for event in events]
        assert total_variation(law, other) == max(gaps)
        seen.add(infinite)
    assert seen == {True, False}


def test_the_entropy_of_two_coins() -> None:
    assert binary_entropy(F(1, 3), F(1, 3)) == (0, 0)
    assert binary_entropy(F(1, 3), F(0)) is None
    assert binary_entropy(F(1, 3), F(1)) is None
    low, high = binary_entropy(F(0), F(1, 4)) or (F(0), F(0))
    assert (low, high) == log_bounds(F(4, 3))
    found = binary_entropy(F(1, 10), F(1, 4))
    assert found is not None
    exact = F(1, 10) * true_log(F(2, 5)) + F(9, 10) * true_log(F(6, 5))
    assert found[0] < exact < found[1] < found[0] + 2**12 * UNIT


def test_what_is_blocked_shows_nothing_and_what_is_revealing_everything() -> None:
    assert (entropy_of(BLOCKED), variation_of(BLOCKED)) == (None, None)
    assert (entropy_of(REVEALING), variation_of(REVEALING)) == (None, 1)


def test_what_a_bound_says_is_the_bound_and_its_risks() -> None:
    begin = "no policy settles the question with risks of at most 1/10 and 1/5"
    assert say_bound(None, F(1, 10), F(1, 5)) == begin
    assert say_bound(F(7, 2), F(1, 10), F(1, 5)) == f"{begin} at an expected cost of less than 7/2"
