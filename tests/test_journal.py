"""The journal: what it keeps, what it refuses, and runs that go on after a crash as if nothing had happened."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ascertain.certificate.chain import START, commitment_record, hash_record
from ascertain.errors import FileError
from ascertain.instances.named import register
from ascertain.live import record_store
from ascertain.live.journal import Journal
from ascertain.live.resume import Resumed, resume_observer
from ascertain.live.session import Run, resume_plant, run_session
from ascertain.observer.banks import HypothesesBank
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import Observer, start_observer
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import InDoubt
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Abstained, Certified
from ascertain.sequential.evidence import Doubts
from ascertain.task.plant_task import pose_plant
from ascertain.task.sections import POLICIES, PolicyName


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A place that is not on a disk, where there is one: a journal waits for the disk twice at every record."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as place:
        yield Path(place)


PLANT = register(3, Fraction(1, 10))
QUESTION = pose_plant(PLANT, alpha="1/20")
MAKE_BANK = HypothesesBank(range(8))
NOMINAL = 5


def settings_for(policy: PolicyName = "readwise", **changes: Any) -> ObserverSettings:
    return ObserverSettings(question=QUESTION, alpha=QUESTION.alpha, nominal=NOMINAL, policy=policy, **changes)


def simulate(truth: int = NOMINAL, seed: int = 1) -> SimulatedPlant:
    return SimulatedPlant(PLANT, truth, seed)


def observer_for(journal: Journal, settings: ObserverSettings) -> Observer:
    return start_observer(settings, journal.watch_bank(settings, MAKE_BANK))


def run_fresh(path: Path, settings: ObserverSettings, plant: AbstractPlant) -> tuple[Run, tuple[dict[str, Any], ...]]:
    with Journal(path) as journal:
        commitment = commitment_record(settings, MAKE_BANK)
        run = run_session(observer_for(journal, settings), plant, recorder=journal, commitment=commitment)
        return run, journal.records


def resume(journal: Journal, settings: ObserverSettings) -> Resumed:
    return resume_observer(journal, observer_for(journal, settings), commitment_record(settings, MAKE_BANK))


def run_on(path: Path, settings: ObserverSettings, plant: AbstractPlant) -> tuple[Run, tuple[dict[str, Any], ...]]:
    """Go on with a journal, wherever it ends."""
    with Journal(path) as journal:
        resumed = resume(journal, settings)
        if journal.records:
            resume_plant(plant, resumed.observer)
        run = run_session(
            resumed.observer,
            plant,
            recorder=journal,
            commitment=None if journal.records else commitment_record(settings, MAKE_BANK),
            pending=resumed.pending,
            recorded_events=resumed.recorded_events,
        )
        return run, journal.records


class PowerCut(BaseException):
    """Ends a run where a crash would, without anyone tidying up."""


def crash_after(path: Path, settings: ObserverSettings, plant: AbstractPlant, num_records: int) -> None:
    """A run whose process dies right after so many records are on disk."""
    with Journal(path) as journal:
        append = journal.append

        def count(record: dict[str, Any]) -> None:
            if len(journal.records) == num_records:
                raise PowerCut
            append(record)

        journal.append = count  # type: ignore[method-assign]
        commitment = commitment_record(settings, MAKE_BANK)
        with pytest.raises(PowerCut):
            run_session(observer_for(journal, settings), plant, recorder=journal, commitment=commitment)


def message(opening: Callable[[], object]) -> str:
    """The one sentence with which something is refused."""
    with pytest.raises(FileError) as refused:
        opening()
    text = str(refused.value)
    assert "\n" not in text
    return text


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
        assert (tmp_path / "j.head").read_text() == f"{len(records)} {journal.head}\n"
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
        (["plant"], "the plant is on fire"),
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
        newer = commitment_record(settings_for(), MAKE_BANK) | {"made_by": "ascertain 99"}
        fresh = observer_for(journal, settings_for())
        assert "something else (made_by)" in message(lambda: resume_observer(journal, fresh, newer))
        assert resume(journal, settings_for()).observer.counters.readings == 2


def test_a_bank_that_compiles_to_something_else_is_refused(tmp_path: Path) -> None:
    settings = settings_for("eager")
    crash_after(tmp_path / "j", settings, simulate(), 6)
    with Journal(tmp_path / "j") as journal:
        observer = start_observer(settings, journal.watch_bank(settings, HypothesesBank(range(7))))
        commitment = commitment_record(settings, MAKE_BANK)
        assert "the bank that is compiled now" in message(lambda: resume_observer(journal, observer, commitment))


# What is refused.


def small(path: Path) -> tuple[dict[str, Any], ...]:
    """A finished journal that is small."""
    return run_fresh(path, settings_for("staged", budget=2), simulate())[1]


def test_a_journal_cut_at_any_byte_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_store, "PAGE", 512)
    path = tmp_path / "j"
    small(path)
    data, head = path.read_bytes(), (tmp_path / "j.head").read_bytes()
    for size in range(len(data)):
        path.write_bytes(data[:size])
        assert message(lambda: Journal(path)), size
        assert path.stat().st_size <= len(data)
    for size in range(len(head)):
        path.write_bytes(data)
        (tmp_path / "j.head").write_bytes(head[:size])
        assert "not the head of a journal" in message(lambda: Journal(path))


@pytest.mark.parametrize("stride", [17, pytest.param(1, marks=pytest.mark.slow)])
def test_a_journal_whose_log_is_cut_loses_only_what_was_never_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stride: int
) -> None:
    """What a crash leaves is the file and its log; the head that is beside them was written before the last record."""
    monkeypatch.setattr(record_store, "PAGE", 512)
    settings, home = settings_for(), tmp_path / "crash"
    home.mkdir()
    with Journal(tmp_path / "j") as journal:
        journal.begin(commitment_record(settings, MAKE_BANK))
        for action in (0, 1):
            journal.intent(action)
            journal.reading(action, 1)
        before = (tmp_path / "j.head").read_bytes()
        log_before = (tmp_path / "j-wal").stat().st_size
        journal.intent(2)
        data, log = (tmp_path / "j").read_bytes(), (tmp_path / "j-wal").read_bytes()
        records = journal.records
    kept = 0
    for size in (*range(0, log_before, stride), *range(log_before, len(log) + 1)):
        (home / "j").write_bytes(data)
        (home / "j-wal").write_bytes(log[:size])
        (home / "j.head").write_bytes(before)
        if size < log_before:
            message(lambda: Journal(home / "j"))
        else:
            with Journal(home / "j") as journal:
                assert journal.records == (records if size == len(log) else records[:-1])
                kept += 1
    assert kept == len(log) + 1 - log_before > 1


def test_a_flipped_bit_is_refused_or_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_store, "PAGE", 512)
    path = tmp_path / "j"
    records = small(path)
    data = path.read_bytes()
    refused = 0
    for i in range(len(data)):
        path.write_bytes(data[:i] + bytes([data[i] ^ 1 << i % 8]) + data[i + 1 :])
        (tmp_path / "j-wal").unlink(missing_ok=True)
        try:
            with Journal(path) as journal:
                assert journal.records == records
        except FileError:
            refused += 1
    used = sum(len(json.dumps(record)) for record in records)
    assert refused > used * 0.8


def tamper(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM record WHERE number = 2",
        "DELETE FROM record WHERE number = 0",
        "DELETE FROM record WHERE number = (SELECT max(number) FROM record)",
        "DELETE FROM record",
        "UPDATE record SET body = replace(body, 'staged', 'eager') WHERE number = 0",
        "UPDATE record SET body = (SELECT body FROM record WHERE number = 3) WHERE number = 1",
        "UPDATE record SET number = -1 WHERE number = 0",
        "UPDATE record SET hash = upper(hash) WHERE number = 1",
        "UPDATE record SET hash = x'00' WHERE number = 1",
        "UPDATE record SET body = x'7b7d' WHERE number = 1",
        "UPDATE record SET body = '[]' WHERE number = 1",
        "UPDATE record SET body = '{' WHERE number = 1",
        "UPDATE record SET body = '{\"record\":1}' WHERE number = 1",
        "DROP TABLE record",
        "CREATE TABLE more (x)",
        "CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record; END",
    ],
)
def test_tampering_is_refused(tmp_path: Path, statement: str) -> None:
    small(tmp_path / "j")
    tamper(tmp_path / "j", statement)
    assert message(lambda: Journal(tmp_path / "j"))


def test_two_records_exchanged_are_noticed_even_with_their_hashes(tmp_path: Path) -> None:
    small(tmp_path / "j")
    tamper(
        tmp_path / "j",
        "UPDATE record SET number = 100 WHERE number = 1",
        "UPDATE record SET number = 1 WHERE number = 3",
        "UPDATE record SET number = 3 WHERE number = 100",
    )
    assert "record 1 is not the one that was written" in message(lambda: Journal(tmp_path / "j"))


def test_records_that_were_added_behind_the_heads_back_are_refused(tmp_path: Path) -> None:
    records = small(tmp_path / "j")
    (tmp_path / "j.head").write_text(f"{len(records) - 1} {head_after(records[:-1])}\n")
    Journal(tmp_path / "j").close()
    (tmp_path / "j.head").write_text(f"{len(records) - 2} {head_after(records[:-2])}\n")
    assert "records have been added by someone else" in message(lambda: Journal(tmp_path / "j"))


def head_after(records: Sequence[Mapping[str, Any]]) -> str:
    head = START
    for record in records:
        head = hash_record(head, dict(record))
    return head


def test_a_cut_at_a_record_boundary_is_detected_against_the_head(tmp_path: Path) -> None:
    records = small(tmp_path / "j")
    tamper(tmp_path / "j", f"DELETE FROM record WHERE number >= {len(records) - 2}")
    said = message(lambda: Journal(tmp_path / "j"))
    assert f"has {len(records) - 2} records, and its head knows of {len(records)}" in said
    (tmp_path / "j.head").unlink()
    assert "j.head, is missing" in message(lambda: Journal(tmp_path / "j"))


def test_a_chain_that_was_forged_does_not_fit_the_head(tmp_path: Path) -> None:
    records = small(tmp_path / "j")
    forged = [*records[:-1], records[-1] | {"reason": "none"}]
    rewrite(tmp_path / "j", forged)
    assert "not the one that j.head belongs to" in message(lambda: Journal(tmp_path / "j"))


def rewrite(path: Path, records: Sequence[dict[str, Any]], head: bool = False) -> None:
    """Other records with a chain of their own; and, if asked, the head that belongs to them."""
    tamper(path, "DELETE FROM record")
    connection = sqlite3.connect(path, isolation_level=None)
    last = "0" * 64
    for number, record in enumerate(records):
        last = hash_record(last, record)
        connection.execute("INSERT INTO record VALUES (?, ?, ?)", (number, json.dumps(record), last))
    connection.close()
    if head:
        path.with_name(f"{path.name}.head").write_text(f"{len(records)} {last}\n")


@pytest.mark.parametrize(
    "change",
    [
        {"record": "reading"},
        {"record": "reading", "action": 0},
        {"record": "reading", "action": 1, "reading": 0},
        {"record": "reading", "action": 0, "reading": 7},
        {"record": "reading", "action": 0, "reading": "1"},
        {"record": "reading", "action": 0, "reading": [1]},
        {"record": "intent", "action": 0},
        {"record": "doubt", "action": None},
        {"record": "stage"},
        {"record": "stage", "stage": "fallback", "after": 1, "why": "trigger", "bank_sha256": None},
        {"record": "verdict", "verdict": "certified", "label": "000", "reason": None},
        {"record": "verdict"},
        {"record": "rumour"},
    ],
)
def test_a_story_that_the_observer_cannot_have_lived_is_not_resumed(tmp_path: Path, change: dict[str, Any]) -> None:
    settings = settings_for()
    crash_after(tmp_path / "j", settings, simulate(), 4)
    with Journal(tmp_path / "j") as journal:
        records = list(journal.records)
    rewrite(tmp_path / "j", [*records[:2], change, *records[3:]], head=True)
    with Journal(tmp_path / "j") as journal:
        assert "record 2 does not fit the run" in message(lambda: resume(journal, settings))


def test_what_is_not_a_journal_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a journal\n" * 100)
    assert "not a journal" in message(lambda: Journal(text))
    assert text.read_text() == "not a journal\n" * 100
    assert not (tmp_path / "notes.txt.head").exists()
    assert "cannot be opened" in message(lambda: Journal(tmp_path))
    assert "cannot be opened" in message(lambda: Journal(tmp_path / "no" / "such" / "place"))
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 2**40)
    assert "bytes" in message(lambda: Journal(tmp_path / "large"))
    other = tmp_path / "other.db"
    tamper(other, "CREATE TABLE people (name)")
    assert "not a journal" in message(lambda: Journal(other))
    view = tmp_path / "view.db"
    endless = (
        "WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n) SELECT x AS number, '{}' AS body, '' AS hash"
    )
    tamper(view, f"CREATE VIEW record AS {endless} FROM n")
    assert "not a journal" in message(lambda: Journal(view))


def test_a_journal_is_open_once(tmp_path: Path) -> None:
    with Journal(tmp_path / "j"):
        assert "open in another process" in message(lambda: Journal(tmp_path / "j"))
        program = f"from ascertain.live.journal import Journal; Journal({str(tmp_path / 'j')!r})"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "open in another process" in done.stderr
    with Journal(tmp_path / "j") as journal:
        assert journal.records == ()


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
    intents = [record for record in Journal_records(tmp_path / "j") if record["record"] == "intent"]
    assert len(sent) in (len(intents), len(intents) - 1)
    with Journal(tmp_path / "j") as journal:
        assert len(journal.records) == number
        assert not journal.is_finished
        assert resume(journal, stubborn).observer.verdict is None


def Journal_records(path: Path) -> tuple[dict[str, Any], ...]:
    with Journal(path) as journal:
        return journal.records


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
        assert len(journal.records) == 6
        assert (tmp_path / "j.head").read_text().startswith("6 ")


# Killed.

PROBLEM = """
[model]
bits = ["a", "b", "c", "d"]
flip = "1/10"
[[model.command]]
name = "A"
gates = []
tap = "a"
[[model.command]]
name = "B"
gates = [["not", "c"]]
tap = "b"
[[model.command]]
name = "C"
gates = [["xor", "d", "a", "d"]]
tap = "c"
[[model.command]]
name = "D"
gates = []
tap = "d"
[risk]
alpha = "1/1000000"
[observe]
nominal = "0000"
policy = "POLICY"
threshold = 20
"""


def observe(problem: Path, seed: int, journal: Path) -> list[str]:
    arguments = ["observe", str(problem), "--plant", f"simulated:{seed}", "--journal", str(journal), "--json"]
    return [sys.executable, "-m", "ascertain", *arguments, *(["--resume"] if journal.exists() else [])]


def progress(journal: Path) -> int:
    try:
        return int(journal.with_name(f"{journal.name}.head").read_text().split()[0])
    except (FileNotFoundError, IndexError):
        return 0


def kill_at_random(command: list[str], journal: Path, chance: random.Random) -> bool:
    """Run the command and kill it at a random moment; whether it was still running."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    target = progress(journal) + chance.randint(0, 12)
    deadline = time.monotonic() + 120
    while process.poll() is None and progress(journal) < target and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(chance.random() * 0.02)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def survive(tmp_path: Path, kills: int, seed: int) -> None:
    """Kill runs again and again, and compare what they come to with runs that were left alone."""
    chance, done, number = random.Random(seed), 0, 0
    while done < kills:
        number += 1
        problem, journal = tmp_path / f"p{number}.toml", tmp_path / f"j{number}"
        problem.write_text(PROBLEM.replace("POLICY", chance.choice(POLICIES)))
        alone = subprocess.run(observe(problem, number, tmp_path / f"alone{number}"), capture_output=True, check=False)
        expected = json.loads(alone.stdout)
        assert expected["right"] is True, expected
        while done < kills and kill_at_random(observe(problem, number, journal), journal, chance):
            done += 1
        last = subprocess.run(observe(problem, number, journal), capture_output=True, check=False)
        found = json.loads(last.stdout)
        for key in ("verdict", "label", "transcript", "readings", "events"):
            assert found[key] == expected[key], (seed, number, key)
        assert Journal_records(journal)[1:] == Journal_records(tmp_path / f"alone{number}")[1:]


def test_a_process_that_is_killed_goes_on_to_the_verdict_it_would_have_reached(tmp_path: Path) -> None:
    survive(tmp_path, kills=3, seed=1)


@pytest.mark.slow
def test_two_hundred_killed_processes_go_on_to_the_verdict_they_would_have_reached(tmp_path: Path) -> None:
    survive(tmp_path, kills=210, seed=2)
