"""Live runs over TCP and wiring that are killed lose nothing; the campaign itself is `benchmarks/kills.py`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.mark.slow
def test_live_runs_that_are_killed_lose_nothing() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "kills.py"), "--kills", "60", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lost records 0, lost steps 0, wrong answers 0" in done.stdout
