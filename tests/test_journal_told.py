"""A journal told in names, in a table and as a log; faults that are told; programs that leave nothing behind."""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path

import pytest

from ascertain.errors import FileError
from ascertain.live.deadline import Deadline
from ascertain.live.faults import LONGEST_PAUSE, FaultPolicy, ask_plant
from ascertain.live.walk import walk_policy
from ascertain.model.build import machine_from_transitions
from ascertain.pipeline.identify import identify
from ascertain.pipeline.journal import read_journal
from ascertain.pipeline.observe import observe
from ascertain.pipeline.settle import settle
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.channel import MAX_ERRORS
from ascertain.plant.faults import Garbled, HungUp, InDoubt, Late, Missing
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Abstained, Certified
from ascertain.problem.pose import pose
from tests.conftest import LAMP
from tests.test_cli import complaint, run
from tests.test_earlier_versions import OLD
from tests.test_identify import SERVERS, truth
from tests.test_recovery import Broken


def test_a_journal_is_told_in_names_and_replayed_from_its_log(tmp_path: Path) -> None:
    found = observe(LAMP, "simulated:3", journal=tmp_path / "j")
    told = read_journal(tmp_path / "j")
    assert [(s.action, s.reading) for s in told.steps] == [(a, y) for a, y, _ in found.transcript]
    facts = told.facts()
    assert (facts["verdict"], facts["label"], facts["address"]) == ("certified", found.facts()["label"], "simulated:3")
    assert facts["identity"] is None and facts["began"] <= facts["ended"]
    told.write_csv(tmp_path / "log.csv")
    again = observe(LAMP, f"replay:{tmp_path / 'log.csv'}")
    assert again.facts()["transcript"] == found.facts()["transcript"]


def test_the_verb_shows_a_run_and_writes_its_log(tmp_path: Path) -> None:
    journal = tmp_path / "j"
    observe(LAMP, "simulated:3", journal=journal)
    done = run("journal", journal, "--csv", tmp_path / "log.csv")
    assert done.returncode == 0 and "simulated:3" in done.stdout and "certified: " in done.stdout
    assert (tmp_path / "log.csv").read_text().splitlines()[0] == "command,reading"
    assert json.loads(run("journal", journal, "--json").stdout)["steps"][0]["action"] == "look"
    assert "there is no such journal" in complaint("journal", tmp_path / "none")
    before = journal.read_bytes()
    assert "is an input" in complaint("journal", journal, "--csv", journal) and journal.read_bytes() == before
    (tmp_path / "text").write_text("no journal")
    assert "not a journal" in complaint("journal", tmp_path / "text")


def test_faults_doubts_and_conformance_runs_are_told_too(tmp_path: Path) -> None:
    identify(SERVERS, Broken(truth("cedar"), 3), journal=tmp_path / "j")
    assert read_journal(tmp_path / "j").steps[-1].outcome == "open"
    identify(SERVERS, Broken(truth("cedar"), 99), conform_by="sample:3", journal=tmp_path / "j", resume=True)
    told = read_journal(tmp_path / "j")
    assert "the plant failed: it has gone; goes on from a reset" in told.steps[2].remark
    assert (told.steps[3].action, told.steps[3].reading) == ("RESET", "reset")
    told.write_csv(tmp_path / "log.csv")
    assert len((tmp_path / "log.csv").read_text().splitlines()) == len(told.steps)  # a header, and not the open action
    words = read_journal(tmp_path / "j.conformance")
    assert words.kind == "conformance" and words.steps[0].action == "RESET" and words.facts()["ended"] is not None


def test_a_journal_of_version_0_1_0_is_told_by_numbers(tmp_path: Path) -> None:
    for file in OLD.glob("lamp.journal*"):
        shutil.copy(file, tmp_path)
    told = read_journal(tmp_path / "lamp.journal")
    assert told.steps and told.steps[0].action.startswith("#") and told.header["began"] is None
    with pytest.raises(FileError, match="before names were kept"):
        told.write_csv(tmp_path / "log.csv")


def test_mended_faults_are_told_in_the_terminal(tmp_path: Path) -> None:
    plant = tmp_path / "plant.py"
    plant.write_text(
        "import sys\nfailed = False\n"
        "for line in sys.stdin:\n"
        "    number = line.split()[0]\n"
        "    if number == 'hello':\n        print('plant moody retry-safe', flush=True)\n        continue\n"
        "    print(number, 'lit' if failed else '~who knows', flush=True)\n    failed = True\n"
    )
    done = run("observe", LAMP, "--plant", f"exec:{sys.executable} {plant}")
    assert done.returncode == 0
    assert "faults of the plant" in done.stdout and "asked again, and answered" in done.stdout
    [fault] = json.loads(run("observe", LAMP, "--plant", f"exec:{sys.executable} {plant}", "--json").stdout)["faults"]
    assert (fault["at"], fault["kind"], fault["outcome"]) == (1, "in doubt", "reading")


# Pauses.


class Silent(AbstractPlant):
    retry_safe = True

    def send(self, action: str) -> str:
        raise Late("nothing")

    repeat = send


def test_pauses_double_up_to_a_bound_and_end_with_the_deadline() -> None:
    slept = list[float]()
    heard = ask_plant(Silent(), "a", {}, FaultPolicy(10, sleep=slept.append))
    assert slept == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]
    assert len(heard.faults) == 11
    now = [0.0]
    slept.clear()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    assert (
        ask_plant(Silent(), "a", {}, FaultPolicy(10, sleep=sleep), Deadline(0.5, lambda: now[0])).outcome == "cut short"
    )
    assert slept == [0.1, 0.2, pytest.approx(0.2)]


# A policy that is walked.


class Moody(AbstractPlant):
    """Raises what it is given, in order, and answers where that is None."""

    def __init__(self, plant: AbstractPlant, *moods: Exception | None, retry_safe: bool = False) -> None:
        self.plant, self.moods, self.retry_safe = plant, list(moods), retry_safe

    def send(self, action: str) -> str:
        mood = self.moods.pop(0) if self.moods else None
        if mood is not None:
            if isinstance(mood, Missing):
                self.plant.send(action)
            raise mood
        return self.plant.send(action)

    repeat = send


def test_a_walk_treats_faults_as_a_session_does() -> None:
    # Pressing says nothing, and only then looking does.
    rows = [("s", "press", "ok", "t"), ("u", "press", "ok", "v"), ("s", "look", "no", "s"), ("u", "look", "no", "u")]
    rows += [
        ("t", "look", "lit", "t"),
        ("v", "look", "dark", "v"),
        ("t", "press", "ok", "t"),
        ("v", "press", "ok", "v"),
    ]
    lamp = machine_from_transitions(rows)
    task = pose(lamp, hypotheses=["s", "u"], label="state")
    policy = settle(task).policy
    assert policy is not None

    def walk(*moods: Exception | None, retry_safe: bool = False):
        plant = Moody(SimulatedPlant(lamp, 0), *moods, retry_safe=retry_safe)
        return walk_policy(task, policy, plant, patience=FaultPolicy(pause=0))

    assert walk().verdict == Certified("s")
    mended = walk(Late("x"), InDoubt("x"), retry_safe=True)
    assert mended.verdict == Certified("s") and len(mended.faults) == 2 and not mended.plant_failed
    unread = walk(Missing("x"))  # what pressing reads does not matter
    assert unread.verdict == Certified("s") and unread.transcript[0] == ("press", None)
    lost = walk(None, Missing("x"))
    assert lost.verdict == Abstained("the reading of 'look' was lost, and the policy depends on it")
    for fault in (HungUp("gone"), Garbled("noise")):
        failed = walk(fault)
        assert failed.verdict == Abstained(str(fault)) and failed.plant_failed and failed.transcript == ()
    assert walk(Late("x")).verdict == Abstained("nobody knows whether 'press' ran")


# Programs.


def is_alive(number: int) -> bool:
    """Whether the process runs; one that has ended and is not tidied up yet does not."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
@pytest.mark.parametrize("stubborn", [False, True])
def test_a_program_that_ends_leaves_no_children_behind(tmp_path: Path, stubborn: bool) -> None:
    child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    lines = [
        "import subprocess, sys",
        f"child = subprocess.Popen([sys.executable, '-c', {child if stubborn else 'import time; time.sleep(600)'!r}])",
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))",
        "for line in sys.stdin:",
        "    number = line.split()[0]",
        "    print('plant parent' if number == 'hello' else number + ' lit', flush=True)",
    ]
    (tmp_path / "plant.py").write_text("\n".join(lines))
    observe(LAMP, f"exec:{sys.executable} {tmp_path / 'plant.py'}")
    number = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 10
    while is_alive(number) and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_alive(number)


def test_what_a_program_writes_to_standard_error_is_bounded_and_escaped(tmp_path: Path) -> None:
    lines = [
        "import sys",
        "for line in sys.stdin:",
        f"    sys.stderr.write('{chr(92)}033]0;VERIFIED{chr(92)}007{chr(92)}n' + 'y' * {MAX_ERRORS // 2})",
        "    number = line.split()[0]",
        "    print('plant chatty' if number == 'hello' else number + ' lit', flush=True)",
    ]
    (tmp_path / "plant.py").write_text("\n".join(lines))
    done = run("observe", LAMP, "--plant", f"exec:{sys.executable} {tmp_path / 'plant.py'}")
    assert done.returncode == 0
    assert r"\x1b]0;VERIFIED\x07" in done.stderr and done.stderr.replace("\n", "").isprintable()
    assert done.stderr.count("y") <= MAX_ERRORS + 100 and "the rest is not shown" in done.stderr
