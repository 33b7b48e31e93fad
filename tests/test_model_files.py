"""Model files: every dialect is read, what is written reads back, and what is wrong is one sentence."""

from __future__ import annotations

import csv
import os
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ascertain.errors import AscertainError, FileError, ModelError
from ascertain.model import Machine, NoisyMachine
from ascertain.model.files import read_model, write_model
from ascertain.model.files import text as text_module
from ascertain.model.files.aalpy import from_aalpy, to_aalpy
from ascertain.model.files.dot import parse_dot, write_dot
from ascertain.model.files.dot_syntax import MAX_NESTING, Digraph, id_text, parse_graph
from ascertain.model.files.json_model import parse_model_data, write_json
from ascertain.model.files.json_text import parse_json
from ascertain.model.files.text import read_text
from ascertain.writing import write_whole
from tests.journal_runs import message as sentence
from tests.reference.files_bad import BAD_DATA, BAD_DOT, BAD_JSON
from tests.reference.files_dot import read_by_graphviz, read_by_lines, transitions_of
from tests.reference.files_strategies import PLAIN, digraphs, renamed
from tests.reference.models import as_noisy
from tests.strategies import machines, noisy_machines

DIALECTS = Path(__file__).parent / "data" / "dot"

LAMP = Machine(
    states=("s0", "s1"),
    actions=("press", "look"),
    readings=("on|bright", "off", "dim (50%) & warm/soft"),
    successor=np.array([[1, 0], [0, 1]]),
    output=np.array([[0, 1], [1, 2]]),
    initial=(0,),
)


def read_dot(path: Path | str) -> Machine:
    return parse_dot(read_text(path), str(path))


# ---------------------------------------------------------------------------------------------------- .dot dialects


@pytest.mark.parametrize("path", sorted(DIALECTS.glob("*.dot")), ids=lambda path: path.stem)
def test_the_same_lamp_is_read_from_every_dialect(path: Path) -> None:
    assert read_dot(path) == LAMP


def test_several_pairs_in_one_label_are_several_transitions() -> None:
    rows = "<tr><td>a</td><td>/</td><td>x</td></tr><tr><td>b</td><td>/</td><td></td></tr>"
    expected = {("p", "a", "x", "q"), ("p", "b", "", "q")}
    for label in (r'"a / x\nb / \n"', r'"a/x\lb/\l"', "<a/x<br/>b/>", "<a / x<br>b / >", f"<<table>{rows}</table>>"):
        assert transitions_of(parse_dot(f"digraph {{ p -> q [label={label}] }}", "x.dot")) == expected


def test_a_label_is_split_at_its_first_slash() -> None:
    assert transitions_of(parse_dot('digraph { p -> q [label="GET /a/b"] }', "x")) == {("p", "GET", "a/b", "q")}


def test_an_unknown_escape_in_a_label_stays_and_a_known_one_is_resolved() -> None:
    machine = parse_dot(r'digraph { p -> q [label="say \"x\" / C:\temp\\"] }', "x")
    assert (machine.actions, machine.readings) == (('say "x"',), ("C:\\temp\\",))


def test_a_chain_and_a_subgraph_stand_for_many_transitions() -> None:
    machine = parse_dot('digraph { a -> b -> c [label="x/y"]; {d e} -> a [label="x/z"] }', "x")
    assert transitions_of(machine) == {
        ("a", "x", "y", "b"),
        ("b", "x", "y", "c"),
        ("d", "x", "z", "a"),
        ("e", "x", "z", "a"),
    }
    assert machine.states == ("a", "b", "c", "d", "e")


def test_a_node_that_is_only_declared_is_a_state() -> None:
    machine = parse_dot('digraph { lonely; a -> a [label="x/y"]; "__start0"; other [shape=point] }', "x")
    assert machine.states == ("lonely", "a", "other")
    assert machine.initial == (1,)


def test_two_red_nodes_say_nothing_about_the_initial_state() -> None:
    assert parse_dot('digraph { a [color=red] b [color=red] b -> a [label="x/y"] }', "x").initial == (1,)
    assert parse_dot('digraph { a [color="RED"] b b -> a [label="x/y"] }', "x").initial == (0,)


def test_several_start_nodes_mark_several_initial_states() -> None:
    text = 'digraph { __start0 -> b; a -> b [label="x/y"]; __start1 -> a }'
    machine = parse_dot(text, "x")
    assert [machine.states[s] for s in machine.initial] == ["b", "a"]


# ------------------------------------------------------------------------------------------------------- real files


def test_every_real_machine_has_the_sizes_of_the_manifest(models_dir: Path) -> None:
    with (models_dir / "MANIFEST.tsv").open() as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    assert rows
    for row in rows:
        machine = read_model(models_dir.parent / row["path"])
        assert isinstance(machine, Machine)
        sizes = (machine.num_states, machine.num_actions, len(machine.readings), int((machine.successor < 0).sum()))
        expected = tuple(int(row[key]) for key in ("states", "inputs", "outputs", "missing_transitions"))
        assert sizes == expected, row["path"]
        assert len(machine.initial) == 1, row["path"]


def test_real_machines_are_read_as_line_by_line_and_written_without_loss(models_dir: Path) -> None:
    for path in sorted(models_dir.rglob("*.dot")):
        text = path.read_text()
        machine = parse_dot(text, path.name)
        states, transitions, initial = read_by_lines(text)
        assert (set(machine.states), transitions_of(machine)) == (states, transitions), path
        assert {machine.states[s] for s in machine.initial} == initial, path
        assert parse_dot(write_dot(machine), path.name) == machine, path


def test_real_files_go_the_quick_way_and_through_the_grammar_to_the_same_graph(models_dir: Path) -> None:
    for path in sorted(models_dir.rglob("*.dot")):
        if path.stat().st_size < 100_000:
            text = path.read_text()
            assert parse_graph(text, "x") == parse_graph(text, "x", quick=False), path


def test_graphviz_reads_the_same_graphs_from_real_files(models_dir: Path) -> None:
    pygraphviz = pytest.importorskip("pygraphviz")
    for path in sorted([*models_dir.rglob("*.dot"), *DIALECTS.glob("*.dot")]):
        if path.name in ("windows.dot", "everything_else.dot"):  # a byte-order mark, and a strict graph
            continue
        text = path.read_text()
        assert plain_graph(parse_graph(text, path.name)) == read_by_graphviz(pygraphviz, text), path


def plain_graph(graph: Digraph) -> tuple[set[str], list[tuple[str, str, str]]]:
    edges = [(tail, head, id_text(given.get("label", ""))) for tail, head, given, _ in graph.edges]
    return set(graph.nodes), sorted(edges)


# ------------------------------------------------------------------------------------------------ generated DOT text


def outcome(text: str, *, quick: bool) -> object:
    """The graph, or the sentence that says why there is none."""
    try:
        graph = parse_graph(text, "x.dot", quick=quick)
    except FileError as error:
        return str(error)
    return list(graph.nodes.items()), graph.edges, graph.attributes


@given(digraphs())
def test_the_quick_way_and_the_grammar_agree_on_every_digraph(text: str) -> None:
    result = outcome(text, quick=True)
    assert not isinstance(result, str), result
    assert result == outcome(text, quick=False)


@given(digraphs(), st.data())
def test_the_quick_way_and_the_grammar_agree_on_damaged_text(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        i = data.draw(st.integers(0, len(text)))
        j = data.draw(st.integers(i, min(len(text), i + 4)))
        text = text[:i] + data.draw(st.text('ab{}[]<>"\\/*#;,=+->:\n \u00a0', max_size=3)) + text[j:]
    assert outcome(text, quick=True) == outcome(text, quick=False)


@given(digraphs())
def test_graphviz_reads_the_same_graph_from_generated_text(text: str) -> None:
    pygraphviz = pytest.importorskip("pygraphviz")
    assert plain_graph(parse_graph(text, "x")) == read_by_graphviz(pygraphviz, text)


@given(st.text('digraph {}[]<>"\\/*#;,=+->:\n label', max_size=60))
def test_any_text_gives_a_machine_or_one_sentence(text: str) -> None:
    try:
        parse_dot(text, "x.dot")
    except FileError as error:
        assert str(error).startswith("x.dot: ")


# ------------------------------------------------------------------------------------------------------- round trips


@given(renamed(machines()))
@example(LAMP)
def test_what_is_written_as_dot_reads_back_as_the_same_machine(machine: Machine) -> None:
    text = write_dot(machine)
    assert parse_dot(text.encode().decode(), "x") == machine
    assert parse_graph(text, "x") == parse_graph(text, "x", quick=False)


@given(renamed(machines()))
def test_what_graphviz_makes_of_our_dot_is_still_the_same_machine(machine: Machine) -> None:
    pygraphviz = pytest.importorskip("pygraphviz")
    assume("" not in (*machine.states, *machine.actions, *machine.readings))  # Graphviz drops empty attributes
    graph = pygraphviz.AGraph(string=write_dot(machine))
    again = parse_dot(graph.to_string(), "x")  # with the nodes in another order
    graph.close()
    assert transitions_of(again) == transitions_of(machine)
    assert set(zip(again.states, again.origin, strict=False)) == set(zip(machine.states, machine.origin, strict=False))
    assert (set(again.states), set(again.actions), set(again.readings)) == (
        set(machine.states),
        set(machine.actions),
        set(machine.readings),
    )
    assert {again.states[s] for s in again.initial} == {machine.states[s] for s in machine.initial}


def test_plain_machines_are_written_without_extras() -> None:
    assert write_dot(LAMP) == (
        "digraph g {\n"
        '    s0 [label="s0"];\n'
        '    s1 [label="s1"];\n'
        '    s0 -> s1 [label="press/on|bright"];\n'
        '    s0 -> s0 [label="look/off"];\n'
        '    s1 -> s0 [label="press/off"];\n'
        '    s1 -> s1 [label="look/dim (50%) & warm/soft"];\n'
        '    __start0 [label="" shape="none"];\n'
        "    __start0 -> s0;\n"
        "}\n"
    )


@given(renamed(st.one_of(machines(), noisy_machines())))
@example(as_noisy(LAMP))
def test_what_is_written_as_json_reads_back_as_the_same_model(model: Machine | NoisyMachine) -> None:
    text = write_json(model).encode().decode()
    assert parse_model_data(parse_json(text, "x"), "x") == model


@given(machines(max_states=3), st.sampled_from([".dot", ".gv", ".json"]))
def test_files_are_replaced_whole(tmp_path_factory: pytest.TempPathFactory, machine: Machine, suffix: str) -> None:
    path = tmp_path_factory.mktemp("files") / f"m{suffix}"
    path.write_text("old")
    write_model(machine, path)
    assert read_model(path) == machine
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.dot"
    path.write_text("old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    assert "No space left" in sentence(lambda: write_whole(path, b"new"))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    assert "cannot be written" in sentence(lambda: write_whole(tmp_path / "none" / "m.dot", b"new"))


def test_a_pipe_or_a_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for place in (pipe, link):
        assert "a device or a pipe" in sentence(lambda place=place: write_whole(place, b"new"))
    assert pipe.is_fifo() and link.is_symlink()


def test_what_cannot_be_the_name_of_a_file_is_refused_with_a_sentence(tmp_path: Path) -> None:
    for name in ("", ".", "/", str(tmp_path), f"{tmp_path}/{'y' * 300}", "a\0b", f"{tmp_path}/none/m"):
        assert "cannot be" in sentence(lambda name=name: write_whole(name, b"new"))


def test_a_noisy_machine_is_not_written_as_dot(tmp_path: Path) -> None:
    message = sentence(lambda: write_model(as_noisy(LAMP), tmp_path / "m.dot"))
    assert message.endswith("noisy models are not written as .dot; use .json")
    assert not list(tmp_path.iterdir())


def test_an_unknown_suffix_names_the_known_ones(tmp_path: Path) -> None:
    assert sentence(lambda: read_model(tmp_path / "m.xyz")).endswith(
        "known are .bnet, .toml, .dot, .gv, .json, .kiss2, .kiss, .pomdp"
    )
    assert "did you mean '.json'?" in sentence(lambda: read_model(tmp_path / "m.jsn"))


# ------------------------------------------------------------------------------------------------- files gone wrong


def test_files_that_are_not_text_are_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.dot"
    assert sentence(lambda: read_dot(path)) == f"{path}: there is no such file; check the path"
    (tmp_path / "M.DOT").write_text("x")
    assert "did you mean 'M.DOT'?" in sentence(lambda: read_dot(path))
    assert "is a directory" in sentence(lambda: read_dot(tmp_path))
    path.write_bytes(b"")
    assert "is empty" in sentence(lambda: read_dot(path))
    path.write_bytes(b"digraph {\n\xff }")
    assert "line 2 is not UTF-8" in sentence(lambda: read_dot(path))
    path.write_bytes(b"\x7fELF\n\0\0")
    assert "line 2 holds a NUL byte" in sentence(lambda: read_dot(path))
    assert "not a regular file" in sentence(lambda: read_dot("/dev/null"))
    assert "cannot be read" in sentence(lambda: read_dot("a\0b.dot"))
    monkeypatch.setattr(text_module, "MAX_BYTES", 10)
    path.write_bytes(b"digraph { }")
    assert "has 11 bytes; at most 10 are read" in sentence(lambda: read_dot(path))


def test_two_hundred_megabytes_are_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.dot"
    with path.open("wb") as stream:
        stream.truncate(200 * 2**20)
    assert "at most 134217728 are read" in sentence(lambda: read_dot(path))


@pytest.mark.parametrize(("text", "message"), BAD_DOT.items(), ids=range(len(BAD_DOT)))
def test_a_bad_dot_file_is_one_sentence_with_file_and_line(text: str, message: str) -> None:
    assert sentence(lambda: parse_dot(text, "bad.dot")) == f"bad.dot: {message}"


def test_a_truncated_file_is_refused_wherever_it_ends() -> None:
    for name in ("learnlib.dot", "html_table.dot", "everything_else.dot"):
        text = (DIALECTS / name).read_text()
        for cut in range(text.rindex("}")):
            message = sentence(lambda part=text[:cut]: parse_dot(part, "x.dot"))
            assert re.match(r"x\.dot: line \d+: ", message), (name, cut)


def test_hostile_text_is_answered_with_a_sentence_and_comes_to_an_end() -> None:
    # Were any of these quadratic, the suite would stand still here: n is large enough to be noticed.
    n = 100_000
    hostile = [
        "digraph {" + "{" * n,
        "digraph {" + "a -> " * n,
        "digraph {" + "a [" * n,
        'digraph { a [label="' + "\\" * n,
        'digraph { a [label="' + '\\"' * n,
        "digraph { a [label=<" + "<!--" * n,
        "digraph { a -> b [label=<" + "<b" * n + ">" * n + ">] }",
        "digraph { a -> b [label=<" + "x<b>" * n + ">] }",
        'digraph { a [x="y" + ' + '"y" + ' * n,
        "digraph {" + " " * n + "\n# x" * n,
        "digraph {" + "/*" * n,
        "digraph {" + "//" * n,
        'digraph { a -> b [label="' + "\\n" * n + '"] }',
        "digraph { {"
        + " ".join(f"a{i}" for i in range(3000))
        + "} -> {"
        + " ".join(f"b{i}" for i in range(3000))
        + "} }",
        "digraph { a -> b [label=" + "-" * n,
    ]
    for text in hostile:
        sentence(lambda text=text: parse_dot(text, "x.dot"))


def test_nesting_and_tables_are_bounded() -> None:
    deep = "digraph {" + "{" * (MAX_NESTING + 1) + "}" * (MAX_NESTING + 1) + "}"
    assert "nested more than 64 deep" in sentence(lambda: parse_dot(deep, "x"))
    wide = "".join(f'a{i} -> a{i} [label="x{i}/y"];' for i in range(11600))
    assert "11600 states times 11600 actions" in sentence(lambda: parse_dot(f"digraph {{{wide}}}", "x"))


# -------------------------------------------------------------------------------------------------------------- JSON


def test_a_model_is_written_by_hand_in_a_few_lines() -> None:
    data = {"initial": "shut", "transitions": [["ajar", "push", "ok", "shut"], ["shut", "open", "ok", "ajar"]]}
    machine = parse_model_data(data, "m")
    assert isinstance(machine, Machine)
    assert (machine.states, machine.actions, machine.readings) == (("shut", "ajar"), ("push", "open"), ("ok",))
    assert machine.initial == (0,)
    assert machine.successor.tolist() == [[-1, 1], [0, -1]]


def test_one_table_of_probabilities_makes_a_model_noisy() -> None:
    rows = [["s", "look", {"a": "9/10", "b": "0.1", "c": 0}, "s"], ["s", "wait", "a", "s"]]
    model = parse_model_data({"transitions": rows, "laws": [{"a": 1}]}, "m")
    assert isinstance(model, NoisyMachine)
    assert model.readings == ("a", "b", "c")
    assert model.laws == (((0, Fraction(1)),), ((0, Fraction(9, 10)), (1, Fraction(1, 10))))
    assert model.law.tolist() == [[1, 0]]
    exact = {"transitions": [["s", "look", {"a": Fraction(1, 3), "b": "2/3"}, "s"]]}
    model = parse_model_data(exact, "m")
    assert isinstance(model, NoisyMachine)
    assert model.reading_law(0, 0) == {0: Fraction(1, 3), 1: Fraction(2, 3)}


def test_lists_fix_the_order_of_names_and_may_list_more() -> None:
    lists = {"states": ["b", "a", "c"], "actions": ["y", "x"], "readings": ["2", "1"]}
    machine = parse_model_data({**lists, "transitions": [["a", "x", "1", "b"]]}, "m")
    assert (machine.states, machine.actions, machine.readings) == (("b", "a", "c"), ("y", "x"), ("2", "1"))


@pytest.mark.parametrize(("data", "message"), BAD_DATA, ids=range(len(BAD_DATA)))
def test_a_bad_model_is_one_sentence_with_field_and_remedy(data: object, message: str) -> None:
    assert sentence(lambda: parse_model_data(data, "m.json")) == f"m.json: {message}"


@pytest.mark.parametrize(("text", "message"), BAD_JSON.items(), ids=range(len(BAD_JSON)))
def test_bad_json_is_one_sentence_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "m.json"
    path.write_text(text)
    assert sentence(lambda: read_model(path)) == f"{path}: {message}"


@given(st.dictionaries(st.sampled_from(["transitions", "states", "initial", "laws", "origin"]), PLAIN))
def test_any_data_gives_a_model_or_one_sentence(data: dict[str, object]) -> None:
    try:
        parse_model_data({"transitions": [], **data}, "m")
    except FileError as error:
        assert str(error).startswith("m: ")


# ------------------------------------------------------------------------------------------------------------- AALpy


@given(machines())
def test_a_machine_comes_back_from_aalpy(machine: Machine) -> None:
    pytest.importorskip("aalpy")
    if len(machine.initial) != 1 or not (machine.successor >= 0).any():
        with pytest.raises(ModelError):
            from_aalpy(to_aalpy(machine))
        return
    again = from_aalpy(to_aalpy(machine))
    assert (again.states, again.initial) == (machine.states, machine.initial)
    assert transitions_of(again) == transitions_of(machine)


def test_aalpy_runs_the_machine_and_reads_what_we_write(tmp_path: Path) -> None:
    handler = pytest.importorskip("aalpy.utils")
    automaton = to_aalpy(LAMP)
    word = ["press", "look", "press", "look"]
    assert automaton.execute_sequence(automaton.initial_state, word) == [LAMP.readings[y] for y in (0, 2, 1, 1)]
    path = tmp_path / "lamp.dot"
    write_model(LAMP, path)
    assert from_aalpy(handler.load_automaton_from_file(path, "mealy")) == LAMP


def test_moore_machines_and_dfas_read_the_state_that_is_reached() -> None:
    automata = pytest.importorskip("aalpy.automata")
    even, odd = automata.MooreState("even", "0"), automata.MooreState("odd", "1")
    even.transitions, odd.transitions = {1: odd}, {1: even}
    moore = from_aalpy(automata.MooreMachine(even, [even, odd]))
    assert transitions_of(moore) == {("even", "1", "1", "odd"), ("odd", "1", "0", "even")}
    state = automata.DfaState("q", True)
    state.transitions = {"a": state}
    assert transitions_of(from_aalpy(automata.Dfa(state, [state]))) == {("q", "a", "True", "q")}
    with pytest.raises(ModelError, match="not a Mealy machine"):
        from_aalpy(object())
    state.transitions = {1: state, "1": state}
    with pytest.raises(ModelError, match="two inputs are both written '1'"):
        from_aalpy(automata.Dfa(state, [state]))


def test_a_missing_aalpy_is_named_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "aalpy.automata", None)
    with pytest.raises(AscertainError, match=r"pip install 'ascertain\[aalpy\]'"):
        to_aalpy(LAMP)
