"""The policy incremental: shells one after the other, with weights that were fixed by their numbers."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ascertain.bank.compile import compile_bank
from ascertain.evidence.evidence import Step
from ascertain.observer.banks import OperationBank, shell_weight
from ascertain.observer.settings import ObserverSettings
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Certified
from ascertain.task.bank import Bank, weighted_bank
from ascertain.task.canonical import canonical_bytes
from ascertain.task.plant_task import PlantTask
from ascertain_paper.testbed.testbed import load_testbed
from tests import journal_runs
from tests.reference.evidence import e_value, every_run
from tests.reference.run_claims import rechained
from tests.reference.small_observers import ALPHA, ask, lossy_plant, set_up
from tests.test_observer import adapt, remember
from tests.test_run_certificate import observe, verify


def in_parts(*parts: dict[int, Fraction]) -> Bank:
    """A bank whose parts are computed one after the other."""
    first, *rest = parts
    return Bank(tuple(first), tuple(first.values()), (lambda: in_parts(*rest)) if rest else None)


CHAINS = {
    "all": ({0: Fraction(1, 2)}, {3: Fraction(1, 8), 1: Fraction(1, 8)}, {2: Fraction(1, 4)}),
    "without the truth": ({0: Fraction(1, 2)}, {1: Fraction(1, 2)}),
    "one": ({2: Fraction(3, 4)},),
}


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("flip", [Fraction(1, 5), Fraction(2, 5)])
def test_no_truth_is_answered_wrongly_more_often_than_alpha(chain: str, flip: Fraction) -> None:
    """Every transcript, in rationals; and each answer is one that the whole mixture's evidence gives as well."""
    question = ask(lossy_plant(flip), alpha=ALPHA)
    options = set_up(question, policy="incremental", threshold=Fraction(1, 2), rejection=Fraction(1, 3), budget=7)
    after = remember(options, lambda: in_parts(*CHAINS[chain]))
    whole = {2: Fraction(1, 2)}
    for part in CHAINS[chain]:
        for z, w in part.items():
            whole[z] = whole.get(z, Fraction(0)) + w / 2
    rates, sizes = list[Fraction](), set[int]()
    for truth in range(4):
        wrong = Fraction(0)
        total = Fraction(0)
        for run in every_run(question.model, truth, adapt(after), lambda h: after(h).verdict, 7):
            total += run.probability
            sizes.add(len(after(run.history).events))
            if isinstance(run.end, Certified):
                wrong += run.probability * (run.end.label != question.label_of(truth))
                check_against_whole(question, weighted_bank(whole), run.history, run.end.label)
        assert total == 1
        rates.append(wrong)
    assert max(rates) <= ALPHA
    assert flip > Fraction(1, 5) or max(rates) > 0
    if chain == "all" and flip == Fraction(1, 5):
        assert {0, 1, 2} <= sizes  # some runs needed no shell, others one, others more


def check_against_whole(question: PlantTask, bank: Bank, history: tuple[Step, ...], label: str) -> None:
    """Every rival was beaten at some time by the evidence of the whole mixture: what is used is at most that."""
    for z in range(4):
        if question.label_of(z) != label:
            values = [e_value(question.model, bank, z, history[:t]) for t in range(len(history) + 1)]
            assert any(value is None or value * ALPHA >= 1 for value in values)


def test_shell_weights_never_sum_to_more_than_one() -> None:
    known = sum(shell_weight(j) for j in range(1, 1001))
    # What comes after 1000 terms of 1/j^3 is less than the integral, 1/(2 * 1000^2).
    assert known + Fraction(83, 100) / (2 * 1000**2) < 1


@pytest.mark.parametrize("compiler", ["merging", "exhaustive", "direct"])
def test_the_parts_of_an_operation_are_its_shells_whoever_compiles_them(compiler: str) -> None:
    testbed = load_testbed("small")
    operation = testbed.logged(testbed.draw(next(iter(testbed.block_slots("incremental", 0)))))
    make_bank = OperationBank(operation, compiler, in_parts=True)
    shells = list(compile_bank(operation).shells())
    bank: Bank | None = make_bank()
    for number, shell in enumerate(shells, start=1):
        assert bank is not None
        assert sorted(bank.states) == sorted(shell.states.tolist())
        assert bank.total == shell_weight(number)
        bank = None if bank.later is None else bank.later()
    assert bank is None
    assert make_bank.report is not None


def test_a_run_that_needs_shells_is_certified_and_its_bank_is_what_was_computed(tmp_path: Path) -> None:
    question = ask(lossy_plant(Fraction(1, 10)), alpha=Fraction(1, 50))
    settings = ObserverSettings(
        question=question, alpha=question.alpha, nominal=2, policy="incremental", threshold=Fraction(2), budget=80
    )
    chain = CHAINS["all"]
    seen = set[int]()
    for truth in (0, 1, 2, 3):
        for seed in range(6):
            _, claim = observe(
                tmp_path / f"j{truth}{seed}",
                settings,
                lambda: in_parts(*chain),
                SimulatedPlant(question.model, truth, seed),
            )
            if claim is None:
                continue
            assert verify(question, claim) == "VERIFIED"
            stages = [record for record in claim["records"] if record["record"] == "stage"]
            seen.add(len(stages))
            if len(stages) > 1:  # a bank of another moment, and a policy that lets the stage change once only
                stages[-1]["bank_sha256"] = stages[0]["bank_sha256"]
                assert "not the one that the records noted" in verify(question, rechained(claim))
                claim["records"][0]["settings"]["policy"] = "reuse"
                assert "change the stage twice" in verify(question, rechained(claim))
    assert len(seen) >= 3, seen


class Chain:
    """A bank in parts, as a problem's is: it says what determines it."""

    def __call__(self) -> Bank:
        return in_parts({6: Fraction(1, 2)}, {3: Fraction(1, 8), 1: Fraction(1, 8)}, {2: Fraction(1, 4)})

    def bank_data(self) -> dict[str, Any]:
        """Its name; there is no other."""
        return {"kind": "chain"}


def test_a_journal_that_is_cut_at_any_record_goes_on_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_runs, "MAKE_BANK", Chain())
    settings = journal_runs.settings_for("incremental", threshold=Fraction(2))
    whole, records = journal_runs.run_fresh(tmp_path / "whole", settings, journal_runs.simulate(2))
    stages = [i for i, record in enumerate(records) if record["record"] == "stage"]
    assert len(stages) > 1  # cut before the first shell, between shells and after the last one
    for number in range(len(records)):
        path = tmp_path / f"cut{number}"
        journal_runs.crash_after(path, settings, journal_runs.simulate(2), number)
        run, again = journal_runs.run_on(path, settings, journal_runs.simulate(2))
        assert [canonical_bytes(record) for record in again] == [canonical_bytes(record) for record in records]
        assert run.verdict == whole.verdict
        assert run.observer.events == whole.observer.events
