"""Cassandra's files: every form of their tables against a dense reader, dialects, round trips and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import AscertainError, FileError, LimitError
from ascertain.model.files import pomdp, pomdp_rows, pomdp_syntax, read_model, write_model
from ascertain.model.files.pomdp import parse_pomdp, write_pomdp
from ascertain.model.hidden import HiddenModel, as_hidden, certain, keep_readings, make_belief, make_joint
from ascertain.problem.problem import read_any_problem
from ascertain.task.hidden_task import HiddenTask
from tests.calls import run
from tests.conftest import ROOT
from tests.hidden_strategies import hidden_models, masses
from tests.reference.pomdp import Joint, naive_joint
from tests.strategies import machines, names

F = Fraction

MAZE = """
# A corridor of four cells in the style of the oldest files: counts, wildcards,
# and matrices that run over lines as they please.
discount:0.75
values:reward
states:4
actions: west east
observations:2

T:west
1.0 0.0 0.0 0.0
1.0 0.0 0.0 0.0   0.0 1.0 0.0
0.0
0 0 1 0
T : east : * : * 0.0
T: east: 0 : 1 1.0   T: east: 1 : 2 .5
T: east: 1 : 1 .5
T: east: 2
0 0 0 1
T: east: 3 : 3 1e0

O: * : * : 0 1.0     # nothing, everywhere
O: * : 3 : 0 0.0     # but the goal
O: * : 3 : 1 1
R: * : * : 3 : * 1.0
R: west : 0
0 0  0 0  0 0  -1.5 2
R: 1 : 2 : 3
0 1
"""


def law(model: HiddenModel, state: str, action: str) -> dict[tuple[str, str], Fraction]:
    entries = model.joint[model.state_named(state)][model.action_named(action)]
    return {(model.states[t], model.readings[y]): p for t, y, p in entries}


def read_hidden(text: str, where: str) -> HiddenModel:
    model = parse_pomdp(text, where).model
    assert isinstance(model, HiddenModel)
    return model


def as_joint(model: HiddenModel) -> Joint:
    return {
        (model.states[s], model.actions[a], model.states[t], model.readings[y]): p
        for s, row in enumerate(model.joint)
        for a, entries in enumerate(row)
        for t, y, p in entries
    }


def test_the_tiger_is_read() -> None:
    model = read_model(ROOT / "examples" / "tiger" / "tiger.pomdp")
    assert isinstance(model, HiddenModel)
    assert law(model, "tiger-left", "listen") == {
        ("tiger-left", "hear-left"): F(17, 20),
        ("tiger-left", "hear-right"): F(3, 20),
    }
    assert set(law(model, "tiger-right", "open-left").values()) == {F(1, 4)}
    assert model.initial == (make_belief({0: 1, 1: 1}),)


def test_counts_wildcards_and_loose_lines_are_read() -> None:
    said = parse_pomdp(MAZE, "maze")
    assert isinstance(said.model, HiddenModel)
    assert law(said.model, "1", "east") == {("2", "0"): F(1, 2), ("1", "0"): F(1, 2)}
    assert law(said.model, "2", "east") == {("3", "1"): F(1)}
    assert law(said.model, "3", "west") == {("2", "0"): F(1)}
    assert said.notes == (
        "R: 3 rewards are not used: they bear on what to do, not on what can be told",
        "discount and values are not used",
        "no start is given: the belief that the plant begins with is unknown",
    )
    assert as_joint(said.model) == naive_joint(MAZE)[0]


def test_names_that_are_numbers_are_names() -> None:
    head = "states: 2 1 0 actions: go observations: x start: 1 "
    text = head + "T: go : 2 : 0 1 T: go : 1 : 2 1 T: go : 0 : 0 1 O: go uniform"
    model = read_hidden(text, "m")
    assert model.initial == (certain(1),)
    assert law(model, "2", "go") == {("0", "x"): F(1)}
    assert as_joint(model) == naive_joint(text)[0]


SHORT = "states: a b c\nactions: go\nobservations: x\nT: go identity\nO: go uniform\nstart"


@pytest.mark.parametrize(
    ("start", "belief"),
    [
        (": 0.25 0.25 0.5", {0: 1, 1: 1, 2: 2}),
        (": uniform", {0: 1, 1: 1, 2: 1}),
        (": b", {1: 1}),
        (": 2", {2: 1}),
        (": 0 1 0", {1: 1}),
        (" include: a 2", {0: 1, 2: 1}),
        (" exclude : a", {1: 1, 2: 1}),
        (": 1/3 1/3 1/3", {0: 1, 1: 1, 2: 1}),
    ],
)
def test_a_start_is_a_belief_however_it_is_said(start: str, belief: dict[int, int]) -> None:
    text = SHORT + start
    head, _, tail = text.partition("T:")
    for order in (text, f"{head}{tail.partition('start')[1]}{start}\nT:{tail.partition('start')[0]}"):
        assert read_hidden(order, "m").initial == (make_belief(belief),)
        assert naive_joint(order)[1] == {"abc"[s]: p for s, p in make_belief(belief)}


def test_one_state_alone_is_a_start_by_name_by_number_and_by_probability() -> None:
    for start in ("0", "1", "1.0", "s"):
        text = f"states: s\nactions: a\nobservations: y\nstart: {start}\nT: a identity\nO: a identity"
        assert read_hidden(text, "m").initial == (certain(0),)


def test_a_reset_row_leads_to_the_start() -> None:
    text = "states: a b\nactions: go\nobservations: x\nstart: 0.3 0.7\nT: go : * reset\nO: go uniform"
    assert law(read_hidden(text, "m"), "b", "go") == {("a", "x"): F(3, 10), ("b", "x"): F(7, 10)}


# --------------------------------------------------------------------------------------------- drawn files and a twin


def texts(row: dict[int, Fraction], width: int) -> str:
    return " ".join(str(row.get(c, F(0))) for c in range(width))


@st.composite
def statements(draw: st.DrawFn, letter: str, n: int, width: int, num_actions: int) -> list[str]:
    """Statements that leave every row complete: a base for all, then whole rows, then single entries of fresh rows."""
    lines: list[str] = []
    name = lambda kind, i: draw(st.sampled_from((f"{kind}{i}", str(i))))  # noqa: E731
    columns = "s" if letter == "T" else "y"
    for a in range(num_actions):
        whole = ["uniform", "rows", "matrix", *(["identity"] if n == width else [])]
        match draw(st.sampled_from(whole)):
            case "rows":
                lines.append(f"{letter}: {name('a', a)} : * {texts(draw(masses(width)), width)}")
            case "matrix":
                rows = [texts(draw(masses(width)), width) for _ in range(n)]
                lines.append(f"{letter} : {name('a', a)}\n" + draw(st.sampled_from((" ", "\n"))).join(rows))
            case word:
                lines.append(f"{letter}:{name('a', a)} {word}")
    for _ in range(draw(st.integers(0, 2))):
        a = draw(st.sampled_from(("*", *(str(i) for i in range(num_actions)))))
        s = draw(st.integers(0, n - 1))
        row = draw(masses(width))
        if draw(st.booleans()):
            lines.append(f"{letter}: {a} : {name('s', s)} " + draw(st.sampled_from(("uniform", texts(row, width)))))
        else:
            lines.append(f"{letter}: {a} : {name('s', s)} : * 0.0")
            lines += [f"{letter}: {a} : {name('s', s)} : {name(columns, c)} {p}" for c, p in row.items()]
    return lines


@st.composite
def files(draw: st.DrawFn) -> str:
    n, num_actions, num_readings = (draw(st.integers(1, size)) for size in (4, 2, 3))
    listed = [("states", "s", n), ("actions", "a", num_actions), ("observations", "y", num_readings)]
    head = ["discount: 0.9", *(f"{what}: {' '.join(names(letter, size))}" for what, letter, size in listed)]
    starts = (
        "",
        "start: uniform",
        f"start: {texts(draw(masses(n)), n)}",
        "start: s0",
        "start include: s0",
        "start include: *",
    )
    head.append(draw(st.sampled_from(starts if n > 1 else starts[:2])))
    body = [*draw(statements("T", n, n, num_actions)), *draw(statements("O", n, num_readings, num_actions))]
    comment = draw(st.sampled_from(("\n", "\n\n", " # so it is: T O R\n", "\r\n")))
    return comment.join([*head, *body, "R: * : * : * : * 1.5"])


@given(files())
def test_every_form_is_read_as_the_dense_reader_reads_it(text: str) -> None:
    model = read_hidden(text, "drawn")
    joint, start = naive_joint(text)
    assert as_joint(model) == joint
    assert [{model.states[s]: p for s, p in belief} for belief in model.initial] == ([] if start is None else [start])


# ------------------------------------------------------------------------------------------------------- round trips


@st.composite
def factored(draw: st.DrawFn) -> HiddenModel:
    """Hidden models whose readings depend on the state entered, with names that the format can have or cannot."""
    n, num_actions, num_readings = (draw(st.integers(1, size)) for size in (4, 2, 3))
    read = {(a, t): draw(masses(num_readings)) for a in range(num_actions) for t in range(n)}
    rows = [
        tuple(
            make_joint({(t, y): p * q for t, p in draw(masses(n)).items() for y, q in read[a, t].items()})
            for a in range(num_actions)
        )
        for _ in range(n)
    ]
    return HiddenModel(
        states=draw(st.sampled_from((names("s", n), tuple(str(i) for i in range(n))))),
        actions=names("a", num_actions),
        readings=names("y", num_readings),
        joint=tuple(rows),
        initial=draw(st.sampled_from(((), (make_belief(draw(masses(n))),)))),
    )


@given(factored())
def test_a_model_that_is_written_reads_back_the_same(model: HiddenModel) -> None:
    text = write_pomdp(model)
    assert read_hidden(text, "again") == model
    assert naive_joint(text)[0] == as_joint(model)


@given(hidden_models())
def test_with_readings_kept_in_its_states_every_model_can_be_written(model: HiddenModel) -> None:
    kept = keep_readings(model)
    again = read_hidden(write_pomdp(kept), "again")
    assert (again.joint, again.initial) == (kept.joint, kept.initial)


@given(machines(partial=False))
def test_a_machine_goes_through_a_file_when_its_readings_are_kept(machine) -> None:
    kept = keep_readings(as_hidden(machine))
    if len(machine.initial) < 2:
        assert read_hidden(write_pomdp(kept), "again").joint == kept.joint


def test_names_that_the_format_cannot_have_are_numbered_and_listed(tmp_path: Path) -> None:
    model = HiddenModel(
        states=("a b", "start"), actions=("go",), readings=("x",), joint=((((1, 0, F(1)),),), (((0, 0, F(1)),),))
    )
    write_model(model, tmp_path / "m.POMDP")
    text = (tmp_path / "m.POMDP").read_text()
    assert "# state 0 'a b'" in text
    assert "states: 2" in text
    again = read_model(tmp_path / "m.POMDP")
    assert isinstance(again, HiddenModel)
    assert again.joint == model.joint


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            HiddenModel(
                states=("s", "t"), actions=("a",), readings=("x", "y"), joint=((((0, 0, F(1)),),), (((0, 1, F(1)),),))
            ),
            "what action 'a' reads in 's' depends on where it came from, which a .POMDP file cannot say",
        ),
        (
            HiddenModel(states=("s",), actions=("a", "b"), readings=("x",), joint=((((0, 0, F(1)),), ()),)),
            "action 'b' is not defined in state 's', and a .POMDP file defines all",
        ),
        (
            HiddenModel(
                states=("s", "t"),
                actions=("a",),
                readings=("x",),
                joint=((((0, 0, F(1)),),),) * 2,
                initial=(certain(0), certain(1)),
            ),
            "one start; the model has 2 initial beliefs",
        ),
    ],
)
def test_what_the_format_cannot_say_is_not_written(model: HiddenModel, sentence: str) -> None:
    with pytest.raises(FileError, match=sentence):
        write_pomdp(model)


# ------------------------------------------------------------------------------------------------- sums and mistakes

HEAD = "states: a b c\nactions: go\nobservations: x\nO: go uniform\n"


def test_rows_that_do_not_sum_to_one_are_refused_with_their_sum() -> None:
    assert read_hidden(HEAD + "T: go : * 0.333 0.333 0.334", "m").num_entries == 9
    with pytest.raises(FileError, match=r"m:5: T: the row of action 'go' and state 'a' sums to 0\.99; it must"):
        parse_pomdp(HEAD + "T: go : * 0.33 0.33 0.33", "m", "renormalised")
    inexact = HEAD + "start: 0.333333 0.333333 0.333333\nT: go : * 0.333333 0.333333 0.333333"
    with pytest.raises(FileError, match=r'start: the belief sums to 0\.999999, not exactly 1.*inexact_rows = "renorm'):
        parse_pomdp(inexact, "m")
    said = parse_pomdp(inexact, "m", "renormalised")
    assert isinstance(said.model, HiddenModel)
    assert set(law(said.model, "b", "go").values()) == {F(1, 3)}
    assert said.model.initial == (make_belief({0: 1, 1: 1, 2: 1}),)
    assert said.notes[:2] == (
        "start: 1 rows did not sum to 1, by up to 0.000001, and WERE RENORMALISED: the model is not exactly the one in "
        "the file",
        "T: 3 rows did not sum to 1, by up to 0.000001, and WERE RENORMALISED: the model is not exactly the one in "
        "the file",
    )


def test_a_row_of_readings_may_be_missing_only_where_its_action_never_leads() -> None:
    text = "states: a b\nactions: go\nobservations: x\nT: go : * : a 1\nO: go : a : x 1"
    assert read_hidden(text, "m").num_entries == 2
    with pytest.raises(FileError, match="m: O says nothing about action 'go' and state 'b'"):
        parse_pomdp(text + "\nT: go : b : b 1 T: go : b : a 0", "m")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hello", "m:1: 'hello' is not known here|'the end of the file' stands after 'hello'|stands after 'hello'"),
        ("states 3", "m:1: '3' stands after 'states'; a colon was expected"),
        ("states: 0", "states: '0' is not a number from 1 to 100000"),
        ("states: 1000000000", "is not a number from 1 to"),
        ("states:\nactions: 1", "m:1: states: 'actions' stands where names, or how many there are, were expected"),
        ("states: a a", "'a' is listed twice"),
        ("states: 2\nstates: 2", "m:2: 'states' is given again; once is right"),
        ("values: gain", "values are 'gain'; reward or cost was expected"),
        ("discount: much", "'much' stands where the discount was expected"),
        ("start: uniform", "start stands before states"),
        ("T: go identity", "m:1: T stands before states; they must be known first"),
        ("states: 2\nactions: 2", "m: observations are missing"),
        (HEAD, "m: T says nothing about action 'go' and state 'a'; a row that sums to 1 is needed"),
        (HEAD + "T: run identity", "m:5: 'run' is not an action of this file"),
        (HEAD + "T: go : d", "'d' is not a state of this file"),
        (HEAD + "T: go : 3 uniform", "'3' is not a state of this file, and numbers go up to 2"),
        (HEAD + "T: go : a : b\nuniform", "m:6: 'uniform' stands where a probability was expected"),
        (HEAD + "T: go : a : b 1.5", "m:5: a probability is 3/2; it must be in \\[0, 1\\]"),
        (HEAD + "T: go : a : b -1", "a probability is -1; it must be in"),
        (HEAD + "T: go : a 1 0", "m:5: the end of the file stands where a probability was expected"),
        (HEAD + "T: go : a : b 1e9999", "not a number|huge"),
        (HEAD + "T: go : a : b 1/0", "divides by zero"),
        (HEAD + "T: go : a reset", "reset leads to the start, and none is given"),
        (HEAD + "O: go identity", "identity needs as many observations as states; there are 1 and 3"),
        (HEAD + "start: 0.5 0.5\nT: go identity", "start has 2 numbers; each of the 3 states needs one"),
        (HEAD + "start: d", "start is 'd'; a state, uniform, or a probability for each state was expected"),
        (HEAD + "start exclude: a b c", "start exclude leaves no state"),
        (HEAD + "start include:", "start include leaves no state"),
        (HEAD + "start exclude: *", "start exclude leaves no state"),
        (HEAD + "start: 0.2 0.3 0.5\n0.1", "m:6: '0.1' is a number too many"),
        (HEAD + "R: go 1", "a reward names an action and a state at least"),
        (HEAD + "R: go : a : a 1 x", "'x' is not known here|stands after 'x'"),
        (HEAD + "T: go uniform T: go : a : a 0.5", "m:5: T: the row of action 'go' and state 'a' sums to .*; it must"),
        (HEAD + "T: go : start uniform", "'start' is not a state of this file but a reserved word"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(text: str, sentence: str) -> None:
    with pytest.raises(FileError, match=sentence):
        parse_pomdp(text, "m")


def test_short_files_that_ask_for_much_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    much = "states: 5000 actions: 20 observations: 1\n"
    with pytest.raises(LimitError, match="T: more than 400028 entries once wildcards and matrices are written out"):
        parse_pomdp(much + "T: * : * : * 0.5", "m")
    with pytest.raises(LimitError, match="210000 states times actions; at most 100000 are read"):
        parse_pomdp("states: 10000 actions: 21 observations: 1\nT: * identity", "m")
    joint = HEAD + "T: go : a uniform T: go : b uniform T: go : c : c 1 O: * uniform"
    monkeypatch.setattr(pomdp, "MAX_ENTRIES", 5)
    with pytest.raises(LimitError, match="the joint law has more than 5 entries, the most for a file of this size"):
        parse_pomdp(joint, "m")
    monkeypatch.undo()
    monkeypatch.setattr(pomdp, "MAX_UNWRITTEN", 5 - 2 * len(joint))
    with pytest.raises(LimitError, match="the joint law has more than 5 entries"):
        parse_pomdp(joint, "m")
    monkeypatch.setattr(pomdp_syntax, "MAX_NAMES", 2)
    with pytest.raises(FileError, match="states: more than 2 names"):
        parse_pomdp(HEAD, "m")
    monkeypatch.undo()
    twice = HEAD + "T: go : a : * 0 T: go : b : * 0"
    monkeypatch.setattr(pomdp_rows, "MAX_UNWRITTEN", 4 - len(twice) // 2)
    with pytest.raises(LimitError, match="more than 4 entries"):
        parse_pomdp(twice, "m")
    huge = " ".join(f"1/{p}" for p in (10**199 + 7, 10**199 + 9)) + " 0"
    assert "huge" not in huge
    with pytest.raises(FileError, match="it must sum to 1"):
        parse_pomdp(HEAD + f"T: go : * {huge}", "m")


def test_a_row_with_a_huge_common_denominator_is_refused() -> None:
    rows = " ".join(f"1/{10**190 + i}" for i in range(60))
    text = f"states: 60 actions: 1 observations: 1 O: * uniform T: 0 : * {rows}"
    with pytest.raises(FileError, match="needs a huge common denominator; round its numbers"):
        parse_pomdp(text, "m")


@given(st.text(alphabet=st.sampled_from("TOR:*# \n01.5/eabstartuniformidentity-"), max_size=80), st.booleans())
def test_whatever_follows_a_good_beginning_ends_in_a_model_or_a_sentence(tail: str, first: bool) -> None:
    text = tail + HEAD if first else HEAD + "start: uniform\nT: go identity\n" + tail
    try:
        parse_pomdp(text, "m")
    except AscertainError as reason:
        assert "\n" not in str(reason)


# ------------------------------------------------------------------------------------------------------ the verbs


def test_inspect_and_quotient_take_hidden_models_and_the_solver_says_so(tmp_path: Path) -> None:
    (tmp_path / "m.pomdp").write_text(
        "states: a b c\nactions: go\nobservations: x y\nT: go identity\n"
        "O: go : a 0.5 0.5\nO: go : b 0.500004 0.5\nO: go : c 0.5 0.5\nR: * : * : * : * 1\n"
    )
    (tmp_path / "p.toml").write_text('model = "m.pomdp"\ninexact_rows = "renormalised"\n')
    done = run("inspect", "p.toml", "--json", cwd=tmp_path)
    facts = json.loads(done.stdout)
    assert (done.returncode, facts["kind"], facts["dimension"], facts["state_classes"]) == (1, "hidden", 2, 2)
    assert facts["obstruction"]["pair"] == ["a", "c"]
    assert any("WERE RENORMALISED" in remark for remark in facts["notes"])
    reduced = run("quotient", "p.toml", "--json", "--out", "reduced.json", cwd=tmp_path)
    assert json.loads(reduced.stdout)["separating"] == [{"pair": [0, 1], "word": [["go", "x"]]}]
    assert "note: O: 1 rows did not sum to 1" in reduced.stderr
    again = read_model(tmp_path / "reduced.json")
    assert isinstance(again, HiddenModel)
    assert again.states == ("a", "b")
    done = run("solve", "p.toml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the model is hidden, and this needs a machine" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_inexact_rows_are_a_matter_of_cassandra_files(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('inexact_rows = "refused"\nmodel = { transitions = [["s", "a", "y", "s"]] }')
    with pytest.raises(AscertainError, match=r"inexact_rows is for .POMDP files"):
        read_any_problem(path)
    (tmp_path / "m.pomdp").write_text(MAZE)
    path.write_text('model = "m.pomdp"\n[task]\nhypotheses = ["0", "3"]\nactions = "common"')
    problem = read_any_problem(path)
    assert isinstance(problem.question, HiddenTask)
    assert len(problem.notes) == 3
    assert problem.question.name == ("0", "3")
