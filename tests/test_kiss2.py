"""KISS2: tables with don't-cares become machines, and machines become tables again."""

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import AscertainError
from ascertain.model import Machine
from ascertain.model.build import machine_from_transitions
from ascertain.model.files import read_model, write_model
from ascertain.model.files.kiss2 import parse_kiss2, write_kiss2
from ascertain.types import UNDEFINED

from .reference.kiss2 import behave
from .strategies import machines

LAMP = """
.i 2
.o 1
.s 2
.p 5
.r off
-1 off on 1   # pressed
10 off off -
00 off * 0
1- on on 1
01 on off 0
.e
"""


def cell(machine: Machine, state: str, action: str) -> tuple[str, str] | None:
    s, a = machine.states.index(state), machine.actions.index(action)
    if machine.successor[s, a] == UNDEFINED:
        return None
    return machine.states[machine.successor[s, a]], machine.readings[machine.output[s, a]]


def test_open_choices_are_forbidden_unless_they_are_completed() -> None:
    table = parse_kiss2(LAMP, "lamp")
    forbidden, completed = table.machine(), table.machine("completed")
    assert (table.num_open, table.states) == (2, ("off", "on"))
    assert cell(forbidden, "off", "11") == ("on", "1")
    assert [cell(forbidden, s, a) for s, a in (("off", "10"), ("off", "00"), ("on", "00"))] == [None] * 3
    assert cell(completed, "off", "10") == ("off", "0")
    assert cell(completed, "off", "00") == ("off", "0")
    assert cell(completed, "on", "00") == ("on", "0")
    assert forbidden.states[forbidden.initial[0]] == "off"


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Tables whose lines never disagree: for each state, disjoint patterns or one pattern for all."""
    num_inputs, num_outputs = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    names = [f"q{i}" for i in range(draw(st.integers(1, 4)))]
    rows: list[str] = []
    for state in draw(st.permutations(names)):
        first = "".join(draw(st.lists(st.sampled_from("01-"), min_size=num_inputs, max_size=num_inputs)))
        patterns = [first]
        if "-" not in first[:1] and draw(st.booleans()):
            patterns.append({"0": "1", "1": "0"}[first[0]] + "-" * (num_inputs - 1))
        for pattern in patterns:
            output = "".join(draw(st.lists(st.sampled_from("01-"), min_size=num_outputs, max_size=num_outputs)))
            rows.append(f"{pattern} {state} {draw(st.sampled_from([*names, '*', '-']))} {output}")
    return "\n".join([f".i {num_inputs}", f".o {num_outputs}", *rows, ".e"])


@given(tables(), st.booleans())
def test_every_cell_is_what_its_line_says(text: str, completed: bool) -> None:
    table = parse_kiss2(text, "drawn")
    machine = table.machine("completed" if completed else "forbidden")
    for state, bits in product(table.states, product("01", repeat=table.num_inputs)):
        action = "".join(bits)
        assert cell(machine, state, action) == behave(text, state, action, completed=completed)


@given(machines())
def test_a_machine_written_and_read_again_behaves_alike(machine: Machine) -> None:
    if len(machine.initial) > 1:
        return
    again = parse_kiss2(write_kiss2(machine), "again").machine()
    states = machine.states  # those of the strategy are single words
    assert set(again.states) == set(states)
    for s, a in product(range(machine.num_states), range(machine.num_actions)):
        found = cell(again, states[s], format(a, f"0{len(again.actions[0])}b"))
        if machine.successor[s, a] == UNDEFINED:
            assert found is None
        else:
            width = max(1, (len(machine.readings) - 1).bit_length())
            assert found == (states[machine.successor[s, a]], format(machine.output[s, a], f"0{width}b"))


def test_tables_survive_the_way_through_a_file(tmp_path: Path) -> None:
    machine = parse_kiss2(LAMP, "lamp").machine("completed")
    write_model(machine, tmp_path / "lamp.kiss2")
    again = read_model(tmp_path / "lamp.kiss2")
    assert again == machine


def test_names_that_are_no_bits_are_numbered_and_listed(tmp_path: Path) -> None:
    valve = machine_from_transitions(
        [("shut tight", "open", "ok", "open"), ("open", "shut", "ok", "shut tight"), ("open", "open", "err", "open")],
        initial="shut tight",
    )
    text = write_kiss2(valve)
    assert "# action 1 'shut'" in text
    hashed = machine_from_transitions([("b#c", "0", "1", "b#c")], initial="b#c")
    assert parse_kiss2(write_kiss2(hashed), "again").machine().states == ("s0",)
    assert "# state s0 'shut tight'" in text
    assert ".r s0" in text
    again = parse_kiss2(text, "again").machine()
    assert again.successor.tolist() == valve.successor.tolist()
    assert again.output.tolist() == valve.output.tolist()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the table has no lines"),
        (".i x", r"lamp:1: a number is needed after \.i"),
        (".i 21", "1 to 20 are read"),
        ("0 a b 1", r"lamp:1: the table begins before \.i and \.o"),
        (".i 1\n.o 1\n0 a b", r"lamp:3: 3 fields; a line is INPUT STATE NEXT OUTPUT"),
        (".i 1\n.o 1\n2 a b 1", "the input '2' must be 1 of the signs 0, 1 and -"),
        (".i 1\n.o 1\n0 a b 11", "the output '11' must be 1 of the signs"),
        (".i 1\n.o 1\n0 - b 1", "'-' is no present state"),
        (".i 1\n.o 1\n0 * * 1", "no state is named"),
        (".i 1\n.o 1\n.r\n0 a b 1", "one state is needed after .r"),
        (
            ".i 1\n.o 1\n.r idel\n0 idle b 1",
            "lamp:3: no line of the table names the reset state 'idel'; did you mean 'idle'",
        ),
        (".i 1\n.o 1\n.r a\n.r b\n0 a b 1", r"lamp:4: \.r is said a second time"),
        (".i 2\n.o 1\n00 a b 1\n.i 1\n1 b a 0", r"lamp:4: \.i is said a second time; leave one of the two"),
        (".i 1\n.o 1\n0 a b 1\n.o 2\n1 b a 00", r"lamp:4: \.o is said a second time"),
        (".i 1\n.o 1\n.q 3\n0 a b 1", "'.q' is not known"),
        (".i 1\n.o 1\n.s 1\n0 a b 1", "says 1 states, but 2 are named"),
        (".i 1\n.o 1\n.p 2\n0 a b 1", "says 2 lines, but the table has 1"),
        (".i 1\n.o 1\n- a b 1\n0 a a 1", "lamp:4: an earlier line says something else"),
        (".i 16\n.o 1\n" + "\n".join(f"- a{i} a 1".replace("-", "-" * 16) for i in range(400)), "at most 16777216"),
    ],
)
def test_what_is_wrong_with_a_table_is_said_with_its_line(text: str, sentence: str) -> None:
    with pytest.raises(AscertainError, match=sentence):
        parse_kiss2(text, "lamp").machine()
