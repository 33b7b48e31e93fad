"""The Model protocol: what every model of a plant can be asked, whatever kind it is.

Throughout: s is a state, a an action, y a reading, all of them indices. An action is *allowed* in a state where it is
defined. Four kinds of models implement the protocol:

- `AbstractModel`: names, which actions are allowed where, and what may be read.
- `AbstractDeterministic`: where an action leads is certain, and only what is read may be random. A Boolean plant is one
  of these: it has too many states to list them.
- `AbstractListed`: the states are listed by name. A hidden model is one of these.

What is both, a machine with or without noise, is in tables: `model/tables.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ascertain.drawing.diagram import MOST_ARROWS, MOST_STATES, draw_diagram
from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import FileError, LimitError, ModelError, TaskError, find_name
from ascertain.types import Action, BoolArray, LongArray, Reading, State, WordArray
from ascertain.writing import write_whole

if TYPE_CHECKING:
    from ascertain.model.tables import AbstractMachine


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
    def noise_bound(self) -> Fraction | None:
        """Where noise is known by a bound alone: any error has at most this probability given the past; else None."""
        return None

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

    def possible_readings(self, action: Action) -> tuple[Reading, ...]:
        """What the action gives in some state, with whatever probability, ascending; looked through once."""
        known: dict[Action, tuple[Reading, ...]] = vars(self).setdefault("_possible", {})
        if action not in known:
            known[action] = self._find_possible(action)
        return known[action]

    @abstractmethod
    def _find_possible(self, action: Action) -> tuple[Reading, ...]: ...

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
        arrows = self.named_arrows(MOST_STATES)
        if not arrows or len(arrows) > MOST_ARROWS:
            return None
        return draw_diagram(self.states, arrows, self.initial_states, title or type(self).__name__)

    def named_arrows(self, most: int) -> dict[tuple[State, State], list[str]]:
        """What leads from one state to another, in names, between each two; none where there are more states."""
        arrows: dict[tuple[int, int], list[str]] = {}
        for s in range(self.num_states if self.num_states <= most else 0):
            for a in range(self.num_actions):
                for t, y, p in self.joint_law(s, a):
                    share = "" if p == 1 else f" ({p})"
                    arrows.setdefault((s, t), []).append(f"{self.actions[a]} / {self.readings[y]}{share}")
        return arrows

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


def set_fields(thing: object, **values: object) -> None:
    """Set fields of a frozen dataclass, which is done only while it is being made."""
    for name, value in values.items():
        object.__setattr__(thing, name, value)


def check_names(what: str, names: tuple[str, ...]) -> None:
    """Refuse no names at all and a name that is listed twice."""
    if not names:
        raise ModelError(f"a model needs at least one {what}; it has none")
    if len(set(names)) < len(names):
        raise ModelError(f"the {what} {find_repeated(names)!r} is listed twice; names must differ")


def find_repeated(names: Iterable[str]) -> str:
    """The first name that stands twice; one must."""
    return next(name for name, count in Counter(names).items() if count > 1)
