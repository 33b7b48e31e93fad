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
from pathlib import Path
from typing import Literal, NoReturn, TypeAlias, final

import numpy as np

from ascertain.errors import FileError, LimitError
from ascertain.model.files.text import read_text
from ascertain.model.machine import Machine
from ascertain.types import UNDEFINED, LongArray

DontCare: TypeAlias = Literal["forbidden", "completed"]

MAX_INPUT_BITS = 16
MAX_OUTPUT_BITS = 256
MAX_CELLS = 20_000_000
"""States times valuations of the inputs."""
_COUNTS = (".p", ".s")
_IGNORED = (".start_kiss", ".end_kiss", ".ilb", ".ob", ".e", ".end")


@final
@dataclass(frozen=True)
class Row:
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
    rows: tuple[Row, ...]

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
        states, actions = self.states, tuple("".join(bits) for bits in product("01", repeat=self.num_inputs))
        said = sum((len(states) if row.state is None else 1) << row.inputs.count("-") for row in self.rows)
        if max(len(states) * len(actions), said) > MAX_CELLS:
            raise LimitError(
                f"{self.where}: {len(states)} states, {len(actions)} inputs and {said} cells once every '-' and '*' is "
                f"written out; at most {MAX_CELLS} are read"
            )
        filled = _Filling(self, states)
        for row in self.rows:
            filled.add(row)
        successor, output = filled.successor, filled.output
        readings = list(filled.readings)
        if dont_care == "completed":
            zero = filled.reading("0" * self.num_outputs)
            readings = list(dict.fromkeys(word.replace("-", "0") for word in filled.readings))
            closed = np.array([readings.index(word.replace("-", "0")) for word in filled.readings], dtype=np.int32)
            stay = np.broadcast_to(np.arange(len(states), dtype=np.int32)[:, None], successor.shape)
            output = closed[np.where(output == UNDEFINED, zero, output)]
            successor = np.where(successor == UNDEFINED, stay, successor)
        else:
            is_open = np.array(["-" in word for word in readings])
            undefined = (successor == UNDEFINED) | is_open[output]
            successor, output = np.where(undefined, UNDEFINED, successor), np.where(undefined, UNDEFINED, output)
        return _without_unused(states, actions, readings, successor, output)


def read_kiss2(path: str | Path, dont_care: DontCare = "forbidden") -> Machine:
    """The machine in a KISS2 file."""
    return parse_kiss2(read_text(path), str(path)).machine(dont_care)


def parse_kiss2(text: str, where: str) -> KissTable:
    """The table in the text of a KISS2 file; `where` begins every error message."""
    sizes: dict[str, int] = {}
    reset: str | None = None
    rows: list[Row] = []
    for line, fields in _lines(text):
        here = f"{where}:{line}"
        if fields[0] in {".i", ".o", *_COUNTS}:
            sizes[fields[0]] = _read_size(fields, here)
        elif fields[0] == ".r":
            reset = fields[1] if len(fields) == 2 else _fail(here, "one state is needed after .r")
        elif fields[0].startswith("."):
            if fields[0] not in _IGNORED:
                _fail(here, f"{fields[0][:20]!r} is not known; KISS2 has .i .o .p .s .r .e")
        else:
            rows.append(_read_row(fields, line, sizes, here))
    if not rows:
        raise FileError(f"{where}: the table has no lines; INPUT STATE NEXT OUTPUT is needed")
    first = next((row.state for row in rows if row.state is not None), None)
    if reset is None and first is None:
        raise FileError(f"{where}: no state is named; add .r with the reset state")
    table = KissTable(where, sizes[".i"], sizes[".o"], reset or str(first), tuple(rows))
    _check_counts(table, sizes)
    return table


def write_kiss2(machine: Machine) -> str:
    """The text of a KISS2 file. Names that are not bits, or not one word, are numbered, and listed as comments."""
    if len(machine.initial) > 1:
        raise FileError(f"KISS2 has one reset state; the machine has {len(machine.initial)} initial states")
    actions, readings = _as_bits(machine.actions), _as_bits(machine.readings)
    plain = all(name.split() == [name] and name[0] not in ".#" and name not in "*-" for name in machine.states)
    states = machine.states if plain else tuple(f"s{s}" for s in range(machine.num_states))
    pairs = [("action", actions, machine.actions), ("reading", readings, machine.readings)]
    pairs.append(("state", states, machine.states))
    renamed = [f"# {what} {short} {name!r}" for what, new, old in pairs for short, name in zip(new, old, strict=True)]
    legend = renamed if any(new != old for _, new, old in pairs) else []
    defined: list[tuple[int, int]] = [(int(s), int(a)) for s, a in np.argwhere(machine.successor != UNDEFINED)]
    table = [
        f"{actions[a]} {states[s]} {states[machine.successor[s, a]]} {readings[machine.output[s, a]]}"
        for s, a in defined
    ]
    # A state without transitions is named by a line that leaves everything open.
    silent = sorted(set(range(machine.num_states)) - {s for s, _ in defined})
    table += [f"{actions[0]} {states[s]} * {'-' * len(readings[0])}" for s in silent]
    head = [f".i {len(actions[0])}", f".o {len(readings[0])}", f".p {len(table)}", f".s {machine.num_states}"]
    reset = [f".r {states[s]}" for s in machine.initial]
    return "\n".join([*legend, *head, *reset, *table, ".e", ""])


@final
class _Filling:
    """The tables of a machine while lines are put into them; what two lines say of one cell must agree."""

    def __init__(self, table: KissTable, states: tuple[str, ...]) -> None:
        self.where, self.number = table.where, {name: s for s, name in enumerate(states)}
        shape = (len(states), 1 << table.num_inputs)
        self.successor = np.full(shape, UNDEFINED, dtype=np.int32)
        self.output = np.full(shape, UNDEFINED, dtype=np.int32)
        self.readings: dict[str, int] = {}

    def reading(self, word: str) -> int:
        return self.readings.setdefault(word, len(self.readings))

    def add(self, row: Row) -> None:
        s = slice(None) if row.state is None else self.number[row.state]
        a = _valuations(row.inputs)
        target = UNDEFINED if row.target is None else self.number[row.target]
        output = self.reading(row.output)
        known = self.output[s, a] != UNDEFINED
        if np.any(known & ((self.output[s, a] != output) | (self.successor[s, a] != target))):
            _fail(f"{self.where}:{row.line}", "an earlier line says something else about this input and state")
        self.successor[s, a], self.output[s, a] = target, output


def _valuations(inputs: str) -> LongArray:
    """The numbers of the valuations that a pattern stands for."""
    numbers = np.zeros(1, dtype=np.int64)
    for c in inputs:
        numbers = 2 * numbers + int(c) if c != "-" else np.concatenate([2 * numbers, 2 * numbers + 1])
    return numbers


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    for line, content in enumerate(text.splitlines(), start=1):
        fields = content.split("#", 1)[0].split()
        if fields:
            yield line, fields


def _read_size(fields: list[str], here: str) -> int:
    if len(fields) != 2 or not fields[1].isascii() or not fields[1].isdigit() or len(fields[1]) > 9:
        _fail(here, f"a number is needed after {fields[0]}")
    size, limit = int(fields[1]), {".i": MAX_INPUT_BITS, ".o": MAX_OUTPUT_BITS}.get(fields[0], 10**9)
    if not 1 <= size <= limit:
        _fail(here, f"{fields[0]} is {size}; 1 to {limit} are read")
    return size


def _read_row(fields: list[str], line: int, sizes: dict[str, int], here: str) -> Row:
    if ".i" not in sizes or ".o" not in sizes:
        _fail(here, "the table begins before .i and .o say how many bits inputs and outputs have")
    if len(fields) != 4:
        _fail(here, f"{len(fields)} fields; a line is INPUT STATE NEXT OUTPUT")
    inputs, state, target, output = fields
    for name, word, size in (("input", inputs, sizes[".i"]), ("output", output, sizes[".o"])):
        if len(word) != size or not set(word) <= set("01-"):
            _fail(here, f"the {name} {word[:40]!r} must be {size} of the signs 0, 1 and -")
    if state == "-":
        _fail(here, "'-' is no present state; name one, or write * for every one")
    return Row(line, inputs, None if state == "*" else state, None if target in "*-" else target, output)


def _check_counts(table: KissTable, sizes: dict[str, int]) -> None:
    if sizes.get(".s", len(table.states)) < len(table.states):
        raise FileError(f"{table.where}: .s says {sizes['.s']} states, but {len(table.states)} are named")
    if sizes.get(".p", len(table.rows)) != len(table.rows):
        raise FileError(f"{table.where}: .p says {sizes['.p']} lines, but the table has {len(table.rows)}")


def _without_unused(
    states: tuple[str, ...], actions: tuple[str, ...], readings: list[str], successor: np.ndarray, output: np.ndarray
) -> Machine:
    used = sorted((y for y in range(len(readings)) if np.any(output == y)), key=lambda y: readings[y]) or [0]
    place = np.full(len(readings) + 1, UNDEFINED, dtype=np.int32)
    place[used] = np.arange(len(used))
    return Machine(
        states=states,
        actions=actions,
        readings=tuple(readings[y] for y in used),
        successor=successor.astype(np.int32),
        output=place[output],
        initial=(0,),
    )


def _as_bits(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names themselves when they are bits of one length, else their numbers in binary."""
    if len({len(name) for name in names}) == 1 and all(set(name) <= {"0", "1"} for name in names):
        return names
    width = max(1, (len(names) - 1).bit_length())
    return tuple(format(i, f"0{width}b") for i in range(len(names)))


def _fail(here: str, problem: str) -> NoReturn:
    raise FileError(f"{here}: {problem}")
