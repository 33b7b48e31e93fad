"""Machines in KISS2, the table format of logic synthesis, and what becomes of its don't-cares.

    .i 2              input bits           each line of the table:  INPUT  STATE  NEXT  OUTPUT
    .o 1              output bits          "-" in an input stands for both values,
    .r idle           reset state          "*" for a state for every one, "*" or "-" for a next state for an open one,
    -1 idle busy 1    the table            "-" in an output for an open bit
    .e

An action is one valuation of the inputs, written like "01", and a reading one of the outputs. Don't-cares are choices
that the designer left open, so that a plant may do either. *Forbidden*: where the next state or an output bit is open,
or nothing is said, the action is not defined. *Completed*: open output bits are 0, and an open or missing next state
is the state itself. The reset state is the one that `.r` names, else that of the first line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias, final

import numpy as np

from ascertain.errors import FileError, LimitError, did_you_mean
from ascertain.model.files import Format, Option, Options, Read
from ascertain.model.files.text import fail
from ascertain.model.machine import Machine
from ascertain.types import UNDEFINED, IntArray

DontCare: TypeAlias = Literal["forbidden", "completed"]
"""What becomes of don't-cares; the docstring above says what each means."""

MAX_INPUT_BITS = 20
"""A machine has an action for each valuation of the inputs: a million."""
MAX_OUTPUT_BITS = 256
"""More than any circuit of the benchmarks has; a reading is one word of so many characters."""
MAX_CELLS = 2**24
"""States times valuations of the inputs, and what all lines say of them; as many are read in a second or so."""
_BITS = frozenset("01-")
"""The signs of inputs and outputs."""
_COUNTS = (".p", ".s")
"""How many lines and states there are: checked against the table."""
_IGNORED = (".start_kiss", ".end_kiss", ".ilb", ".ob", ".e", ".end")
"""Words that say nothing about the machine: where it stands in a larger file, and what its wires are called."""


@final
@dataclass(frozen=True)
class KissRow:
    """A line of the table; `state` None stands for every state, `target` None for an open next state."""

    line: int
    inputs: str
    state: str | None
    target: str | None
    output: str


@final
@dataclass(frozen=True)
class KissTable:
    """A KISS2 file as it was read, its don't-cares still open."""

    where: str
    num_inputs: int
    num_outputs: int
    reset: str
    rows: tuple[KissRow, ...]

    @property
    def states(self) -> tuple[str, ...]:
        """In order of appearance, the reset state first."""
        named = (name for row in self.rows for name in (row.state, row.target) if name is not None)
        return tuple(dict.fromkeys([self.reset, *named]))

    @property
    def num_open(self) -> int:
        """Lines whose next state or output is, at least in part, a don't-care."""
        return sum(row.target is None or "-" in row.output for row in self.rows)

    def machine(self, dont_care: DontCare = "forbidden") -> Machine:
        """The machine, its don't-cares forbidden or completed."""
        states, num_actions = self.states, 1 << self.num_inputs
        said = sum((len(states) if row.state is None else 1) << row.inputs.count("-") for row in self.rows)
        if max(len(states) * num_actions, said) > MAX_CELLS:
            raise LimitError(
                f"{self.where}: {len(states)} states, {num_actions} inputs and {said} cells once every '-' and '*' is "
                f"written out; at most {MAX_CELLS} are read"
            )
        cells, said = self._fill_cells()
        if dont_care == "completed":
            whole = {what: (target, word.replace("-", "0")) for (target, word), what in said.items()}
            if np.any(cells == UNDEFINED):
                whole[UNDEFINED] = UNDEFINED, "0" * self.num_outputs
        else:
            whole = {what: pair for pair, what in said.items() if pair[0] != UNDEFINED and "-" not in pair[1]}
        readings = sorted({word for _, word in whole.values()}) or [next(iter(said))[1]]
        place = {word: y for y, word in enumerate(readings)}
        # What is said by its number, -1 being the last place; then of each cell.
        successor, output = np.full((2, len(said) + 1), UNDEFINED, dtype=np.int32)
        for what, (target, word) in whole.items():
            successor[what], output[what] = target, place[word]
        successor = successor[cells]
        if dont_care == "completed":
            np.copyto(successor, np.arange(len(states), dtype=np.int32)[:, None], where=successor == UNDEFINED)
        return Machine(
            states=states,
            actions=tuple(map("".join, product("01", repeat=self.num_inputs))),
            readings=tuple(readings),
            successor=successor,
            output=output[cells],
            initial=(0,),
        )

    def _fill_cells(self) -> tuple[IntArray, dict[tuple[int, str], int]]:
        """The number of what is said of every state and input, and what the numbers mean: a next state and an output.

        So a line is one assignment; two lines about one cell must agree. Where nothing is said the number is -1.
        """
        number = {name: s for s, name in enumerate(self.states)}
        cells = np.full((len(number), *[2] * self.num_inputs), UNDEFINED, dtype=np.int32)
        said: dict[tuple[int, str], int] = {}
        for row in self.rows:
            s = slice(None) if row.state is None else number[row.state]
            view = cells[(s, *(slice(None) if bit == "-" else int(bit) for bit in row.inputs), ...)]
            target = UNDEFINED if row.target is None else number[row.target]
            what = said.setdefault((target, row.output), len(said))
            if np.any((view != UNDEFINED) & (view != what)):
                fail(f"{self.where}:{row.line}", "an earlier line says something else about this input and state")
            view[...] = what
        return cells.reshape(len(number), -1), said


def parse_kiss2(text: str, where: str) -> KissTable:
    """The table in the text of a KISS2 file; `where` begins every error message."""
    sizes: dict[str, int] = {}
    resets: dict[int, str] = {}
    rows: list[KissRow] = []
    for line, fields in _lines(text):
        here = f"{where}:{line}"
        if fields[0] in sizes or (fields[0] == ".r" and resets):
            fail(here, f"{fields[0]} is said a second time; leave one of the two")
        if fields[0] in {".i", ".o", *_COUNTS}:
            sizes[fields[0]] = _read_size(fields, here)
        elif fields[0] == ".r":
            resets[line] = fields[1] if len(fields) == 2 else fail(here, "one state is needed after .r")
        elif fields[0].startswith("."):
            if fields[0] not in _IGNORED:
                fail(here, f"{fields[0][:20]!r} is not known; KISS2 has .i .o .p .s .r .e")
        else:
            rows.append(_read_row(fields, line, sizes, here))
    if not rows:
        raise FileError(f"{where}: the table has no lines; INPUT STATE NEXT OUTPUT is needed")
    table = KissTable(where, sizes[".i"], sizes[".o"], _find_reset(rows, resets, where), tuple(rows))
    _check_counts(table, sizes)
    return table


def write_kiss2(machine: Machine) -> str:
    """The text of a KISS2 file. Names that are not bits, or not one word, are numbered, and listed as comments."""
    if len(machine.initial) > 1:
        raise FileError(f"KISS2 has one reset state; the machine has {len(machine.initial)} initial states")
    actions, readings = _as_bits(machine.actions), _as_bits(machine.readings)
    plain = all(
        name.split() == [name] and name[0] != "." and "#" not in name and name not in "*-" for name in machine.states
    )
    states = machine.states if plain else tuple(f"s{s}" for s in range(machine.num_states))
    pairs = [("action", actions, machine.actions), ("reading", readings, machine.readings)]
    pairs.append(("state", states, machine.states))
    renamed = [f"# {what} {short} {name!r}" for what, new, old in pairs for short, name in zip(new, old, strict=True)]
    legend = renamed if any(new != old for _, new, old in pairs) else []
    table = [f"{actions[a]} {states[s]} {states[t]} {readings[y]}" for s, a, y, t in machine.cells()]
    # A state without transitions is named by a line that leaves everything open.
    silent = np.flatnonzero(~machine.defined.any(axis=1)).tolist()
    table += [f"{actions[0]} {states[s]} * {'-' * len(readings[0])}" for s in silent]
    head = [f".i {len(actions[0])}", f".o {len(readings[0])}", f".p {len(table)}", f".s {machine.num_states}"]
    reset = [f".r {states[s]}" for s in machine.initial]
    return "\n".join([*legend, *head, *reset, *table, ".e", ""])


def _read(text: str, where: str, options: Options) -> Read:
    """The machine, and what became of its don't-cares."""
    table, dont_care = parse_kiss2(text, where), options["dont_care"]
    machine, number = table.machine(dont_care), table.num_open
    if number == 0:
        return Read(machine, facts={"dont_cares": "none"})
    note = f"{where}: {number} lines leave something open, which is {dont_care}"
    return Read(machine, (note,), {"dont_cares": f"{number} lines, {dont_care} (a problem may complete them)"})


_DONT_CARE = Option(
    "dont_care", "dont_care is for KISS2 files; other models have no don't-cares", ("forbidden", "completed")
)
"""What a problem says about don't-cares; the first word is the safe one, as nothing is made up."""
KISS2 = Format("KISS2", (".kiss2", ".kiss"), _read, write_kiss2, (Machine,), (_DONT_CARE,))
"""Both suffixes occur."""


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    for line, content in enumerate(text.splitlines(), start=1):
        fields = content.split("#", 1)[0].split()
        if fields:
            yield line, fields


def _read_size(fields: list[str], here: str) -> int:
    if len(fields) != 2 or not fields[1].isascii() or not fields[1].isdigit() or len(fields[1]) > 9:
        fail(here, f"a number is needed after {fields[0]}")
    size, limit = int(fields[1]), {".i": MAX_INPUT_BITS, ".o": MAX_OUTPUT_BITS}.get(fields[0], 10**9)
    if not 1 <= size <= limit:
        fail(here, f"{fields[0]} is {size}; 1 to {limit} are read")
    return size


def _read_row(fields: list[str], line: int, sizes: dict[str, int], here: str) -> KissRow:
    if ".i" not in sizes or ".o" not in sizes:
        fail(here, "the table begins before .i and .o say how many bits inputs and outputs have")
    if len(fields) != 4:
        fail(here, f"{len(fields)} fields; a line is INPUT STATE NEXT OUTPUT")
    inputs, state, target, output = fields
    _check_bits("input", inputs, sizes[".i"], here)
    _check_bits("output", output, sizes[".o"], here)
    if state == "-":
        fail(here, "'-' is no present state; name one, or write * for every one")
    return KissRow(line, inputs, None if state == "*" else state, None if target in "*-" else target, output)


def _find_reset(rows: list[KissRow], resets: dict[int, str], where: str) -> str:
    """The state that `.r` names, else that of the first line that has one."""
    named = dict.fromkeys(name for row in rows for name in (row.state, row.target) if name is not None)
    for line, reset in resets.items():
        if named and reset not in named:
            hint = did_you_mean(reset[:80], named)
            fail(f"{where}:{line}", f"no line of the table names the reset state {reset[:40]!r}{hint}")
        return reset
    first = next((row.state for row in rows if row.state is not None), None)
    if first is None:
        raise FileError(f"{where}: no state is named; add .r with the reset state")
    return first


def _check_bits(name: str, word: str, size: int, here: str) -> None:
    if len(word) != size or not _BITS.issuperset(word):
        fail(here, f"the {name} {word[:40]!r} must be {size} of the signs 0, 1 and -")


def _check_counts(table: KissTable, sizes: dict[str, int]) -> None:
    if sizes.get(".s", len(table.states)) < len(table.states):
        raise FileError(f"{table.where}: .s says {sizes['.s']} states, but {len(table.states)} are named")
    if sizes.get(".p", len(table.rows)) != len(table.rows):
        raise FileError(f"{table.where}: .p says {sizes['.p']} lines, but the table has {len(table.rows)}")


def _as_bits(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names themselves when they are bits of one length, else their numbers in binary."""
    if len({len(name) for name in names}) == 1 and all(set(name) <= {"0", "1"} for name in names):
        return names
    width = max(1, (len(names) - 1).bit_length())
    return tuple(format(i, f"0{width}b") for i in range(len(names)))
