"""Tasks by the API and by the problem file: what they mean, and what is said when they are wrong."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import AscertainError, TaskError
from ascertain.model import Machine, NoisyMachine
from ascertain.model.build import machine_from_transitions
from ascertain.model.union import union
from ascertain.problem.pose import Log, Pattern, Reset, pose
from ascertain.problem.problem import read_problem
from ascertain.rational import parse_rational
from ascertain.task.canonical import canonical_bytes, task_data, task_hash
from ascertain.task.task import Task
from tests.conftest import ROOT
from tests.strategies import tasks

TANK = [
    ("empty", "fill", "ok", "half"),
    ("half", "fill", "ok", "full"),
    ("full", "fill", "no", "overfull"),
    ("overfull", "drain", "ok", "empty"),
    ("full", "drain", "ok", "empty"),
    ("half", "drain", "ok", "empty"),
    ("empty", "drain", "no", "empty"),
]
INLINE = "[model]\ninitial = 'empty'\ntransitions = " + json.dumps([list(row) for row in TANK]) + "\n"


def tank() -> Machine:
    return machine_from_transitions(TANK, initial="empty")


def names(task: Task) -> dict[str, str]:
    pairs = zip(task.state, task.label, strict=True)
    return {task.model.states[s]: task.labels[k] for s, k in pairs}


def write(folder: Path, text: str, name: str = "problem.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_every_state_is_its_own_label_by_default() -> None:
    task = pose(tank())
    assert names(task) == {s: s for s in ("empty", "half", "full", "overfull")}
    assert task.cost == (1, 1)
    assert (task.alpha, task.beta, task.about) == (0, 0, "start")


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ({"full": "danger", "overfull": "danger", "*": "fine"}, ["fine", "fine", "danger", "danger"]),
        ({"nominal": "half"}, ["other", "nominal", "other", "other"]),
        ({"pattern": "full"}, ["other", "other", "full", "full"]),
        ({"pattern": "^(.)"}, ["e", "h", "f", "o"]),
        (len, ["5", "4", "4", "8"]),
    ],
)
def test_labels_by_table_nominal_pattern_and_function(label: object, expected: list[str]) -> None:
    given_label = (lambda name: str(len(name))) if label is len else label
    task = pose(tank(), label=given_label)  # type: ignore[arg-type]
    assert list(names(task).values()) == expected


def test_the_machine_of_a_union_is_a_label() -> None:
    both = union({"a": tank(), "b": tank()})
    task = pose(both, hypotheses="initial", label="machine")
    assert names(task) == {"a:empty": "a", "b:empty": "b"}
    with pytest.raises(TaskError, match="several machines"):
        pose(tank(), label="machine")


def test_a_task_about_the_current_state_labels_every_state() -> None:
    task = pose(tank(), hypotheses=["full", "half"], label={"pattern": "full"}, about="current")
    assert task.about == "current"
    assert [task.labels[k] for k in task.state_label] == ["other", "other", "full", "full"]  # type: ignore[union-attr]
    assert names(task) == {"full": "full", "half": "other"}


def test_hypotheses_by_pattern_and_by_name() -> None:
    assert list(names(pose(tank(), hypotheses=Pattern("full$")))) == ["full", "overfull"]
    assert list(names(pose(tank(), hypotheses=["half", "empty", "half"]))) == ["half", "empty"]


def test_safety_forbids_what_would_lead_there() -> None:
    task = pose(tank(), never=["overfull"], reset=Reset("RESET"), undefined="self-loop")
    full = task.model.index["full"]
    assert task.model.successor[full, task.model.actions.index("fill")] == -1
    assert task.model.successor[full, task.model.actions.index("RESET")] == task.model.index["empty"]


def test_costs_by_name_over_a_default() -> None:
    task = pose(tank(), cost={"drain": Fraction(5, 2)}, default_cost=2, reset=Reset("RESET"))
    assert dict(zip(task.model.actions, task.cost, strict=True)) == {"fill": 2, "drain": Fraction(5, 2), "RESET": 2}
    costs, scale = task.integer_costs()
    assert (costs.tolist(), scale) == ([4, 5, 4], 2)


def log(folder: Path, rows: str) -> Path:
    return write(folder, rows, "before.csv")


def test_a_log_leaves_the_states_that_explain_it(tmp_path: Path) -> None:
    path = log(tmp_path, "command,reading\nfill,ok\nfill,ok\n")
    assert list(names(pose(tank(), hypotheses=Log(path)))) == ["full"]  # only from empty twice ok
    path = log(tmp_path, "command,reading\ndrain,ok\n")
    assert list(names(pose(tank(), hypotheses=Log(path)))) == ["empty"]


def test_noise_makes_untrusted_readings_doubtful(tmp_path: Path) -> None:
    path = log(tmp_path, "command,reading,trusted\nfill,ok,false\n")
    assert list(names(pose(tank(), hypotheses=Log(path), flip=Fraction(1, 9)))) == ["half", "full", "overfull"]
    path = log(tmp_path, "command,reading,trusted\nfill,ok,true\n")
    assert list(names(pose(tank(), hypotheses=Log(path), flip=Fraction(1, 9)))) == ["half", "full"]


def test_a_log_may_be_json_lines(tmp_path: Path) -> None:
    path = write(tmp_path, '{"command":"fill","reading":"no","trusted":true}\n\n', "before.jsonl")
    assert list(names(pose(tank(), hypotheses=Log(path)))) == ["overfull"]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("command,reading\nfill,ok\nempty,ok\n", r"before.csv:3: 'empty' is not an action"),
        ("command,reading\nfill,green\n", r"before.csv:2: 'green' is not a reading"),
        ("command,reading\nfill,no\nfill,no\n", r"before.csv:3: no state explains the log"),
        ("command,raeding\nfill,no\n", r"before.csv:1: unknown column 'raeding'; did you mean 'reading'"),
        ("command\nfill\n", r"before.csv:1: one column 'reading' is needed"),
        ("command,reading\nfill\n", r"before.csv:2: 1 fields where the header has 2"),
        ("command,reading\n", r"no commands"),
        ("command,reading,trusted\nfill,ok,maybe\n", r"before.csv:2: trusted is 'maybe'"),
        ('command,reading\n"fill,ok\n', r"not CSV"),
    ],
)
def test_a_bad_log_is_answered_with_its_line(tmp_path: Path, rows: str, sentence: str) -> None:
    with pytest.raises(AscertainError, match=sentence):
        pose(tank(), hypotheses=Log(log(tmp_path, rows)))


def test_the_problem_file_says_the_same_as_the_api(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "undefined = 'self-loop'\n"
        + INLINE
        + """
[task]
hypotheses = ["empty", "full"]
label = { empty = "low", "*" = "high" }
[cost]
default = 2
RESET = "7/2"
[reset]
action = "RESET"
reading = "hello"
to = "half"
[safety]
never = ["overfull"]
[noise]
flip = 0.02
[risk]
alpha = "1/2000000"
beta = 1e-2
""",
    )
    api = pose(
        tank(),
        undefined="self-loop",
        hypotheses=["empty", "full"],
        label={"empty": "low", "*": "high"},
        default_cost=2,
        cost={"RESET": Fraction(7, 2)},
        reset=Reset("RESET", "hello", "half"),
        never=["overfull"],
        flip=Fraction(1, 50),
        alpha=Fraction(1, 2_000_000),
        beta=Fraction(1, 100),
    )
    task = read_problem(path).task
    assert isinstance(task.model, NoisyMachine)
    assert task_hash(task) == task_hash(api)


def test_several_models_and_their_common_actions() -> None:
    problem = read_problem(ROOT / "examples" / "servers" / "which.toml")
    assert problem.task.num_hypotheses == 5
    assert problem.task.model.actions == ("HELO", "AUTH", "SEND", "QUIT", "RESET")


PLANT = """
[model]
bits = ["pump", "valve", "full"]
flip = "1/10"
[[model.command]]
name = "fill"
gates = [["and", "full", "pump", "valve"]]
tap = "full"
[[model.command]]
name = "look"
gates = []
tap = "pump"
"""


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ('{ bits = ["valve", "pump"] }', ["valve=0 pump=0", "valve=0 pump=1", "valve=1 pump=0", "valve=1 pump=1"] * 2),
        ('{ expression = "pump and not valve" }', ["false", "true", "false", "false"] * 2),
    ],
)
def test_a_small_boolean_plant_is_enumerated_and_labelled_by_its_bits(
    tmp_path: Path, label: str, expected: list[str]
) -> None:
    task = read_problem(write(tmp_path, f"{PLANT}[task]\nlabel = {label}\n[reset]\naction = 'OFF'\nto = '000'\n")).task
    assert task.model.states == tuple(format(s, "03b") for s in range(8))
    assert [task.labels[k] for k in task.label] == expected
    fill, off = task.model.actions.index("fill"), task.model.actions.index("OFF")
    assert task.model.successor[0b011, fill] == 0b111
    assert task.model.reading_law(0b011, fill) == {0: Fraction(1, 10), 1: Fraction(9, 10)}
    assert task.model.reading_law(0b011, off) == {task.model.readings.index("reset"): Fraction(1)}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (PLANT + "[task]\nlabel = { bits = ['pmup'] }", "'pmup' is not a bit of the plant; did you mean 'pump'"),
        (PLANT + "[task]\nlabel = { bits = 'pump' }", "must be a list of names"),
        (PLANT + "[task]\nlabel = { expression = 'pump and' }", "expression"),
        (PLANT + "[noise]\nflip = '1/3'", "this model says its noise itself"),
        ("[model]\nbits = 17\n[[model.command]]\nname = 'a'\ngates = []\ntap = 'b0'\n", "16"),
    ],
)
def test_what_a_boolean_plant_cannot_do_is_said(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(AscertainError, match=sentence):
        _ = read_problem(write(tmp_path, text)).task


BAD = [
    ("modle = 'x.dot'", r"unknown key 'modle'; did you mean 'model'\?"),
    ("", r"the file is empty"),
    ("undefined = 'forbidden'", r"one of model = .* is needed"),
    ("model = 'missing.dot'", r"missing\.dot"),
    ("model = 3", r"model must be text or a table"),
    ("models = []", r"models: the list names no file"),
    ("[task]\nlabel = 'state'\n", r"one of model"),
    (INLINE + "[task]\nlable = 'state'", r"\[task\] unknown key 'lable'; did you mean 'label'\?"),
    (INLINE + "[task]\nlabel = 'stat'", r"label: 'stat' is not understood.*did you mean 'state'"),
    (INLINE + "[task]\nlabel = { empti = 'a' }", r"label: 'empti' is not a state of the model; did you mean 'empty'"),
    (INLINE + "[task]\nlabel = { empty = 'a' }", r"hypothesis 'half' has no label"),
    (INLINE + "[task]\nlabel = { empty = 3, '*' = 'x' }", r"label of 'empty' must be text"),
    (INLINE + "[task]\nlabel = { bits = ['b0'] }", r"bits is for Boolean plants"),
    (INLINE + "[task]\nlabel = { pattern = '(' }", r"not a regular expression"),
    (INLINE + "[task]\nabout = 'future'", r"about: 'future' is not understood"),
    (INLINE + "[task]\nhypotheses = []", r"hypotheses: the list names nothing"),
    (INLINE + "[task]\nhypotheses = ['fulll']", r"'fulll' is not a state of the model; did you mean 'full'"),
    (INLINE + "[task]\nhypotheses = { pattern = 'zzz' }", r"names nothing: it matches no state"),
    (INLINE + "[task]\nhypotheses = 'al'", r"hypotheses: 'al' is not understood"),
    (INLINE + "[task]\nhypotheses = [3]", r"hypotheses must be a list of names"),
    (INLINE + "[task]\nactions = ['drian']", r"'drian' is not an action of the model; did you mean 'drain'"),
    (INLINE + "[cost]\nfill = 0", r"cost: 'fill' costs 0; a cost must be positive"),
    (INLINE + "[cost]\ndefault = -1", r"cost: 'default' costs -1"),
    (INLINE + "[cost]\nfil = 1", r"cost: 'fil' is not an action of the model; did you mean 'fill'"),
    (INLINE + "[cost]\nfill = nan", r"\[cost\] fill: 'nan' is not a number"),
    (INLINE + "[cost]\nfill = true", r"\[cost\] fill: True is not an exact number"),
    (INLINE + "cost = 3", r"not TOML|cost"),
    (INLINE + "[reset]\naction = 'fill'", r"reset action 'fill' already exists"),
    (INLINE + "[reset]\n", r"\[reset\] action: the name"),
    (INLINE + "[reset]\naction = 'R'\nto = 'nowhere'", r"reset: to: 'nowhere' is not a state"),
    (INLINE + "[safety]\nnever = ['boom']", r"safety: never: 'boom' is not a state"),
    (INLINE + "[noise]\nflip = '3/2'", r"\[noise\] flip: 3/2 is not a probability"),
    (INLINE + "[risk]\nalpha = '0.3/0'", r"\[risk\] alpha: '0.3/0' is not a number"),
    (INLINE + "[risk]\nalpha = '3/0'", r"\[risk\] alpha: '3/0' divides by zero"),
    (INLINE + "[risk]\nalpha = nan", r"\[risk\] alpha: 'nan' is not a number"),
    (INLINE + "[risk]\nalpha = '1e999999999'", r"\[risk\] alpha: '1e999999999' is not a number"),
    (INLINE + "[risk]\nbeta = -0.1", r"\[risk\] beta: -1/10 is not a probability"),
    (INLINE + "[risk\nalpha = 0", r"not TOML: .*line"),
    ("x = " + "[" * 5000, r"not TOML"),
    ("x = " + "9" * 5000, r"not TOML"),
]


@pytest.mark.parametrize(("text", "sentence"), BAD)
def test_a_bad_problem_gets_one_sentence_with_file_and_field(tmp_path: Path, text: str, sentence: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(AscertainError, match=sentence) as caught:
        read_problem(path)
    assert str(caught.value).startswith(str(tmp_path))
    assert "\n" not in str(caught.value)


def test_a_pattern_that_explodes_is_stopped() -> None:
    long = machine_from_transitions([("a" * 5000 + "!", "go", "x", "b")])
    with pytest.raises(TaskError, match="takes too long"):
        pose(long, label={"pattern": "(a|a)*(a|a)*(a|aa)+$"})


def test_the_canonical_form_is_sorted_exact_and_without_floats() -> None:
    data = canonical_bytes(task_data(pose(tank(), flip=Fraction(1, 3), alpha=Fraction(1, 10)))).decode()
    assert data.startswith('{"alpha":"1/10","beta":"0","cost":["1","1"],"current":null,"format":"ascertain-task"')
    assert json.loads(data, parse_float=lambda _: pytest.fail("a float")) is not None


@given(tasks())
def test_equal_tasks_have_equal_canonical_forms(task: Task) -> None:
    copy = Task(
        model=task.model,
        state=task.state.copy(),
        label=task.label.copy(),
        labels=task.labels,
        cost=task.cost,
        alpha=task.alpha,
        beta=task.beta,
        state_label=task.state_label,
    )
    assert task_hash(copy) == task_hash(task)
    assert canonical_bytes(json.loads(canonical_bytes(task_data(task)))) == canonical_bytes(task_data(task))


def test_tasks_that_do_not_fit_are_refused() -> None:
    m = tank()
    good = {
        "model": m,
        "state": np.array([0, 1]),
        "label": np.array([0, 1]),
        "labels": ("a", "b"),
        "cost": (Fraction(1), Fraction(1)),
    }
    for change, sentence in [
        ({"state": np.array([0, 9])}, "index in 0"),
        ({"state": np.array([0])}, "each with a state and a label"),
        ({"state": np.array([0, 0]), "label": np.array([1, 1])}, "listed twice"),
        ({"labels": ("a", "a")}, "listed twice"),
        ({"cost": (Fraction(1),)}, "1 costs for 2 actions"),
        ({"cost": (Fraction(1), Fraction(0))}, "must be positive"),
        ({"alpha": Fraction(1)}, "alpha is 1"),
        ({"state_label": np.array([1, 1, 0, 0])}, "label of its state"),
    ]:
        with pytest.raises(TaskError, match=sentence):
            Task(**{**good, **change})  # type: ignore[arg-type]


@given(st.fractions())
def test_rationals_are_read_as_they_are_written(value: Fraction) -> None:
    assert parse_rational(str(value)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.02", Fraction(1, 50)), ("2.5e-7", Fraction(1, 4_000_000)), ("1_000", Fraction(1000)), (" 3 ", Fraction(3))],
)
def test_decimals_are_exact(text: str, value: Fraction) -> None:
    assert parse_rational(text) == value


@pytest.mark.parametrize("text", ["", "x", "1/2/3", "0x10", "1e9999", "inf", "1//2", "٣", "1.5/2"])
def test_what_is_not_a_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        parse_rational(text)


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": 0.1},
        {"alpha": "0.3/0"},
        {"beta": float("nan")},
        {"cost": {"fill": 0.5}},
        {"default_cost": 0},
        {"flip": 0.1},
        {"about": "curent"},
        {"never": "full"},
        {"hypotheses": 3},
        {"label": 3},
    ],
)
def test_by_the_api_too_what_is_not_exact_or_not_known_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(TaskError):
        pose(tank(), **wrong)  # type: ignore[arg-type]


def test_exact_numbers_may_be_written_as_text() -> None:
    assert pose(tank(), alpha="2.5e-7", cost={"fill": "1/2"}).cost[0] == Fraction(1, 2)
