"""Journals that were cut, changed or never lived are refused in a sentence."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ascertain.errors import FileError
from ascertain.live import record_store
from ascertain.live.journal import Journal
from ascertain.observer.records import START, Record, commitment_record, hash_record
from tests.journal_runs import (
    MAKE_BANK,
    crash_after,
    memory_folder,
    message,
    read_records,
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
    """What a crash leaves is the file and its log; the head beside them has announced the last record."""
    monkeypatch.setattr(record_store, "PAGE", 512)
    home = tmp_path / "crash"
    home.mkdir()
    with Journal(tmp_path / "j") as journal:
        journal.begin(commitment_record(settings_for(), MAKE_BANK))
        for action in (0, 1):
            journal.intent(action)
            journal.reading(action, 1)
        log_before = (tmp_path / "j-wal").stat().st_size
        announcing = announced_head(journal, monkeypatch)
        journal.intent(2)
        data, log = (tmp_path / "j").read_bytes(), (tmp_path / "j-wal").read_bytes()
        records = journal.records
    kept = 0
    for size in (*range(0, log_before, stride), *range(log_before, len(log) + 1)):
        (home / "j").write_bytes(data)
        (home / "j-wal").write_bytes(log[:size])
        (home / "j.head").write_bytes(announcing[0])
        if size < log_before:
            message(lambda: Journal(home / "j"))
        else:
            with Journal(home / "j") as journal:
                assert journal.records == (records if size == len(log) else records[:-1])
                kept += 1
    assert kept == len(log) + 1 - log_before > 1


def announced_head(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Will hold the head as it is when a record is about to be written."""
    heads, write = list[bytes](), record_store.RecordStore.append

    def look(store: record_store.RecordStore, *row: Any) -> None:
        heads.append(journal.path.with_name(f"{journal.path.name}.head").read_bytes())
        write(store, *row)

    monkeypatch.setattr(record_store.RecordStore, "append", look)
    return heads


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
    for known in (len(records) - 1, len(records) - 2):
        (tmp_path / "j.head").write_text(f"{known} {head_after(records[:known])}\n")  # as version 0.1.0 wrote it
        assert "records have been added by someone else" in message(lambda: Journal(tmp_path / "j"))


TAMPERING = st.lists(
    st.tuples(st.sampled_from(("edit", "drop", "repeat", "reorder", "append")), st.integers(0, 99), st.integers(0, 99)),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("crashed", [False, True])
@given(steps=TAMPERING, rechain=st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whoever_cannot_write_the_head_cannot_write_the_journal(
    honest: tuple[list[Record], bytes, bytes], crashed: bool, steps: list[tuple[str, int, int]], rechain: bool
) -> None:
    """Records edited, dropped, repeated, moved and added, each with its hash or chained anew; the head stays.

    A crash may leave a record that is announced and not confirmed: with or without it the journal is an honest one.
    """
    records, confirmed, announcing = honest
    told = [dict(record) for record in records]
    for what, i, j in steps:
        tamper_with(told, what, i, j)
    same = [json.dumps(told), json.dumps(told + records[-1:] * crashed)]  # of which True is not 1
    for place in memory_folder():
        path = place / "j"
        write_rows(path, told, records, rechain)
        (place / "j.head").write_bytes(announcing if crashed else confirmed)
        if json.dumps(records) in same:
            with Journal(path, read_only=True) as journal:
                assert list(journal.records) == told
        else:
            assert message(lambda path=path: Journal(path))


def tamper_with(records: list[Record], what: str, i: int, j: int) -> None:
    place, other = (n % max(len(records), 1) for n in (i, j))
    if what == "append":
        kinds: list[Record] = [{"record": "doubt", "action": j % 3}, {"record": "intent", "action": j % 3}]
        kinds += [{"record": "reading", "action": 0, "reading": j % 2}, {"record": "end", "time": "now"}]
        records.append(kinds[i % len(kinds)])
    elif not records:
        return
    elif what == "drop":
        del records[place]
    elif what == "repeat":
        records.insert(other, dict(records[place]))
    elif what == "reorder":
        records.insert(other, records.pop(place))
    else:
        key = sorted(records[place])[j % len(records[place])]
        records[place] = records[place] | {key: [0, 1, True, None, "x", records[other].get(key)][i % 6]}


def write_rows(path: Path, told: Sequence[Record], records: Sequence[Record], rechain: bool) -> None:
    """Records with the hashes of a chain of their own, or with those that they had."""
    old = {json.dumps(record): head_after(records[: n + 1]) for n, record in enumerate(records)}
    tamper(path, record_store.TABLE)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for number, record in enumerate(told):
            digest = head_after(told[: number + 1]) if rechain else old.get(json.dumps(record), START)
            connection.execute("INSERT INTO record VALUES (?, ?, ?)", (number, json.dumps(record), digest))


@pytest.fixture(scope="module")
def honest() -> Iterator[tuple[list[Record], bytes, bytes]]:
    """The records of a run, its head at the end, and its head when the last record was announced."""
    for place in memory_folder():
        with pytest.MonkeyPatch.context() as monkeypatch, Journal(place / "j") as journal:
            heads = announced_head(journal, monkeypatch)
            commitment = commitment_record(settings_for(), MAKE_BANK)
            journal.begin(commitment)
            for action in (0, 1, 2):
                journal.intent(action)
                journal.reading(action, action % 2)
            yield list(journal.records), (place / "j.head").read_bytes(), heads[-1]


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
        {"record": "reading", "action": 1, "reading": 0},
        {"record": "reading", "action": 0, "reading": 7},
        {"record": "reading", "action": 0, "reading": "1"},
        {"record": "reading", "action": 0, "reading": 10**30},
        {"record": "intent", "action": 0},
        {"record": "stage", "stage": "fallback", "after": 1, "why": "trigger", "bank_sha256": None},
        {"record": "verdict", "verdict": "certified", "label": "000", "reason": None},
        {"record": "verdict", "verdict": "abstained", "label": None, "reason": "no", "cause": "weather"},
    ],
)
def test_a_story_that_the_observer_cannot_have_lived_is_not_resumed(tmp_path: Path, change: dict[str, Any]) -> None:
    put_third(tmp_path / "j", change)
    with Journal(tmp_path / "j") as journal:
        assert "record 2 does not fit the run" in message(lambda: resume(journal, settings_for()))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"record": "reading"}, "no 'action'"),
        ({"record": "reading", "action": 0}, "no 'reading'"),
        ({"record": "reading", "action": 0, "reading": True}, "a 'reading' of the wrong type"),
        ({"record": "reading", "action": 0, "reading": -1}, "a 'reading' of the wrong type"),
        ({"record": "reading", "action": 0, "reading": 1.0}, "a 'reading' of the wrong type"),
        ({"record": "reading", "action": 0, "reading": [1]}, "a 'reading' of the wrong type"),
        ({"record": "reading", "action": False, "reading": 1}, "a 'action' of the wrong type"),
        ({"record": "reading", "action": 0.0, "reading": 1}, "a 'action' of the wrong type"),
        ({"record": "reading", "action": 0, "reading": 1, "extra": 1}, "not known ('extra')"),
        ({"record": "doubt", "action": None}, "a 'action' of the wrong type"),
        ({"record": "stage"}, "no 'stage'"),
        ({"record": "verdict"}, "no 'verdict'"),
        ({"record": "verdict", "verdict": "abstained", "label": None, "reason": "no", "cause": ["plant"]}, "'cause'"),
        (
            {"record": "verdict", "verdict": "abstained", "label": None, "reason": "no", "ran": 1},
            "a 'ran' of the wrong type",
        ),
        ({"record": "plant", "identity": 1, "address": "", "time": "", "actions": [], "readings": []}, "'identity'"),
        ({"record": "word", "number": 0, "steps": [["a"]]}, "a 'steps' of the wrong type"),
        ({"record": "commitment", "format": "ascertain-journal"}, "which comes first"),
        ({"record": "rumour"}, "not known ('rumour')"),
    ],
)
def test_a_record_of_another_shape_is_refused_also_by_its_head(
    tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    put_third(tmp_path / "j", change)
    said = message(lambda: Journal(tmp_path / "j"))
    assert "record 2 " in said and (why in said or "canonical" in said or "JSON" in said)


def put_third(path: Path, change: dict[str, Any]) -> None:
    """A journal whose third record is another one, and whose head knows that."""
    crash_after(path, settings_for(), simulate(), 4)
    records = list(read_records(path))
    rewrite(path, [*records[:2], change, *records[3:]], head=True)


def test_whoever_only_looks_leaves_everything_as_it_is(tmp_path: Path) -> None:
    """After a crash SQLite keeps records in its log, and would tidy up."""
    program = (
        "import os, sys\n"
        "from ascertain.live.journal import Journal\n"
        "from ascertain.observer.records import commitment_record\n"
        "from tests.journal_runs import MAKE_BANK, settings_for\n"
        "journal = Journal(sys.argv[1])\n"
        "journal.begin(commitment_record(settings_for(), MAKE_BANK))\n"
        "journal.intent(0)\n"
        "os._exit(9)\n"
    )
    path = tmp_path / "j"
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=False, cwd=Path(__file__).parent.parent)
    assert done.returncode == 9
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert len(before["j-wal"]) > 0
    with Journal(path, read_only=True) as journal:
        assert len(journal.records) == 2
        journal.reading(0, 1)
        assert len(journal.records) == 3
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    with Journal(path):
        assert "open in another process" in message(lambda: Journal(path, read_only=True))


@pytest.mark.parametrize("name", ["j", "j.head", "j-wal"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    small(tmp_path / "j")
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    assert message(lambda: Journal(tmp_path / "j"))


def test_what_is_not_a_journal_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a journal\n" * 100)
    assert "not a journal" in message(lambda: Journal(text))
    assert text.read_text() == "not a journal\n" * 100
    assert not (tmp_path / "notes.txt.head").exists()
    assert "not a regular file" in message(lambda: Journal(tmp_path))
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
