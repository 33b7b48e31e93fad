"""One total risk for many runs: what each takes, who is refused, and what a file from anyone is read as."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ascertain
from ascertain.errors import AscertainError, FileError, PlantFault, TaskError
from ascertain.live.record_store import TABLE, RecordStore
from ascertain.live.risk_file import RiskFile, end_share, read_risk_file, return_share, take_share
from ascertain.observer.records import START, hash_record
from tests.calls import answer, call
from tests.conftest import LAMP

HASH = "0" * 64


def take(path: Path, run: str = "run", **words: Any) -> tuple[RiskFile, Fraction]:
    found, share = take_share(path, task_sha256=HASH, run=run, **words)
    return found, share.alpha


def observe(*arguments: object, code: int = 0) -> Any:
    return call("observe", LAMP, *arguments, code=code)


def test_equal_shares_are_taken_until_the_total_is_spent_and_then_refused(tmp_path: Path) -> None:
    path = tmp_path / "risk.db"
    for k in range(3):
        found, alpha = take(path, total="1/100", schedule="equal:3")
        assert alpha == Fraction(1, 300) and found.spent == Fraction(k + 1, 300)
    with pytest.raises(FileError, match="1/100 is spent by 3 runs, 0 is left, and the run would take 1/300"):
        take(path)
    assert read_risk_file(path) == found and found.left == 0


@settings(max_examples=15, deadline=None)
@given(ratio=st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20), number=st.integers(1, 12))
def test_geometric_shares_never_exceed_the_total_and_are_exact(
    tmp_path_factory: pytest.TempPathFactory, ratio: Fraction, number: int
) -> None:
    path, total = tmp_path_factory.mktemp("risk") / "risk.db", Fraction(1, 7)
    taken = [take(path, total=total, schedule=f"geometric:{ratio}")[1] for _ in range(number)]
    assert taken == [total * (1 - ratio) * ratio**k for k in range(number)]
    assert total - sum(taken) == read_risk_file(path).left == total * ratio**number


def test_what_a_run_asks_for_by_itself_is_just_that_much(tmp_path: Path) -> None:
    path = tmp_path / "risk.db"
    assert take(path, total="1/10", schedule="geometric", alpha=Fraction(3, 50))[1] == Fraction(3, 50)
    with pytest.raises(FileError, match="3/50 is spent by 1 runs, 1/25 is left, and the run would take 1/20"):
        take(path)
    assert take(path, alpha=Fraction(1, 25))[0].left == 0
    assert take(path, alpha=Fraction(0))[1] == 0


def test_a_share_that_is_given_back_can_be_taken_again_and_stays_visible(tmp_path: Path) -> None:
    path = tmp_path / "risk.db"
    take(path, "first", total="1/10", schedule="equal:1")
    assert return_share(path, 0).left == Fraction(1, 10)
    take(path, "second")
    found = end_share(path, 1, "certified: lit")
    assert end_share(path, 1, "certified: dark") == found
    assert [row[1:] for row in found.listing()[1]] == [
        ("first", Fraction(1, 10), "nothing was sent, given back"),
        ("second", Fraction(1, 10), "certified: lit"),
    ]
    with pytest.raises(FileError, match="no run has taken share 2"):
        end_share(path, 2, "certified: lit")


def test_what_is_said_again_must_be_what_the_file_was_begun_with(tmp_path: Path) -> None:
    path = tmp_path / "risk.db"
    for words, why in (
        ({}, "there is no such risk file; --total-alpha P begins one"),
        ({"total": "2"}, "not a probability in"),
        ({"total": "x"}, "not a number"),
        ({"total": "1/2", "schedule": "equal:0"}, "is not understood; write equal:N"),
        ({"total": "1/2", "schedule": "geometric:1"}, "not inside"),
    ):
        with pytest.raises(TaskError, match=why):
            take(path, **words)
        assert not path.exists()
    take(path, total="1/10", schedule="equal:4")
    with pytest.raises(TaskError, match="begun with a total of 1/10"):
        take(path, total="1/5")
    with pytest.raises(TaskError, match="begun with the schedule equal:4"):
        take(path, schedule="geometric")


TAKER = """
import sys
from ascertain.errors import FileError
from ascertain.live.risk_file import take_share
for k in range(6):
    try:
        share = take_share(sys.argv[1], total="1/10", schedule=sys.argv[2], task_sha256="0", run=sys.argv[3])[1]
        print(share.number, share.alpha)
    except FileError as reason:
        assert "is spent" in str(reason), reason
"""


@pytest.mark.parametrize("schedule", ["equal:10", "geometric"])
def test_processes_that_start_at_once_never_take_one_share_twice(tmp_path: Path, schedule: str) -> None:
    path = tmp_path / "risk.db"
    commands = [[sys.executable, "-c", TAKER, str(path), schedule, f"run {k}"] for k in range(3)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    lines = [line.split() for process in running for line in process.communicate()[0].splitlines()]
    assert [process.returncode for process in running] == [0, 0, 0]
    found = read_risk_file(path)
    assert sorted(int(number) for number, _ in lines) == list(range(len(found.shares)))
    assert len(found.shares) == (10 if schedule == "equal:10" else 18)
    assert sum(Fraction(alpha) for _, alpha in lines) == found.spent <= found.total


def test_a_file_is_looked_at_while_its_log_comes_and_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "risk"
    monkeypatch.setattr(RecordStore, "_open", lambda *_, **__: True)
    monkeypatch.setattr(RecordStore, "_read_rows", lambda _: [])
    code = "import pathlib, sys\nlog = pathlib.Path(sys.argv[1])\nwhile True: log.touch(); log.unlink()"
    with subprocess.Popen([sys.executable, "-c", code, f"{path}-wal"]) as other:
        try:
            for _ in range(30_000):
                RecordStore(path)
        finally:
            other.kill()


def test_a_run_takes_its_alpha_and_tells_what_is_left(tmp_path: Path) -> None:
    risk = ("--risk-file", tmp_path / "risk.db")
    begun = ("--total-alpha", "1/100", "--risk-schedule", "equal:2")
    dry = answer("observe", LAMP, "--plant", "simulated:3", *risk, *begun, "--dry-run")
    assert dry["alpha"] == "1/200" and dry["risk_file"]["share"] is None
    assert not (tmp_path / "risk.db").exists()
    first = answer("observe", LAMP, "--plant", "simulated:3", *risk, *begun)
    assert first["alpha"] == "1/200"
    told = {key: first["risk_file"][key] for key in ("total", "spent", "left", "share", "runs")}
    assert told == {"total": "1/100", "spent": "1/200", "left": "1/200", "share": "1/200", "runs": 1}
    second = observe("--plant", "simulated:4", *risk)
    assert "1/100 is spent and 0 is left" in second.stdout
    assert [share.outcome for share in read_risk_file(tmp_path / "risk.db").shares] == [
        "certified: " + first["label"],
        "certified: " + second.stdout.split("\n")[0].removeprefix("certified: "),
    ]
    third = observe("--plant", "simulated:5", *risk, code=2)
    assert third.stdout == ""
    assert "1/100 is spent by 2 runs, 0 is left" in third.stderr and len(third.stderr.splitlines()) == 1
    bare = observe("--plant", "simulated:5", "--total-alpha", "1/100", code=2)
    assert "need --risk-file FILE" in bare.stderr


def test_resuming_a_journal_takes_no_second_share(tmp_path: Path) -> None:
    risk, journal = tmp_path / "risk.db", tmp_path / "run.journal"
    words: dict[str, Any] = {"risk_file": risk, "journal": journal}
    begun: dict[str, Any] = {"total_alpha": "1/10", "risk_schedule": "geometric"}

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ascertain.observe(LAMP, "simulated:3", **words, **begun, watch=stop)
    [share] = read_risk_file(risk).shares
    assert share.outcome is None and share.run == str(journal) and not share.returned
    done = ascertain.observe(LAMP, "simulated:3", **words, resume=True)
    assert done.is_certified and done.run.observer.settings.alpha == share.alpha == Fraction(1, 20)
    ascertain.observe(LAMP, "simulated:3", **words, resume=True)
    [after] = read_risk_file(risk).shares
    assert after.outcome is not None and after.outcome.startswith("certified: ")
    with pytest.raises(TaskError, match="this run took 1/20"):
        ascertain.observe(LAMP, "simulated:3", **words, resume=True, alpha="1/3")
    ascertain.observe(LAMP, "simulated:3", journal=tmp_path / "other.journal")
    with pytest.raises(FileError, match="was not begun with a share of this risk file"):
        ascertain.observe(LAMP, "simulated:3", risk_file=risk, journal=tmp_path / "other.journal", resume=True)


def test_a_run_that_ends_before_anything_is_sent_gives_its_share_back(tmp_path: Path) -> None:
    risk, journal = tmp_path / "risk.db", tmp_path / "run.journal"
    ascertain.observe(LAMP, "simulated:3", journal=journal)
    words: dict[str, Any] = {"risk_file": risk, "total_alpha": "1/10", "risk_schedule": "equal:2"}
    with pytest.raises(FileError, match="add --resume"):
        ascertain.observe(LAMP, "simulated:3", journal=journal, **words)
    with pytest.raises(AscertainError):
        ascertain.observe(LAMP, "simulated:3", identity="another plant", **words)
    found = read_risk_file(risk)
    assert [share.returned for share in found.shares] == [True] and found.spent == 0  # the first took none

    class Broken:
        def send(self, action: str) -> str:
            raise PlantFault("no")

    assert not ascertain.observe(LAMP, Broken(), **words).is_certified
    assert read_risk_file(risk).spent == Fraction(1, 20)


def write(path: Path, records: list[dict[str, Any]], *, table: str = TABLE) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(table)
        head = START
        for number, record in enumerate(records):
            head = hash_record(head, record)
            text = json.dumps(record, sort_keys=True, separators=(",", ":"))
            connection.execute("INSERT INTO record VALUES (?, ?, ?)", (number, text, head))
    connection.close()


HEAD = {"record": "risk", "format": "ascertain-risk", "version": 1, "total": "1/10", "schedule": None}
BACK = {"record": "returned", "number": 0, "time": "t"}
SHARE = {"record": "share", "number": 0, "alpha": "1/20", "scheduled": False, "time": "t", "task_sha256": "", "run": ""}


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ([{**HEAD, "version": 2}], "record 0 is not one that a risk file holds"),
        ([{**HEAD, "total": "3/2"}], "record 0 is not one"),
        ([{**HEAD, "schedule": 7}], "record 0 is not one"),
        ([{"record": "commitment"}], "record 0 is not one"),
        ([HEAD, {**SHARE, "alpha": "1/5"}], "more than the total is spent"),
        ([HEAD, {**SHARE, "alpha": "-1/5"}], "record 1 is not one"),
        ([HEAD, {**SHARE, "number": True}], "record 1 is not one"),
        ([HEAD, {**SHARE, "number": -1}], "record 1 is not one"),
        ([HEAD, {**SHARE, "run": 3}], "record 1 is not one"),
        ([{**HEAD, "version": True}], "record 0 is not one"),
        ([{**HEAD, "note": ""}], "record 0 is not one"),
        ([{k: v for k, v in HEAD.items() if k != "schedule"}], "record 0 is not one"),
        ([HEAD, HEAD], "record 1 is not one"),
        ([HEAD, {**SHARE, "scheduled": 0}], "record 1 is not one"),
        ([HEAD, {**SHARE, "note": ""}], "record 1 is not one"),
        ([HEAD, BACK], "record 1 is not one"),
        ([HEAD, SHARE, {**BACK, "time": 3}], "record 2 is not one"),
        ([HEAD, SHARE, {**BACK, "outcome": "certified"}], "record 2 is not one"),
        ([HEAD, SHARE, *[BACK] * 2], "record 3 is not one"),
        ([HEAD, *({**SHARE, "number": k, "alpha": f"1/{10**199 + k}"} for k in range(60))], "too many digits"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused(tmp_path: Path, records: list[dict[str, Any]], why: str) -> None:
    path = tmp_path / "risk.db"
    write(path, records)
    with pytest.raises(FileError, match=why):
        take(path)


def test_files_of_other_kinds_are_refused_in_a_sentence(tmp_path: Path) -> None:
    text, other, journal, changed = (tmp_path / name for name in ("text", "other.db", "run.journal", "changed.db"))
    text.write_text("not SQLite, and longer than nothing at all\n" * 40)
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE x (y)")
    connection.close()
    ascertain.observe(LAMP, "simulated:3", journal=journal)
    take(changed, total="1/10", alpha=Fraction(1, 20))
    with sqlite3.connect(changed) as connection:
        connection.execute("UPDATE record SET body = replace(body, '1/20', '1/90')")
    connection.close()
    for path, why in (
        (text, "this is not a risk file, or it is damaged"),
        (other, "this is not a risk file"),
        (journal, "record 0 is not one that a risk file holds"),
        (changed, "record 1 is not one"),
        (tmp_path / "none", "there is no such risk file"),
    ):
        with pytest.raises(FileError, match=why):
            read_risk_file(path)
