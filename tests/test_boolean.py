"""Boolean plants: gates, commands, simulation on arrays and slices, files, and expressions over bits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import FileError, LimitError, ModelError
from ascertain.kernels.model.boolean import apply_command
from ascertain.kernels.model.boolean_code import NUM_SOURCES, OPERATIONS
from ascertain.model.boolean import REVERSIBLE, BooleanPlant, Command, Gate
from ascertain.model.expression import parse_expression
from ascertain.model.files import read_model
from ascertain.model.files.boolean_toml import parse_boolean, write_boolean
from ascertain.model.machine import Machine
from ascertain_paper.testbed.operations import run_each
from tests.reference.models import enumerate_machine, enumerate_noisy
from tests.reference.simulation import from_slices, run_state, simulate_slices, simulate_states, slice_all, to_slices

from .reference import boolean as twin
from .strategies import names

FLIPS = (Fraction(0), Fraction(1, 50), Fraction(49, 100))


@st.composite
def gates(draw: st.DrawFn, num_bits: int) -> Gate:
    op = draw(st.sampled_from([op for op in OPERATIONS if num_bits > 1 or op not in {"cnot", "toffoli"}]))
    target = draw(st.integers(0, num_bits - 1))
    allowed = [b for b in range(num_bits) if op not in REVERSIBLE or b != target]
    count = NUM_SOURCES[OPERATIONS.index(op)]
    return Gate(op, target, tuple(draw(st.sampled_from(allowed)) for _ in range(count)))


@st.composite
def plants(draw: st.DrawFn, max_bits: int = 64, called: st.SearchStrategy[str] | None = None) -> BooleanPlant:
    num_bits = draw(st.integers(1, max_bits))
    bits = names("b", num_bits)
    if called is not None and draw(st.booleans()):
        bits = tuple(draw(st.lists(called, min_size=num_bits, max_size=num_bits, unique=True)))
    word = st.lists(gates(num_bits), max_size=4)
    commands = [
        Command(f"c{c}", tuple(draw(word)), draw(st.integers(0, num_bits - 1))) for c in range(draw(st.integers(1, 4)))
    ]
    return BooleanPlant(bits, tuple(commands), draw(st.sampled_from(FLIPS)))


@st.composite
def runs(draw: st.DrawFn, max_states: int = 70) -> tuple[BooleanPlant, list[int], list[int]]:
    """A plant, some states and a word of commands."""
    plant = draw(plants())
    states = draw(st.lists(st.integers(0, 2**plant.num_bits - 1), min_size=1, max_size=max_states))
    commands = draw(st.lists(st.integers(0, plant.num_actions - 1), max_size=5))
    return plant, states, commands


def toggle(num_bits: int = 3) -> BooleanPlant:
    return BooleanPlant(names("b", num_bits), (Command("toggle", (Gate("not", 0),), 0),))


# ---- one state ----


@given(runs(max_states=3))
def test_a_plant_runs_as_its_twin_does_bit_by_bit(run: tuple[BooleanPlant, list[int], list[int]]) -> None:
    plant, states, commands = run
    for state in states:
        assert plant.run(state, commands) == twin.run(plant, state, commands)


@given(runs(max_states=3))
def test_the_one_state_kernel_runs_as_the_plant_does(run: tuple[BooleanPlant, list[int], list[int]]) -> None:
    plant, states, commands = run
    word, readings = np.array(commands, dtype=np.int32), np.zeros(len(commands), dtype=np.uint8)
    for state in states:
        after = run_state(plant.gates, plant.offset, plant.tap, np.uint64(state), word, readings)
        assert (int(after), readings.tolist()) == plant.run(state, commands)


def test_every_gate_does_what_its_truth_table_says() -> None:
    for op, count in zip(OPERATIONS, NUM_SOURCES, strict=True):
        gate = Gate(op, 2, (0, 1)[:count])
        plant = BooleanPlant(("a", "b", "t"), (Command("do", (gate,), 2),))
        for state in range(8):
            wanted = twin.gather(twin.apply_gate(gate, twin.spread(state, 3)))
            assert gate.apply(state) == wanted
            assert int(apply_command(plant.gates, plant.offset, 0, np.uint64(state))) == wanted


def test_a_gate_may_overwrite_one_of_its_own_sources() -> None:
    assert Gate("and", 0, (0, 1)).apply(0b01) == 0b00
    assert Gate("xor", 0, (0, 0)).apply(0b01) == 0b00


def test_bit_zero_is_the_least_significant_and_is_written_last() -> None:
    plant = toggle(3)
    assert plant.step(0, 0) == (1, 1)
    assert plant.name_state(0b100) == "100"


@given(plants(max_bits=6))
def test_a_command_is_called_reversible_only_when_it_merges_no_states(plant: BooleanPlant) -> None:
    for c, command in enumerate(plant.commands):
        ends = {plant.step(state, c)[0] for state in range(2**plant.num_bits)}
        assert not command.is_reversible or len(ends) == 2**plant.num_bits


@pytest.mark.parametrize(
    ("op", "target", "sources", "words"),
    [
        ("nand", 0, (1, 2), "'nand' is not a gate; did you mean 'and'"),
        ("and", 0, (1,), "has 1 sources; it takes 2"),
        ("set", 0, (1,), "has 1 sources; it takes 0"),
        ("copy", -1, (1,), "negative bit"),
        ("cnot", 1, (1,), "bit 1 as target and source"),
        ("toffoli", 1, (0, 1), "bit 1 as target and source"),
    ],
)
def test_a_gate_that_cannot_be_is_refused(op: str, target: int, sources: tuple[int, ...], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        Gate(op, target, sources)


def test_a_plant_that_cannot_be_is_refused() -> None:
    do = Command("do", (), 0)
    for bits, commands, flip, words in (
        ((), (do,), Fraction(0), "at least one bit"),
        (("a", "a"), (do,), Fraction(0), "listed twice"),
        (("a",), (), Fraction(0), "at least one command"),
        (("a",), (do, do), Fraction(0), "listed twice"),
        (names("b", 65), (do,), Fraction(0), "65 bits; at most 64"),
        (("a",), (do,), Fraction(1, 2), "less than 1/2"),
        (("a",), (do,), Fraction(-1, 2), "at least 0"),
        (("a",), (Command("do", (), 1),), Fraction(0), "uses bit 1"),
        (("a",), (Command("do", (Gate("copy", 0, (3,)),), 0),), Fraction(0), "uses bit 3"),
    ):
        with pytest.raises(ModelError, match=words):
            BooleanPlant(bits, commands, flip)


def test_plants_are_equal_when_bits_commands_and_flip_are() -> None:
    assert toggle() == toggle()
    assert hash(toggle()) == hash(toggle())
    assert toggle(2) != toggle(3)


# ---- enumeration ----


@given(plants(max_bits=5))
def test_an_enumerated_plant_steps_as_the_plant_does(plant: BooleanPlant) -> None:
    machine, noisy = enumerate_machine(plant), enumerate_noisy(plant)
    assert isinstance(machine, Machine)
    for state in range(2**plant.num_bits):
        assert machine.states[state] == plant.name_state(state)
        for c in range(plant.num_actions):
            after, tapped = twin.run(plant, state, [c])
            assert (machine.successor[state, c], machine.output[state, c]) == (after, tapped[0])
            law = {tapped[0]: 1 - plant.flip, 1 - tapped[0]: plant.flip}
            assert noisy.reading_law(state, c) == {y: p for y, p in law.items() if p}


def test_a_large_plant_is_not_enumerated() -> None:
    with pytest.raises(LimitError, match="17 bits"):
        enumerate_machine(toggle(17))


# ---- many states ----


@given(runs())
def test_many_states_run_together_as_each_does_alone(run: tuple[BooleanPlant, list[int], list[int]]) -> None:
    plant, states, commands = run
    after, readings = simulate_states(plant, np.array(states, dtype=np.uint64), commands)
    alone = [twin.run(plant, state, commands) for state in states]
    assert after.tolist() == [end for end, _ in alone]
    assert readings.T.tolist() == [taps for _, taps in alone]


@given(runs())
def test_sliced_states_run_together_as_each_does_alone(run: tuple[BooleanPlant, list[int], list[int]]) -> None:
    plant, states, commands = run
    after, readings = simulate_slices(plant, twin.slice_states(states, plant.num_bits), commands)
    alone = [twin.run(plant, state, commands) for state in states]
    wanted = twin.slice_states([end for end, _ in alone], plant.num_bits)
    ends = from_slices(after, len(states))
    assert np.array_equal(to_slices(ends, plant.num_bits), wanted)
    taps = [[int(readings[i, j // 64]) >> j % 64 & 1 for i in range(len(commands))] for j in range(len(states))]
    assert taps == [t for _, t in alone]


def test_tiles_meet_without_a_seam() -> None:
    plant = BooleanPlant(("a", "b"), (Command("swap", (Gate("cnot", 0, (1,)), Gate("cnot", 1, (0,))), 1),))
    states = np.arange(64 * 130 + 7, dtype=np.uint64) % np.uint64(4)
    after, readings = simulate_states(plant, states, [0, 0])
    slices, sliced = simulate_slices(plant, to_slices(states, 2), [0, 0])
    assert np.array_equal(from_slices(slices, states.size), after)
    assert np.array_equal(from_slices(sliced[1:], states.size), readings[1])
    wanted = [plant.run(s, [0, 0]) for s in range(4)]
    assert after[:4].tolist() == [end for end, _ in wanted]
    assert np.array_equal(after, np.resize(after[:4], after.size))


@given(runs())
def test_each_state_may_have_a_word_of_its_own(run: tuple[BooleanPlant, list[int], list[int]]) -> None:
    plant, states, commands = run
    rows = [[(c + j) % plant.num_actions for c in commands] for j in range(len(states))]
    ends = np.array(states, dtype=np.uint64)
    run_each(plant.gates, plant.offset, ends, np.array(rows, dtype=np.int32).reshape(len(states), -1))
    assert ends.tolist() == [twin.run(plant, s, row)[0] for s, row in zip(states, rows, strict=True)]


@given(st.integers(1, 64).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, 2**n - 1), min_size=1))))
def test_slicing_and_joining_undo_each_other(given_states: tuple[int, list[int]]) -> None:
    num_bits, states = given_states
    array = np.array(states, dtype=np.uint64)
    slices = to_slices(array, num_bits)
    assert np.array_equal(slices, twin.slice_states(states, num_bits))
    assert np.array_equal(from_slices(slices, len(states)), array)


@pytest.mark.parametrize("num_bits", [1, 5, 6, 7, 9])
def test_all_states_sliced_are_all_numbers_in_order(num_bits: int) -> None:
    count = 2**num_bits
    assert from_slices(slice_all(num_bits), count).tolist() == list(range(count))
    if num_bits > 6:
        assert from_slices(slice_all(num_bits, 1, 1), 64).tolist() == list(range(64, 128))


def test_arrays_that_do_not_fit_the_plant_are_refused() -> None:
    plant = toggle(3)
    with pytest.raises(ModelError, match="a state is 8"):
        simulate_states(plant, np.array([8], dtype=np.uint64), [0])
    with pytest.raises(ModelError, match=r"0 \.\. 0"):
        simulate_states(plant, np.array([0], dtype=np.uint64), [1])
    with pytest.raises(ModelError, match="row of uint64"):
        simulate_states(plant, np.array([0]), [0])  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="3 rows"):
        simulate_slices(plant, slice_all(2), [0])
    with pytest.raises(ModelError, match="65 were asked for"):
        from_slices(slice_all(3), 65)


# ---- files ----

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


@given(plants(called=NAMES))
def test_a_plant_written_as_toml_reads_back_the_same(plant: BooleanPlant) -> None:
    assert parse_boolean(write_boolean(plant), "plant.toml") == plant


def test_a_plant_is_read_as_it_is_written_by_hand(tmp_path) -> None:
    path = tmp_path / "valve.toml"
    path.write_text(
        'bits = ["open", "shut", "hot"]\nflip = "0.02"\n'
        '[[command]]\nname = "vent"\ngates = [["and", "open", "shut", "hot"], ["clear", "hot"]]\ntap = "open"\n'
    )
    gate = Gate("and", 0, (1, 2))
    vent = Command("vent", (gate, Gate("clear", 2)), 0)
    assert read_model(path) == BooleanPlant(("open", "shut", "hot"), (vent,), Fraction(1, 50))


COMMAND = '[[command]]\nname = "x"\ngates = [["set", "b0"]]\ntap = "b0"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bits = ", "this is not TOML"),
        ("bits = " + "[" * 5000, "this is not TOML|nested too deeply"),
        ("bits = " + "9" * 5000, "too long a number|not TOML"),
        ("bits = 2", "'command' is missing"),
        (COMMAND, "'bits' is missing"),
        ("bits = 65\n" + COMMAND, "bits is 65; a number from 1 to 64"),
        ("bits = 0\n" + COMMAND, "bits is 0"),
        ("bits = true\n" + COMMAND, "bits is true or false; a number or a list of names"),
        ("bits = []\n" + COMMAND, "lists 0 names"),
        ('bits = ["b0", "b0"]\n' + COMMAND, "lists 'b0' twice"),
        ('bits = ["b0", 3]\n' + COMMAND, "bits: '3' is not a name"),
        ("bits = 2\nflip = 0.02\n" + COMMAND, "flip: 0.02 is not an exact number"),
        ('bits = 2\nflip = "1/2"\n' + COMMAND, "flip is 1/2"),
        ("bits = 2\nflap = 1\n" + COMMAND, "'flap' is not known here; did you mean 'flip'"),
        ("bits = 2\ncommand = 3", "command is a int|command is an int"),
        ("bits = 2\ncommand = [3]", "command 1 is not a table"),
        ("bits = 2\n" + COMMAND + COMMAND, "'x' is listed twice"),
        ("bits = 2\n" + COMMAND.replace('"set"', '"sett"'), "command 1, 'x': gate 1: 'sett' is not a gate; did you"),
        ("bits = 2\n" + COMMAND.replace('["set", "b0"]', '["set"]'), "gate 1 has 1 parts"),
        ("bits = 2\n" + COMMAND.replace('["set", "b0"]', '["set", "b0", "b1"]'), "gate 1: the gate 'set' has 1"),
        ("bits = 2\n" + COMMAND.replace('["set", "b0"]', '["set", "b7"]'), "gate 1: 'b7' is not a bit"),
        ("bits = 2\n" + COMMAND.replace('tap = "b0"', 'tap = "b9"'), "'x': tap: 'b9' is not a bit of the plant"),
        ("bits = 2\n" + COMMAND.replace('["set", "b0"]', ", ".join(['["set", "b0"]'] * 65)), "65 gates; at most 64"),
        ("bits = 2\n" + COMMAND.replace("name", "nome"), "'nome' is not known here; did you mean 'name'"),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence_with_its_place(text: str, words: str) -> None:
    with pytest.raises(FileError, match=words) as caught:
        parse_boolean(text, "plant.toml")
    message = str(caught.value)
    assert message.startswith("plant.toml: ")
    assert "\n" not in message
    assert len(message) < 400


# ---- expressions ----

BITS = ("open", "shut", "b[2]", "and", "a b")
SPELLED = ("open", "shut", "b[2]", "'and'", "'a b'")


@st.composite
def trees(draw: st.DrawFn, depth: int = 4):
    """An expression as text with all its parentheses, and the same as a function of the bits."""
    kind = draw(st.sampled_from(["bit", "constant", "not", "and", "or", "xor"] if depth else ["bit", "constant"]))
    if kind == "bit":
        i = draw(st.integers(0, len(BITS) - 1))
        return SPELLED[i], lambda bits: bits[i]
    if kind == "constant":
        word, value = draw(st.sampled_from([("0", False), ("1", True), ("false", False), ("true", True)]))
        return word, lambda bits: value
    text, left = draw(trees(depth=depth - 1))
    if kind == "not":
        return f"not ({text})", lambda bits: not left(bits)
    other, right = draw(trees(depth=depth - 1))
    both = {
        "and": lambda bits: left(bits) and right(bits),
        "or": lambda bits: left(bits) or right(bits),
        "xor": lambda bits: left(bits) != right(bits),
    }
    return f"({text}) {kind} ({other})", both[kind]


@given(trees())
def test_an_expression_holds_where_its_tree_does_on_states_and_arrays(tree) -> None:
    text, meaning = tree
    expression = parse_expression(text, BITS)
    count = 2 ** len(BITS)
    wanted = [meaning(twin.spread(state, len(BITS))) for state in range(count)]
    assert [expression.holds(state) for state in range(count)] == wanted
    assert expression.hold_states(np.arange(count, dtype=np.uint64)).tolist() == [int(w) for w in wanted]


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("open or shut and open", "open or (shut and open)"),
        ("open xor shut and open", "open xor (shut and open)"),
        ("open or shut xor open", "open or (shut xor open)"),
        ("not open and shut", "(not open) and shut"),
        ("not not open", "open and 1"),
        ("(" * 4000 + "open" + ")" * 4000, "open"),
        ("not " * 2000 + "open", "open"),
        ("open and not not shut or open", "(open and shut) or open"),
    ],
)
def test_not_binds_tighter_than_and_than_xor_than_or(short: str, full: str) -> None:
    left, right = parse_expression(short, BITS), parse_expression(full, BITS)
    assert [left.holds(s) for s in range(4)] == [right.holds(s) for s in range(4)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it ends where a bit was expected"),
        ("open and", "it ends where a bit was expected"),
        ("open shut", "'shut' stands where 'and', 'or', 'xor' or the end was expected"),
        ("(open", "a parenthesis is not closed"),
        ("open)", r"'\)' stands where"),
        ("and open", "'and' stands where a bit was expected"),
        ("opne", "'opne' is not a bit of the plant; did you mean 'open'"),
        ("open + shut", r"'\+ shut' at character 5 is not understood"),
        ("open and 12", "'12' at character 9 is not understood"),
        ("__import__('os')", "'__import__' is not a bit"),
        ("(" * 60 + "open" + ")" * 61, r"'\)' stands where"),
        ("(" * 60 + "open" + ")" * 59, "a parenthesis is not closed"),
        ("open ()", r"'\(' stands where 'and'"),
        ("()", r"'\)' stands where a bit was expected"),
        ("open not shut", "'not' stands where 'and'"),
        ("open " * 3000, "at most 10000 are read"),
    ],
)
def test_a_bad_expression_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        parse_expression(text, BITS, "label")
    assert str(caught.value).startswith("label: ")
