"""The audit of the guarantee: its numbers against slow twins, and alarms that really go off."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scipy.special import bdtr, bdtrc

from ascertain.instances.named import register
from ascertain.instances.settings import load_settings
from ascertain.instances.testbed import load_testbed
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.sequential.audit import RuleObserver, audit, count_wrong
from ascertain.sequential.bank import Bank, nominal_bank
from ascertain.sequential.boolean_world import BooleanWorld
from ascertain.sequential.probing import FixedSchedule
from ascertain.study.conditions import Conditions
from ascertain.study.engines import start_engine
from ascertain.study.guarantee import FULL, Sizes, audit_guarantee, cover_blocks, rank_law
from ascertain.study.guarantee_compiling import binomial_limits, compute_crossing, count_vain, find_boundary
from ascertain.study.guarantee_noise import observe_noise
from ascertain.study.guarantee_removed import audit_block, audit_operation, count_ahead, stand_against, without
from ascertain.study.guarantee_sampling import hardest_truths, pool_audits, risk_at, sample_stage, small_bank
from ascertain.study.guarantee_tables import Found, summarise
from ascertain.study.record import Study
from tests.reference.auditing import crossing_probability, evidence_along

SMALL = load_settings("small")
TINY = Sizes({"nominal": (1, 1, 3), "fallback": (1, 1, 2)}, 2, 600, 200, 2, 2, (1, 2))


def conditions() -> Conditions:
    return Conditions(settings=SMALL, engine=start_engine("local", 1))


@st.composite
def plants(draw: st.DrawFn) -> BooleanPlant:
    bits = 3
    gate = st.one_of(
        st.builds(lambda t, d: Gate("cnot", t, ((t + d) % 3,)), st.integers(0, 2), st.integers(1, 2)),
        st.builds(lambda t: Gate("set", t, ()), st.integers(0, 2)),
    )
    commands = tuple(
        Command(f"c{i}", tuple(draw(st.lists(gate, max_size=2))), draw(st.integers(0, bits - 1))) for i in range(3)
    )
    return BooleanPlant(("b0", "b1", "b2"), commands, draw(st.sampled_from((Fraction(1, 5), Fraction(1, 50)))))


@given(st.data())
@hypothesis_settings(max_examples=40, deadline=None)
def test_evidence_against_a_truth_is_what_multiplying_likelihoods_gives(data: st.DataObject) -> None:
    plant = data.draw(plants())
    truth = data.draw(st.integers(0, 7))
    others = data.draw(st.lists(st.integers(0, 7).filter(lambda z: z != truth), min_size=1, max_size=4, unique=True))
    weights = {z: Fraction(1, data.draw(st.integers(4, 9))) for z in others}
    length = data.draw(st.integers(1, 12))
    commands = data.draw(st.lists(st.integers(0, 2), min_size=length, max_size=length))
    readings = data.draw(st.lists(st.integers(0, 1), min_size=length, max_size=length))
    switch = data.draw(st.one_of(st.none(), st.integers(1, length)))
    ahead, moments = count_ahead(
        plant, truth, tuple(weights), np.array(commands, np.int32), np.array(readings, np.uint8), switch
    )
    if switch is not None:
        ahead = ahead[moments >= switch] - ahead[moments == switch - 1]
    slow = evidence_along(plant, weights, truth, commands, readings, switch or 0)
    # At the exact value the truth is beaten, a little above it it is not: the comparison has no slack.
    for alpha, beaten in ((1 / max(slow), True), (1 / max(slow) - Fraction(1, 10**12), False)):
        if 0 < alpha < 1:
            nats, found = stand_against(ahead, list(weights.values()), plant.flip, alpha)
            assert math.isclose(nats, math.log(max(slow)), abs_tol=1e-9)
            assert found == beaten


def test_whoever_answers_wrongly_had_a_truth_that_was_beaten() -> None:
    testbed = load_testbed("small")
    lax = replace(testbed, settings=replace(SMALL, eager_risk=Fraction(1, 2), staged_risk=Fraction(1, 3)))
    wrong = beaten = 0
    for block in range(2):
        for slot in lax.block_slots("audit", block):
            found = audit_operation(lax, lax.draw(slot), play=True)
            met = found["stages"]["nominal"]["beaten"] or found["stages"].get("fallback", {"beaten": False})["beaten"]
            beaten += met
            wrong += found["played"]["outcome"] == "wrong"
            assert met or found["played"]["outcome"] != "wrong"
    assert 0 < wrong <= beaten


def test_a_bank_without_a_state_keeps_the_weights_of_the_others() -> None:
    bank = Bank((3, 5), (Fraction(1, 3), Fraction(2, 3)))
    assert without(bank, 3) == Bank((5,), (Fraction(2, 3),))
    assert without(bank, 7) == bank


def test_a_block_is_a_pure_function_of_settings_and_number() -> None:
    first = audit_block((SMALL.text, 1))
    assert first == audit_block((SMALL.text, 1)) != audit_block((SMALL.text, 2))
    assert sum(result["played"] is not None for result in first) == 1
    assert len(first) == len(SMALL.strata)


@pytest.mark.parametrize("noise", [Fraction(1, 10), Fraction(1, 4)])
@pytest.mark.parametrize("bound", [Fraction(1), Fraction(3), Fraction(11)])
def test_compilations_in_vain_are_computed_as_enumeration_counts_them(noise: Fraction, bound: Fraction) -> None:
    flip, length = Fraction(1, 10), 9
    line = find_boundary(flip, length, bound)
    assert (np.diff(line) >= 0).all()
    exact = crossing_probability(length, flip, bound, noise)
    assert math.isclose(compute_crossing(line, noise), float(exact), rel_tol=1e-12, abs_tol=1e-15)
    assert noise != flip or exact <= 1 / bound


def test_compilations_in_vain_are_as_frequent_as_computed_and_rarer_than_promised() -> None:
    found = count_vain("a test", Fraction(1, 50), 120, (0, 10, 100), 3_000)
    for each in found:
        low, high = binomial_limits(each.compiled, each.streams, 1e-6)
        assert low <= each.computed <= high and each.computed <= each.promised
    assert found[0].compiled > found[1].compiled > 0
    worse = count_vain("a test", Fraction(1, 50), 120, (10,), 500, actual=Fraction(1, 5))
    assert worse[0].compiled / 500 > worse[0].promised


@given(st.integers(0, 40), st.integers(1, 40), st.sampled_from((0.1, 0.001)))
def test_binomial_limits_are_where_the_tails_are_delta(number: int, of: int, delta: float) -> None:
    number = min(number, of)
    low, high = binomial_limits(number, of, delta)
    assert low <= number / of <= high
    if number:
        assert math.isclose(bdtrc(number - 1, of, low), delta, rel_tol=1e-6)
    if number < of:
        assert math.isclose(bdtr(number, of, high), delta, rel_tol=1e-6)


def test_the_hardest_truths_are_those_that_are_left_last() -> None:
    testbed = load_testbed("small")
    bank = nominal_bank(37)
    truths = hardest_truths(testbed, 0, bank, Fraction(1, 50), 3)
    assert len(set(truths)) == 3 and 37 not in truths
    found = sample_stage((SMALL.text, "nominal", 0, 0, 2, 4))
    assert all(result["unearned"] == 0 for result in found)
    assert sum(result["wrong"] for result in found) > 0
    _, listed = small_bank(testbed, 1, 0)
    assert 1 < len(listed.states) <= 96


def test_under_another_noise_the_risk_is_a_power_of_the_odds() -> None:
    assert risk_at(Fraction(1, 50), Fraction(1, 50), Fraction(1, 4_000_000)) == Fraction(1, 49**4)
    assert risk_at(Fraction(1, 50), Fraction(1, 10), Fraction(1, 4_000_000)) == Fraction(1, 9**4)
    told, actual, alpha = Fraction(1, 5), Fraction(3, 10), Fraction(1, 20)
    plant, bank = register(1, told), nominal_bank(0)
    risk = risk_at(told, actual, alpha)
    assert risk == Fraction(3, 7) ** 3 > alpha

    def make() -> RuleObserver:
        return RuleObserver(BooleanWorld(plant, bank, alpha), FixedSchedule((0,)))

    model = register(1, actual)
    found = audit(model, 1, "1", bank, risk, make, num_runs=60, budget=40, seed=3)
    wrong = count_wrong(model, 1, "1", make, num_runs=600, budget=40, seed=4)
    low, high = binomial_limits(wrong, 600, 1e-5)
    assert found.unearned == 0 and low <= found.estimate <= high and wrong / 600 > alpha


def test_pooled_audits_weigh_runs_alike() -> None:
    one = {"runs": 10, "wrong": 5, "estimate": 0.1, "largest": "1/8", "unearned": 0}
    two = {"runs": 30, "wrong": 0, "estimate": 0.0, "largest": "0", "unearned": 0}
    pooled = pool_audits([one, two], Fraction(1, 4))
    assert (pooled.num_runs, pooled.num_wrong, pooled.estimate, pooled.largest) == (40, 5, 0.025, Fraction(1, 8))


def test_a_worse_sensor_is_wrong_wherever_a_better_one_is() -> None:
    found = observe_noise((SMALL.text, 1, ("1/100", "1/50", "1/4")))
    reads = [found["runs"][noise]["reads"] for noise in ("1/100", "1/50", "1/4")]
    assert reads[0] <= reads[2] and not found["active"]
    assert found["runs"]["1/4"]["compilations"] == 1


def test_coverage_of_blocks_counts_infinite_ranks_as_not_covered() -> None:
    study = cover_blocks([[1, 2], [3, 1], [2, 2], [4, 1], [1, 1], [None, 1]], 2)
    assert (study.covered, study.repeats, study.promised) == (0, 3, Fraction(1, 2))
    assert cover_blocks([[3], [1], [None], [2]], 2).covered == 2
    assert rank_law([0, 2, None, 2]) == [Fraction(1, 4), 0, Fraction(1, 2), Fraction(1, 4)]


@pytest.fixture(scope="module")
def tiny() -> Study:
    return audit_guarantee(conditions(), TINY)


def test_the_audit_finds_the_guarantee_kept_and_says_where_it_ends(tiny: Study) -> None:
    assert tiny.alarms == ()
    assert [table.name for table in tiny.tables] == ["false-acceptance", "removed", "vain", "coverage", "noise"]
    noise = tiny.tables[-1]
    assert [row[4] for row in noise.rows][:2] == ["kept", "kept"] and noise.rows[-1][4] == "NOT kept"
    assert {row["question"] for row in tiny.rows} >= {"false acceptance", "truth removed", "compilations in vain"}
    assert "Declare the worst sensor" in tiny.findings[-1]


def test_the_audit_is_the_same_every_time(tiny: Study) -> None:
    again = audit_guarantee(conditions(), TINY)
    assert (again.rows, again.tables, again.figures) == (tiny.rows, tiny.tables, tiny.figures)


def test_the_full_audit_removes_the_truth_of_twenty_thousand_operations() -> None:
    assert FULL.blocks * len(load_settings("testbed").strata) >= 20_000


def found() -> Found:
    stage = {"stage": "nominal", "runs": 9, "wrong": 9, "estimate": 1e-5, "largest": "1/90000", "unearned": 0}
    met = {"micronats": 0, "beaten": False}
    return Found(
        settings=SMALL,
        sampled=[stage, {**stage, "stage": "fallback"}],
        removed=[
            {"rank": 1, "stages": {"eager": met, "nominal": met}, "played": {"outcome": "abstained", "reads": 3}}
            for _ in range(50)
        ],
        vain=count_vain("alarms", Fraction(1, 50), 20, (10,), 50),
        coverage=[("blocks", cover_blocks([[1]] * 60, 2))],
        noise_sampled=[{"actual": "1/50", **stage}],
        noise_observed=[
            {"active": False, "runs": {"1/50": {"outcome": "correct", "reads": 9, "compilations": 0}}},
        ],
    )


def alarms(changed: Found) -> str:
    return " / ".join(summarise(changed)[4])


def test_every_alarm_goes_off() -> None:
    good = found()
    assert alarms(good) == ""
    bad: list[dict[str, Any]] = [deepcopy(dict(x)) for x in good.removed]
    bad[3]["stages"]["nominal"] = {"micronats": 9_000_000, "beaten": True}
    assert "may be WRONG" in alarms(replace(good, removed=bad))
    often = [{**dict(x), "stages": {"eager": {"micronats": 5_000_000, "beaten": False}}} for x in good.removed]
    assert "evidence against the truth reached" in alarms(replace(good, removed=often))
    answered = [{**dict(x), "played": {"outcome": "wrong", "reads": 3}} for x in good.removed]
    assert "WRONG answers on the open world" in alarms(replace(good, removed=answered))
    assert "not earned" in alarms(replace(good, sampled=[{**dict(x), "unearned": 1} for x in good.sampled]))
    assert "left too often" in alarms(replace(good, vain=[replace(x, compiled=50) for x in good.vain]))
    uncovered = replace(good.coverage[0][1], covered=0)
    assert "below the 1/2" in alarms(replace(good, coverage=[("blocks", uncovered)]))
    wrong = [{"active": False, "runs": {"1/50": {"outcome": "wrong", "reads": 9, "compilations": 0}}}]
    assert "no worse than declared" in alarms(replace(good, noise_observed=wrong))
