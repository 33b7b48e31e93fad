"""Policies where noise is a bound: the worst case over every noise, its claim, and runs that follow such a policy."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.certificate.claims.within_risk import within_risk_claim
from ascertain.errors import CertificateError, LimitError, TaskError
from ascertain.model.build import machine_from_transitions
from ascertain.model.machine import Machine
from ascertain.model.noisy import with_bound, with_losses
from ascertain.pipeline.bound import bound
from ascertain.pipeline.certify import certify
from ascertain.pipeline.observe import observe
from ascertain.planning.bounded_noise import spread_evenly
from ascertain.policy import robust
from ascertain.policy.absorption import find_fates
from ascertain.policy.automaton import NOWHERE, PolicyTable
from ascertain.policy.chain import follow
from ascertain.policy.evaluate import evaluate, value_places
from ascertain.problem.pose import pose
from ascertain.task.task import Task
from ascertain_check import check
from tests.reference.adversary import cut_off, worst
from tests.strategies import machines, tasks
from tests.test_evaluate import stepping, tables
from tests.test_noise_bound import dial


def is_verified(task: Task, claim: dict[str, Any]) -> bool:
    return certify(task, [claim])[1].exit_code == 0


def gauge() -> Machine:
    """Three states that stay where they are and show each its own reading."""
    return machine_from_transitions([(f"s{i}", "look", f"r{i}", f"s{i}") for i in range(3)])


BOUNDS = st.sampled_from([Fraction(1, 10), Fraction(1, 3)])


@st.composite
def bounded(draw: st.DrawFn, *, loops: bool) -> tuple[Task, PolicyTable]:
    """A task whose noise is a bound, perhaps with losses, and a policy for it."""
    inner, f = draw(machines(max_states=3, max_actions=2, max_readings=3, partial=False)), draw(BOUNDS)
    model = with_losses(inner, f, Fraction(1, 5), "0") if draw(st.booleans()) else with_bound(inner, f)
    task = draw(tasks(st.just(model), max_hypotheses=3))
    return task, draw(tables(task, loops=loops, max_nodes=3))


@given(bounded(loops=False))
def test_the_worst_case_is_that_of_every_noise_one_by_one(drawn: tuple[Task, PolicyTable]) -> None:
    task, policy = drawn
    found = evaluate(task, policy)
    assert found.is_exact
    even = evaluate(spread_evenly(task), policy)
    for h in range(task.num_hypotheses):
        assert (found.wrong[h], found.abstain[h], found.costs[h]) == worst(task, policy, h)
        assert even.wrong[h] <= found.wrong[h]
        assert even.abstain[h] <= found.abstain[h]
    assert is_verified(task, within_risk_claim(task, policy))


@given(bounded(loops=True))
@settings(max_examples=20)
def test_a_policy_with_loops_is_what_value_iteration_tends_to_or_may_never_end(
    drawn: tuple[Task, PolicyTable],
) -> None:
    task, policy = drawn
    below = [[cut_off(task, policy, h, n) for h in range(task.num_hypotheses)] for n in (60, 120)]
    try:
        found = evaluate(task, policy)
    except TaskError as reason:
        assert "goes on for ever" in str(reason)
        # Without an error it goes on, from somewhere that it comes to within three readings.
        assert any(later[2] - sooner[2] > 60 / 15**3 for sooner, later in zip(*below, strict=True))
        return
    for h, value in enumerate(below[1]):
        cost = found.costs[h]
        assert cost is not None
        for exact, cut in zip((found.wrong[h], found.abstain[h], cost), value, strict=True):
            assert float(exact) == pytest.approx(cut, abs=1e-3)
    assert is_verified(task, within_risk_claim(task, policy))


def test_errors_that_aim_are_ten_times_as_bad_as_errors_that_are_spread() -> None:
    """One reading of eleven: wrong with 1/500 under the even law, and with 1/50 under the worst noise."""
    arrows = [(f"s{i}", "look", f"r{i}", f"s{i}") for i in range(11)]
    look = PolicyTable((0, *[NOWHERE] * 11), (NOWHERE, *range(11)), ({y: y + 1 for y in range(11)}, *[{}] * 11))
    pair: dict[str, Any] = {"hypotheses": ["s0", "s1"], "label": {"s0": "s0", "s1": "s1"}}
    only = PolicyTable((0, NOWHERE, NOWHERE), (NOWHERE, 0, 1), ({0: 1, 1: 2}, {}, {}))
    most = pose(machine_from_transitions(arrows), at_most="1/50", **pair)
    assert evaluate(spread_evenly(most), only).alpha == Fraction(1, 500)
    assert evaluate(most, only).alpha == Fraction(1, 50)
    assert evaluate(pose(machine_from_transitions(arrows), at_most="1/50"), look).alpha == Fraction(1, 50)


def test_less_noise_may_hurt() -> None:
    """A policy that waits for an error never ends without one, and one that believes errors is worst without them."""
    bit = pose(machine_from_transitions([("0", "look", "0", "0"), ("1", "look", "1", "1")]), at_most="1/10")
    believes = PolicyTable((0, NOWHERE, NOWHERE), (NOWHERE, 1, 0), ({0: 1, 1: 2}, {}, {}))
    assert evaluate(spread_evenly(bit), believes).alpha == Fraction(9, 10)
    assert evaluate(bit, believes).alpha == 1
    waits = PolicyTable((0, NOWHERE), (NOWHERE, 1), ({0: 0, 1: 1}, {}))
    assert evaluate(spread_evenly(bit), waits).cost == 10
    with pytest.raises(TaskError, match="under some noise within the bound the policy goes on for ever"):
        evaluate(bit, waits)
    with pytest.raises(CertificateError, match="go on for ever"):
        within_risk_claim(bit, waits)


def test_rounded_values_are_close_and_verified_and_a_circle_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    task = pose(dial(3), at_most="1/7", hypotheses=["s0", "s1"])
    policy = stepping(3, 3, cap=30)
    chain = follow(task, policy)
    fates = find_fates(chain)
    exact, rounded = (value_places(chain, fates, exact=e) for e in (True, False))
    for true, upper, width in zip(exact.upper, rounded.upper, rounded.width, strict=True):
        assert all(x <= u <= x + width for x, u in zip(true, upper, strict=True))
        assert width < Fraction(1, 10**40)
    claim = within_risk_claim(task, policy, exact=False)
    assert "values" in claim
    assert is_verified(task, claim)
    monkeypatch.setattr(robust, "MAX_CIRCLE", 3)
    with pytest.raises(LimitError, match="at most 3 are solved"):
        evaluate(task, stepping(4, 4))


def test_what_holds_under_the_even_law_alone_is_refuted() -> None:
    task = pose(dial(), at_most="1/10", hypotheses=["s0", "s1"])
    policy = stepping(2, 2, cap=9)
    true, even = within_risk_claim(task, policy), within_risk_claim(spread_evenly(task), policy)
    assert is_verified(task, true)
    assert is_verified(spread_evenly(task), even)
    for name in ("alpha", "beta", "cost"):
        assert Fraction(even[name]) <= Fraction(true[name])
        if even[name] != true[name]:
            assert not is_verified(task, true | {name: even[name]})
    assert any(even[name] != true[name] for name in ("alpha", "beta"))


def test_a_bound_on_noise_where_nothing_can_be_misread_changes_nothing() -> None:
    """Each action has one reading, so that there are no errors, and no risk is needed."""
    alike = machine_from_transitions([("a", "x", "0", "a"), ("b", "x", "0", "b")])
    assert bound(pose(alike, at_most="1/10")).is_infinite
    one = pose(alike, at_most="1/10", hypotheses=["a"])
    assert bound(one).upper == 0


@pytest.mark.parametrize("noise", [{"at_most": "1/10"}, {"at_most": "1/10", "lost": "1/10"}])
def test_bounds_find_a_policy_for_the_worst_noise_and_certify_both_sides(noise: dict[str, Any]) -> None:
    task = pose(gauge(), **noise, hypotheses=["s0", "s1"], alpha="1/20", beta="1/8")
    found = bound(task, certified=True)
    assert found.verdict is not None
    assert str(found.verdict) == "VERIFIED"
    assert found.certified is not None
    assert found.best is not None
    assert found.upper is not None
    assert found.upper == found.certified.upper
    assert found.best <= found.upper
    assert found.risk is not None
    worst_of_it = evaluate(task, found.policy)
    assert (worst_of_it.alpha, worst_of_it.beta, worst_of_it.cost) == (*found.risk, found.upper)
    assert worst_of_it.meets(task.alpha, task.beta)
    assert any("noise is a bound" in remark for remark in found.remarks)


def test_a_run_follows_such_a_policy_and_its_certificate_holds_for_that_task_alone(tmp_path: Path) -> None:
    task = pose(gauge(), at_most="1/10", hypotheses=["s0", "s1"], alpha="1/100", beta="1/20")
    certificate = tmp_path / "c.json"
    seen = observe(task, "simulated:1", policy="certified", plan_time=1000, certificate=certificate)
    assert seen.is_certified
    assert seen.certificate == "VERIFIED"
    verdict = check((tmp_path / "c.task.json").read_bytes(), certificate.read_bytes())
    assert verdict.exit_code == 0
    assert "whatever the noise within its bound" in " ".join(verdict.proved)
    data = json.loads((tmp_path / "c.task.json").read_bytes())
    assert data["model"]["at_most"] == "1/10"
    smaller = replace(task, alpha=Fraction(1, 10**6))
    assert seen.control is not None
    with pytest.raises(TaskError, match="errs with a probability"):
        replace(seen.control.settings, question=smaller)
