"""Coverage, simulated: against what is computed, for blocks that are independent and for blocks that are not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.bank.calibrate import calibrate_ranks
from ascertain.errors import TaskError
from ascertain_paper.studies.audit.coverage import (
    ONE_HARD,
    compute_coverage,
    cover_blocks,
    rank_laws,
    simulate_coverage,
    swarm,
)
from ascertain_paper.studies.audit.exact_coverage import exact_coverage, law_of_largest
from tests.reference.calibration import coverage_with_hard_blocks
from tests.test_calibration import laws

EASY = (Fraction(0), Fraction(3, 5), Fraction(1, 5), Fraction(1, 10), Fraction(1, 10))
HARD = (Fraction(0), Fraction(2, 5), Fraction(1, 5), Fraction(1, 5), Fraction(1, 10), Fraction(1, 20), Fraction(1, 20))
FINE = tuple(Fraction(1, 2000) for _ in range(2000))


@pytest.mark.parametrize(
    ("strata", "blocks", "place"),
    [([EASY], 19, 1), ([EASY, EASY, HARD], 19, 2), ([HARD] * 2, 9, 3), ([FINE], 19, 1), ([FINE], 19, 4)],
)
def test_ten_thousand_simulated_calibrations_agree_with_the_exact_coverage(
    strata: list[tuple[Fraction, ...]], blocks: int, place: int
) -> None:
    exact = exact_coverage(law_of_largest(strata), blocks, place)
    study = simulate_coverage(strata, blocks, place=place, seed=1)
    assert study.repeats == 10_000 and study.tied > 0
    assert study.is_plausible(exact, tail=1e-5)
    assert not study.is_plausible(exact - Fraction(1, 20), tail=1e-5), "an error of a twentieth is seen"
    assert study.is_enough(tail=1e-5)


def test_with_hardly_a_tie_simulated_coverage_is_what_is_promised_and_no_more() -> None:
    study = simulate_coverage([FINE], 19, seed=2)
    assert study.is_plausible(study.promised, tail=1e-3)


def test_blocks_that_are_exchangeable_but_not_independent_are_covered_too() -> None:
    for place, hard in ((1, ONE_HARD), (1, swarm(9)), (3, ONE_HARD), (3, swarm(9))):
        study = simulate_coverage([EASY, HARD], 9, place=place, hard=hard, seed=3)
        assert study.is_enough(tail=1e-5)


def test_one_hard_block_among_all_attains_the_bound_that_independent_blocks_exceed() -> None:
    independent = simulate_coverage([EASY, HARD], 9, seed=3)
    dependent = simulate_coverage([EASY, HARD], 9, hard=ONE_HARD, seed=3)
    assert dependent.computed == dependent.promised == Fraction(9, 10)
    assert independent.computed is not None and dependent.is_plausible(dependent.promised, tail=1e-5)
    assert not dependent.is_plausible(independent.computed, tail=1e-5), "the dependence is seen in what is covered"
    assert not independent.is_plausible(dependent.promised, tail=1e-5)
    in_swarms = simulate_coverage([EASY, HARD], 9, hard=swarm(9), seed=3)
    assert in_swarms.computed is not None and in_swarms.is_plausible(in_swarms.computed, tail=1e-5)
    assert not in_swarms.is_plausible(independent.computed, tail=1e-5)


@given(laws(3), st.integers(1, 3), st.data())
@settings(max_examples=25)
def test_coverage_with_hard_blocks_is_the_sum_over_all_places(
    law: tuple[Fraction, ...], m: int, data: st.DataObject
) -> None:
    hard = data.draw(laws(m + 2))
    assert compute_coverage([law], m, hard) == coverage_with_hard_blocks(law, m, hard) >= Fraction(m, m + 1)


def test_infinity_is_beyond_the_ranks_of_all_strata_and_neither_covers_nor_is_covered() -> None:
    laws, infinite = rank_laws([[0, 5], [None, 2]])
    assert infinite == 6 and laws[0] == [Fraction(1, 2), 0, 0, 0, 0, 0, Fraction(1, 2)]
    assert rank_laws([[0], [2]]) == ([[Fraction(1, 2), 0, Fraction(1, 2)]], None)
    blocks = cover_blocks([[1, 2], [3, 1], [2, 2], [4, 1], [1, 1], [None, 1], [None], [None]], 2)
    assert (blocks.covered, blocks.declined, blocks.repeats, blocks.promised) == (0, 1, 4, Fraction(1, 2))
    assert not calibrate_ranks([None]).covers(1) and not calibrate_ranks([3]).covers(None)
    assert calibrate_ranks([3]).covers(3) and not calibrate_ranks([3]).covers(4)
    study = simulate_coverage([(Fraction(1, 2), Fraction(1, 2))], 3, infinite=1, repeats=2_000, seed=1)
    # One of three calibration blocks is infinite with probability 7/8; else all are 0, and the next as often as not.
    assert study.computed == Fraction(15, 16) and study.is_plausible(Fraction(15, 16), tail=1e-5)
    low, high = 2_000 * 7 / 8 - 80, 2_000 * 7 / 8 + 80
    assert low < study.declined < high and study.covered + study.declined == study.kept < 2_000
    hard = simulate_coverage([(Fraction(1, 2), Fraction(1, 2))], 3, hard=ONE_HARD, infinite=1, repeats=200, seed=1)
    assert hard.computed is None and hard.is_enough(tail=1e-5)


def test_a_study_is_repeated_bit_for_bit_by_its_seed() -> None:
    first, again, other = (simulate_coverage([HARD], 9, seed=seed) for seed in (5, 5, 6))
    assert first == again != other


@pytest.mark.parametrize(("law", "blocks", "place"), [((Fraction(1, 2),), 3, 1), ((), 3, 1), (EASY, 3, 4)])
def test_studies_that_cannot_be_drawn_are_refused(law: tuple[Fraction, ...], blocks: int, place: int) -> None:
    with pytest.raises(TaskError):
        simulate_coverage([law], blocks, place=place, seed=0)
    with pytest.raises(TaskError):
        exact_coverage(law, blocks, place)
    with pytest.raises(TaskError, match="hard blocks"):
        simulate_coverage([EASY], 3, hard=(Fraction(1, 5),) * 6, seed=0)
