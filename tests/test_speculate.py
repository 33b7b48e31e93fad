"""Speculation: compiling beside a run changes nothing but when the bank is there, and no process stays behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ascertain.bank.shells import KeptShells
from ascertain.bank.weights import DEFAULT, Weighting
from ascertain.errors import LimitError
from ascertain.interruption import OutOfTime
from ascertain.live import speculation
from ascertain.live.compile_worker import CompileWorker
from ascertain.live.deadline import Deadline
from ascertain.live.journal import Journal
from ascertain.live.speculation import SpeculativeBank
from ascertain.observer.banks import OperationBank
from ascertain.observer.settings import PolicyName
from ascertain.pipeline.observe import observe
from ascertain.plant.abstract import AbstractPlant
from ascertain.problem.operation import pose_operation
from ascertain.problem.problem import read_problem
from tests.calls import call
from tests.conftest import ROOT
from tests.test_deadline import LAMP, OVER, PRESS, Clock, press


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes that compile, by their numbers."""
    numbers: list[int] = []

    def start() -> CompileWorker:
        worker = CompileWorker()
        numbers.append(worker.pid)
        return worker

    monkeypatch.setattr(speculation, "CompileWorker", start)
    return numbers


def is_gone(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{number}/stat")  # one that has ended may still be waited for by whoever inherited it
    return status.exists() and ") Z " in status.read_text()


def press_bank(**changes: Any) -> OperationBank:
    operation = replace(pose_operation(read_problem(PRESS)), **changes)
    return OperationBank(operation, "exhaustive" if changes else "merging")


def endless_bank() -> OperationBank:
    """A compilation that nobody lives to see the end of."""
    operation = pose_operation(read_problem(PRESS))
    long = replace(
        operation,
        sent=operation.sent.repeat(9),
        readings=operation.readings.repeat(9),
        trusted=operation.trusted.repeat(9),
    )
    return OperationBank(replace(long, max_replaced=8), "exhaustive")


@pytest.mark.parametrize("policy", ["staged", "readwise", "reuse", "eager"])
@pytest.mark.parametrize("away", [False, True])
@pytest.mark.usefixtures("one_time")
def test_verdict_transcript_journal_and_certificate_are_the_same(
    policy: PolicyName, away: bool, tmp_path: Path, started: list[int]
) -> None:
    facts: list[dict[str, Any]] = []
    for speculate in (False, True):
        place = tmp_path / str(speculate)
        place.mkdir()
        observed = observe(
            PRESS,
            press(away=away),
            policy=policy,
            journal=place / "run.journal",
            certificate=place / "run.json",
            speculate=speculate,
        )
        facts.append(observed.facts())
    assert facts[0] == facts[1] and facts[0]["certificate"] == "VERIFIED"
    for name in ("run.json", "run.task.json", "run.journal.head"):  # the head stands for every record
        assert (tmp_path / "False" / name).read_bytes() == (tmp_path / "True" / name).read_bytes()
    assert len(started) == (policy != "eager")  # who wants the bank at once gains nothing
    assert all(map(is_gone, started))


def test_the_bank_comes_from_the_process_with_its_report(started: list[int]) -> None:
    here = press_bank()
    with SpeculativeBank(press_bank()) as there:
        assert there.bank_data() == here.bank_data() and there.report is None
        there.begin()
        assert there() == here()
        assert there.report is not None and here.report is not None
        assert replace(there.report.stats, seconds=0.0) == replace(here.report.stats, seconds=0.0)
        assert is_gone(started[0])


def test_without_the_process_the_bank_is_compiled_here(monkeypatch: pytest.MonkeyPatch, started: list[int]) -> None:
    here = press_bank()()
    with SpeculativeBank(press_bank()) as killed:
        killed.begin()
        os.kill(started[0], 9)
        assert killed() == here
    odd = Weighting("odd", lambda sizes: tuple(DEFAULT.shares(sizes)))  # a function that cannot be sent
    operation = pose_operation(read_problem(PRESS))
    with SpeculativeBank(OperationBank(operation, weighting=odd)) as unsent:
        unsent.begin()
        assert unsent() == here and unsent.report is not None
    monkeypatch.setattr(speculation, "CompileWorker", _refuse)
    with SpeculativeBank(press_bank()) as alone:
        alone.begin()
        assert alone() == here
    assert all(map(is_gone, started))


def _refuse() -> None:
    raise OSError("too many processes")


def test_what_goes_wrong_is_what_goes_wrong_without_it() -> None:
    bank = endless_bank()
    bank = OperationBank(replace(bank.operation, max_replaced=60), "exhaustive", KeptShells())
    with SpeculativeBank(bank) as there:
        there.begin()
        with pytest.raises(LimitError, match="too many for the exhaustive"):
            there()


def test_a_deadline_ends_waiting_for_the_bank_and_the_process(started: list[int]) -> None:
    with Deadline(10, Clock(step=2.0)).limit(), SpeculativeBank(endless_bank()) as there:
        there.begin()
        with pytest.raises(OutOfTime, match=OVER):
            there()
    assert is_gone(started[0])


class Interrupting(AbstractPlant):
    """Somebody presses Ctrl-C at the second action."""

    actions = 0

    def send(self, action: str) -> str:
        self.actions += 1
        if self.actions == 2:
            raise KeyboardInterrupt
        return "0"


def test_an_interrupted_run_leaves_no_process(started: list[int], tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        observe(PRESS, Interrupting(), speculate=True, journal=tmp_path / "run.journal")
    assert len(started) == 1 and is_gone(started[0])
    with Journal(tmp_path / "run.journal") as journal:
        assert journal.records[-1]["record"] == "intent"


def test_a_killed_run_leaves_no_process() -> None:
    script = """
import time
from ascertain.live.compile_worker import CompileWorker
from tests.test_speculate import endless_bank
worker = CompileWorker()
worker.begin(endless_bank())
print(worker.pid, flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=ROOT) as run:
        assert run.stdout is not None
        number = int(run.stdout.readline())
        run.kill()
    for _ in range(600):  # it looks up whenever it reports progress
        if is_gone(number):
            return
        time.sleep(0.1)
    raise AssertionError(f"process {number} is still there")


def test_where_nothing_is_compiled_the_verb_says_so() -> None:
    assert "nothing to speculate on" in call("observe", LAMP, "--plant", "simulated:3", "--speculate").stderr
    done = call("observe", PRESS, "--plant", "simulated:4", "--speculate", "--deadline", "999")
    assert "speculate" not in done.stderr
