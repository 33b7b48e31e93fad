"""From a problem file to an observer: where nominal and bank come from, and what is said when they are not there."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from ascertain.bank.compile import compile_bank
from ascertain.bank.shells import bank_shells
from ascertain.errors import AscertainError, TaskError
from ascertain.observer.banks import EveryState, HypothesesBank, OperationBank
from ascertain.observer.staged import Act, start_observer
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Certified
from ascertain.problem.observer import pose_observer
from ascertain.problem.operation import pose_operation
from ascertain.problem.problem import read_problem
from ascertain.task.bank import EvenBank, listed_bank, uniform_bank
from ascertain.types import UNDEFINED
from tests.conftest import ROOT

TANK = [
    ("empty", "fill", "ok", "half"),
    ("half", "fill", "ok", "full"),
    ("full", "fill", "no", "full"),
    ("full", "drain", "ok", "empty"),
    ("half", "drain", "ok", "empty"),
    ("empty", "drain", "no", "empty"),
]
MACHINE = "[model]\ninitial = 'empty'\ntransitions = " + json.dumps([list(row) for row in TANK]) + "\n"
LARGE = """[model]
bits = {bits}
[[model.command]]
name = "look"
gates = []
tap = "b0"
[[model.command]]
name = "turn"
gates = [["not", "b1"]]
tap = "b1"
"""
PRESS = ROOT / "examples" / "operation" / "press.toml"
TURNTABLE = ROOT / "examples" / "operation" / "turntable.toml"


def problem(folder: Path, text: str) -> Path:
    path = folder / "problem.toml"
    path.write_text(text, encoding="utf-8")
    return path


def large(bits: int) -> str:
    return LARGE.format(bits=json.dumps([f"b{i}" for i in range(bits)]))


def test_a_machine_without_a_nominal_is_observed_eagerly_with_its_hypotheses_for_a_bank(tmp_path: Path) -> None:
    options, make_bank = pose_observer(read_problem(problem(tmp_path, MACHINE)))
    assert (options.policy, options.nominal, options.alpha) == ("eager", None, 0)
    assert isinstance(make_bank, HypothesesBank)
    assert make_bank() == uniform_bank(range(3))
    model = options.model
    for truth, name in enumerate(("empty", "half", "full")):
        observer, device = start_observer(options, make_bank), SimulatedPlant(model, truth)
        while isinstance(act := observer.next(), Act):
            observer = observer.update(act.action, model.readings.index(device.send(model.actions[act.action])))
        assert act == Certified(name)
    with pytest.raises(TaskError, match="'staged' needs a nominal"):
        pose_observer(read_problem(problem(tmp_path, MACHINE)), policy="staged")


def test_what_is_asked_for_goes_before_what_the_file_says(tmp_path: Path) -> None:
    text = MACHINE + (
        "[noise]\nflip = '1/50'\n[risk]\nalpha = '1/1000'\n[observe]\nnominal = 'half'\npolicy = 'staged'\n"
        "budget = 50\nthreshold = 7\nprobing = 'separating'\nnominal_share = '1/3'\nrejection = '1/99'\ndoublings = 2\n"
        "limits = { drain = 5 }\n"
    )
    read = read_problem(problem(tmp_path, text))
    options, _ = pose_observer(read)
    assert (options.policy, options.nominal, options.budget, options.threshold) == ("staged", 1, 50, 7)
    assert (options.probing, options.nominal_share, options.rejection) == (
        "separating",
        Fraction(1, 3),
        Fraction(1, 99),
    )
    assert (options.doubts.limit, options.limits, options.alpha) == (2, {1: 5}, Fraction(1, 1000))
    other, _ = pose_observer(read, policy="reuse", alpha="1/20", probing="round-robin", budget=9, threshold="1/2")
    assert (other.policy, other.budget, other.threshold, other.probing) == ("reuse", 9, Fraction(1, 2), "round-robin")
    assert other.alpha == other.question.alpha == Fraction(1, 20)
    assert other.settings_data()["task"] != options.settings_data()["task"]


def test_the_nominal_of_an_operation_is_where_its_log_as_sent_ends_and_the_bank_is_compiled_from_it() -> None:
    for path in (PRESS, TURNTABLE):
        read = read_problem(path)
        operation = pose_operation(read)
        compiled = compile_bank(operation)
        options, make_bank = pose_observer(read, against="exhaustive")
        assert options.nominal == compiled.nominal
        assert isinstance(make_bank, OperationBank)
        assert make_bank.report is None
        assert make_bank() == bank_shells(compiled, compiled.num_shells)
        assert make_bank.report is not None
        assert make_bank.report.map_equal is True
        assert make_bank.bank_data() == OperationBank(operation).bank_data()
        assert make_bank.bank_data() != OperationBank(operation, shells=1).bank_data()


def test_the_direct_compiler_gives_a_bank_of_its_first_shells() -> None:
    operation = pose_operation(read_problem(TURNTABLE))
    direct = OperationBank(operation, "direct", 2, against="merging")
    assert direct() == OperationBank(operation, "merging", 2)()
    assert direct.report is not None
    assert direct.report.map_equal is True


def test_a_log_that_cannot_have_happened_as_sent_leaves_no_nominal(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("command,reading\nfill,\nfill,\n", encoding="utf-8")
    partial = [row for row in TANK if row[:2] != ("half", "fill")]
    text = "[model]\ninitial = 'empty'\ntransitions = " + json.dumps(partial) + "\n"
    read = read_problem(problem(tmp_path, text + "[operation]\nlog = 'run.csv'\nalternatives = { fill = [''] }\n"))
    options, make_bank = pose_observer(read)
    assert (options.policy, options.nominal) == ("eager", None)
    assert make_bank is not None
    assert listed_bank(make_bank()).states == (1,)
    assert int(read.task.model.successor[1, 0]) == UNDEFINED


def test_without_nominal_or_operation_every_state_of_a_large_plant_is_a_candidate(tmp_path: Path) -> None:
    options, make_bank = pose_observer(read_problem(problem(tmp_path, large(20))))
    assert (options.policy, options.nominal) == ("eager", None)
    assert make_bank is not None
    assert make_bank() == EvenBank(2**20)
    nominal = f"[observe]\nnominal = '{'0' * 20}'\n"
    options, make_bank = pose_observer(read_problem(problem(tmp_path, large(20) + nominal)))
    assert make_bank is None
    assert options.policy == "readwise"
    _, make_bank = pose_observer(read_problem(problem(tmp_path, large(20) + nominal)), policy="eager")
    assert isinstance(make_bank, EveryState)
    with pytest.raises(TaskError, match="the policy 'reuse' needs a bank, and the problem has none"):
        pose_observer(read_problem(problem(tmp_path, large(20) + nominal)), policy="reuse")
    listed = f"[task]\nhypotheses = ['{'0' * 20}', '{'1' * 20}']\n"
    options, make_bank = pose_observer(read_problem(problem(tmp_path, large(20) + listed)))
    assert make_bank is not None
    assert make_bank() == uniform_bank((0, 2**20 - 1))
    small, make_bank = pose_observer(read_problem(problem(tmp_path, large(3))))
    assert (small.policy, make_bank is not None and make_bank().num_candidates) == ("eager", 8)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[observe]\nnominal = 'hlaf'\n", "did you mean 'half'"),
        ("[observe]\nnominal = 'half'\nlimits = { drian = 1 }\n", "limits: 'drian' is not an action .* 'drain'"),
        ("[task]\nhypotheses = ['empty']\n[observe]\nnominal = 'half'\n", "'half' is not one of the hypotheses"),
    ],
)
def test_names_that_do_not_fit_are_told(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(AscertainError, match=message):
        pose_observer(read_problem(problem(tmp_path, MACHINE + text)))
