"""The audit by importance sampling: which truths, which runs, and what their limits say."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtr, bdtrc

from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.probing import FixedSchedule
from ascertain.model.named import register
from ascertain.pipeline.simulated_runs import binomial_limits
from ascertain.task.bank import nominal_bank
from ascertain_paper.importance_sampling import Audit, RuleObserver, audit
from ascertain_paper.studies.audit import noise as audit_noise
from ascertain_paper.studies.audit import sampling as audit_sampling
from ascertain_paper.studies.audit.noise import ACTUAL, noise_cases, risk_at, sample_wrong_noise
from ascertain_paper.studies.audit.parts import DELTA, judge
from ascertain_paper.studies.audit.sampling import (
    AFTER,
    BEFORE,
    FALLBACK,
    NOMINAL,
    WHOLE,
    draw_bank,
    hardest_truths,
    pool_audits,
    sample_stage,
    stage_cases,
)
from ascertain_paper.studies.audit.sampling_tables import sampled_row, sampling_part
from ascertain_paper.studies.audit.study import FULL
from ascertain_paper.testbed.settings import load_settings
from ascertain_paper.testbed.testbed import load_testbed
from tests.reference.auditing import count_wrong

SMALL = load_settings("small")


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
    assert len(draw_bank(testbed, FALLBACK, 1, 0)[1].states) > 1


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
    one = Audit(Fraction(1, 4), 10, 5, 0.1, Fraction(1, 8), 0)
    two = Audit(Fraction(1, 4), 30, 0, 0.0, Fraction(0), 0)
    pooled = pool_audits([one, two])
    assert (pooled.num_runs, pooled.num_wrong, pooled.estimate, pooled.largest) == (40, 5, 0.025, Fraction(1, 8))


def test_a_readwise_observer_is_driven_through_its_switch_and_its_two_shares_for_the_same_truths() -> None:
    found = sample_stage((SMALL.text, WHOLE, 1, 0, 1, 6))
    truths = [[each["truth"] for each in found if each["stage"] == share] for share in (BEFORE, AFTER)]
    assert truths[0] == truths[1] and len(set(truths[0])) == len(truths[0]) >= 1
    assert all(each["unearned"] == 0 for each in found)
    wrong = {share: sum(each["wrong"] for each in found if each["stage"] == share) for share in (BEFORE, AFTER)}
    assert wrong[BEFORE] > 0 and wrong[AFTER] > 0
    row = sampled_row(WHOLE, (BEFORE, AFTER), found, SMALL.staged_risk)
    assert row.alpha == 2 * SMALL.staged_risk and row.runs == 12 * len(truths[0])
    assert 0 < row.estimate <= float(row.alpha) and row.mean_limit <= row.worst_limit


def test_no_two_audits_share_their_random_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def note(*_: object, seed: int, num_runs: int, **__: object) -> Audit:
        seeds.append(seed)
        return Audit(Fraction(1, 4000), num_runs, 0, 0.0, Fraction(0), 0)

    def run() -> list[int]:
        seeds.clear()
        for case in stage_cases(SMALL.text, 2, FULL.stages):
            sample_stage(case)
        for wrong_noise in noise_cases(SMALL.text, 2, ACTUAL[:3], *FULL.noise_runs):
            sample_wrong_noise(wrong_noise)
        return list(seeds)

    def few(*arguments: Any) -> list[int]:
        return list(range(arguments[-1]))

    monkeypatch.setattr(audit_sampling, "audit", note)
    for module in (audit_sampling, audit_noise):
        monkeypatch.setattr(module, "hardest_truths", few)  # the same for all banks, so that the truth tells none apart
    first = run()
    assert len(first) >= 24 + 6 + 4 + 24
    assert len(set(first)) == len({Random(seed).getrandbits(64) for seed in first}) == len(first)
    assert run() == first


def result(stage: str, truth: int, estimate: float, runs: int, unearned: int = 0) -> dict[str, Any]:
    return {"stage": stage, "plant": 0, "bank": 0, "truth": truth, "candidates": 1, "runs": runs, "wrong": runs,
            "estimate": estimate * float(SMALL.staged_risk), "largest": "1/9000", "unearned": unearned}  # fmt: skip


@pytest.mark.parametrize(
    ("estimates", "runs", "unearned", "word"),
    [
        ((0.5, 0.6), 100, 0, "shown for each truth"),
        ((0.1, 0.95), 100, 0, "shown for the mean"),
        ((0.5, 0.6), 5, 0, "not shown by so few runs"),
        ((0.5, 0.6), 100, 1, "VIOLATED"),
    ],
)
def test_what_is_decided_is_what_the_limits_say(
    estimates: tuple[float, float], runs: int, unearned: int, word: str
) -> None:
    results = [
        result(share, truth, estimate, runs, unearned)
        for share in (NOMINAL, FALLBACK, BEFORE, AFTER)
        for truth, estimate in enumerate(estimates)
    ]
    row = sampled_row(NOMINAL, (NOMINAL,), results, SMALL.staged_risk)
    assert row.decided == word
    alpha = float(SMALL.staged_risk)
    if not unearned:
        mean = sum(estimates) / 2 + math.sqrt(math.log(1000) / (4 * runs))
        worst = max(estimates) + math.sqrt(math.log(2000) / (2 * runs))
        assert math.isclose(row.mean_limit / alpha, mean) and math.isclose(row.worst_limit / alpha, worst)
        both = sampled_row(WHOLE, (BEFORE, AFTER), results, SMALL.staged_risk)
        assert math.isclose(both.mean_limit / alpha, sum(estimates) + 2 * math.sqrt(math.log(2000) / (4 * runs)))
    _, _, rows, findings, alarms = sampling_part(SMALL, results)
    assert bool(alarms) == bool(unearned) != bool(findings)
    assert rows[0]["decided"] == word and (rows[0]["limit"] is None) == bool(unearned)


def test_the_full_audit_has_runs_enough_to_show_each_truth_wrong_at_most_alpha() -> None:
    frozen = load_settings("testbed")
    plants, nominal = len(frozen.plants), float(Fraction(1, 49**4) / frozen.staged_risk)
    for stage, largest in ((NOMINAL, nominal), (FALLBACK, 0.885)):
        banks, truths, runs = FULL.stages[stage]
        slack = math.sqrt(math.log(plants * banks * truths / DELTA) / (2 * runs))
        assert largest + slack <= 1


def test_a_rate_is_shown_or_not_refuted_or_violated() -> None:
    words = [judge(shown=shown, refuted=refuted) for shown, refuted in ((True, False), (False, False), (False, True))]
    assert words == ["shown", "not refuted", "VIOLATED"]
