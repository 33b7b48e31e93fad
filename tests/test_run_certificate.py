"""Run certificates from end to end: an observer meets a plant, and a stranger verifies what it answered."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ascertain.certificate.claims.run import run_claim
from ascertain.certificate.write import write_certificate
from ascertain.errors import CertificateError
from ascertain.live.journal import Journal
from ascertain.live.session import Run, run_session
from ascertain.model.named import register
from ascertain.observer.banks import HypothesesBank, MakeBank
from ascertain.observer.records import bank_hash, commitment_record, hash_records, scored_bank
from ascertain.observer.settings import POLICIES, ObserverSettings, PolicyName
from ascertain.observer.staged import start_observer
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import InDoubt, Missing
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Certified
from ascertain.problem.pose_plant import pose_plant
from ascertain.task.bank import Bank, listed_bank, uniform_bank
from ascertain.task.canonical import task_data
from ascertain.task.question import AbstractQuestion
from ascertain.types import State
from ascertain_check import check
from tests.journal_runs import memory_folder
from tests.reference.run_claims import canonical, hypotheses_of, rechained, texts_of
from tests.test_check_run import random_machine_task, random_plant_task


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    yield from memory_folder()


class Faulty(AbstractPlant):
    """A plant of which some readings are lost, and some actions in doubt."""

    def __init__(self, plant: SimulatedPlant, seed: int) -> None:
        self.plant, self.chance = plant, Random(seed)

    def send(self, action: str) -> str:
        luck = self.chance.random()
        if luck < 0.05 and self.chance.random() < 0.5:
            raise InDoubt("it may not have run")
        reading = self.plant.send(action)
        if luck < 0.05:
            raise InDoubt("it may have run")
        if luck < 0.15:
            raise Missing("nothing was read")
        return reading


def observe(
    path: Path, settings: ObserverSettings, make_bank: MakeBank | None, plant: AbstractPlant
) -> tuple[Run, dict[str, Any] | None]:
    """A run, and its claim if it came to an answer."""
    with Journal(path) as journal:
        observer = start_observer(settings, journal.watch_bank(settings, make_bank))
        run = run_session(observer, plant, recorder=journal, commitment=commitment_record(settings, make_bank))
        acceptance = run.observer.acceptance
        return run, None if acceptance is None else run_claim(settings.question, acceptance, journal.records)


def verify(question: AbstractQuestion, claim: dict[str, Any]) -> str:
    return str(check(*texts_of(question, claim)))


REGISTER = pose_plant(register(4, Fraction(1, 10)), alpha="1/100")


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("truth", [5, 9])
def test_whatever_the_policy_an_answer_is_verified(tmp_path: Path, policy: PolicyName, truth: State) -> None:
    settings = ObserverSettings(
        question=REGISTER, alpha=REGISTER.alpha, nominal=5, policy=policy, threshold=Fraction(5)
    )
    run, claim = observe(
        tmp_path / "j", settings, HypothesesBank(range(16)), SimulatedPlant(REGISTER.model, truth, "certificate")
    )
    assert run.verdict == Certified(REGISTER.label_of(truth))
    assert claim is not None
    assert verify(REGISTER, claim) == "VERIFIED"
    assert claim["scored_from"] == (run.observer.events[0].actions if claim["share"] == "fallback" else 0)


def random_run(path: Path, seed: int) -> tuple[AbstractQuestion, Run, dict[str, Any] | None]:
    """A run of a random question, on a plant with faults, with a random policy."""
    rng = Random(f"certificate {seed}")
    question = random_plant_task(rng) if rng.random() < 0.5 else random_machine_task(rng)
    question = replace(question, alpha=rng.choice((Fraction(1, 10), Fraction(1, 4))))
    listed = [s for s, _ in hypotheses_of(question)]
    settings = ObserverSettings(
        question=question,
        alpha=question.alpha,
        nominal=rng.choice(listed),
        policy=rng.choice(POLICIES),
        threshold=Fraction(rng.choice((1, 5))),
        probing=rng.choice(("round-robin", "separating")),
        budget=30,
    )
    device = SimulatedPlant(question.model, rng.choice(listed), seed)
    run, claim = observe(path, settings, HypothesesBank(listed), Faulty(device, seed))
    return question, run, claim


def test_every_answer_of_random_runs_with_faults_is_verified(tmp_path: Path) -> None:
    seen = Counter[str]()
    for seed in range(60):
        question, run, claim = random_run(tmp_path / f"j{seed}", seed)
        if claim is None:
            seen["abstained"] += 1
            continue
        assert verify(question, claim) == "VERIFIED", seed
        seen[claim["share"]] += 1
        seen["doubt"] += any(not step.certain for step in run.observer.transcript)
        seen["missing"] += any(step.certain and step.reading is None for step in run.observer.transcript)
    assert all(seen[what] > 0 for what in ("nominal", "fallback", "mixture", "doubt", "missing")), seen


@pytest.mark.slow
def test_every_answer_of_many_random_runs_is_verified(tmp_path: Path) -> None:
    for seed in range(1000, 5000):
        question, _, claim = random_run(tmp_path / f"j{seed}", seed)
        assert claim is None or verify(question, claim) == "VERIFIED", seed


def test_the_files_convince_a_process_that_has_nothing_but_the_checker(tmp_path: Path) -> None:
    settings = ObserverSettings(question=REGISTER, alpha=REGISTER.alpha, nominal=5)
    _, claim = observe(tmp_path / "j", settings, None, SimulatedPlant(REGISTER.model, 5, 2))
    assert claim is not None
    certificate, task = write_certificate(tmp_path / "run", REGISTER, [claim])
    assert json.loads(task.read_text()) == json.loads(canonical(task_data(REGISTER)))
    command = [sys.executable, "-P", "-m", "ascertain_check", str(task), str(certificate)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "VERIFIED"
    assert "trusted, not proved" in done.stdout.splitlines()[2]


def test_a_transcript_with_a_reading_changed_is_refuted_also_when_the_chain_is_made_to_fit(tmp_path: Path) -> None:
    settings = ObserverSettings(question=REGISTER, alpha=REGISTER.alpha, nominal=5)
    _, claim = observe(tmp_path / "j", settings, None, SimulatedPlant(register(4), 5, 2))
    assert claim is not None
    for i, (action, reading, certain) in enumerate(claim["transcript"]):
        changed = json.loads(json.dumps(claim))
        changed["transcript"][i] = [action, 1 - reading, certain]
        assert "another transcript" in verify(REGISTER, changed)
        changed["records"][2 + 2 * i]["reading"] = 1 - reading
        assert "does not end in the head" in verify(REGISTER, changed)
        assert "a rival is not beaten" in verify(REGISTER, rechained(changed))


def test_an_abstention_is_not_certified(tmp_path: Path) -> None:
    settings = ObserverSettings(question=REGISTER, alpha=REGISTER.alpha, nominal=5, budget=2)
    with Journal(tmp_path / "j") as journal:
        observer = start_observer(settings, None)
        run = run_session(
            observer,
            SimulatedPlant(REGISTER.model, 5, 2),
            recorder=journal,
            commitment=commitment_record(settings, None),
        )
        with pytest.raises(CertificateError, match="an abstention is not certified"):
            run_claim(REGISTER, run.observer.acceptance, journal.records)


def test_records_of_another_run_are_not_certified(tmp_path: Path) -> None:
    settings = ObserverSettings(question=REGISTER, alpha=REGISTER.alpha, nominal=5)
    with Journal(tmp_path / "j") as journal:
        device = SimulatedPlant(REGISTER.model, 5, 2)
        commitment = commitment_record(settings, None)
        run = run_session(start_observer(settings, None), device, recorder=journal, commitment=commitment)
        acceptance, records = run.observer.acceptance, journal.records
        assert journal.head == hash_records(records)
    for wrong in ((), records[1:], records[:-1]):
        with pytest.raises(CertificateError, match="begin with its commitment and end with its verdict"):
            run_claim(REGISTER, acceptance, wrong)
    with pytest.raises(CertificateError, match="committed to another question"):
        run_claim(replace(REGISTER, alpha=Fraction(1, 7)), acceptance, records)


def test_the_hash_of_a_bank_does_not_depend_on_the_order_of_its_candidates() -> None:
    bank = Bank((3, 1), (Fraction(1, 3), Fraction(2, 3)))
    assert bank_hash(bank) == bank_hash(Bank((1, 3), (Fraction(2, 3), Fraction(1, 3))))
    assert bank_hash(bank) != bank_hash(uniform_bank((1, 3)))


def test_with_reuse_the_bank_that_is_scored_is_the_mixture_with_the_nominal() -> None:
    settings = ObserverSettings(
        question=REGISTER, alpha=REGISTER.alpha, nominal=5, policy="reuse", nominal_share=Fraction(1, 3)
    )
    mixed = listed_bank(scored_bank(settings, uniform_bank((5, 6))))
    assert dict(zip(mixed.states, mixed.weights, strict=True)) == {5: Fraction(2, 3), 6: Fraction(1, 3)}
    assert scored_bank(replace(settings, policy="staged"), uniform_bank((5, 6))) == uniform_bank((5, 6))
