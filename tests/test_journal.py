"""The journal: what it keeps, runs that go on as if nothing had happened, and a full disk."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ascertain.evidence.evidence import Doubts
from ascertain.live.journal import Journal
from ascertain.live.resume import resume_observer
from ascertain.live.session import run_session
from ascertain.observer.banks import HypothesesBank
from ascertain.observer.records import commitment_record
from ascertain.observer.settings import POLICIES, ObserverSettings, PolicyName
from ascertain.observer.staged import start_observer
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import InDoubt
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Abstained, Certified
from tests.journal_runs import (
    MAKE_BANK,
    NOMINAL,
    PLANT,
    QUESTION,
    crash_after,
    memory_folder,
    message,
    observer_for,
    read_records,
    resume,
    run_fresh,
    run_on,
    settings_for,
    simulate,
)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    yield from memory_folder()


# What is written.


def test_a_journal_tells_the_whole_run_in_order(tmp_path: Path) -> None:
    run, records = run_fresh(tmp_path / "j", settings_for(), simulate())
    kinds = [record["record"] for record in records]
    steps = run.observer.transcript
    assert kinds == ["commitment", *["intent", "reading"] * len(steps), "verdict"]
    assert [r["reading"] for r in records if r["record"] == "reading"] == [s.reading for s in steps]
    assert records[-1] == {"record": "verdict", "verdict": "certified", "label": "101", "reason": None}
    commitment = records[0]
    assert commitment["settings"]["policy"] == "readwise"
    assert commitment["bank"]["kind"] == "hypotheses"
    with Journal(tmp_path / "j") as journal:
        assert journal.records == records
        assert (tmp_path / "j.head").read_text() == f"{len(records):010d} {journal.head}\n" * 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["j", "j.head"]


def test_a_change_of_stage_is_recorded_with_the_hash_of_the_bank(tmp_path: Path) -> None:
    run, records = run_fresh(tmp_path / "j", settings_for(threshold=Fraction(3)), simulate(2))
    [stage] = [record for record in records if record["record"] == "stage"]
    [event] = run.observer.events
    assert (stage["after"], stage["why"]) == (event.actions, event.why)
    assert len(stage["bank_sha256"]) == 64
    assert records[1 + 2 * event.actions] == stage


def test_an_intent_is_on_disk_before_its_action_is_sent(tmp_path: Path) -> None:
    class Witness(AbstractPlant):
        def __init__(self) -> None:
            self.plant, self.seen = simulate(), list[dict[str, Any]]()

        def send(self, action: str) -> str:
            copy = tmp_path / f"copy{len(self.seen)}"
            copy.mkdir()
            for file in (tmp_path / "run").iterdir():
                shutil.copy(file, copy)
            with Journal(copy / "j") as journal:
                self.seen.append(journal.records[-1])
                assert len(journal.records) == 2 * len(self.seen)
            return self.plant.send(action)

    (tmp_path / "run").mkdir()
    witness = Witness()
    run, _ = run_fresh(tmp_path / "run" / "j", settings_for(), witness)
    assert witness.seen == [{"record": "intent", "action": step.action} for step in run.observer.transcript]


def test_nothing_is_added_after_the_verdict(tmp_path: Path) -> None:
    run_fresh(tmp_path / "j", settings_for(), simulate())
    with Journal(tmp_path / "j") as journal:
        number = len(journal.records)
        journal.verdict(Certified("101"))
        assert len(journal.records) == number
        assert "has ended" in message(lambda: journal.verdict(Certified("111")))
        assert "has ended" in message(lambda: journal.intent(0))
        assert "has begun already" in message(lambda: journal.begin({"record": "commitment"}))


# Going on.


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("truth", [NOMINAL, 2])
def test_wherever_a_run_breaks_off_it_goes_on_to_the_same_transcript_and_records(
    tmp_path: Path, policy: PolicyName, truth: int
) -> None:
    settings = settings_for(policy, threshold=Fraction(3))
    whole, records = run_fresh(tmp_path / "whole", settings, simulate(truth))
    for number in range(len(records)):
        path = tmp_path / f"cut{number}"
        crash_after(path, settings, simulate(truth), number)
        run, again = run_on(path, settings, simulate(truth))
        assert again == records
        assert run.observer.transcript == whole.observer.transcript
        assert run.verdict == whole.verdict


def test_a_run_with_separating_probes_goes_on_as_it_would_have(tmp_path: Path) -> None:
    settings = settings_for("reuse", probing="separating")
    _, records = run_fresh(tmp_path / "whole", settings, simulate(6))
    for number in range(1, len(records), 3):
        crash_after(tmp_path / f"cut{number}", settings, simulate(6), number)
        assert run_on(tmp_path / f"cut{number}", settings, simulate(6))[1] == records


class Fragile(AbstractPlant):
    """A plant that must not be asked twice."""

    def __init__(self, plant: SimulatedPlant) -> None:
        self.plant = plant

    def send(self, action: str) -> str:
        return self.plant.send(action)


def test_an_intent_without_a_reading_is_in_doubt_where_asking_again_is_not_safe(tmp_path: Path) -> None:
    settings = settings_for()
    plant = Fragile(simulate())
    crash_after(tmp_path / "j", settings, plant, 4)
    run, records = run_on(tmp_path / "j", settings, plant)
    assert records[3]["record"] == "intent"
    assert records[4] == {"record": "doubt", "action": records[3]["action"]}
    assert [step.certain for step in run.observer.transcript].count(False) == 1
    assert run.verdict == Certified("101")


def test_a_finished_journal_resumes_to_its_verdict(tmp_path: Path) -> None:
    settings = settings_for()
    run, records = run_fresh(tmp_path / "j", settings, simulate())
    with Journal(tmp_path / "j") as journal:
        resumed = resume(journal, settings)
        assert (resumed.observer.verdict, resumed.pending) == (run.verdict, None)
        assert resumed.observer.acceptance == run.observer.acceptance
        assert journal.records == records


def test_a_run_that_failed_resumes_to_its_abstention(tmp_path: Path) -> None:
    settings = settings_for()
    with Journal(tmp_path / "j") as journal:
        observer = observer_for(journal, settings)
        journal.begin(commitment_record(settings, MAKE_BANK))
        journal.intent(observer.next().action)  # type: ignore[union-attr]
        journal.verdict(Abstained("the plant is on fire"))
    with Journal(tmp_path / "j") as journal:
        assert resume(journal, settings).observer.verdict == Abstained("the plant is on fire")


def test_a_journal_from_before_causes_were_recorded_is_read_and_left_as_it_is(tmp_path: Path) -> None:
    settings = settings_for(budget=2)
    for reason, intents in (("the plant is on fire", 1), ("the budget of 2 actions is spent", 2)):
        path = tmp_path / reason[:10]
        with Journal(path) as journal:
            journal.begin(commitment_record(settings, MAKE_BANK))
            observer, plant = observer_for(journal, settings), simulate()
            for _ in range(intents):
                action = observer.next().action  # type: ignore[union-attr]
                journal.intent(action)
                if reason.startswith("the budget"):
                    y = PLANT.readings.index(plant.send(PLANT.actions[action]))
                    journal.reading(action, y)
                    observer = observer.update(action, y)
            journal.verdict(Abstained(reason))
            records = journal.records
        with Journal(path) as journal:
            resumed = resume(journal, settings)
            run = run_session(resumed.observer, simulate(), recorder=journal, cause=resumed.cause)
            assert (run.verdict, run.plant_failed, resumed.cause) == (Abstained(reason), False, None)
            assert journal.records == records


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        ("observer", "the plant is on fire"),
        ("person", "the budget of 0 actions is spent"),
        ("plant", "the budget of 0 actions is spent"),
        ("weather", "the budget of 0 actions is spent"),
    ],
)
def test_a_cause_that_the_run_cannot_have_had_is_refused(tmp_path: Path, cause: Any, reason: str) -> None:
    settings = settings_for(budget=0 if "budget" in reason else 2)
    with Journal(tmp_path / "j") as journal:
        journal.begin(commitment_record(settings, MAKE_BANK))
        journal.verdict(Abstained(reason), cause)
    with Journal(tmp_path / "j") as journal:
        assert "does not come to that verdict" in message(lambda: resume(journal, settings))


class Mute(AbstractPlant):
    """A plant of which nobody ever knows whether it did what it was told."""

    def send(self, action: str) -> str:
        raise InDoubt(f"perhaps {action}")


def test_a_run_with_a_doubt_too_many_is_the_plants_fault_also_when_the_verdict_is_written_later(tmp_path: Path) -> None:
    settings = settings_for(doubts=Doubts(limit=2))
    whole, records = run_fresh(tmp_path / "whole", settings, Mute())
    assert whole.plant_failed
    assert records[-1]["cause"] == "plant"
    crash_after(tmp_path / "cut", settings, Mute(), len(records) - 1)
    with Journal(tmp_path / "cut") as journal:
        resumed = resume(journal, settings)
        assert journal.records == records
        run = run_session(resumed.observer, Mute(), recorder=journal, cause=resumed.cause)
        assert (run.verdict, run.plant_failed) == (whole.verdict, True)


def test_a_journal_of_another_problem_is_refused(tmp_path: Path) -> None:
    crash_after(tmp_path / "j", settings_for(), simulate(), 5)
    other = replace(QUESTION, alpha=Fraction(1, 30))
    stranger = ObserverSettings(question=other, alpha=other.alpha, nominal=NOMINAL)
    with Journal(tmp_path / "j") as journal:
        assert "belongs to another problem" in message(lambda: resume(journal, stranger))
        assert "committed to something else (settings)" in message(lambda: resume(journal, settings_for("staged")))
        known = commitment_record(settings_for(), MAKE_BANK)
        newer = {**known, "made_by": "ascertain 99"}
        other_banks = {**newer, "bank": {**known["bank"], "version": "99"}}
        fresh = observer_for(journal, settings_for())
        assert "something else (bank)" in message(lambda: resume_observer(journal, fresh, other_banks))
        assert resume_observer(journal, fresh, newer).observer.counters.readings == 2
        assert resume(journal, settings_for()).observer.counters.readings == 2


def test_a_bank_that_compiles_to_something_else_is_refused(tmp_path: Path) -> None:
    settings = settings_for("eager")
    crash_after(tmp_path / "j", settings, simulate(), 6)
    with Journal(tmp_path / "j") as journal:
        observer = start_observer(settings, journal.watch_bank(settings, HypothesesBank(range(7))))
        commitment = commitment_record(settings, MAKE_BANK)
        assert "the bank that is compiled now" in message(lambda: resume_observer(journal, observer, commitment))


# A full disk.


def test_when_the_disk_is_full_nothing_is_sent_and_nothing_claimed(tmp_path: Path) -> None:
    settings = settings_for(budget=500, rejection=Fraction(1, 10**9))
    stubborn = replace(settings, question=replace(QUESTION, alpha=Fraction(1, 10**90)), alpha=Fraction(1, 10**90))
    sent: list[str] = []

    class Counting(AbstractPlant):
        def send(self, action: str) -> str:
            sent.append(action)
            return "1"

    with Journal(tmp_path / "j") as journal:
        connection = journal._store._connection
        [pages] = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 8}").fetchall()
        observer = observer_for(journal, stubborn)
        commitment = commitment_record(stubborn, MAKE_BANK)
        said = message(lambda: run_session(observer, Counting(), recorder=journal, commitment=commitment))
        assert "the disk is full" in said
        number = len(journal.records)
    intents = [record for record in read_records(tmp_path / "j") if record["record"] == "intent"]
    assert len(sent) in (len(intents), len(intents) - 1)
    with Journal(tmp_path / "j") as journal:
        assert len(journal.records) == number
        assert not journal.is_finished
        assert resume(journal, stubborn).observer.verdict is None


def test_a_head_that_cannot_be_written_stops_the_run_and_the_journal_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_for()
    crash_after(tmp_path / "j", settings, simulate(), 5)
    with Journal(tmp_path / "j") as journal:

        def full(descriptor: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        assert "No space left on device" in message(lambda: journal.intent(2))
        monkeypatch.undo()
    with Journal(tmp_path / "j") as journal:
        assert len(journal.records) == 5  # the sixth was announced, and never written
        journal.intent(2)
    assert (tmp_path / "j.head").read_text().startswith("0000000006 ")
