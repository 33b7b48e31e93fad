"""Observers that were told the wrong noise: how often they may be wrong, and what they read, compile and answer.

*By importance sampling* the rule is audited with the nominal alone and readings of an `actual` flip probability g,
while the world was told f. A state is then beaten when it has m more contradictions than the nominal, m the least
number with ((1-f)/f)^m >= 1/alpha, and whether it has is the same event as under g at the risk (g/(1-g))^m. So this is
what the rule guarantees when the noise is g, and the audit at that risk has terms that do not exceed it.

*On operations*: an operation has one stream of random words; a reading is wrong where the word is below the actual
probability, so that a worse sensor is wrong wherever a better one is. Half of the operations are active.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ascertain.bank.compile import compile_bank
from ascertain.bank.shells import bank_shells
from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.evidence import least_beaten_count
from ascertain.evidence.probing import round_robin
from ascertain.task.bank import nominal_bank
from ascertain_paper.campaign.conditions import Conditions, testbed_of
from ascertain_paper.importance_sampling import RuleObserver
from ascertain_paper.studies.audit.sampling import READWISE, audit_data, hardest_truths, nominal_of, run_audit
from ascertain_paper.studies.observing import observer_settings, outcome, settle_on_stream
from ascertain_paper.testbed.draws import draw_words, happens
from ascertain_paper.testbed.operations import Slot

ACTUAL = tuple(Fraction(1, n) for n in (100, 50, 40, 30, 20, 15, 10))


def sample_noise(conditions: Conditions, actual: Sequence[Fraction], truths: int, runs: int) -> list[dict[str, Any]]:
    """Audits of the rule, told the settings' noise, under each actual one."""
    cases = noise_cases(conditions.settings.text, len(conditions.settings.plants), actual, truths, runs)
    counted = "plants audited under other noise"
    found = conditions.campaign("audit-noise-sampling", sample_wrong_noise, cases, counted, chunk=4)
    return [result for results in found for result in results]


def noise_cases(
    text: str, plants: int, actual: Sequence[Fraction], truths: int, runs: int
) -> list[tuple[str, str, int, int, int]]:
    """The cases of that campaign: an actual noise, a plant, and how many truths and runs."""
    return [(text, str(g), plant, truths, runs) for g in actual for plant in range(plants)]


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
    for truth in hardest_truths(testbed, plant, bank, told.flip, truths):
        name = f"wrong noise, plant {plant}, bank 0"
        found = run_audit(testbed, plant, truth, bank, make, name, runs, actual=noise, alpha=risk)
        results.append({"actual": actual, "plant": plant, "truth": truth, "risk": str(risk), **audit_data(found)})
    return results


def risk_at(declared: Fraction, actual: Fraction, alpha: Fraction) -> Fraction:
    """What the rule guarantees with one candidate, told one noise, under another."""
    lead = least_beaten_count([(1, 0)], 1, declared, alpha)
    return (actual / (1 - actual)) ** lead


def observe_noises(conditions: Conditions, actual: tuple[Fraction, ...], operations: int) -> list[dict[str, Any]]:
    """So many operations, each under every actual noise."""
    cases = [(conditions.settings.text, number, tuple(map(str, actual))) for number in range(operations)]
    return conditions.campaign("audit-noise", observe_noise, cases, "operations under other noise", chunk=16)


def observe_noise(case: tuple[str, int, tuple[str, ...]]) -> dict[str, Any]:
    """One operation under every actual noise."""
    text, number, actual = case
    testbed = testbed_of(text)
    settings = testbed.settings
    plant, family = number // 2 % len(settings.plants), number % len(settings.families)
    operation = testbed.draw(Slot("audit noise", plant, family, number, active=number % 2 == 0))
    compiled = compile_bank(testbed.logged(operation))
    bank, stream = bank_shells(compiled, compiled.num_shells), testbed.stream(operation)
    words = draw_words(f"{operation.name}, stream", stream.noise.shape)
    runs: dict[str, Any] = {}
    for noise in actual:
        worse = replace(stream, noise=happens(words, Fraction(noise)).astype("uint8"))
        observer = settle_on_stream(testbed, operation, worse, observer_settings(testbed, operation, READWISE), bank)
        runs[noise] = {
            "outcome": outcome(operation, observer),
            "reads": observer.counters.readings,
            "compilations": observer.counters.compilations,
        }
    return {"active": operation.active, "runs": runs}
