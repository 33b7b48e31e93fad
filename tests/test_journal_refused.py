"""Journals that were cut, changed or never lived are refused in a sentence."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ascertain.errors import FileError
from ascertain.live import record_store
from ascertain.live.journal import Journal
from ascertain.observer.records import START, commitment_record, hash_record
from tests.journal_runs import (
    MAKE_BANK,
    crash_after,
    memory_folder,
    message,
    resume,
    settings_for,
    simulate,
    small,
)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    yield from memory_folder()


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
