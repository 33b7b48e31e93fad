"""`observe` keeps all shells of a bank unless a number or a calibration says otherwise, and says which."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ascertain.bank.calibration_file import Calibration, write_calibration
from ascertain.bank.compile import compile_bank
from ascertain.bank.shells import KeptShells, bank_shells
from ascertain.errors import TaskError
from ascertain.observer.banks import OperationBank
from ascertain.pipeline.calibrate import calibrate
from ascertain.pipeline.observe import observe
from ascertain.problem.observer import pose_observer
from ascertain.problem.operation import pose_operation
from ascertain.problem.problem import read_problem
from tests.calls import call
from tests.conftest import LAMP, ROOT

FOLDER = ROOT / "examples" / "operation"
PRESS = FOLDER / "press.toml"


def calibrate_press(strata: int = 1) -> Calibration:
    """Four days on which the press ended in its second shell, or where it should."""
    operation = pose_operation(read_problem(PRESS))
    compiled = compile_bank(operation)
    second = int(list(compiled.shells())[1].states[-1])
    assert compiled.nominal is not None
    return calibrate([[(operation, second)] * strata, *[[(operation, compiled.nominal)] * strata] * 3])


def copy_press(folder: Path, extra: str) -> Path:
    for path in FOLDER.glob("press*"):
        shutil.copy(path, folder / path.name)
    problem = folder / "press.toml"
    observe, operation = ("", extra) if extra.startswith("calibration") else (extra, "")
    text = problem.read_text().replace("[operation]\n", f"[operation]\n{operation}\n")
    problem.write_text(f"{text}\n[observe]\n{observe}\n")
    return problem


def run(*words: object, code: int = 0) -> Any:
    return call("observe", *words, "--plant", "simulated:4", code=code)


def test_all_are_kept_unless_a_number_says_otherwise() -> None:
    facts = observe(PRESS, "simulated:4").facts()
    assert facts["shells"] == {"kept": "all", "said_by": "default", "coverage": None}
    facts = observe(PRESS, "simulated:4", shells=2).facts()
    assert facts["shells"] == {"kept": 2, "said_by": "number", "coverage": None}
    compiled = compile_bank(pose_operation(read_problem(PRESS)))
    for shells, kept in ((None, compiled.num_shells), (2, 2)):
        _, make_bank = pose_observer(read_problem(PRESS), shells=shells)
        assert make_bank is not None and make_bank() == bank_shells(compiled, kept)
    assert observe(LAMP, "simulated:4").facts()["shells"] is None


def test_a_calibration_says_how_many_and_how_often_they_are_enough(tmp_path: Path) -> None:
    problem = copy_press(tmp_path, 'calibration = "days.json"')
    write_calibration(calibrate_press(), tmp_path / "days.json")
    kept = KeptShells(2, "calibration", Fraction(4, 5))
    assert observe(problem, "simulated:4").shells == kept
    assert observe(PRESS, "simulated:4", shells=calibrate_press(strata=3)).shells == kept
    assert tmp_path / "days.json" in read_problem(problem).sources
    assert observe(problem, "simulated:4", shells=1).facts()["shells"]["said_by"] == "number"  # it goes before the file


def test_the_verb_says_which(tmp_path: Path) -> None:
    assert "shells kept  all\n" in run(PRESS).stdout.replace("│", "") or "all" in _row(run(PRESS).stdout)
    assert _row(run(PRESS, "--shells", 2).stdout).split()[-1] == "2"
    problem = copy_press(tmp_path, 'calibration = "days.json"')
    write_calibration(calibrate_press(), tmp_path / "days.json")
    assert "2, as the calibration says (promised coverage at" in _row(run(problem).stdout)
    assert json.loads(run(problem, "--json").stdout)["shells"]["coverage"] == "4/5"
    assert "shells" not in run(LAMP).stdout


def _row(table: str) -> str:
    return next(line for line in table.splitlines() if "shells kept" in line).strip(" │|")


def test_a_compiler_that_never_gives_all_says_how_many_it_gives() -> None:
    operation = pose_operation(read_problem(PRESS))
    assert OperationBank(operation, "direct").kept == KeptShells(8, "compiler")
    assert OperationBank(operation, "direct", 3).kept == KeptShells(3, "number")
    # What a run is committed to is what it was before it was said who says so.
    assert OperationBank(operation, "direct").bank_data()["shells"] is None
    assert OperationBank(operation, "merging", KeptShells(2, "calibration", Fraction(4, 5))).bank_data()["shells"] == 2


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    found = calibrate_press()
    other = Calibration(
        **{**{name: getattr(found, name) for name in found.__dataclass_fields__}, "settings_hash": "a" * 64}
    )
    with pytest.raises(TaskError, match="calibrated under settings"):
        observe(PRESS, "simulated:4", shells=other)
    none = Calibration(
        **{**{name: getattr(found, name) for name in found.__dataclass_fields__}, "ranks": ((None,),) * 4}
    )
    with pytest.raises(TaskError, match="no number of shells will do"):
        observe(PRESS, "simulated:4", shells=none)
    with pytest.raises(TaskError, match="no shells to keep"):
        observe(LAMP, "simulated:4", shells=2)
    with pytest.raises(TaskError, match="at least one"):
        observe(PRESS, "simulated:4", shells=0)
    both = copy_press(tmp_path, 'calibration = "days.json"')
    both.write_text(both.read_text() + "shells = 2\n")
    assert "leave one of them out" in run(both, code=2).stderr
    missing = copy_press(tmp_path, "").with_name("press.toml")
    press = PRESS.read_text()
    missing.write_text(press.replace("[operation]\n", '[operation]\ncalibration = "nowhere.json"\n'))
    assert "nowhere.json" in run(missing, code=2).stderr
    for key, value in (("[operation]\n", '[operation]\ncalibration = "\\u0000"\n'), ("press.csv", "\\u0000")):
        missing.write_text(press.replace(key, value))
        assert "internal" not in run(missing, code=2).stderr


def test_a_truth_that_is_always_the_nominal_keeps_a_shell_all_the_same() -> None:
    found = calibrate_press()
    inactive = Calibration(
        **{**{name: getattr(found, name) for name in found.__dataclass_fields__}, "ranks": ((0,),) * 4}
    )
    assert inactive.kept.number == 1
    assert observe(PRESS, "simulated:4", shells=inactive).facts()["shells"]["kept"] == 1
