"""What version 0.1.0 wrote is still read: certificates verify, journals are resumed, results and stores are taken up.

The files in tests/data/v0.1.0 were written by that version: certificates by `solve`, `bounds`, `fingerprint` and
`observe`; journals by finished runs, one that ran out of budget and one that was killed; a plan, a bank, a calibration,
and the folder of a study.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ascertain.bank.calibration_file import read_calibration
from ascertain.errors import FileError
from ascertain.observer import banks
from ascertain.pipeline.compile import compile_operation
from ascertain.pipeline.observe import observe
from ascertain.pipeline.simulate import simulate
from ascertain.pipeline.verify import verify
from ascertain.version import __version__
from tests.conftest import ROOT

OLD = ROOT / "tests" / "data" / "v0.1.0"
EXAMPLES = ROOT / "examples"
RUNS = {"turntable": "operation/turntable", "tiger": "tiger/where", "press": "operation/press"}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return Path(shutil.copytree(OLD, tmp_path / "old"))


@pytest.mark.parametrize("name", ["leak", "serviced", "lamp", "servers", "turntable", "tiger", "press"])
def test_its_certificates_verify(name: str) -> None:
    assert str(verify(OLD / f"{name}.task.json", OLD / f"{name}.json")) == "VERIFIED"


@pytest.mark.parametrize(("name", "problem"), RUNS.items())
def test_its_finished_runs_are_resumed_to_the_same_certificate(old: Path, name: str, problem: str) -> None:
    written = old / "again.json"
    observed = observe(
        EXAMPLES / f"{problem}.toml", "simulated:4", journal=old / f"{name}.journal", resume=True, certificate=written
    )
    assert observed.is_certified
    made_by = (
        f'"made_by":"ascertain {__version__}"'  # the run's own commitment still names the version it was begun with
    )
    assert written.read_text().count(made_by) == 1
    assert written.read_text().replace(made_by, '"made_by":"ascertain 0.1.0"') == (old / f"{name}.json").read_text()


def test_a_version_that_gives_other_banks_resumes_none_of_its_runs(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(banks, "RULES", "9.0.0")
    with pytest.raises(FileError, match=r"committed to something else \(bank\)"):
        observe(EXAMPLES / "operation" / "press.toml", "simulated:4", journal=old / "press.journal", resume=True)


def test_its_killed_run_goes_on(old: Path) -> None:
    answers = iter(["dark"] * 9)
    observed = observe(
        EXAMPLES / "plants" / "lamp.toml",
        "manual:",
        journal=old / "cut.journal",
        resume=True,
        ask=lambda _: next(answers),
    )
    assert observed.facts()["label"] == "dark"
    assert observed.facts()["readings"] == 5  # two before it was killed, three since


def test_its_run_without_budget_stays_abstained(old: Path) -> None:
    lamp = EXAMPLES / "plants" / "lamp.toml"
    observed = observe(lamp, "simulated:4", budget=3, journal=old / "lamp.journal", resume=True)
    assert "budget of 3 actions" in observed.facts()["reason"]


def test_its_plan_is_walked() -> None:
    assert all(each.right for each in simulate(EXAMPLES / "valve" / "leak.toml", OLD / "leak.plan.json").walks)


def test_its_bank_comes_out_again_to_the_byte(tmp_path: Path) -> None:
    compile_operation(EXAMPLES / "operation" / "press.toml").write(tmp_path / "bank.json")
    assert (tmp_path / "bank.json").read_bytes() == (OLD / "press.bank.json").read_bytes()


def test_its_calibration_is_read() -> None:
    written = json.loads((OLD / "calibration.json").read_text())
    read = read_calibration(OLD / "calibration.json")
    assert [list(row) for row in read.ranks] == written["ranks"]
    assert read.made_by == "ascertain 0.1.0"


def resume_confirmation(old: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ascertain", "reproduce", "confirmation", "--settings", "small", "--resume"]
    command += ["--out", str(old / "study"), "--workers", "1"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=os.environ)


def test_its_confirmation_measured_something_else_and_is_refused(old: Path) -> None:
    before = (old / "study" / "confirmation-quick.sqlite").read_bytes()
    done = resume_confirmation(old)
    assert done.returncode == 2
    assert "measured something else" in done.stderr and "--study NAME" in done.stderr
    assert (old / "study" / "confirmation-quick.sqlite").read_bytes() == before


def test_its_calibration_is_resumed_without_computing_again(old: Path) -> None:
    kept = old / "study" / "confirmation-calibration-quick.sqlite"
    before = kept.read_bytes()
    (old / "study" / "confirmation-quick.sqlite").unlink()
    done = resume_confirmation(old)
    assert done.returncode == 0, done.stderr
    assert kept.read_bytes() == before
