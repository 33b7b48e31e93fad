"""Both sides of random small tasks, against all policies of a few actions: partial tasks and the current state too."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ascertain.errors import LimitError
from ascertain.model.named import register
from ascertain.planning.limits import SearchLimits
from ascertain.planning.short_policies import find_short_policy
from ascertain.planning.two_sided import bound_both_sides
from ascertain.problem.pose import pose
from ascertain.task.task import Task
from tests.reference.models import enumerate_noisy
from tests.reference.sequential_tests import walk_with_memory
from tests.reference.short_optimum import OutOfReachError, random_small_task, short_optimum

LIMITS = SearchLimits(
    program_nodes=40,
    max_nodes=400,
    max_bound_nodes=400,
    weight_rounds=1,
    mixing_trials=4,
    max_work=20_000,
    max_dives=2,
    max_starts=2,
    max_changes=5,
    max_leaves=10,
    max_branches=2,
    max_histories=900,
)


def reference(task: Task, alpha: Fraction, beta: Fraction) -> Fraction | None:
    """The best policy of up to three actions, as far as all of them can be gone through."""
    best = None
    for depth in (1, 2, 3):
        try:
            found = short_optimum(task, alpha, beta, depth, 40)
        except OutOfReachError:
            break
        best = best if found is None else found
    return best


def check_both_sides(seed: int) -> None:
    task, alpha, beta = random_small_task(seed)
    found, best = bound_both_sides(task, alpha, beta, LIMITS), reference(task, alpha, beta)
    if best is not None:
        assert found.lower is not None, seed
        assert found.upper is not None, seed
        assert found.lower <= best, seed
    if found.upper is not None:
        assert found.lower is not None, seed
        assert found.lower <= found.upper, seed
        for h in range(task.num_hypotheses):
            wrong, abstain, cost = walk_with_memory(task, found.policy, h)
            assert wrong <= alpha, seed
            assert abstain <= beta, seed
            assert cost <= found.upper, seed


@pytest.mark.parametrize("seed", [8, 13, 14, 16, 23, 25, 740])
def test_an_upper_side_is_found_wherever_a_short_policy_exists_and_both_sides_hold(seed: int) -> None:
    check_both_sides(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1000, 50))
def test_both_sides_hold_for_a_thousand_random_tasks(first: int) -> None:
    for seed in range(first, first + 50):
        check_both_sides(seed)


@pytest.mark.parametrize("seed", [8, 15, 16, 20, 22, 25])
def test_the_best_short_policy_costs_what_going_through_all_of_them_finds(seed: int) -> None:
    task, alpha, beta = random_small_task(seed)
    found, best = find_short_policy(task, alpha, beta), short_optimum(task, alpha, beta, 2)
    assert found is not None
    assert best is not None
    assert found.cost <= best
    walked = [walk_with_memory(task, found.policy, h) for h in range(task.num_hypotheses)]
    assert tuple(max(column) for column in zip(*walked, strict=True)) == (*found.risk, found.cost)


def test_no_short_policy_is_found_where_risks_are_small_or_readings_too_many() -> None:
    bit = pose(enumerate_noisy(register(1, Fraction(1, 10))))
    assert find_short_policy(bit, Fraction(1, 10**6), Fraction(1, 100), SearchLimits(max_histories=60)) is None
    with pytest.raises(LimitError, match="more than 2 different readings"):
        find_short_policy(bit, Fraction(1, 10), Fraction(1, 10), SearchLimits(max_histories=2))
