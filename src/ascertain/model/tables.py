"""Models in tables: the interface of machines and noisy machines, and what both can do.

`successor[s, a]` is where action a leads from state s, and -1 where a is not defined in s. `behaviour[s, a]` is the
number of the law of the reading, `laws[behaviour[s, a]]`: two entries are equal exactly when the laws are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from ascertain.errors import ModelError
from ascertain.model.abstract import AbstractDeterministic, AbstractListed, set_fields
from ascertain.types import UNDEFINED, Action, BoolArray, IntArray, LongArray, Reading, State, WordArray

Law: TypeAlias = tuple[tuple[Reading, Fraction], ...]
"""Readings of positive probability, ascending, with their probabilities."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractMachine(AbstractListed, AbstractDeterministic):
    """The interface of a finite model whose transitions are deterministic, in tables."""

    successor: IntArray
    initial: tuple[State, ...] = ()
    """The initial states: none when unknown, one for each part of a union."""
    origin: tuple[str, ...] = ()
    """For a union, `origin[s]` is the name of the machine that s came from; empty otherwise."""
    laws: tuple[Law, ...] = field(init=False)
    """The laws of readings by number, each once."""
    behaviour: IntArray = field(init=False, repr=False, compare=False)
    """The table in which equal entries mean equal reading laws."""
    everywhere: BoolArray = field(init=False, repr=False, compare=False)
    """`everywhere[a]` is whether action a is defined in every state."""

    table_field: ClassVar[str]
    """The field that the numbers of behaviours are given in."""

    def __post_init__(self) -> None:
        super().__post_init__()
        successor = self._check_table(self.successor, "successor", self.num_states)
        behaviour = self._check_table(getattr(self, self.table_field), self.table_field, len(self.laws))
        set_fields(self, successor=successor, behaviour=behaviour, **{self.table_field: behaviour})
        set_fields(self, everywhere=self.defined.all(axis=0))
        odd = self.defined != (behaviour != UNDEFINED)
        if odd.any():
            s, a = (int(i) for i in np.argwhere(odd)[0])
            raise ModelError(
                f"action {self.actions[a]!r} in state {self.states[s]!r} has only one of successor and reading"
            )
        if not all(0 <= s < self.num_states for s in self.initial) or len(set(self.initial)) < len(self.initial):
            raise ModelError(f"initial states {self.initial} must be distinct and in 0 .. {self.num_states - 1}")
        if self.origin and len(self.origin) != self.num_states:
            raise ModelError(f"origin has {len(self.origin)} entries; each of the {self.num_states} states needs one")

    @property
    def skeleton(self) -> dict[str, Any]:
        """All that a machine says but what is read, by field."""
        return {**self.names, "successor": self.successor, "initial": self.initial, "origin": self.origin}

    def rebuilt(self, *, successor: IntArray, behaviour: IntArray, **changes: Any) -> Self:
        """This model with other tables and, if they are given, other names."""
        return replace(self, successor=successor, **{self.table_field: behaviour}, **changes)

    @abstractmethod
    def named_behaviour(self, behaviour: int) -> object:
        """What is read at this number, as JSON files write it."""

    @abstractmethod
    def certain_behaviour(self, reading: Reading) -> tuple[int, dict[str, Any]]:
        """The number of the behaviour that always gives this reading, and the fields that must grow to have it."""

    @property
    def scores(self) -> tuple[Law, ...]:
        """What each reading counts in evidence, by number of its law: its probability, where the laws are exact."""
        return self.laws

    @property
    def is_noisy(self) -> bool:
        return any(len(law) > 1 for law in self.laws)

    @property
    def is_total(self) -> bool:
        return bool(self.everywhere.all())

    @property
    def defined(self) -> BoolArray:
        return self.successor != UNDEFINED

    @property
    def initial_states(self) -> tuple[State, ...]:
        return self.initial

    def initial_names(self) -> list[str]:
        return [self.states[s] for s in self.initial]

    def allows(self, states: Iterable[State], action: Action) -> bool:
        if self.everywhere[action]:
            return True
        return not bool((self.successor[_as_index(states), action] == UNDEFINED).any())

    def reach(self, states: Iterable[State], action: Action, reading: Reading | None = None) -> LongArray:
        here = np.asarray(_as_index(states), dtype=np.int64)
        if reading is not None:
            here = here[self.laws_giving(reading)[self.behaviour[here, action]]]
        return np.unique(self.successor[here, action]).astype(np.int64)

    def laws_giving(self, reading: Reading) -> BoolArray:
        """For each law whether the reading is possible under it; the last entry, False, is where -1 looks."""
        return np.array([*(any(y == reading for y, _ in law) for law in self.laws), False])

    def next_state(self, state: State, action: Action) -> State:
        return int(self.successor[state, action])

    def reading_law(self, state: State, action: Action) -> dict[Reading, Fraction]:
        return dict(self.law_at(state, action))

    def spread_noise(self, state: State, action: Action) -> tuple[tuple[Fraction, tuple[Reading, ...]], ...]:
        """The reading as parts of probability, each with the readings that noise may make of it.

        Where the law is known a part has one reading; where noise is a bound, the first is the one without an error.
        """
        return tuple((p, (y,)) for y, p in self.law_at(state, action))

    def _find_possible(self, action: Action) -> tuple[Reading, ...]:
        used: list[int] = np.unique(self.behaviour[:, action]).tolist()
        return tuple(sorted({y for k in used if k != UNDEFINED for y, _ in self.laws[k]}))

    def outcomes(self, states: WordArray, action: Action) -> tuple[LongArray, LongArray]:
        after = self.successor[states, action].astype(np.int64)
        return after, self.behaviour[states, action].astype(np.int64) if self.is_exact else np.zeros_like(after)

    def as_machine(self) -> AbstractMachine:
        return self

    def cells(self) -> Iterator[tuple[State, Action, int, State]]:
        """(state, action, behaviour, next state) of every transition, in the order of states and actions."""
        s, a = np.nonzero(self.defined)
        tables = (self.behaviour[s, a].tolist(), self.successor[s, a].tolist())
        return zip(s.tolist(), a.tolist(), *tables, strict=True)

    def arrows(self) -> tuple[LongArray, LongArray]:
        source, action = np.nonzero(self.defined)
        return source, self.successor[source, action].astype(np.int64)

    def law_at(self, state: State, action: Action) -> Law:
        k = int(self.behaviour[state, action])
        return () if k == UNDEFINED else self.laws[k]

    def on_actions(self, actions: list[Action]) -> Self:
        return self.rebuilt(
            successor=self.successor[:, actions],
            behaviour=self.behaviour[:, actions],
            actions=tuple(self.actions[a] for a in actions),
        )

    def without_entering(self, states: set[State]) -> Self:
        unsafe = np.isin(self.successor, list(states))
        return self.rebuilt(
            successor=np.where(unsafe, UNDEFINED, self.successor).astype(np.int32),
            behaviour=np.where(unsafe, UNDEFINED, self.behaviour).astype(np.int32),
        )

    def with_loops(self, reading: str) -> Self:
        behaviour, changes = self._certainly(reading)
        stay = np.arange(self.num_states, dtype=np.int32)[:, None]
        return self.rebuilt(
            successor=np.where(self.defined, self.successor, stay).astype(np.int32),
            behaviour=np.where(self.defined, self.behaviour, np.int32(behaviour)).astype(np.int32),
            **changes,
        )

    def with_action(self, action: str, reading: str, to: State | None) -> Self:
        target = self._homes() if to is None else np.full(self.num_states, to, dtype=np.int32)
        behaviour, changes = self._certainly(reading)
        return self.rebuilt(
            successor=np.hstack([self.successor, target[:, None]]),
            behaviour=np.hstack([self.behaviour, np.full_like(target, behaviour)[:, None]]),
            actions=(*self.actions, action),
            **changes,
        )

    def _certainly(self, reading: str) -> tuple[int, dict[str, Any]]:
        """The behaviour that always gives this reading, which may be a new one, and the fields that must grow."""
        readings, y = self.know_reading(reading)
        behaviour, changes = self.certain_behaviour(y)
        return behaviour, {"readings": readings, **changes}

    def _homes(self) -> IntArray:
        """`home[s]`: the initial state of the machine that s belongs to."""
        part = self.origin or ("the model",) * self.num_states
        homes: dict[str, State] = {}
        for s in self.initial:
            if part[s] in homes:
                raise ModelError(f"a reset leads to the initial state, and {part[s]} has several; say where it leads")
            homes[part[s]] = s
        for name in part:
            if name not in homes:
                raise ModelError(f"a reset leads to the initial state, and {name} has none; say where it leads")
        return np.array([homes[name] for name in part], dtype=np.int32)

    def model_data(self) -> dict[str, Any]:
        """Names and tables; initial states and origins do not bear on a task."""
        return {
            "kind": self.kind,
            **{what: list(names) for what, names in self.names.items()},
            "successor": _table_data(self.successor),
            self.table_field: _table_data(self.behaviour),
        }

    def named_data(self) -> dict[str, Any]:
        rows = [
            [self.states[s], self.actions[a], self.named_behaviour(k), self.states[t]] for s, a, k, t in self.cells()
        ]
        origin = {"origin": self.origin} if self.origin else {}
        return {**self.names, "initial": self.initial_names(), **origin, "transitions": rows}

    def _check_table(self, table: IntArray, name: str, bound: int) -> IntArray:
        """A read-only int32 copy of a table whose shape and entries were checked."""
        array = np.asarray(table)
        shape = (self.num_states, self.num_actions)
        if array.shape != shape or array.dtype.kind != "i":
            raise ModelError(f"the {name} table must hold integers in shape {shape}; it is {array.dtype} {array.shape}")
        if not (int(array.min()) >= UNDEFINED and int(array.max()) < bound):
            raise ModelError(f"the {name} table has an entry outside -1 .. {bound - 1}")
        result = array.astype(np.int32, order="C")  # kernels are compiled once more for any other order
        result.setflags(write=False)
        return result

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        names = ("states", "actions", "readings", "initial", "origin", "laws")
        return all(getattr(self, name) == getattr(other, name) for name in names) and all(
            np.array_equal(getattr(self, table), getattr(other, table)) for table in ("successor", "behaviour")
        )

    __hash__ = None  # type: ignore[assignment]


def _table_data(table: IntArray) -> list[list[int | None]]:
    """A table as plain data; an undefined entry is None."""
    return [[None if x == UNDEFINED else x for x in row] for row in table.tolist()]


def _as_index(states: Iterable[State]) -> Any:
    """States as NumPy takes them for an index; an array stays as it is."""
    return states if hasattr(states, "dtype") else list(states)
