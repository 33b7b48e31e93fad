"""Simulating a policy: one walk for each hypothesis, or many runs whose statistics agree with exact evaluation."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import TaskError
from ascertain.pipeline.bound import bound
from ascertain.pipeline.settle import settle
from ascertain.pipeline.simulate import simulate, simulate_runs
from ascertain.pipeline.simulated_runs import Rate
from ascertain.planning.composition import CertifiedTree, compose
from ascertain.policy.evaluate import cost_by_hypothesis, evaluate
from ascertain.problem.pose import pose
from ascertain.problem.problem import read_problem
from tests.conftest import ROOT
from tests.reference.registers import far_sensor

LEAK = ROOT / "examples" / "valve" / "leak.toml"

NOISY = """
[model]
initial = "dark"
transitions = [
  ["dark", "look", { dark = "9/10", lit = "1/10" }, "dark"],
  ["lit", "look", { lit = "9/10", dark = "1/10" }, "lit"],
]
[risk]
alpha = "1/20"
beta = "1/20"
"""


def test_without_a_policy_the_cheapest_one_is_walked() -> None:
    task = read_problem(LEAK).task
    policy = settle(task).policy
    assert policy is not None
    found = simulate(LEAK)
    assert [each.walk.cost for each in found.walks] == list(cost_by_hypothesis(task, policy))
    assert all(each.right for each in found.walks)


def test_many_runs_cost_what_hypotheses_cost_in_the_mean() -> None:
    task = read_problem(LEAK).task
    policy = settle(task).policy
    assert policy is not None
    costs = cost_by_hypothesis(task, policy)
    found = simulate_runs(LEAK, runs=2000, seed=3)
    assert set(found.costs) == set(costs)
    assert abs(float(found.mean_cost - sum(costs) / len(costs))) < 4 * found.standard_error
    assert (found.num_runs, found.wrong.count, found.abstained.count) == (2000, 0, 0)


def test_under_noise_the_certified_policy_errs_and_costs_as_evaluated(tmp_path) -> None:
    path = tmp_path / "noisy.toml"
    path.write_text(NOISY)
    task = read_problem(path).task
    policy = bound(task).policy
    exact = evaluate(task, policy)
    found = simulate_runs(path, runs=4000, seed=1)
    mean = sum(cost or 0 for cost in exact.costs) / len(exact.costs)
    assert abs(float(found.mean_cost - mean)) < 4 * found.standard_error
    low, high = found.wrong.interval
    assert found.wrong.count > 0
    assert low <= float(sum(exact.wrong) / len(exact.wrong)) <= high


def test_a_risk_that_is_missing_is_asked_for_where_it_can_be_said(tmp_path) -> None:
    path = tmp_path / "lamp.toml"
    path.write_text(NOISY.replace('beta = "1/20"\n', ""))
    with pytest.raises(TaskError, match=r"^beta is 0, .* in \[risk\] beta of the problem file$"):
        simulate(path)


def test_a_tree_of_tests_is_walked_as_it_is_evaluated() -> None:
    task = pose(far_sensor(3), flip=Fraction(1, 10), about="current", alpha="1/20", beta="1/20")
    skeleton = settle(pose(far_sensor(3), about="current")).policy
    assert skeleton is not None
    tree = compose(task, skeleton, task.alpha, task.beta)["best"]
    assert isinstance(tree, CertifiedTree)
    exact = evaluate(task, tree)
    found = simulate_runs(task, tree, runs=4000, seed=2)
    costs = [cost for cost in exact.costs if cost is not None]
    assert abs(float(found.mean_cost - sum(costs) / len(costs))) < 4 * found.standard_error
    for rate, shares in ((found.wrong, exact.wrong), (found.abstained, exact.abstain)):
        low, high = rate.interval
        assert rate.count > 0
        assert low <= float(sum(shares) / len(shares)) <= high


def test_a_seed_reproduces_every_run() -> None:
    assert simulate_runs(LEAK, runs=50, seed=7) == simulate_runs(LEAK, runs=50, seed=7)
    assert simulate_runs(LEAK, runs=50, seed=7) != simulate_runs(LEAK, runs=50, seed=8)


def test_weights_decide_which_truth_is_drawn(tmp_path) -> None:
    text = LEAK.read_text().replace("valve.dot", str(LEAK.parent / "valve.dot"))
    path = tmp_path / "weighted.toml"
    task = read_problem(LEAK).task
    names = [task.model.states[s] for s in task.state]
    path.write_text(text + "\n[weights]\ndefault = 1\n" + f'"{names[0]}" = 1000000000\n')
    policy = settle(task).policy
    assert policy is not None
    assert simulate_runs(path, runs=20).costs == {cost_by_hypothesis(task, policy)[0]: 20}


def test_a_stated_truth_is_every_truth() -> None:
    found = simulate_runs(LEAK, runs=5, state="leak1-high")
    assert len(found.costs) == 1


@pytest.mark.parametrize("runs", [0, -1, 10**9])
def test_a_senseless_number_of_runs_is_refused(runs: int) -> None:
    with pytest.raises(TaskError, match="--runs"):
        simulate_runs(LEAK, runs=runs)


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_intervals_are_those_of_clopper_and_pearson(counted: tuple[int, int]) -> None:
    k, n = counted
    low, high = Rate(k, n).interval
    tail = Fraction(1, 40)
    if k > 0:  # at the lower end as many as k, or more, have probability 1/40
        assert abs(float(_at_least(k, n, Fraction(low))) - float(tail)) < 1e-9
    if k < n:
        assert abs(1 - float(_at_least(k + 1, n, Fraction(high))) - float(tail)) < 1e-9
    assert low <= k / n <= high


def _at_least(k: int, n: int, p: Fraction) -> Fraction:
    return sum((comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1)), Fraction(0))
