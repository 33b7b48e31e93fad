"""Short files that stand for much: what is read of them is bounded, and what real files need is within the bounds."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ascertain.errors import AscertainError, FileError, LimitError
from ascertain.model.files import dot_syntax
from ascertain.model.files.dot import parse_dot
from ascertain.model.files.json_text import NotStrict, decode_json
from ascertain.model.files.kiss2 import parse_kiss2
from ascertain.model.files.pomdp import parse_pomdp
from ascertain.model.files.text import read_text
from ascertain.model.hidden import HiddenModel
from ascertain.planning.policy_file import read_policy
from ascertain.problem.pose import pose
from ascertain.task.log import read_log
from ascertain_paper.campaign.store import open_store


def spell(count: int, letter: str) -> str:
    return " ".join(f"{letter}{i}" for i in range(count))


# DOT: subgraphs and the labels of `edge` statements.


def test_subgraphs_that_stand_for_too_many_edges_are_refused() -> None:
    text = f'digraph {{ {{{spell(600, "a")}}} -> {{{spell(600, "b")}}} [label="go / ok"] }}'
    limit = dot_syntax.MAX_UNWRITTEN + len(text) // 3
    with pytest.raises(FileError, match=rf"m: line 1: subgraphs and common labels stand for more than {limit} trans"):
        parse_dot(text, "m")


def test_a_label_that_many_edges_share_counts_for_each_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    label = r"\n".join(f"go{i} / ok" for i in range(30))
    text = f'digraph {{ edge [label="{label}"] {"".join(f"s{i} -> t{i};" for i in range(30))} }}'
    assert parse_dot(text, "m").num_actions == 30
    monkeypatch.setattr(dot_syntax, "MAX_UNWRITTEN", 899 - len(text) // 3)
    with pytest.raises(FileError, match="stand for more than 899 transitions; a file of this size may have no more"):
        parse_dot(text, "m")


@pytest.mark.parametrize("quick", [True, False])
def test_edges_that_are_written_out_are_never_too_many(monkeypatch: pytest.MonkeyPatch, quick: bool) -> None:
    monkeypatch.setattr(dot_syntax, "MAX_UNWRITTEN", 0)
    edges = "".join(f'{s}->{(s + a) % 9}[label="{a}/{s}"];' for s in range(9) for a in range(4))
    graph = dot_syntax.parse_graph(f"digraph{{{edges}}}", "m", quick=quick)
    assert len(graph.edges) == 36
    chain = "digraph{edge[label=" + '"x/y"]' + "a->b->c->d->e->f->g->h}"
    assert parse_dot(chain, "m").num_states == 8


# KISS2: cubes.


def test_a_table_of_twenty_inputs_is_read() -> None:
    cubes = ["1" + "-" * 19, "01" + "-" * 18, "00" + "-" * 17 + "1", "00" + "-" * 17 + "0"]
    rows = [f"{cube} s{k} s{(k + i) % 4} {i % 2}{k % 2}" for i, cube in enumerate(cubes) for k in range(4)]
    machine = parse_kiss2("\n".join([".i 20", ".o 2", ".r s0", *rows]), "m").machine()
    assert machine.num_actions == 2**20
    assert machine.states[int(machine.successor[1, machine.actions.index("00" + "0" * 17 + "1")])] == "s3"
    assert machine.readings[int(machine.output[3, machine.actions.index("1" * 20)])] == "01"
    assert (machine.successor >= 0).all()


def test_lines_that_say_too_much_together_are_refused() -> None:
    text = ".i 20\n.o 1\n.r s\n" + f"{'-' * 20} s s 1\n" * 17
    with pytest.raises(LimitError, match="17825792 cells once every '-' and '\\*' is written out; at most 16777216"):
        parse_kiss2(text, "m").machine()


# POMDP: wildcards and products of rows.


def test_a_file_of_the_size_of_a_classic_is_read() -> None:
    """Tag: 870 states, 5 actions, 30 readings; every reading possible everywhere, which is more than Tag has."""
    size, lines = 870, ["states: 870", "actions: 5", "observations: 30", "start: uniform"]
    for action in range(5):
        for state in range(size):
            ends = sorted({(state + 29 * k + action) % size for k in range(4)})
            lines += [f"T: {action} : {state} : {end} 0.25" for end in ends]
    lines += ["O: *", *[" ".join(["0.01"] * 29 + ["0.71"])] * size]
    model = parse_pomdp("\n".join(lines), "m").model
    assert isinstance(model, HiddenModel)
    assert model.num_entries == size * 5 * 4 * 30


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("states: 100000 actions: 20 observations: 1\nT: * uniform", "2000000 states times actions; at most 100000"),
        ("states: 2000 actions: 1 observations: 1\nT: * : * : * 1/2000", "T: more than 400029 entries once wildcards"),
        (
            "states: 2000 actions: 1 observations: 2000\nT: * uniform O: * uniform",
            "the joint law has more than 250136 entries, the most for a file of this size",
        ),
        ("states: 9999 actions: 9 observations: 1\n" + "T: * identity\n" * 9, "T: more than .* entries once wildcards"),
    ],
)
def test_wildcards_that_ask_for_too_much_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(LimitError, match=sentence):
        parse_pomdp(text, "m")


def test_actions_with_the_same_rows_share_their_laws() -> None:
    text = "states: 3 actions: a b c observations: 2\nT: * identity O: * uniform O: c : 1 1/4 3/4"
    model = parse_pomdp(text, "m").model
    assert isinstance(model, HiddenModel)
    joint = model.joint
    assert joint[1][0] is joint[1][1]
    assert joint[1][2] != joint[1][0]
    assert joint[0][2] is joint[0][0]


# JSON: a key stands once, everywhere.


def test_a_key_that_stands_twice_in_a_line_of_a_log_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"command":"a","reading":"b"}\n{"command":"a","reading":"x","reading":"y"}\n', encoding="utf-8")
    with pytest.raises(FileError, match=r"run\.jsonl:2: the key 'reading' stands twice in one object; each key may"):
        read_log(path)


def test_a_number_of_a_log_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"command":"a","reading":"b","trusted":NaN}\n', encoding="utf-8")
    with pytest.raises(FileError, match=r"run\.jsonl:1: NaN is not a number of JSON"):
        read_log(path)


def test_a_key_that_stands_twice_in_a_digraph_s_own_attribute_is_refused() -> None:
    text = r'digraph { ascertain="{\"actions\":[\"go\"],\"actions\":[]}" a -> a [label="go/ok"] }'
    with pytest.raises(AscertainError, match="attribute 'ascertain': the key 'actions' stands twice in one object"):
        parse_dot(text, "m")


def test_a_key_that_stands_twice_in_a_policy_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text('{"policy": {}, "policy": {}}', encoding="utf-8")
    task = pose(parse_dot('digraph { a -> a [label="go/ok"] }', "m"))
    with pytest.raises(FileError, match=r"plan\.json: the key 'policy' stands twice in one object"):
        read_policy(path, [task])


def test_strict_json_is_read_as_json_is() -> None:
    assert decode_json(' {"a": [1, 2.5, null, true, "\\u00e9"], "b": {"a": {}}} ') == {
        "a": [1, 2.5, None, True, "é"],
        "b": {"a": {}},
    }
    with pytest.raises(NotStrict, match="'a' stands twice"):
        decode_json('[{"b": {"a": 1, "a": 1}}]')


# Files as such.


def test_a_database_that_is_no_store_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "mine.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE letters (text)")
    before = path.read_bytes()
    with pytest.raises(FileError, match="this is not a store of results"):
        open_store(path, {})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_grows_while_it_is_read_is_read_as_it_is_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ascertain.model.files import text

    path = tmp_path / "m.dot"
    path.write_bytes(b"digraph")
    small = path.stat()
    path.write_bytes(b"digraph {}" * 3)
    monkeypatch.setattr(text.os, "stat", lambda _: small)
    assert read_text(path) == "digraph {}" * 3
    monkeypatch.setattr(text, "MAX_BYTES", 20)
    with pytest.raises(FileError, match="grew past 20 bytes"):
        read_text(path)
