"""The reference optimum under noise: nothing valid is cheaper than its lower value, and known cases are met."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.model.build import machine_from_transitions
from ascertain.planning.limits import DEFAULT_LIMITS
from ascertain.planning.minimax import find_best_mixture
from ascertain.planning.two_sided import bound_both_sides
from ascertain.policy.evaluate import evaluate
from ascertain.problem.pose import pose
from ascertain.quotients.quotient import take_quotient
from ascertain.task.task import Task
from tests.reference.noisy_optimum import lower_at_prices, noisy_optimum
from tests.reference.optimum import optimum
from tests.reference.suite import list_instances
from tests.strategies import machines, noisy_machines, tasks
from tests.test_evaluate import bit, stepping, tables

RISKS = [Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(2, 5)]
tiny = noisy_machines(max_states=3, max_actions=2, max_readings=2, partial=False)


@settings(max_examples=60)
@given(tasks(tiny, max_hypotheses=3, max_labels=2), st.data())
def test_no_valid_policy_is_cheaper_than_the_lower_value(task: Task, data: st.DataObject) -> None:
    found = evaluate(task, data.draw(tables(task, loops=True)))
    if found.cost is None:
        return
    alpha, beta = (data.draw(st.sampled_from([r for r in (*RISKS, x) if r >= x])) for x in (found.alpha, found.beta))
    lower, upper = noisy_optimum(task, alpha, beta, 4)
    assert lower <= found.cost
    assert upper is None or lower <= upper


@settings(max_examples=40)
@given(tasks(machines(max_states=4, max_actions=2, max_readings=2), max_hypotheses=3, unit_costs=True))
def test_without_noise_or_risk_the_deterministic_optimum_lies_between(task: Task) -> None:
    best = optimum(task)
    lower, upper = noisy_optimum(task, Fraction(0), Fraction(0), 6)
    if best is None:
        assert upper is None
    else:
        assert lower <= best
        assert upper is None or upper >= best


@pytest.mark.parametrize("threshold", [1, 2])
def test_at_the_risk_of_a_test_that_walks_until_sure_nothing_is_cheaper_than_it(threshold: int) -> None:
    test = evaluate(bit(), stepping(threshold, threshold))
    assert test.cost is not None
    lower, upper = noisy_optimum(bit(), test.alpha, Fraction(0), 24)
    assert upper is not None
    assert lower <= test.cost <= lower * (1 + Fraction(1, 10**6))
    assert upper <= lower * (1 + Fraction(1, 10**6))


def test_a_little_less_than_the_risk_of_one_reading_takes_more_than_one() -> None:
    lower, upper = noisy_optimum(bit(), Fraction(1, 10), Fraction(0), 12)
    assert (round(lower, 6), upper) == (1, 1)
    lower, upper = noisy_optimum(bit(), Fraction(99, 1000), Fraction(0), 20)
    assert lower > 1
    assert upper is not None
    assert upper > Fraction(3, 2)  # the second reading cannot be drawn at random, and alone it tells nothing more


@pytest.mark.slow
def test_at_the_risk_of_the_register_two_hypotheses_cost_little_less_than_the_walk_to_seven() -> None:
    lower, upper = noisy_optimum(bit(), Fraction(25, 10**8), Fraction(1, 1000), 80)
    walk = evaluate(bit(), stepping(7, 7)).cost
    assert upper is not None
    assert walk is not None
    assert lower <= upper <= walk <= Fraction(101, 100) * lower


@pytest.mark.slow
def test_three_sensors_that_each_know_one_state_are_read_at_a_cost_between_the_two_values() -> None:
    sensors = [(f"s{i}", f"look{j}", str(int(i == j)), f"s{i}") for i in range(3) for j in range(3)]
    lower, upper = noisy_optimum(
        pose(machine_from_transitions(sensors), flip=Fraction(1, 10)), Fraction(1, 100), Fraction(1, 100), 12
    )
    assert upper is not None
    assert Fraction(39, 10) < lower < upper < Fraction(47, 10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "horizon"), [("far sensor, 5 places", 30), ("one of 3 sensors", 22), ("one of 4 sensors", 18)]
)
def test_what_is_achieved_is_at_most_a_twentieth_above_what_the_reference_proves(name: str, horizon: int) -> None:
    alpha, beta = Fraction(1, 4_000_000), Fraction(1, 1000)
    question = next(instance for instance in list_instances() if instance.name == name).make()
    assert isinstance(question, Task)
    task = take_quotient(question).reduced
    program, mixture = find_best_mixture(task, alpha, beta, DEFAULT_LIMITS, "named", 60_000)
    weight, wrong, abstain = mixture.prices[:, program.group]
    lower = lower_at_prices(task, alpha, beta, horizon, (weight, wrong, abstain))
    found = bound_both_sides(task, alpha, beta)
    assert found.lower is not None
    assert found.upper is not None
    assert lower <= found.upper <= Fraction(105, 100) * lower
    assert abs(found.lower - lower) <= lower / 50
