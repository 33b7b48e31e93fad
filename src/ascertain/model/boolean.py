"""A Boolean plant: n bits, commands that are short lists of gates, and one bit read, perhaps wrongly, after each.

The state is an integer: bit i of it, the least significant first, is the bit called `bits[i]`. Written as text the most
significant bit stands first, as in every binary number: "100" is the state of three bits in which `bits[2]` alone is
set. A gate changes one bit, its target t, in view of at most two others, its sources a and b:

    and, or, xor    t = a op b         the old value of t is lost, unless t is a source
    copy            t = a
    set, clear      t = 1, t = 0
    not             t = not t
    cnot            t = t xor a        reversible: t is no source
    toffoli         t = t xor (a and b)

A command does its gates in order and then reads one bit, its *tap*; with probability `flip`, independently of all
else, what is read is the other value. A plant is never enumerated unless it is small: `as_machine`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, final

import numpy as np

from ascertain.errors import LimitError, ModelError, did_you_mean
from ascertain.kernels.model.boolean_code import NUM_SOURCES, OPERATIONS, Circuit
from ascertain.model.abstract import AbstractDeterministic, check_names, set_fields
from ascertain.model.machine import Machine
from ascertain.model.noisy import NoisyMachine
from ascertain.model.tables import AbstractMachine
from ascertain.types import Action, IntArray, LongArray, Reading, State, WordArray

MAX_BITS = 64
"""A state is one word of the machine that computes."""
MAX_ENUMERATED_BITS = 16
"""65,536 states: tables of a few megabytes, which the quotient and the solver still take."""
REVERSIBLE = ("not", "cnot", "toffoli")
"""The gates that undo themselves."""


_TARGET_AFTER: Mapping[str, Callable[[int, int, int], int]] = {
    "and": lambda t, a, b: a & b,
    "or": lambda t, a, b: a | b,
    "xor": lambda t, a, b: a ^ b,
    "copy": lambda t, a, b: a,
    "set": lambda t, a, b: 1,
    "clear": lambda t, a, b: 0,
    "not": lambda t, a, b: t ^ 1,
    "cnot": lambda t, a, b: t ^ a,
    "toffoli": lambda t, a, b: t ^ a & b,
}
"""What each gate makes of its target t and its sources a and b: the table above."""


@final
@dataclass(frozen=True)
class Gate:
    """One change of one bit; `target` and `sources` are indices of bits."""

    op: str
    target: int
    sources: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", tuple(self.sources))
        if self.op not in OPERATIONS:
            known = did_you_mean(self.op, OPERATIONS) or f"; known are {', '.join(OPERATIONS)}"
            raise ModelError(f"{self.op!r} is not a gate{known}")
        wanted = NUM_SOURCES[self.code]
        if len(self.sources) != wanted:
            raise ModelError(f"the gate {self.op!r} has {len(self.sources)} sources; it takes {wanted}")
        if any(bit < 0 for bit in (self.target, *self.sources)):
            raise ModelError(f"the gate {self.op!r} names a negative bit; bits are counted from 0")
        if self.op in REVERSIBLE and self.target in self.sources:
            raise ModelError(f"the gate {self.op!r} has bit {self.target} as target and source; they must differ")

    @property
    def code(self) -> int:
        """The number that stands for the gate in kernels."""
        return OPERATIONS.index(self.op)

    def apply(self, state: int) -> int:
        """The state after the gate. Operators only, so that an array of states is taken as well."""
        a, b = (*self.sources, 0, 0)[:2]
        bit = _TARGET_AFTER[self.op](state >> self.target & 1, state >> a & 1, state >> b & 1)
        return state & ~(1 << self.target) | bit << self.target


@final
@dataclass(frozen=True)
class Command:
    """Gates, done in order, and the bit that is read after them."""

    name: str
    gates: tuple[Gate, ...]
    tap: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "gates", tuple(self.gates))

    @property
    def is_reversible(self) -> bool:
        """Whether no two states are merged, as every gate can be undone by itself."""
        return all(gate.op in REVERSIBLE for gate in self.gates)


@final
@dataclass(frozen=True)
class BooleanPlant(AbstractDeterministic):
    """Bits, commands and the probability of a wrong reading. Validated once; arrays are read-only.

    Kernels take `gates[i] = (code, target, source, source)`, absent sources being 0; the gates of command c are those
    from `offset[c]` to `offset[c + 1]`, and `tap[c]` is the bit that it reads.
    """

    bits: tuple[str, ...] = field()
    commands: tuple[Command, ...]
    flip: Fraction = Fraction(0)
    actions: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The names of the commands."""
    readings: tuple[str, ...] = field(init=False, default=("0", "1"), repr=False, compare=False)
    gates: IntArray = field(init=False, repr=False, compare=False)
    offset: IntArray = field(init=False, repr=False, compare=False)
    tap: IntArray = field(init=False, repr=False, compare=False)

    kind: ClassVar[str] = "boolean"
    action_noun: ClassVar[str] = "a command of the plant"

    def __post_init__(self) -> None:
        set_fields(self, bits=tuple(self.bits), commands=tuple(self.commands), flip=Fraction(self.flip))
        set_fields(self, actions=tuple(command.name for command in self.commands))
        check_names("bit", self.bits)
        check_names("command", self.actions)
        if self.num_bits > MAX_BITS:
            raise ModelError(f"the plant has {self.num_bits} bits; at most {MAX_BITS} fit a word")
        if not 0 <= self.flip < Fraction(1, 2):
            raise ModelError(f"flip is {self.flip}; a probability of at least 0 and less than 1/2 is needed")
        for command in self.commands:
            self._check_command(command)
        self._encode()

    @property
    def num_states(self) -> int:
        return 1 << self.num_bits

    @property
    def is_noisy(self) -> bool:
        return self.flip > 0

    @property
    def is_total(self) -> bool:
        return True

    @property
    def num_bits(self) -> int:
        return len(self.bits)

    def size_facts(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "bits": self.num_bits,
            **super().size_facts(),
            "flip": str(self.flip),
            "reversible_commands": sum(command.is_reversible for command in self.commands),
            "tapped_bits": len({command.tap for command in self.commands}),
        }

    def name_state(self, state: State) -> str:
        """The state as text, the most significant bit first."""
        return format(state, f"0{self.num_bits}b")

    def state_named(self, name: str, where: str = "state") -> State:
        if len(name) != self.num_bits or not set(name) <= {"0", "1"}:
            raise ModelError(
                f"{where}: {name[:80]!r} is not a state of the plant; write {self.num_bits} binary digits, "
                f"{self.bits[-1]!r} first"
            )
        return int(name, 2)

    def allows(self, states: Iterable[State], action: Action) -> bool:
        del states, action
        return True

    def reach(self, states: Iterable[State], action: Action, reading: Reading | None = None) -> set[State]:
        steps = (self.step(s, action) for s in states)
        return {t for t, tapped in steps if self.flip or reading in (None, tapped)}

    def _find_possible(self, action: Action) -> tuple[Reading, ...]:
        """Both values, even where the command has set the bit that it reads."""
        del action
        return (0, 1)

    def sensor(self, action: Action) -> int:
        return int(self.tap[action])

    def next_state(self, state: State, action: Action) -> State:
        return self.step(state, action)[0]

    def reading_law(self, state: State, action: Action) -> dict[Reading, Fraction]:
        _, tapped = self.step(state, action)
        return {tapped: 1 - self.flip, 1 - tapped: self.flip} if self.flip else {tapped: Fraction(1)}

    @property
    def circuit(self) -> Circuit:
        """The arrays that kernels take, as one thing."""
        return Circuit(self.gates, self.offset, self.tap)

    def outcomes(self, states: WordArray, action: Action) -> tuple[LongArray, LongArray]:
        from ascertain.kernels.model.boolean import run_states  # noqa: PLC0415  compiled code is loaded where it is used

        words, command = states.astype(np.uint64), np.array([action], dtype=np.int32)
        run_states(self.gates, self.offset, words, command)
        after = words.astype(np.int64)
        return after, np.zeros_like(after) if self.flip else after >> int(self.tap[action]) & 1

    def is_injective(self, action: Action) -> bool:
        return self.commands[action].is_reversible

    def predecessor(self, state: State, action: Action) -> State:
        """The one state that a reversible command leads to this one."""
        for gate in reversed(self.commands[action].gates):
            state = gate.apply(state)
        return state

    def without_flip(self) -> BooleanPlant:
        return replace(self, flip=Fraction(0)) if self.flip else self

    def as_machine(self) -> AbstractMachine:
        """Enumerated, if it is small: a machine when nothing is flipped, else a noisy one; states keep their numbers.

        A bit that always reads alike is flipped as well, unlike in `with_flip`.
        """
        if self.num_bits > MAX_ENUMERATED_BITS:
            raise LimitError(
                f"the plant has {self.num_bits} bits; plants of at most {MAX_ENUMERATED_BITS} bits are enumerated"
            )
        states: Any = np.arange(self.num_states, dtype=np.int32)
        steps: list[tuple[Any, Any]] = [self.step(states, c) for c in range(self.num_actions)]
        skeleton: dict[str, Any] = {
            "states": tuple(self.name_state(s) for s in range(self.num_states)),
            "actions": self.actions,
            "readings": self.readings,
            "successor": np.stack([after for after, _ in steps], axis=1),
        }
        tapped = np.stack([tapped for _, tapped in steps], axis=1)
        if not self.flip:
            return Machine(**skeleton, output=tapped)
        right, wrong = 1 - self.flip, self.flip
        return NoisyMachine(**skeleton, law=tapped, laws=(((0, right), (1, wrong)), ((0, wrong), (1, right))))

    def model_data(self) -> dict[str, Any]:
        """Each command is [name, gates, tap], each gate [operation, target, sources...]."""
        return {
            "kind": self.kind,
            "bits": list(self.bits),
            "commands": [
                [c.name, [[gate.op, gate.target, *gate.sources] for gate in c.gates], c.tap] for c in self.commands
            ],
            "flip": str(self.flip),
        }

    def step(self, state: int, command: Action) -> tuple[int, int]:
        """The state after the command, and the tapped bit without noise."""
        done = self.commands[command]
        for gate in done.gates:
            state = gate.apply(state)
        return state, state >> done.tap & 1

    def run(self, state: int, commands: Iterable[Action]) -> tuple[int, list[int]]:
        """The state after a word of commands, and the tapped bits without noise."""
        taps: list[int] = []
        for command in commands:
            state, tapped = self.step(state, command)
            taps.append(tapped)
        return state, taps

    def _check_command(self, command: Command) -> None:
        used = [command.tap, *(bit for gate in command.gates for bit in (gate.target, *gate.sources))]
        for bit in used:
            if not 0 <= bit < self.num_bits:
                raise ModelError(
                    f"command {command.name!r} uses bit {bit}; the plant's bits are 0 .. {self.num_bits - 1}"
                )

    def _encode(self) -> None:
        rows = [
            (gate.code, gate.target, *(*gate.sources, 0, 0)[:2]) for command in self.commands for gate in command.gates
        ]
        ends = np.cumsum([0, *(len(command.gates) for command in self.commands)])
        arrays = {
            "gates": np.array(rows, dtype=np.int32).reshape(-1, 4),
            "offset": ends.astype(np.int32),
            "tap": np.array([command.tap for command in self.commands], dtype=np.int32),
        }
        for array in arrays.values():
            array.setflags(write=False)
        set_fields(self, **arrays)
