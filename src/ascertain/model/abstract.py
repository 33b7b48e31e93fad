"""The Model protocol: what every model of a plant can be asked, whatever kind it is.

Throughout: s is a state, a an action, y a reading, all of them indices. An action is *allowed* in a state where it is
defined. Four kinds of models implement the protocol, in three steps:

- `AbstractModel`: names, which actions are allowed where, and what may be read. A hidden model is one of these.
- `AbstractDeterministic`: where an action leads is certain, and only what is read may be random. A Boolean plant is one
  of these: it has too many states to list them.
- `AbstractMachine`: the states are listed in tables: machines, and noisy machines.

In a machine `successor[s, a]` is where a leads from s, and -1 where a is not defined in s. `behaviour[s, a]` is the
number of the law of the reading, `laws[behaviour[s, a]]`: two entries are equal exactly when the laws are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from ascertain.drawing.diagram import MOST_ARROWS, MOST_STATES, draw_diagram
from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import FileError, LimitError, ModelError, TaskError, find_name
from ascertain.types import UNDEFINED, Action, BoolArray, IntArray, LongArray, Reading, State, WordArray
from ascertain.writing import write_whole

Law: TypeAlias = tuple[tuple[Reading, Fraction], ...]
"""Readings of positive probability, ascending, with their probabilities."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractModel(Shown, ABC):
    """The interface of every model. Validated once; arrays are read-only."""

    actions: tuple[str, ...]
    readings: tuple[str, ...]
    bits: tuple[str, ...] = field(init=False, default=(), repr=False)
    """The names of the bits that a state is made of; none where states are not made of bits."""

    kind: ClassVar[str]
    is_exact: ClassVar[bool] = False
    """Whether models of this kind know no noise, so that the number of a behaviour is the number of a reading."""
    has_certain_transitions: ClassVar[bool] = True
    action_noun: ClassVar[str] = "an action of the model"
    """What an action is called in messages."""

    def shown(self) -> Mapping[str, object]:
        size = {"bits": len(self.bits)} if self.bits else {"states": self.num_states}
        return {**size, "actions": self.num_actions, "readings": len(self.readings)}

    @property
    @abstractmethod
    def num_states(self) -> int: ...

    @property
    def num_actions(self) -> int:
        return len(self.actions)

    @property
    def deterministic(self) -> AbstractDeterministic | None:
        """This model, if it is certain where its actions lead."""
        return None

    @property
    def listed(self) -> AbstractListed | None:
        """This model, if its states are listed by name, so that something can be done for every one of them."""
        return None

    @property
    def initial_states(self) -> tuple[State, ...]:
        """The states that the plant may begin in; none when unknown."""
        return ()

    def size_facts(self) -> dict[str, Any]:
        """What the model is and how large, by name: what `inspect` shows first."""
        return {
            "kind": self.kind,
            "states": self.num_states,
            "actions": self.num_actions,
            "readings": len(self.readings),
        }

    @property
    @abstractmethod
    def is_noisy(self) -> bool:
        """Whether something in this model is random."""

    @property
    @abstractmethod
    def is_total(self) -> bool:
        """Whether every action is defined in every state."""

    @abstractmethod
    def name_state(self, state: State) -> str:
        """The name of a state."""

    @abstractmethod
    def state_named(self, name: str, where: str = "state") -> State:
        """The state of that name; `where` begins the message when there is none."""

    def action_named(self, name: str, where: str = "action") -> Action:
        """The action of that name; `where` begins the message when there is none."""
        return find_name(name, self.actions, where, self.action_noun)

    def bit_named(self, name: str, where: str = "bit") -> int:
        """The bit of that name; `where` begins the message when there is none."""
        return find_name(name, self.bits, where, "a bit of the plant")

    @abstractmethod
    def allows(self, states: Iterable[State], action: Action) -> bool:
        """Whether the action is defined in all these states."""

    @abstractmethod
    def reach(self, states: Iterable[State], action: Action, reading: Reading | None = None) -> Iterable[State]:
        """The states that the action, which all of these allow, may lead to while this is read; None: whatever is."""

    @abstractmethod
    def possible_readings(self, action: Action) -> tuple[Reading, ...]:
        """What the action gives in some state, with whatever probability, ascending."""

    @abstractmethod
    def joint_law(self, state: State, action: Action) -> tuple[tuple[State, Reading, Fraction], ...]:
        """P(t, y | s, a): next states and readings of positive probability, ascending; empty where not defined."""

    def sensor(self, action: Action) -> int:
        """The number of the sensor that the action reads; where the model names none, each action has its own."""
        return action

    def check_step(self, action: Action, reading: Reading | None) -> None:
        """Refuse an action or a reading that the model does not have."""
        if not 0 <= action < len(self.actions):
            raise TaskError(f"action {action} is not one of the model's; they are 0 .. {len(self.actions) - 1}")
        if reading is not None and not 0 <= reading < len(self.readings):
            raise TaskError(f"reading {reading} is not one of the model's; they are 0 .. {len(self.readings) - 1}")

    def as_model(self) -> Self:
        """This model; a Boolean network, which describes one, has a method of this name as well."""
        return self

    @abstractmethod
    def as_machine(self) -> AbstractMachine:
        """The same plant as a machine, with its states listed; refused where that cannot be."""

    @abstractmethod
    def model_data(self) -> dict[str, Any]:
        """The part of the model that bears on a task, as plain data for the canonical form (`task/canonical.py`)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractDeterministic(AbstractModel):
    """The interface of a model in which it is certain where each action leads."""

    @property
    def deterministic(self) -> AbstractDeterministic:
        return self

    @abstractmethod
    def next_state(self, state: State, action: Action) -> State:
        """Where the action leads; UNDEFINED where it is not defined."""

    @abstractmethod
    def reading_law(self, state: State, action: Action) -> Mapping[Reading, Fraction]:
        """K(. | s, a): what is read with which positive probability; empty where the action is not defined."""

    def joint_law(self, state: State, action: Action) -> tuple[tuple[State, Reading, Fraction], ...]:
        to = self.next_state(state, action)
        return tuple((to, y, p) for y, p in sorted(self.reading_law(state, action).items()))

    @abstractmethod
    def outcomes(self, states: WordArray, action: Action) -> tuple[LongArray, LongArray]:
        """Where the action leads from each of the states, and a number for what each shows.

        Two states with the same number may show the same reading. With noise all may, and the numbers are 0.
        """

    def is_injective(self, action: Action) -> bool:
        """Whether the action is known, without a search, to lead no two states to the same one."""
        del action
        return False

    def without_flip(self) -> AbstractDeterministic:
        """The model without the noise that its sensor adds, where model and noise are told apart; else itself."""
        return self


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractListed(AbstractModel):
    """The interface of a model whose states are listed by name."""

    states: tuple[str, ...]
    index: Mapping[str, State] = field(init=False, repr=False, compare=False)
    """`index[name]` is the state of that name."""

    def __post_init__(self) -> None:
        for what, names in self.names.items():
            check_names(what.removesuffix("s"), names)
        object.__setattr__(self, "index", {name: s for s, name in enumerate(self.states)})

    @property
    def num_states(self) -> int:
        return len(self.states)

    @property
    def listed(self) -> AbstractListed:
        return self

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """All names, by the fields that hold them."""
        return {"states": self.states, "actions": self.actions, "readings": self.readings}

    def size_facts(self) -> dict[str, Any]:
        return {**super().size_facts(), "initial": self.initial_names()}

    @abstractmethod
    def initial_names(self) -> list[str]:
        """What the plant may begin with, by name."""

    def listing(self) -> Listing:
        here = [(s, a) for s in range(min(self.num_states, MOST_STATES)) for a in range(self.num_actions)]
        steps = [(s, a, *step) for s, a in here for step in self.joint_law(s, a)]
        rows = [
            (self.states[s], self.actions[a], self.readings[y], self.states[t], "" if p == 1 else p)
            for s, a, t, y, p in steps
        ]
        return ("state", "action", "reading", "next state", "probability"), rows

    def diagram(self, title: str = "") -> str | None:
        """The state diagram as SVG; None where the model is too large to draw."""
        arrows: dict[tuple[int, int], list[str]] = {}
        for s in range(self.num_states if self.num_states <= MOST_STATES else 0):
            for a in range(self.num_actions):
                for t, y, p in self.joint_law(s, a):
                    share = "" if p == 1 else f" ({p})"
                    arrows.setdefault((s, t), []).append(f"{self.actions[a]} / {self.readings[y]}{share}")
        if not arrows or len(arrows) > MOST_ARROWS:
            return None
        return draw_diagram(self.states, arrows, self.initial_states, title or type(self).__name__)

    def html(self) -> str:
        return self.diagram() or super().html()

    def draw(self, path: str | Path, title: str = "") -> None:
        """Draw the state diagram of a small model (.svg)."""
        if Path(path).suffix != ".svg":
            raise FileError(f"{path}: a model is drawn as .svg; write_model writes other formats, .dot among them")
        drawn = self.diagram(title)
        if drawn is None:
            raise LimitError(f"{path}: {self!r} is too large to draw; at most {MOST_STATES} states are drawn")
        write_whole(path, drawn.encode())

    def name_state(self, state: State) -> str:
        return self.states[state]

    def state_named(self, name: str, where: str = "state") -> State:
        return find_name(name, self.index, where, "a state of the model")

    @property
    @abstractmethod
    def defined(self) -> BoolArray:
        """`defined[s, a]` is whether action a is defined in state s."""

    @abstractmethod
    def arrows(self) -> tuple[LongArray, LongArray]:
        """The steps of positive probability, as states with what each may lead to."""

    @abstractmethod
    def law_at(self, state: State, action: Action) -> tuple[tuple[Any, ...], ...]:
        """The law of a step; each entry ends with its probability. Places of the same law give the same object."""

    @abstractmethod
    def named_data(self) -> dict[str, Any]:
        """The whole model by names, as JSON files hold it (`files/json_model.py`); its transitions come last."""

    @abstractmethod
    def on_actions(self, actions: list[Action]) -> Self:
        """The model on these actions only, in this order."""

    @abstractmethod
    def without_entering(self, states: set[State]) -> Self:
        """The model in which no action is defined that may lead into these states."""

    @abstractmethod
    def with_loops(self, reading: str) -> Self:
        """The model with a self-loop that gives this reading wherever an action was not defined."""

    @abstractmethod
    def with_action(self, action: str, reading: str, to: State | None) -> Self:
        """The model with an action that leads from everywhere to one state, or to where the plant begins."""

    def know_reading(self, reading: str) -> tuple[tuple[str, ...], Reading]:
        """The readings with this one among them, and its number."""
        readings = self.readings if reading in self.readings else (*self.readings, reading)
        return readings, readings.index(reading)


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
        odd = np.argwhere(self.defined != (behaviour != UNDEFINED))
        if odd.size:
            s, a = (int(i) for i in odd[0])
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

    def possible_readings(self, action: Action) -> tuple[Reading, ...]:
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
        result = array.astype(np.int32)
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


def set_fields(thing: object, **values: object) -> None:
    """Set fields of a frozen dataclass, which is done only while it is being made."""
    for name, value in values.items():
        object.__setattr__(thing, name, value)


def _table_data(table: IntArray) -> list[list[int | None]]:
    """A table as plain data; an undefined entry is None."""
    return [[None if x == UNDEFINED else x for x in row] for row in table.tolist()]


def _as_index(states: Iterable[State]) -> Any:
    """States as NumPy takes them for an index; an array stays as it is."""
    return states if hasattr(states, "dtype") else list(states)


def check_names(what: str, names: tuple[str, ...]) -> None:
    """Refuse no names at all and a name that is listed twice."""
    if not names:
        raise ModelError(f"a model needs at least one {what}; it has none")
    if len(set(names)) < len(names):
        raise ModelError(f"the {what} {find_repeated(names)!r} is listed twice; names must differ")


def find_repeated(names: Iterable[str]) -> str:
    """The first name that stands twice; one must."""
    return next(name for name, count in Counter(names).items() if count > 1)
