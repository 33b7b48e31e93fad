"""Hidden models: word probabilities, what they are built from, their files, and questions about them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import AscertainError, ModelError, TaskError
from ascertain.model import Model
from ascertain.model.build import complete, forbid_entering, restrict, with_reset
from ascertain.model.checks import (
    count_missing,
    is_strongly_connected,
    stuck_states,
    unreachable_states,
    unsound_laws,
    useless_actions,
)
from ascertain.model.files import read_listed, read_model, write_model
from ascertain.model.files.json_model import parse_model_data
from ascertain.model.hidden import HiddenModel, as_hidden, certain, keep_readings, make_belief
from ascertain.pipeline.settle import settle
from ascertain.problem.pose import Log, Pattern, Reset, pose
from ascertain.problem.pose_hidden import Beliefs, pose_hidden
from ascertain.problem.problem import read_any_problem, read_problem
from ascertain.quotients.obstruction import find_obstruction
from ascertain.quotients.quotient import take_quotient
from ascertain.search.exact import solve
from ascertain.task.hidden_task import HiddenTask
from tests.hidden_strategies import TIGER, beliefs, hidden_models
from tests.reference.hidden import (
    propagate,
    word_probability,
)
from tests.strategies import models

F = Fraction


@given(hidden_models(partial=None), st.data())
def test_what_propagation_leaves_is_the_probability_of_the_word(model: HiddenModel, data: st.DataObject) -> None:
    belief = data.draw(beliefs(model))
    letters = st.tuples(st.integers(0, model.num_actions - 1), st.integers(0, len(model.readings) - 1))
    word = tuple(data.draw(st.lists(letters, max_size=3)))
    weights = dict(belief)
    for a, y in word:
        weights = propagate(model, weights, a, y)
    assert sum(weights.values(), F(0)) == word_probability(model, belief, word)


@given(models(max_states=4, max_actions=2, max_readings=2))
def test_a_machine_seen_as_a_hidden_model_reads_and_moves_alike(machine: Model) -> None:
    hidden = as_hidden(machine)
    for s, a in product(range(machine.num_states), range(machine.num_actions)):
        law = hidden.joint[s][a]
        assert {y: p for _, y, p in law} == machine.reading_law(s, a)
        assert {t for t, _, _ in law} == ({int(machine.successor[s, a])} if law else set())
    assert hidden.initial == tuple(certain(s) for s in machine.initial)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"joint": (((),),)}, "a row for each of the 1 states, with an entry for each of the 2 actions"),
        ({"joint": ((((0, 0, F(1, 2)),), ()),)}, "action 'a' in state 's': the probabilities sum to 1/2"),
        ({"joint": ((((0, 1, F(1)), (0, 0, F(0))), ()),)}, "ascending order"),
        ({"joint": ((((0, 2, F(1)),), ()),)}, r"a reading outside 0 \.\. 1"),
        ({"joint": ((((1, 0, F(1)),), ()),)}, r"a state outside 0 \.\. 0"),
        ({"joint": ((((0, 0, F(2)), (0, 1, F(-1))), ()),)}, "only positive probabilities"),
        ({"initial": (((0, F(1, 3)),),)}, "an initial belief: the probabilities sum to 1/3"),
        ({"initial": (((1, F(1)),),)}, r"must list states 0 \.\. 0"),
        ({"states": ()}, "at least one state"),
        ({"readings": ("y", "y")}, "the reading 'y' is listed twice"),
    ],
)
def test_a_hidden_model_that_does_not_hang_together_is_refused(changes: dict[str, object], sentence: str) -> None:
    fields: dict[str, object] = {"states": ("s",), "actions": ("a", "b"), "readings": ("x", "y")}
    fields["joint"] = ((((0, 0, F(1)),), ()),)
    with pytest.raises(ModelError, match=sentence):
        HiddenModel(**{**fields, **changes})  # type: ignore[arg-type]


@given(models())
def test_checks_say_of_a_machine_what_they_say_of_it_as_a_hidden_model(model: Model) -> None:
    hidden = as_hidden(model)
    for check in (count_missing, stuck_states, useless_actions, unreachable_states, is_strongly_connected):
        assert check(model) == check(hidden), check
    assert unsound_laws(model) == unsound_laws(hidden) == []


def test_laws_that_do_not_sum_to_one_are_found() -> None:
    fair = ((0, 0, F(1, 2)), (0, 1, F(1, 2)))
    model = HiddenModel(states=("s",), actions=("go",), readings=("x", "y"), joint=((fair,),))
    object.__setattr__(model, "joint", ((((0, 0, F(1, 2)), (0, 1, F(1, 3))),),))
    assert unsound_laws(model) == [(0, 0, F(5, 6))]


def test_beliefs_and_laws_have_positive_exact_probabilities() -> None:
    with pytest.raises(ModelError, match="none of a negative one"):
        make_belief({0: 2, 1: -1})
    with pytest.raises(ModelError, match="probabilities are exact; give Fractions"):
        HiddenModel(states=("s",), actions=("go",), readings=("x",), joint=((((0, 0, 1.0),),),))  # type: ignore[arg-type]


def test_a_hidden_question_is_refused_where_a_machine_is_needed() -> None:
    task = pose_hidden(TIGER)
    with pytest.raises(TaskError, match="posed with pose_hidden"):
        pose(TIGER)  # type: ignore[arg-type]
    assert take_quotient(task).num_classes == 2
    assert find_obstruction(task) is None
    with pytest.raises(TaskError, match="a tolerance is for the laws of a machine"):
        take_quotient(task, tolerance=F(1, 10))  # type: ignore[call-overload]
    for function in (solve, settle):
        with pytest.raises(TaskError, match="a HiddenTask is not a Task on a machine"):
            function(task)  # type: ignore[arg-type]


def test_models_are_built_from_models() -> None:
    partial = HiddenModel(
        states=("s", "t"), actions=("go", "stay"), readings=("x",), joint=((((1, 0, F(1)),), ()), ((), ()))
    )
    assert (count_missing(partial), useless_actions(partial), stuck_states(partial)) == (3, [1], [1])
    assert unreachable_states(partial) == []
    whole = complete(partial)
    assert whole.joint[1][0] == ((1, 1, F(1)),)
    assert (whole.is_total, complete(whole) is whole, whole.readings) == (True, True, ("x", "undefined"))
    assert restrict(TIGER, ["listen"]).joint == tuple((row[0],) for row in TIGER.joint)
    again = with_reset(TIGER, "RESET")
    assert again.joint[0][2] == ((0, 2, F(1, 2)), (1, 2, F(1, 2)))
    assert with_reset(partial, "RESET", to=1).joint[0][2] == ((1, 1, F(1)),)
    assert forbid_entering(TIGER, [0]).joint[1] == (TIGER.joint[1][0], ())
    stay = restrict(replace(TIGER, initial=(certain(0),)), ["listen"])
    assert (unreachable_states(stay), unreachable_states(TIGER)) == ([1], [])
    for wrong, sentence in (
        (lambda: with_reset(partial, "RESET"), "has none; say where it leads"),
        (lambda: with_reset(TIGER, "open"), "already exists"),
        (lambda: restrict(TIGER, []), "none was kept"),
        (lambda: TIGER.state_named("lft"), "did you mean 'left'"),
        (lambda: TIGER.action_named("lsten"), "did you mean 'listen'"),
        (lambda: make_belief({0: 0}), "positive probability"),
    ):
        with pytest.raises(ModelError, match=sentence):
            wrong()


@given(hidden_models(partial=None), st.data())
def test_readings_kept_in_states_change_no_probability(model: HiddenModel, data: st.DataObject) -> None:
    kept = keep_readings(model)
    belief = data.draw(beliefs(model))
    letters = st.tuples(st.integers(0, model.num_actions - 1), st.integers(0, len(model.readings) - 1))
    word = tuple(data.draw(st.lists(letters, max_size=2)))
    one, other = dict(belief), dict(belief)
    for a, y in word:
        one, other = propagate(model, one, a, y), propagate(kept, other, a, y)
    assert sum(one.values(), F(0)) == sum(other.values(), F(0))


# -------------------------------------------------------------------------------------------------------- JSON files


@given(hidden_models(partial=None))
def test_a_hidden_model_is_written_as_json_and_read_again(tmp_path_factory: pytest.TempPathFactory, model) -> None:
    path = tmp_path_factory.mktemp("hidden") / "model.json"
    write_model(model, path)
    assert read_model(path) == model
    with pytest.raises(ModelError, match="this model is hidden; machines"):
        read_listed(path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kind": "hiden"}, "kind is 'hiden'; machine, noisy or hidden was expected"),
        ({"colour": 1}, "'colour' is not a key of a model; known are format, .*readings$"),
        ({"version": 2}, "version is the integer 2; this reader knows version 1"),
        ({"transitions": 3}, "transitions is an integer; a list was expected"),
        ({"transitions": [["s", "a"]]}, r"transitions\[0\] has 2 parts; \[state, action, \[\[next state, reading"),
        ({"transitions": [["s", "a", []]]}, r"transitions\[0\] lists no next state"),
        ({"transitions": [["s", "a", [["s", "y"]]]]}, r"\[next state, reading, probability\] was expected"),
        ({"transitions": [["s", "a", [["s", "y", 0.5]]]]}, "0.5 is not an exact number"),
        ({"transitions": [["s", "a", [["s", "y", "1/2"]]]]}, "the probabilities sum to 1/2"),
        ({"transitions": [["s", "a", [["s", "y", "-1"]]]]}, "the probability of 'y' is negative"),
        ({"transitions": [["s", "a", [["s", "y", 0]]]]}, "lists only zeros"),
        ({"transitions": [["s", "a", [["s", "y", 1], ["s", "y", 1]]]]}, "'s' and 'y' twice"),
        (
            {"transitions": [["s", "a", [["s", "y", 1]]]] * 2},
            r"action 'a' in state 's' is given in transitions\[0\] already",
        ),
        (
            {"transitions": [["s", "a", [["t", "y", 1]]]], "states": ["s"]},
            "action 'a' in state 's' leads to 't', which is not a state",
        ),
        ({"states": ["s", "s"]}, "states lists 's' twice; names must differ"),
        ({"initial": {"s": "1/2"}}, "an initial belief: the probabilities sum to 1/2"),
        ({"initial": [3]}, r"initial\[0\] is an integer; a name in quotes was expected"),
    ],
)
def test_what_is_wrong_with_a_hidden_json_model_is_said(changes: dict[str, object], sentence: str) -> None:
    data: dict[str, object] = {"kind": "hidden", "transitions": [["s", "a", [["s", "y", 1]]]]}
    assert isinstance(parse_model_data(data, "m"), HiddenModel)
    with pytest.raises(AscertainError, match=sentence):
        parse_model_data({**data, **changes}, "m")


def test_a_machine_may_say_its_kind_too() -> None:
    model = parse_model_data({"kind": "machine", "transitions": [["s", "a", "y", "s"]]}, "m")
    assert model.kind == "machine"


# ------------------------------------------------------------------------------------------------- tasks and problems


def test_a_question_is_posed_about_states_and_beliefs() -> None:
    assert pose_hidden(TIGER).name == ("left", "right")
    assert pose_hidden(TIGER, hypotheses="initial").belief == TIGER.initial
    assert pose_hidden(TIGER, hypotheses=Pattern("^l")).name == ("left",)
    table = Beliefs({"even": {"left": "1/2", "right": "1/2"}, "sure": {"left": 1}})
    task = pose_hidden(TIGER, hypotheses=table, label={"even": "unknown", "*": "known"}, reset=Reset("RESET"))
    assert task.belief == (make_belief({0: 1, 1: 1}), certain(0))
    assert [task.labels[k] for k in task.label] == ["unknown", "known"]
    assert task.model.actions == ("listen", "open", "RESET")
    assert pose_hidden(TIGER, label={"nominal": "left"}).labels == ("nominal", "other")


@pytest.mark.parametrize(
    ("words_", "sentence"),
    [
        ({"about": "current"}, "stays a belief and cannot be certified"),
        ({"flip": "1/50"}, "this model says its noise itself"),
        ({"undefined": "loop"}, "'loop' is not understood"),
        ({"hypotheses": Log("x.csv")}, "a log is not followed on a hidden model"),
        ({"hypotheses": "some"}, "'some' is not understood"),
        ({"hypotheses": []}, "names nothing"),
        ({"hypotheses": Pattern("z")}, "names nothing"),
        ({"hypotheses": ["lefd"]}, "did you mean 'left'"),
        ({"hypotheses": Beliefs({"b": {"left": "1/2"}})}, "sum to 1/2"),
        ({"hypotheses": Beliefs({"b": {"left": "3/2", "right": "-1/2"}})}, "must not be negative"),
        ({"label": {"lefd": "x", "*": "y"}}, "'lefd' is not a hypothesis; did you mean 'left'"),
        ({"label": {"bits": ["b"]}}, "for Boolean plants and networks; this model is a hidden"),
        ({"cost": {"listen": 0}}, "a cost must be positive"),
        ({"alpha": 1}, "alpha is 1"),
    ],
)
def test_what_a_hidden_question_cannot_ask_is_said(words_: dict[str, object], sentence: str) -> None:
    with pytest.raises(AscertainError, match=sentence):
        pose_hidden(TIGER, **words_)  # type: ignore[arg-type]


PROBLEM = """
[model]
kind = "hidden"
initial = { a = "1/2", b = "1/2" }
transitions = [
  ["a", "look", [["a", "x", "9/10"], ["b", "y", "1/10"]]],
  ["b", "look", [["b", "y", 1]]],
  ["c", "look", [["c", "y", 1]]],
]
[task]
hypotheses = { beliefs = { mixed = { a = "1/2", b = "1/2" }, second = { b = 1 }, third = { c = 1 } } }
[risk]
alpha = "1/100"
"""


def test_a_problem_file_may_be_about_a_hidden_model(tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    path.write_text(PROBLEM)
    problem = read_any_problem(path)
    assert isinstance(problem.question, HiddenTask)
    assert problem.question.name == ("mixed", "second", "third")
    found = find_obstruction(problem.question)
    assert found is not None
    assert found.pair == (1, 2)
    assert found.groups == (("mixed",), ("second", "third"))
    with pytest.raises(TaskError, match=r"the model is hidden, and this needs a machine.*inspect and quotient"):
        read_problem(path)
    path.write_text(PROBLEM + '[observe]\nbudget = 3\nnominal = "second"\n')
    observed = read_any_problem(path)
    assert (observed.observe.budget, observed.observe.nominal) == (3, "second")
    for section in ("[weights]\na = 2\n", '[operation]\nlog = "run.csv"\n', '[observe]\ncompiler = "direct"\n'):
        path.write_text(PROBLEM + section)
        with pytest.raises(TaskError, match=r"(weights|operation|observe\] compiler).* is for machines and Boolean"):
            read_any_problem(path)
    path.write_text(
        'model = { transitions = [["s", "a", "y", "s"]] }\n[task]\nhypotheses = { beliefs = { s = { s = 1 } } }'
    )
    with pytest.raises(TaskError, match="beliefs are for hidden models"):
        read_any_problem(path)
