"""The task of a Boolean plant: its states are not listed, and a rule says which answer is right in which of them.

A state is an integer; bit i of it is the bit called `bits[i]`. A command does its gates in order and then reads one
bit, its tap; with probability `flip` the other value is read. A gate is [operation, target, sources...]:

    and, or, xor    t = a op b          copy    t = a          set, clear    t = 1, t = 0
    not             t = not t           cnot    t = t xor a    toffoli       t = t xor (a and b)

Every state is a hypothesis, unless `states` lists those that are. The rule gives a state its label, a text: all binary
digits, the last bit first ("state"); "NAME=1 NAME=0", in the order given ("bits"); "true" or "false" ("expression", a
program for a stack, in which a number pushes that bit); "nominal" or "other" ("nominal").
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256

from ascertain_check.reading import (
    canonical_bytes,
    read_index,
    read_list,
    read_names,
    read_object,
    read_rational,
    read_text,
)
from ascertain_check.task import read_costs, read_header, read_risk
from ascertain_check.verdicts import Malformed

MAX_BITS = 64
MAX_PROGRAM = 10_000
MAX_STACK = 256
NUM_SOURCES = {"and": 2, "or": 2, "xor": 2, "copy": 1, "set": 0, "clear": 0, "not": 0, "cnot": 1, "toffoli": 2}


@dataclass(frozen=True)
class Gate:
    """`first` and `second` are the sources; 0 where there is none."""

    op: str
    target: int
    first: int
    second: int


@dataclass(frozen=True)
class Command:
    gates: list[Gate]
    tap: int


@dataclass(frozen=True)
class Rule:
    """`kind` is state, bits, expression or nominal; the rest is what that kind needs."""

    kind: str
    bits: list[int]
    program: list[int | str]
    nominal: int
    depth: int = 0
    """The most values of the program that are on the stack at once."""


@dataclass(frozen=True)
class PlantTask:
    kind = "boolean"
    bits: list[str]
    names: list[str]
    """Of the commands."""
    commands: list[Command]
    flip: Fraction
    states: list[int] | None
    rule: Rule
    about_current: bool
    actions: dict[int, None]
    """Those that an experiment may use, in their order."""
    never: list[int]
    cost: list[Fraction]
    """Of every command."""
    alpha: Fraction
    beta: Fraction
    sha256: str

    @property
    def num_states(self) -> int:
        return 1 << len(self.bits)

    @property
    def num_actions(self) -> int:
        return len(self.commands)

    @property
    def num_readings(self) -> int:
        return 2

    @property
    def num_candidates(self) -> int:
        """A candidate of a bank is a state."""
        return self.num_states

    @property
    def candidates(self) -> range | set[int]:
        """The states that the plant may begin in."""
        return range(self.num_states) if self.states is None else set(self.states)


def read_plant_task(value: object) -> PlantTask:
    keys = "format version model hypotheses label about actions never cost alpha beta"
    data = read_object(value, keys, "the task")
    read_header(data, "ascertain-task", "the task")
    model = read_object(data["model"], "kind bits commands flip", "a model of kind 'boolean'")
    bits = read_names(model["bits"], "bits")
    if len(bits) > MAX_BITS:
        raise Malformed(f"a plant has at most {MAX_BITS} bits")
    rows = [read_list(row, "a command", 3) for row in read_list(model["commands"], "commands")]
    names = read_names([row[0] for row in rows], "commands")
    flip = read_rational(model["flip"], "flip")
    if 2 * flip >= 1:
        raise Malformed("flip must be less than 1/2")
    if data["about"] not in ("start", "current"):
        raise Malformed('about must be "start" or "current"')
    actions = read_different(data["actions"], len(rows), "actions")
    if not actions:
        raise Malformed("at least one action is needed")
    cost = read_costs(data["cost"], len(rows))
    return PlantTask(
        bits=bits,
        names=names,
        commands=[read_command(gates, tap, len(bits)) for _, gates, tap in rows],
        flip=flip,
        states=read_states(data["hypotheses"], 1 << len(bits)),
        rule=read_rule(data["label"], len(bits)),
        about_current=data["about"] == "current",
        actions=dict.fromkeys(actions),
        never=read_different(data["never"], 1 << len(bits), "never"),
        cost=cost,
        alpha=read_risk(data["alpha"], "alpha"),
        beta=read_risk(data["beta"], "beta"),
        sha256=sha256(canonical_bytes(data, "the task")).hexdigest(),
    )


def read_different(value: object, bound: int, where: str) -> list[int]:
    """A list of indices, each once."""
    items = [read_index(item, bound, where) for item in read_list(value, where)]
    if len(set(items)) < len(items):
        raise Malformed(f"{where}: an entry is listed twice")
    return items


def read_states(value: object, num_states: int) -> list[int] | None:
    if value is None:
        return None
    states = read_different(value, num_states, "hypotheses")
    if not states:
        raise Malformed("there must be at least one hypothesis, each listed once")
    return states


def read_command(gates: object, tap: object, num_bits: int) -> Command:
    return Command(
        [read_gate(gate, num_bits) for gate in read_list(gates, "gates")], read_index(tap, num_bits, "a tap")
    )


def read_gate(value: object, num_bits: int) -> Gate:
    items = read_list(value, "a gate")
    op = read_text(items[0], "a gate") if items else ""
    if op not in NUM_SOURCES or len(items) != 2 + NUM_SOURCES[op]:
        raise Malformed("a gate must be a known operation, its target and as many sources as it takes")
    target, *sources = (read_index(bit, num_bits, "a gate") for bit in items[1:])
    if op in ("cnot", "toffoli") and target in sources:
        raise Malformed("the target of a reversible gate must not be among its sources")
    first, second = [*sources, 0, 0][:2]
    return Gate(op, target, first, second)


def read_rule(value: object, num_bits: int) -> Rule:
    items = read_list(value, "label")
    kind = read_text(items[0], "label") if items else ""
    if kind == "state" and len(items) == 1:
        return Rule(kind, list(range(num_bits)), [], 0)
    if kind == "bits" and len(items) == 2:
        bits = read_different(items[1], num_bits, "the bits of a label")
        if not bits:
            raise Malformed("the bits of a label: at least one is needed")
        return Rule(kind, bits, [], 0)
    if kind == "expression" and len(items) == 2:
        return Rule(kind, [], *read_program(items[1], num_bits))
    if kind == "nominal" and len(items) == 2:
        return Rule(kind, list(range(num_bits)), [], read_index(items[1], 1 << num_bits, "the nominal state"))
    raise Malformed("label must be a rule: state, bits, expression or nominal, with what it needs")


def read_program(value: object, num_bits: int) -> tuple[list[int | str], int, int]:
    """A program that never takes from an empty stack and leaves one value; no nominal; and how deep the stack gets."""
    steps = read_list(value, "an expression")
    if len(steps) > MAX_PROGRAM:
        raise Malformed(f"an expression has at most {MAX_PROGRAM} steps")
    program: list[int | str] = []
    depth = most = 0
    for step in steps:
        if isinstance(step, str):
            depth += {"0": 1, "1": 1, "not": 0, "and": -1, "xor": -1, "or": -1}.get(step, -MAX_STACK)
            program.append(step)
        else:
            depth += 1
            program.append(read_index(step, num_bits, "an expression"))
        most = max(most, depth)
        if not 1 <= depth <= MAX_STACK:
            raise Malformed("an expression must be a postfix program over bits, 0, 1, not, and, xor, or")
    if depth != 1:
        raise Malformed("an expression must leave one value")
    return program, 0, most
