"""Tests at a node, budgets and levels: exact numbers against brute force and against Wald's formulas."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import TaskError
from ascertain.model.named import register
from ascertain.planning.sequential_tests import (
    LatticeTest,
    LevelwiseTest,
    choose_levels,
    evaluate_levels,
    evaluate_test,
    find_cap,
    least_threshold,
    split_best,
    split_uniformly,
)
from ascertain.problem.pose import pose
from tests.reference.models import enumerate_noisy
from tests.reference.sequential_tests import enumerate_test, walk_with_memory

ALPHA, BETA, TENTH = Fraction(1, 4_000_000), Fraction(1, 1000), Fraction(1, 10)


@st.composite
def lattice_tests(draw: st.DrawFn) -> LatticeTest:
    down, up = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    flip = Fraction(draw(st.integers(1, 4)), 9)
    return LatticeTest(flip, down, up, draw(st.integers(1, 8)), draw(st.integers(1 - down, up - 1)))


@given(lattice_tests(), st.integers(0, 1))
@settings(max_examples=60)
def test_a_lattice_test_does_what_all_its_transcripts_together_do(test: LatticeTest, value: int) -> None:
    assert evaluate_test(test, value) == enumerate_test(test, value)


def test_with_a_late_cap_a_lattice_test_obeys_walds_formulas() -> None:
    up, down, ratio = 5, 3, Fraction(1, 9)
    outcome = evaluate_test(LatticeTest(TENTH, down, up, 400), 0)
    wald = ratio**up * (1 - ratio**down) / (1 - ratio ** (up + down))
    assert abs(outcome.says_one - wald) < Fraction(1, 10**30)
    mean = (down * outcome.says_zero - up * outcome.says_one) / (1 - 2 * TENTH)
    assert abs(outcome.readings - mean) < Fraction(1, 10**30)


@given(st.integers(1, 6), st.integers(1, 6), st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1, 100)]))
@settings(max_examples=25)
def test_a_test_is_wrong_no_more_often_than_its_evidence_says(down: int, up: int, flip: Fraction) -> None:
    test = LatticeTest(flip, down, up, find_cap(flip, down, up, BETA))
    ratio = flip / (1 - flip)
    assert evaluate_test(test, 0).says_one <= ratio**up
    assert evaluate_test(test, 1).says_zero <= ratio**down
    assert max(evaluate_test(test, value).abstains for value in (0, 1)) <= BETA


def test_the_cap_is_the_least_that_keeps_to_beta() -> None:
    cap = find_cap(TENTH, 7, 7, BETA)
    assert evaluate_test(LatticeTest(TENTH, 7, 7, cap), 1).abstains <= BETA
    assert evaluate_test(LatticeTest(TENTH, 7, 7, cap - 1), 1).abstains > BETA


def test_the_threshold_is_the_least_that_keeps_to_alpha() -> None:
    k = least_threshold(TENTH, ALPHA)
    assert k == 7
    assert evaluate_test(LatticeTest(TENTH, k, k, 300), 0).says_one <= ALPHA
    assert evaluate_test(LatticeTest(TENTH, k - 1, k - 1, 300), 0).says_one > ALPHA


def test_twenty_four_bits_are_split_into_nine_thresholds_of_eight_and_fifteen_of_nine() -> None:
    tests = split_best([TENTH] * 24, [Fraction(1)] * 24, ALPHA, BETA)
    assert sorted(test.up for test in tests) == [8] * 9 + [9] * 15
    outcomes = [evaluate_test(test, 1) for test in tests]
    assert sum(o.says_zero for o in outcomes) <= ALPHA
    assert sum(o.abstains for o in outcomes) <= BETA
    assert sum(o.readings for o in outcomes) <= Fraction(2588, 10)
    uniform = split_uniformly([TENTH] * 24, ALPHA, BETA)
    for value in (0, 1):
        shares = [evaluate_test(test, value) for test in uniform]
        assert sum(o.says_zero if value else o.says_one for o in shares) <= ALPHA
        assert sum(o.abstains for o in shares) <= BETA
    assert sum(evaluate_test(test, 1).readings for test in uniform) > 269


def test_a_threshold_that_was_raised_further_than_needed_is_lowered_again() -> None:
    flips, costs, alpha, beta = (
        [Fraction(3, 10), TENTH],
        [Fraction(1), Fraction(10)],
        Fraction(1, 100),
        Fraction(1, 100),
    )
    best = split_best(flips, costs, alpha, beta)
    prices: dict[tuple[int, ...], Fraction] = {}
    for k in product(range(1, 9), repeat=2):
        tests = [LatticeTest(f, j, j, find_cap(f, j, j, beta / 2)) for f, j in zip(flips, k, strict=True)]
        outcomes = [evaluate_test(test, 1) for test in tests]
        if sum(o.says_zero for o in outcomes) <= alpha:
            prices[k] = sum((o.readings * c for o, c in zip(outcomes, costs, strict=True)), Fraction(0))
    assert tuple(test.up for test in best) == min(prices, key=lambda k: prices[k])


@given(st.lists(st.sampled_from([Fraction(1, 10), Fraction(1, 5), Fraction(1, 50)]), min_size=1, max_size=3))
@settings(max_examples=15)
def test_no_choice_of_thresholds_that_keeps_to_alpha_is_cheaper_than_the_best_split(flips: list[Fraction]) -> None:
    alpha, beta = Fraction(1, 500), Fraction(1, 100)
    share = beta / len(flips)
    best = split_best(flips, [Fraction(1)] * len(flips), alpha, beta)
    cost = sum(evaluate_test(test, 1).readings for test in best)
    assert sum(evaluate_test(test, 1).says_zero for test in best) <= alpha
    options = [[evaluate_test(LatticeTest(f, k, k, find_cap(f, k, k, share)), 1) for k in range(1, 9)] for f in flips]
    least = min(
        sum(o.readings for o in chosen) for chosen in product(*options) if sum(o.says_zero for o in chosen) <= alpha
    )
    assert cost <= least * Fraction(105, 100)


@pytest.mark.parametrize("bits", [1, 2, 3])
@pytest.mark.parametrize(("down", "caps"), [(2, (6, 7)), (3, (3, 3)), (2, (1,))])
def test_levels_cost_and_err_at_most_what_they_claim_on_every_state(
    bits: int, down: int, caps: tuple[int, ...]
) -> None:
    """With one level and one reading of each bit, of two bits the second abstains as well as the first."""
    flip, nominal = Fraction(1, 10), (1, 0, 1)[:bits]
    policy = LevelwiseTest(flip, tuple(range(bits)), nominal, len(caps), down, caps)
    risk = evaluate_levels(policy, [Fraction(1)] * bits)
    name = "".join(str(b) for b in reversed(nominal))
    task = pose(enumerate_noisy(register(bits, flip)), label={"nominal": name})
    swap = [task.labels.index("nominal"), 1 - task.labels.index("nominal")]
    for h in range(task.num_hypotheses):
        wrong, abstain, cost = walk_with_memory(_relabelled(task, swap), policy, h)
        is_nominal = swap[0] == task.label[h]
        assert wrong <= risk.wrong
        assert abstain <= risk.abstain
        assert cost <= risk.cost
        if is_nominal:
            assert abs(cost - risk.cost_nominal) < Fraction(1, 10**40)
        else:
            assert cost <= risk.cost_other


def _relabelled(task, swap):  # type: ignore[no-untyped-def]
    """The task with label 0 for nominal, as `LevelwiseTest` answers."""
    from dataclasses import replace

    return replace(task, label=(task.label != swap[0]).astype(task.label.dtype), labels=("nominal", "other"))


def test_twenty_four_bits_are_found_nominal_or_not_in_two_hundred_and_ten_readings() -> None:
    policy, risk = choose_levels(TENTH, range(24), [0] * 24, [Fraction(1)] * 24, ALPHA, BETA)
    assert (policy.up, policy.down) == (7, 9)
    assert risk.wrong <= ALPHA
    assert risk.abstain <= BETA
    assert risk.cost <= Fraction(2101, 10)


@pytest.mark.parametrize("flip", [Fraction(0), Fraction(1, 2)])
def test_a_bit_that_reads_without_noise_or_at_random_is_refused_in_one_sentence(flip: Fraction) -> None:
    with pytest.raises(TaskError, match="above 0 and below 1/2"):
        LatticeTest(flip, 3, 3, 10)
