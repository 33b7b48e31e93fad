"""False acceptance at the real alpha, by importance sampling, of the observers that users run.

Each stage is audited by itself, at its own share of alpha, for the truths that are hardest to tell from what would be
answered: those that are left last when a run reads without noise from the nominal, or from the heaviest candidate. An
easier truth is beaten long before all others are, and an answer that is wrong for it is never seen.

- *nominal*: the observer without a bank, so that it answers with the nominal or not at all;
- *fallback*: the observer that begins with a compiled bank, as a fallback does after its switch.

*Under the wrong noise* the rule is audited with the nominal alone and readings of an `actual` flip probability g, while
the world was told f. A state is then beaten when it has m more contradictions than the nominal, m the least number with
((1-f)/f)^m >= 1/alpha, and whether it has is the same event as under g at the risk (g/(1-g))^m. So this is what the
rule guarantees when the noise is g, and the audit at that risk has terms that do not exceed it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, final

from ascertain.bank.compile import compile_bank
from ascertain.bank.shells import bank_shells
from ascertain.instances.operations import Slot
from ascertain.instances.testbed import Testbed
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import Act, Observer, start_observer
from ascertain.policy.verdict import Verdict
from ascertain.sequential import audit as auditing
from ascertain.sequential.audit import Audit, RuleObserver
from ascertain.sequential.bank import Bank, nominal_bank
from ascertain.sequential.boolean_world import BooleanWorld
from ascertain.sequential.evidence import least_beaten_count
from ascertain.sequential.probing import round_robin
from ascertain.study.campaign import run_campaign
from ascertain.study.conditions import Conditions, testbed_of
from ascertain.study.controller import pose_endpoint
from ascertain.types import Action, Reading, State

NOMINAL, FALLBACK = "nominal", "fallback"
SHELLS = 8
LARGEST_BANK = 96
"""Likelihoods are multiplied out in rationals for every candidate, so that a bank of few is audited."""
DELTA = Fraction(1, 1000)


@final
class Audited:
    """An observer as the audit drives it."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer

    def choose(self) -> Action:
        advice = self.observer.next()
        assert isinstance(advice, Act)
        return advice.action

    def observe(self, action: Action, reading: Reading) -> None:
        self.observer = self.observer.update(action, reading)

    def verdict(self) -> Verdict | None:
        return self.observer.verdict


def sample_stages(conditions: Conditions, sizes: Mapping[str, tuple[int, int, int]]) -> list[dict[str, Any]]:
    """Audits on every plant; `sizes` says for each stage how many banks, hard truths of each, and runs of each."""
    text, plants = conditions.settings.text, range(len(conditions.settings.plants))
    cases = [
        (text, stage, plant, number, truths, runs)
        for stage, (banks, truths, runs) in sizes.items()
        for plant in plants
        for number in range(banks)
    ]
    with conditions.store("audit-sampling") as store:
        progress = conditions.counting("banks audited")
        found = run_campaign(sample_stage, cases, conditions.engine, store=store, chunk=8, progress=progress)
    return [result for results in found for result in results]


def sample_stage(case: tuple[str, str, int, int, int, int]) -> list[dict[str, Any]]:
    """One stage and one bank, for its hardest truths."""
    text, stage, plant, number, truths, runs = case
    testbed = testbed_of(text)
    if stage == NOMINAL:
        nominal = nominal_of(testbed, plant, number)
        bank, make_bank = nominal_bank(nominal), None
    else:
        nominal, bank = small_bank(testbed, plant, number)
        make_bank = partial(_same, bank)
    settings = stage_settings(testbed, plant, stage, nominal)
    results: list[dict[str, Any]] = []
    for truth in hardest_truths(testbed, plant, bank, testbed.settings.stream_flip, truths):
        found = run_audit(
            testbed, plant, truth, bank, lambda: Audited(start_observer(settings, make_bank)), number, runs
        )
        results.append({"stage": stage, "plant": plant, "listed": truth in bank.states, **audit_data(found)})
    return results


def _same(bank: Bank) -> Bank:
    return bank


def hardest_truths(testbed: Testbed, plant: int, bank: Bank, told: Fraction, number: int) -> list[State]:
    """The states that are beaten last when the heaviest candidate is read round robin, without noise."""
    drawn, alpha = testbed.plants[plant], testbed.settings.staged_risk
    model = replace(drawn.plant, flip=told)
    rule = round_robin(model, tuple(drawn.probing))
    heaviest = max(zip(bank.weights, bank.states, strict=True))[1]
    world, state = BooleanWorld(model, bank, alpha), heaviest
    while world.verdict() is None and len(world.history) < testbed.settings.stream_length:
        action = rule.choose(world)
        state, tapped = model.step(state, action)
        world.observe(action, tapped)
    steps = world.history
    for back in range(1, len(steps) + 1):
        before = BooleanWorld(model, bank, alpha)
        for step in steps[:-back]:
            before.observe(step.action, step.reading)
        left = [int(z) for group in before.strongest_rivals(heaviest, number) for z in group.hypothesis]
        if len(left) >= number:
            return left
    raise AssertionError("before the first reading every state is left")


def stage_settings(testbed: Testbed, plant: int, stage: str, nominal: State) -> ObserverSettings:
    """The observer whose only share of alpha is that of the stage."""
    question, alpha = pose_endpoint(testbed, plant), testbed.settings.staged_risk
    budget = testbed.settings.stream_length
    if stage == FALLBACK:
        return ObserverSettings(question=question, alpha=alpha, nominal=nominal, policy="eager", budget=budget)
    return ObserverSettings(question=question, alpha=2 * alpha, nominal=nominal, policy="staged", budget=budget)


def run_audit(
    testbed: Testbed,
    plant: int,
    truth: State,
    bank: Bank,
    observer: Callable[[], auditing.Observer],
    seed: int,
    runs: int,
    *,
    actual: Fraction | None = None,
    alpha: Fraction | None = None,
) -> Audit:
    """The audit of an observer for one truth, with the noise of the settings unless another is given."""
    model = replace(testbed.plants[plant].plant, flip=actual or testbed.settings.stream_flip)
    return auditing.audit(
        model,
        truth,
        model.name_state(truth),
        bank,
        alpha or testbed.settings.staged_risk,
        observer,
        num_runs=runs,
        budget=testbed.settings.stream_length,
        seed=seed,
    )


def nominal_of(testbed: Testbed, plant: int, number: int) -> State:
    """Where the nominal is in an operation of its own for every truth that is audited."""
    family = number % len(testbed.settings.families)
    return testbed.draw(Slot("audit nominal", plant, family, number, active=False)).nominal_endpoint


def small_bank(testbed: Testbed, plant: int, number: int) -> tuple[State, Bank]:
    """The nominal and the bank of the first operation, of those of that number, whose first shells hold few enough."""
    attempt = 0
    while True:
        slot = Slot(
            "audit fallback", plant, number % len(testbed.settings.families), number, active=True, block=attempt
        )
        operation = testbed.draw(slot)
        bank = bank_shells(compile_bank(testbed.logged(operation)), SHELLS)
        if len(bank.states) <= LARGEST_BANK:
            return operation.nominal_endpoint, bank
        attempt += 1


def sample_noise(conditions: Conditions, actual: Sequence[Fraction], truths: int, runs: int) -> list[dict[str, Any]]:
    """Audits of the rule, told the settings' noise, under each actual one."""
    text, plants = conditions.settings.text, range(len(conditions.settings.plants))
    cases = [(text, str(g), plant, truths, runs) for g in actual for plant in plants]
    with conditions.store("audit-noise-sampling") as store:
        progress = conditions.counting("plants audited under other noise")
        found = run_campaign(sample_wrong_noise, cases, conditions.engine, store=store, chunk=4, progress=progress)
    return [result for results in found for result in results]


def sample_wrong_noise(case: tuple[str, str, int, int, int]) -> list[dict[str, Any]]:
    """One actual noise on one plant, for the hardest truths."""
    text, actual, plant, truths, runs = case
    testbed, noise = testbed_of(text), Fraction(actual)
    drawn, frozen = testbed.plants[plant], testbed.settings
    told = replace(drawn.plant, flip=frozen.stream_flip)
    bank, rule = nominal_bank(nominal_of(testbed, plant, 0)), round_robin(told, tuple(drawn.probing))
    risk = risk_at(frozen.stream_flip, noise, frozen.staged_risk)

    def make() -> RuleObserver:
        return RuleObserver(BooleanWorld(told, bank, frozen.staged_risk), rule)

    results: list[dict[str, Any]] = []
    for seed, truth in enumerate(hardest_truths(testbed, plant, bank, told.flip, truths)):
        found = run_audit(testbed, plant, truth, bank, make, seed, runs, actual=noise, alpha=risk)
        results.append({"actual": actual, "plant": plant, "risk": str(risk), **audit_data(found)})
    return results


def risk_at(declared: Fraction, actual: Fraction, alpha: Fraction) -> Fraction:
    """What the rule guarantees with one candidate, told one noise, under another."""
    lead = least_beaten_count([(Fraction(1), 0)], declared, alpha)
    return (actual / (1 - actual)) ** lead


def audit_data(found: Audit) -> dict[str, Any]:
    """An audit as plain data; its estimate as the float that it is."""
    return {
        "runs": found.num_runs,
        "wrong": found.num_wrong,
        "estimate": found.estimate,
        "largest": str(found.largest),
        "unearned": found.unearned,
    }


def pool_audits(results: Sequence[Mapping[str, Any]], risk: Fraction) -> Audit:
    """Audits of several truths at one risk as one: of the mean of their probabilities of a wrong answer."""
    runs = sum(result["runs"] for result in results)
    return Audit(
        alpha=risk,
        num_runs=runs,
        num_wrong=sum(result["wrong"] for result in results),
        estimate=math.fsum(result["estimate"] * result["runs"] for result in results) / runs,
        largest=max(Fraction(result["largest"]) for result in results),
        unearned=sum(result["unearned"] for result in results),
    )
