"""`calibrate PROBLEM --runs FILE`: how many shells one's own plant needs, and a run that keeps as many."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from ascertain.bank.calibration_file import calibration_data, read_calibration
from ascertain.bank.compile import compile_bank
from ascertain.bank.shells import bank_shells, rank_state
from ascertain.bank.weights import EQUAL
from ascertain.errors import FileError, TaskError
from ascertain.observer.banks import OperationBank
from ascertain.pipeline.calibrate import calibrate_runs
from ascertain.pipeline.observe import observe
from ascertain.problem.observer import pose_observer
from ascertain.problem.operation import pose_operation
from ascertain.problem.problem import read_problem
from tests.calls import call
from tests.conftest import ROOT

FOLDER = ROOT / "examples" / "operation"


def copy_press(folder: Path, operation: str = "") -> Path:
    for path in FOLDER.glob("press*"):
        shutil.copy(path, folder / path.name)
    problem = folder / "press.toml"
    problem.write_text(problem.read_text().replace("[operation]\n", f"[operation]\n{operation}\n"))
    return problem


def ends(problem: Path) -> list[str]:
    """The name of the nominal, then of a state of each shell."""
    operation = pose_operation(read_problem(problem))
    compiled = compile_bank(operation)
    assert compiled.nominal is not None
    states = [compiled.nominal, *(int(shell.states[-1]) for shell in compiled.shells())]
    assert [rank_state(compiled, s) for s in states[:3]] == [0, 1, 2]
    return [operation.model.name_state(s) for s in states]


def write_runs(path: Path, rows: list[str], header: str = "log,end,block,group") -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_blocks_are_covered_whole_and_groups_each_by_themselves(tmp_path: Path) -> None:
    problem = copy_press(tmp_path)
    names = ends(problem)
    days = [(0, "mon,A"), (2, "mon,A"), (1, "tue,B"), (1, "wed,A"), (0, "thu,B"), (1, "thu,B")]
    rows = [f"press.csv,{names[rank]},{day}" for rank, day in days]
    runs, out = write_runs(tmp_path / "runs.csv", rows), tmp_path / "days.json"
    found = json.loads(call("calibrate", problem, "--runs", runs, "--out", out, "--json").stdout)
    assert (found["ranks"], found["blocks"]) == ([[2], [1], [1], [1]], ["mon", "tue", "wed", "thu"])
    assert (found["shells"], found["coverage"]) == (2, "4/5")
    assert found["per_group"] == [
        {"group": "A", "shells": 2, "coverage": "2/3"},
        {"group": "B", "shells": 1, "coverage": "2/3"},
    ]
    assert read_calibration(out) == calibrate_runs(problem, runs)
    assert "Keep 2 shells" in call("calibrate", problem, "--runs", runs).stdout
    lines = tmp_path / "runs.jsonl"
    lines.write_text(
        "".join(json.dumps(dict(zip(("log", "end"), row.split(","), strict=False))) + "\n" for row in rows)
    )
    alone = calibrate_runs(problem, lines, place=2)
    assert (len(alone.blocks), alone.whole.shells, alone.whole.coverage) == (6, 1, Fraction(5, 7))
    assert alone.groups == () and "groups" not in calibration_data(alone)


def test_the_calibration_sets_the_shells_and_what_it_promises_stands_in_the_certificate(tmp_path: Path) -> None:
    problem = copy_press(tmp_path)
    names = ends(problem)
    rows = [f"press.csv,{names[r]},{r},{'A' if r else 'B'}" for r in (0, 1, 2)]
    calibrate_runs(problem, write_runs(tmp_path / "runs.csv", rows), out=tmp_path / "days.json")
    problem = copy_press(tmp_path, 'calibration = "days.json"')
    proof = tmp_path / "proof.json"
    facts = observe(problem, "simulated:4", certificate=proof, policy="eager").facts()
    assert facts["shells"] == {"kept": 2, "said_by": "calibration", "coverage": "3/4"}
    claim = json.loads(proof.read_text())["claims"][0]
    assert claim["records"][0]["bank"]["promised_coverage"] == "3/4" and facts["certificate"] == "VERIFIED"
    grouped = copy_press(tmp_path, 'calibration = "days.json"\ngroup = "B"')
    kept = {"kept": 1, "said_by": "calibration", "coverage": "1/2"}
    assert observe(grouped, "simulated:4").facts()["shells"] == kept
    unknown = copy_press(tmp_path, 'calibration = "days.json"\ngroup = "C"')
    with pytest.raises(TaskError, match="'C' is not a group of the calibration"):
        observe(unknown, "simulated:4")


def test_weights_are_chosen_in_the_problem_file(tmp_path: Path) -> None:
    problem = read_problem(copy_press(tmp_path, 'weights = "equal"'))
    _, make_bank = pose_observer(problem)
    assert isinstance(make_bank, OperationBank)
    compiled = compile_bank(pose_operation(problem))
    assert make_bank() == bank_shells(compiled, compiled.num_shells, EQUAL)
    assert make_bank.bank_data()["weighting"] == ["equal", None]
    cube = read_problem(copy_press(tmp_path, 'weights = "1/j^3"'))
    assert cube.operation is not None and cube.operation.weighting == "inverse_cube"
    with pytest.raises(TaskError, match="weights"):
        read_problem(copy_press(tmp_path, 'weights = "heavy"'))
    with pytest.raises(TaskError, match="incremental"):
        pose_observer(problem, policy="incremental")


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        ("log,end", [], "lists no operations"),
        ("log,end,blok", ["press.csv,000000,1"], "unknown column"),
        ("log,block", ["press.csv,1"], "one column 'end' is needed"),
        ("log,end", ["press.csv,nowhere"], "runs.csv:2: end: "),
        ("log,end", ["none.csv,000000"], "none.csv"),
        ("log,end", ["press.csv,"], "end must be text"),
        ("log,end,block,group", ["press.csv,000000,1,A", "press.csv,000000,1,B"], "two groups"),
        ("log,end,block,group", ["press.csv,000000,1,A", "press.csv,000000,2,"], "some have none"),
        ("log,end,start", ["press.csv,000000,here"], "start"),
    ],
)
def test_a_file_of_runs_that_is_wrong_is_refused(tmp_path: Path, header: str, rows: list[str], message: str) -> None:
    runs = write_runs(tmp_path / "runs.csv", rows, header)
    problem = copy_press(tmp_path)
    with pytest.raises(FileError) as refusal:
        calibrate_runs(problem, runs)
    assert message in str(refusal.value)
    assert message in call("calibrate", problem, "--runs", runs, code=2).stderr


def test_a_truth_that_cannot_be_promises_nothing(tmp_path: Path) -> None:
    problem = copy_press(tmp_path)
    operation = pose_operation(read_problem(problem))
    known = set(map(int, compile_bank(operation).endpoint))
    outside = next(s for s in range(operation.model.num_states) if s not in known)
    runs = write_runs(tmp_path / "runs.csv", [f"press.csv,{operation.model.name_state(outside)}"], "log,end")
    assert "nothing is promised" in call("calibrate", problem, "--runs", runs, code=3).stdout
    assert "this file is an input" in call("calibrate", problem, "--runs", runs, "--out", runs, code=2).stderr
