"""Real processes that are killed at random go on to the verdict that they would have reached."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ascertain.observer.settings import POLICIES
from tests.journal_runs import (
    memory_folder,
    without_times,
)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    yield from memory_folder()


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
        assert without_times(journal)[1:] == without_times(tmp_path / f"alone{number}")[1:]


def test_a_process_that_is_killed_goes_on_to_the_verdict_it_would_have_reached(tmp_path: Path) -> None:
    survive(tmp_path, kills=3, seed=1)


@pytest.mark.slow
def test_two_hundred_killed_processes_go_on_to_the_verdict_they_would_have_reached(tmp_path: Path) -> None:
    survive(tmp_path, kills=210, seed=2)
