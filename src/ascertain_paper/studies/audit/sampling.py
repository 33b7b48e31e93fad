"""False acceptance at the real alpha, by importance sampling, of the observers that users run.

Audited are the truths that are hardest to tell from what would be answered: those that are left last when a run reads
without noise from the nominal, or from the heaviest candidate. An easier truth is beaten long before all others are,
and an answer that is wrong for it is never seen. What is driven:

- *nominal*: the observer without a bank, so that it answers with the nominal or not at all;
- *fallback*: the observer that begins with a compiled bank, scored from the first reading;
- *readwise 100*, the whole of it: nominal stage, trigger, switch, propagation of the bank, fallback. A wrong answer is
  given before the switch or after it, and the two are audited apart for the same truth, each at its own share. *Before
  the switch*: read from the nominal; a run that switches is no wrong answer of this stage. *After the switch*: read
  from the truth, on which the observer switches by itself, and from the bank's mixture from there on
  (`importance_sampling.py`, a bank that is scored late). The sum of the two is the probability that the observer is
  wrong.

After its switch a fallback is, given the past, an observer that begins: its evidence uses later readings alone, and its
bank, which the log determines, is led through what was done. The theorem holds for every bank and so for this one; only
what is measured is about the banks that are drawn here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

from ascertain.bank.compile import compile_bank
from ascertain.bank.shells import bank_shells
from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.probing import round_robin
from ascertain.observer.settings import ObserverSettings, PolicyName
from ascertain.observer.staged import Act, Observer, start_observer
from ascertain.policy.verdict import Abstained, Verdict
from ascertain.task.bank import Bank, nominal_bank
from ascertain.types import Action, Reading, State
from ascertain_paper.campaign.conditions import Conditions, testbed_of
from ascertain_paper.importance_sampling import Audit, ObserverT, audit
from ascertain_paper.studies.observing import Controller, pose_endpoint
from ascertain_paper.testbed.draws import Draws
from ascertain_paper.testbed.operations import Slot
from ascertain_paper.testbed.testbed import Testbed

NOMINAL, FALLBACK, WHOLE = "nominal", "fallback", "readwise 100"
BEFORE, AFTER = "readwise 100, before the switch", "readwise 100, after the switch"
POLICIES: Mapping[str, PolicyName] = {NOMINAL: "staged", FALLBACK: "eager", WHOLE: "readwise"}
READWISE = Controller(WHOLE, "readwise", 100, "merging")
SHELLS = 8
"""The paper's J: the shells that an audited bank keeps."""


@final
class Audited:
    """An observer as the audit drives it. `ends_at_switch`: only its nominal stage, after which it abstains."""

    def __init__(self, observer: Observer, *, ends_at_switch: bool = False) -> None:
        self.observer, self.ends_at_switch = observer, ends_at_switch

    def choose(self) -> Action:
        advice = self.observer.next()
        assert isinstance(advice, Act)
        return advice.action

    def observe(self, action: Action, reading: Reading) -> None:
        self.observer = self.observer.update(action, reading)

    def verdict(self) -> Verdict | None:
        if self.ends_at_switch and self.has_switched:
            return Abstained("the nominal stage is over")
        return self.observer.verdict

    @property
    def has_switched(self) -> bool:
        return self.observer.stage == "fallback"


@final
@dataclass(frozen=True)
class Share:
    """What is audited as one share of alpha: the bank to draw from, the observers, and when the bank is scored."""

    stage: str
    bank: Bank
    make: Callable[[], Audited]
    begins: Callable[[Audited], bool] | None = None


def sample_stages(conditions: Conditions, sizes: Mapping[str, tuple[int, int, int]]) -> list[dict[str, Any]]:
    """Audits on every plant; `sizes` says for each observer how many banks, hard truths of each, and runs of each."""
    cases = stage_cases(conditions.settings.text, len(conditions.settings.plants), sizes)
    found = conditions.campaign("audit-sampling", sample_stage, cases, "banks audited", chunk=4)
    return [result for results in found for result in results]


def stage_cases(
    text: str, plants: int, sizes: Mapping[str, tuple[int, int, int]]
) -> list[tuple[str, str, int, int, int, int]]:
    """The cases of that campaign: an observer, a plant, the number of a bank, and how many truths and runs."""
    return [
        (text, which, plant, number, truths, runs)
        for which, (banks, truths, runs) in sizes.items()
        for plant in range(plants)
        for number in range(banks)
    ]


def sample_stage(case: tuple[str, str, int, int, int, int]) -> list[dict[str, Any]]:
    """One observer and one bank, for its hardest truths."""
    text, which, plant, number, truths, runs = case
    testbed = testbed_of(text)
    nominal, bank = draw_bank(testbed, which, plant, number)
    results: list[dict[str, Any]] = []
    for truth in choose_truths(testbed, which, plant, nominal, bank, truths):
        for share in shares_of(testbed, which, plant, nominal, bank):
            name = f"{share.stage}, plant {plant}, bank {number}"
            found = run_audit(testbed, plant, truth, share.bank, share.make, name, runs, begins=share.begins)
            about = {
                "stage": share.stage,
                "plant": plant,
                "bank": number,
                "truth": truth,
                "candidates": len(bank.states),
            }
            results.append({**about, **audit_data(found)})
    return results


def draw_bank(testbed: Testbed, which: str, plant: int, number: int) -> tuple[State, Bank]:
    """The nominal, and the bank: of an operation of its own for each number."""
    family = number % len(testbed.settings.families)
    if which == NOMINAL:
        nominal = nominal_of(testbed, plant, number)
        return nominal, nominal_bank(nominal)
    operation = testbed.draw(Slot(f"audit {which}", plant, family, number, active=True))
    return operation.nominal_endpoint, bank_shells(compile_bank(testbed.logged(operation)), SHELLS)


def nominal_of(testbed: Testbed, plant: int, number: int) -> State:
    """Where the nominal is in an operation of its own for every number."""
    family = number % len(testbed.settings.families)
    return testbed.draw(Slot("audit nominal", plant, family, number, active=False)).nominal_endpoint


def choose_truths(testbed: Testbed, which: str, plant: int, nominal: State, bank: Bank, number: int) -> list[State]:
    """The hardest truths for the bank and, where there is a nominal stage too, as many that are hardest for it."""
    told = testbed.settings.stream_flip
    truths = hardest_truths(testbed, plant, bank, told, number)
    if which == WHOLE:
        truths = [*hardest_truths(testbed, plant, nominal_bank(nominal), told, number), *truths]
        # Of the nominal itself there is no wrong answer before the switch, and next to never a switch.
        truths = [truth for truth in dict.fromkeys(truths) if truth != nominal]
    return truths


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


def shares_of(testbed: Testbed, which: str, plant: int, nominal: State, bank: Bank) -> Iterator[Share]:
    """The audits of one observer: one for each share of alpha that it spends."""
    frozen, question = testbed.settings, pose_endpoint(testbed, plant)
    settings = ObserverSettings(
        question=question,
        alpha=frozen.staged_risk if which == FALLBACK else 2 * frozen.staged_risk,
        nominal=nominal,
        policy=POLICIES[which],
        threshold=Fraction(READWISE.threshold),
        budget=frozen.stream_length,
    )
    if which == NOMINAL:
        yield Share(NOMINAL, bank, lambda: Audited(start_observer(settings, None)))
    elif which == FALLBACK:
        yield Share(FALLBACK, bank, lambda: Audited(start_observer(settings, lambda: bank)))
    else:
        yield Share(
            BEFORE,
            nominal_bank(nominal),
            lambda: Audited(start_observer(settings, lambda: bank), ends_at_switch=True),
        )
        yield Share(
            AFTER,
            bank,
            lambda: Audited(start_observer(settings, lambda: bank)),
            begins=lambda audited: audited.has_switched,
        )


def run_audit(
    testbed: Testbed,
    plant: int,
    truth: State,
    bank: Bank,
    observer: Callable[[], ObserverT],
    name: str,
    runs: int,
    *,
    actual: Fraction | None = None,
    alpha: Fraction | None = None,
    begins: Callable[[ObserverT], bool] | None = None,
) -> Audit:
    """The audit of an observer for one truth, with the noise of the settings unless another is given.

    Its readings are drawn by a name of its own, in which everything stands that tells it from other audits: runs that
    are pooled must be independent.
    """
    frozen = testbed.settings
    model = replace(testbed.plants[plant].plant, flip=actual or frozen.stream_flip)
    return audit(
        model,
        truth,
        model.name_state(truth),
        bank,
        alpha or frozen.staged_risk,
        observer,
        num_runs=runs,
        budget=frozen.stream_length,
        seed=Draws(f"{frozen.hash}, audit, {name}, truth {truth}, noise {model.flip}").number(),
        begins=begins,
    )


def audit_data(found: Audit) -> dict[str, Any]:
    """An audit as plain data; its estimate as the float that it is."""
    return {
        "runs": found.num_runs,
        "wrong": found.num_wrong,
        "estimate": found.estimate,
        "largest": str(found.largest),
        "unearned": found.unearned,
    }


def read_audit(result: Mapping[str, Any], risk: Fraction) -> Audit:
    """An audit at that risk from its plain data."""
    return Audit(
        alpha=risk,
        num_runs=result["runs"],
        num_wrong=result["wrong"],
        estimate=result["estimate"],
        largest=Fraction(result["largest"]),
        unearned=result["unearned"],
    )


def pool_audits(audits: Sequence[Audit]) -> Audit:
    """Independent audits at one risk as one: of the mean, over runs, of their probabilities of a wrong answer."""
    runs = sum(each.num_runs for each in audits)
    return Audit(
        alpha=audits[0].alpha,
        num_runs=runs,
        num_wrong=sum(each.num_wrong for each in audits),
        estimate=math.fsum(each.estimate * each.num_runs for each in audits) / runs,
        largest=max(each.largest for each in audits),
        unearned=sum(each.unearned for each in audits),
    )
