"""Calibration by groups and with weights: coverage summed over all orders, in rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.bank.calibrate import Calibrated, calibrate_ranks
from ascertain.bank.conditional import WeightedRank, calibrate_groups, calibrate_weighted
from ascertain.errors import TaskError
from tests.reference.calibration import weighted_coverage

RANKS = st.one_of(st.integers(0, 4), st.none())
WEIGHTS = st.fractions(Fraction(1, 10), 5, max_denominator=10)
MISSES = st.sampled_from((Fraction(1, 2), Fraction(1, 3), Fraction(1, 5), Fraction(1, 20)))


@given(st.lists(st.tuples(RANKS, WEIGHTS), min_size=1, max_size=7), MISSES)
def test_over_all_that_may_be_next_the_weighted_rule_covers_as_promised(
    drawn: list[tuple[int | None, Fraction]], miss: Fraction
) -> None:
    """The next one is i with a probability in proportion to its weight; an undecided calibration counts as covered."""
    covered = Fraction(0)
    for i, (rank, weight) in enumerate(drawn):
        others = [WeightedRank(*pair) for j, pair in enumerate(drawn) if j != i]
        found = calibrate_weighted(others, miss, weight)
        assert found.coverage == (0 if found.shells is None else 1 - miss)
        assert found.shells == weighted_coverage(others, miss, weight)
        covered += weight * (found.shells is None or found.covers(rank))
    assert covered / sum(weight for _, weight in drawn) >= 1 - miss


@given(st.lists(RANKS, min_size=1, max_size=7), st.data())
def test_equal_weights_are_the_rule_without_weights(ranks: list[int | None], data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(ranks)))
    entries = [WeightedRank(rank, Fraction(2, 3)) for rank in ranks]
    found = calibrate_weighted(entries, Fraction(place, len(ranks) + 1), Fraction(2, 3))
    plain = calibrate_ranks(ranks, place)
    assert (found.shells, found.coverage) == (plain.shells, plain.coverage)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 4)), min_size=2, max_size=5), st.data())
def test_in_each_group_the_next_is_covered_as_often_as_promised(
    drawn: list[tuple[str, int]], data: st.DataObject
) -> None:
    group = data.draw(st.sampled_from([g for g, _ in drawn]))
    own = [rank for g, rank in drawn if g == group]
    others = [(g, rank) for g, rank in drawn if g != group]
    orders = list(permutations(own))
    covered = Fraction(0)
    for order in orders:
        found = calibrate_groups([*others, *((group, rank) for rank in order[:-1])]).get(group)
        assert found is None or found.coverage == Fraction(len(own) - 1, len(own))
        covered += Fraction(found is not None and found.covers(order[-1]), len(orders))
    assert covered >= Fraction(len(own) - 1, len(own))


def test_groups_have_numbers_of_their_own_and_small_ones_promise_nothing() -> None:
    ranks = [("pump", 1), ("valve", 7), ("pump", 2), ("valve", None), ("fan", 0)]
    assert calibrate_groups(ranks) == {
        "pump": Calibrated(2, Fraction(2, 3), 2, 1),
        "valve": Calibrated(None, Fraction(0), 2, 1),
        "fan": Calibrated(0, Fraction(1, 2), 1, 1),
    }
    assert calibrate_groups(ranks, place=2)["fan"] == Calibrated(None, Fraction(0), 1, 2)
    assert calibrate_groups(ranks, place=2)["valve"].shells == 7


def test_senseless_weights_are_refused() -> None:
    with pytest.raises(TaskError, match="neither may be negative"):
        WeightedRank(1, Fraction(-1))
    with pytest.raises(TaskError, match=r"inside \(0, 1\)"):
        calibrate_weighted([WeightedRank(1, Fraction(1))], 1)
    with pytest.raises(TaskError, match="all weights are 0"):
        calibrate_weighted([WeightedRank(1, Fraction(0))], "1/2", 0)
