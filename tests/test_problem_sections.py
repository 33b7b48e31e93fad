"""Large plants, operations and observation in problem files: every key is read, and every mistake gets its sentence."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from ascertain.errors import AscertainError
from ascertain.model import Machine
from ascertain.pipeline.observe import observe
from ascertain.problem.operation import pose_operation
from ascertain.problem.pose_plant import pose_plant
from ascertain.problem.problem import read_problem
from ascertain.task.canonical import canonical_bytes, task_data, task_hash
from ascertain.task.plant_task import BitsRule, ExpressionRule, NominalRule, PlantTask, StateRule
from ascertain.task.task import Task
from ascertain.types import UNDEFINED

LARGE = """
[model]
bits = 20
flip = "1/50"
[[model.command]]
name = "fill up"
gates = [["and", "b2", "b0", "b1"]]
tap = "b2"
[[model.command]]
name = "look"
gates = []
tap = "b0"
"""
SMALL = LARGE.replace("bits = 20", "bits = 3")
MACHINE = """
[model]
initial = "shut"
transitions = [["shut", "OPEN", "ok", "open"], ["open", "OPEN", "err", "open"],
               ["open", "SHUT", "ok", "shut"], ["shut", "SHUT", "err", "shut"]]
"""
OPERATION = """
[operation]
log = "run.csv"
"""


def write(folder: Path, text: str, log: str = "command,reading,trusted\nOPEN,ok,true\nSHUT,ok,\nOPEN,,false\n") -> Path:
    (folder / "run.csv").write_text(log, encoding="utf-8")
    path = folder / "problem.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_plant_of_twenty_bits_is_asked_about_without_listing_its_states(tmp_path: Path) -> None:
    problem = read_problem(write(tmp_path, LARGE + "[task]\nlabel = { bits = ['b0', 'b19'] }\nactions = ['look']\n"))
    question = problem.question
    assert isinstance(question, PlantTask)
    assert question.rule == BitsRule((0, 19))
    assert (question.actions, question.states, problem.listed) == ((1,), None, None)
    assert question.label_of(1 << 19) == "b0=0 b19=1"
    with pytest.raises(AscertainError, match="20 bits, too many to list its states"):
        _ = problem.task


@pytest.mark.parametrize(
    ("label", "state", "expected"),
    [
        ("'state'", 5, "101"),
        ("{ bits = ['b2', 'b0'] }", 4, "b2=1 b0=0"),
        ("{ expression = 'b0 and not b1' }", 1, "true"),
        ("{ nominal = '011' }", 3, "nominal"),
        ("{ nominal = '011' }", 2, "other"),
    ],
)
def test_rules_label_states_as_tables_do(tmp_path: Path, label: str, state: int, expected: str) -> None:
    problem = read_problem(write(tmp_path, SMALL + f"[task]\nlabel = {label}\n"))
    assert isinstance(problem.question, PlantTask)
    assert problem.question.label_of(state) == expected
    assert problem.task.labels[problem.task.label[state]] == expected


def test_a_small_plant_whose_question_needs_a_list_is_enumerated(tmp_path: Path) -> None:
    table = SMALL + "[task]\nlabel = { 000 = 'off', '*' = 'on' }\n"
    assert isinstance(read_problem(write(tmp_path, table)).question, Task)
    reset = SMALL + "[reset]\naction = 'OFF'\nto = '000'\n"
    assert isinstance(read_problem(write(tmp_path, reset)).question, Task)


def test_the_canonical_form_of_a_plant_tells_questions_apart(tmp_path: Path) -> None:
    def posed(extra: str) -> PlantTask:
        question = read_problem(write(tmp_path, SMALL + extra)).question
        assert isinstance(question, PlantTask)
        return question

    extras = ["", "[task]\nlabel = { expression = 'b0 xor b1' }\n", "[task]\nhypotheses = ['000', '001']\n"]
    extras += ["[task]\nabout = 'current'\n", "[task]\nactions = ['look']\n", "[safety]\nnever = ['111']\n"]
    extras += ["[cost]\nlook = '1/2'\n", "[risk]\nalpha = '1/10'\n", "[task]\nlabel = { nominal = '000' }\n"]
    assert len({task_hash(posed(extra)) for extra in extras}) == len(extras)
    data = json.loads(canonical_bytes(task_data(posed(extras[1]))))
    assert data["label"] == ["expression", [0, 1, "xor"]]
    assert data["model"]["commands"][0] == ["fill up", [["and", 2, 0, 1]], 2]
    assert data["model"]["flip"] == "1/50"
    kinds = [type(posed(extra).rule) for extra in (extras[0], extras[1], extras[-1])]
    assert kinds == [StateRule, ExpressionRule, NominalRule]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (LARGE + "[task]\nlabel = { pattern = '^1' }", "is not for a plant whose states are not listed"),
        (LARGE + "[task]\nhypotheses = 'initial'", 'write "all" or a list of states'),
        (LARGE + "[task]\nhypotheses = ['01']", "write 20 binary digits, 'b19' first"),
        (LARGE + "[task]\nlabel = { bits = ['b0', 'b0'] }", "at least one bit, and each once"),
        (LARGE + "[task]\nactions = ['lok']", "did you mean 'look'"),
        (LARGE + "[reset]\naction = 'OFF'", "reset by a command that sets and clears its bits"),
        (LARGE + "[noise]\nflip = '1/3'", "says its noise itself"),
        (LARGE + "[weights]\ndefault = 2", "weights are for plants whose states are listed"),
        (LARGE + "[cost]\nlook = 0", "a cost must be positive"),
    ],
)
def test_what_a_large_plant_cannot_be_asked_is_said(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(AscertainError, match=sentence):
        read_problem(write(tmp_path, text))


def test_a_question_from_python_is_the_question_of_the_file(tmp_path: Path) -> None:
    problem = read_problem(write(tmp_path, LARGE + "[task]\nlabel = { expression = 'b0' }\n[risk]\nalpha = '1/9'\n"))
    plant = problem.operated
    posed = pose_plant(plant, label={"expression": "b0"}, alpha="1/9")  # type: ignore[arg-type]
    assert task_hash(posed) == task_hash(problem.question)


def test_an_operation_is_read_with_its_words(tmp_path: Path) -> None:
    text = MACHINE + OPERATION + "replaced = 2\nalternatives = { OPEN = ['SHUT', ''], '*' = ['SHUT OPEN', ['OPEN']] }\n"
    problem = read_problem(write(tmp_path, text + "window = { replacements = [0, 1], flips = [1, 4] }\n"))
    operation = pose_operation(problem)
    assert isinstance(operation.model, Machine)
    names = operation.model.actions
    done = {names[a]: [[names[c] for c in w] for w in words] for a, words in enumerate(operation.alternatives)}
    assert done == {"OPEN": [["SHUT"], []], "SHUT": [["SHUT", "OPEN"], ["OPEN"]]}
    assert operation.readings.tolist() == [*map(operation.model.readings.index, ["ok", "ok"]), UNDEFINED]
    assert operation.trusted.tolist() == [True, False, False]
    assert (operation.replacement_window, operation.flip_window, operation.max_replaced) == ((0, 1), (1, 4), 2)
    assert operation.model.states[operation.start] == "shut"
    assert tmp_path / "run.csv" in problem.sources


def test_one_alternative_may_be_a_plain_string(tmp_path: Path) -> None:
    texts = [MACHINE + OPERATION + f"alternatives = {{ OPEN = {word} }}\n" for word in ("'SHUT'", "['SHUT']")]
    plain, listed = (pose_operation(read_problem(write(tmp_path, text))).alternatives for text in texts)
    assert plain == listed != ((), ())


def test_a_command_whose_name_has_blanks_is_one_command(tmp_path: Path) -> None:
    text = LARGE + OPERATION + f"start = '{'0' * 20}'\nalternatives = {{ look = ['fill up', ['look', 'fill up']] }}\n"
    operation = pose_operation(read_problem(write(tmp_path, text, "command,reading\nlook,0\nfill up,1\n")))
    assert operation.alternatives == ((), ((0,), (1, 0)))


def test_an_operation_may_use_what_the_experiment_may_not(tmp_path: Path) -> None:
    text = MACHINE + OPERATION + "[task]\nactions = ['SHUT']\n[safety]\nnever = ['open']\n[noise]\nflip = '1/10'\n"
    problem = read_problem(write(tmp_path, text))
    assert problem.task.model.actions == ("SHUT",)
    assert pose_operation(problem).sent.tolist() == [0, 1, 0]
    assert pose_operation(problem).model.kind == "machine"


@pytest.mark.parametrize(
    ("section", "log", "sentence"),
    [
        ("", "command,reading\nOPN,ok\n", r"run\.csv:2: 'OPN' is not a command of the model; did you mean 'OPEN'"),
        ("", "command,reading\nOPEN,okk\n", r"run\.csv:2: 'okk' is not a reading of the model; did you mean 'ok'"),
        ("", "command\nOPEN\n", r"run\.csv:1: one column 'reading' is needed"),
        ("replaced = 9", None, "replaced is 9, but .* has 3 commands"),
        ("replaced = -1", None, r"replaced: -1 is not understood; write a whole number from 0 on"),
        ("replaced = true", None, "replaced: True is not understood"),
        ("window = { flips = [4, 1] }", None, r"flips is \[4, 1\], upside down"),
        ("window = { flips = 4 }", None, "flips must be two numbers"),
        ("window = { flip = [0, 1] }", None, "did you mean 'flips'"),
        ("alternatives = { OPEN = 3 }", None, "'OPEN' must be a list"),
        ("alternatives = { OPEN = [3] }", None, "'OPEN' must list commands as text"),
        ("alternatives = { OPEN = ['SHTU'] }", None, "'SHTU' is not a command of the model; did you mean 'SHUT'"),
        ("alternatives = { OPNE = ['SHUT'] }", None, "'OPNE' is not a command of the model; did you mean 'OPEN'"),
        ("alternatives = { OPEN = ['" + "SHUT " * 17 + "'] }", None, "a word has 17 commands"),
        ("start = 'opne'", None, "did you mean 'open'"),
        ("strat = 'open'", None, "did you mean 'start'"),
    ],
)
def test_what_is_wrong_with_an_operation_is_said(tmp_path: Path, section: str, log: str | None, sentence: str) -> None:
    text = MACHINE + OPERATION + section
    path = write(tmp_path, text) if log is None else write(tmp_path, text, log)
    with pytest.raises(AscertainError, match=sentence):
        pose_operation(read_problem(path))


def test_an_operation_needs_its_section_its_log_and_its_start(tmp_path: Path) -> None:
    with pytest.raises(AscertainError, match=r"a section \[operation\] with log"):
        pose_operation(read_problem(write(tmp_path, MACHINE)))
    with pytest.raises(AscertainError, match="the name of the log file is needed"):
        read_problem(write(tmp_path, MACHINE + "[operation]\nreplaced = 1\n"))
    with pytest.raises(AscertainError, match="the state that the operation started in is needed"):
        pose_operation(read_problem(write(tmp_path, SMALL + OPERATION, "command,reading\nlook,0\n")))


def test_how_to_observe_is_read(tmp_path: Path) -> None:
    text = MACHINE + "[observe]\nnominal = 'open'\nbudget = 7\npolicy = 'staged'\nthreshold = '5/2'\n"
    observe = read_problem(write(tmp_path, text + "limits = { OPEN = 3 }\nshells = 8\n")).observe
    assert (observe.nominal, observe.budget, observe.policy, observe.threshold) == ("open", 7, "staged", Fraction(5, 2))
    assert observe.limits == {"OPEN": 3}
    assert (observe.shells, observe.rejection, observe.nominal_share) == (8, Fraction(1, 1000), None)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("policy = 'eagre'", "'eagre' is not understood; write one of 'readwise', 'eager'"),
        ("budget = 1.5", "budget: '1.5' is not understood"),
        ("threshold = -1", "threshold: -1 is negative"),
        ("rejection = 0", r"rejection: 0 is not inside \(0, 1\)"),
        ("nominal_share = 1", "is not a probability"),
        ("shells = 0", "write a whole number from 1 on"),
        ("limits = { OPEN = 'x' }", "limits: OPEN: 'x' is not understood"),
        ("budgte = 3", "did you mean 'budget'"),
    ],
)
def test_what_is_wrong_with_how_to_observe_is_said(tmp_path: Path, line: str, sentence: str) -> None:
    with pytest.raises(AscertainError, match=sentence):
        read_problem(write(tmp_path, f"{MACHINE}[observe]\n{line}\n"))


def test_computation_is_priced_in_the_generalised_cost(tmp_path: Path) -> None:
    text = (
        "[model]\nbits = ['a', 'b']\nflip = '1/50'\n"
        "command = [{ name = 'look', gates = [], tap = 'a' }, { name = 'see', gates = [], tap = 'b' }]\n"
        "[risk]\nalpha = '1/1000'\n[cost]\nmodel_step = '1/1000'\nworld_step = '1/7'\n"
    )
    (tmp_path / "p.toml").write_text(text, encoding="utf-8")
    found = observe(tmp_path / "p.toml", "simulated:1")
    counters = found.run.observer.counters
    priced = counters.cost + Fraction(counters.model_steps, 1000) + Fraction(counters.world_steps, 7)
    assert found.facts()["generalised_cost"] == str(priced)
    assert "generalised_cost" not in observe(read_problem(tmp_path / "p.toml").question, "simulated:1").facts()
    (tmp_path / "p.toml").write_text(text.replace("1/1000'\nworld", "-1'\nworld"), encoding="utf-8")
    with pytest.raises(AscertainError, match=r"\[cost\] model_step: -1 is negative"):
        read_problem(tmp_path / "p.toml")
