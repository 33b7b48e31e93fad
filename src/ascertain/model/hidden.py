"""A hidden model: where an action leads is random, and so is what is read, by one joint law for both.

P(t, y | s, a) is the probability that action a, done in state s, leads to state t and gives the reading y. It is kept
sparse and exact: `joint[s][a]` lists the (t, y, p) of positive probability in ascending order, and is empty where the
action is not defined. Machines and noisy machines are the special cases in which t is certain (`as_hidden`).

What is known about the plant at any moment is a *belief*: a probability for each state. After an action and a reading

    belief'(t)  =  sum over s of belief(s) P(t, y | s, a)

up to a factor, and that factor is the probability of the reading: so the total that is left after a whole word of
actions and readings is the probability of the word. A belief allows an action when every state that it
holds possible does.

Throughout: s and t are states, a an action, y a reading, p a probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from operator import ge
from typing import Any, ClassVar, TypeAlias, final

import numpy as np

from ascertain.errors import ModelError
from ascertain.model.abstract import AbstractListed
from ascertain.model.tables import AbstractMachine
from ascertain.types import UNDEFINED, Action, BoolArray, LongArray, Reading, State

JointLaw: TypeAlias = tuple[tuple[State, Reading, Fraction], ...]
"""(next state, reading, probability), ascending, without zeros; empty where the action is not defined."""
Belief: TypeAlias = tuple[tuple[State, Fraction], ...]
"""The states of positive probability, ascending, with their probabilities."""


@final
@dataclass(frozen=True, kw_only=True)
class HiddenModel(AbstractListed):
    """Names and the joint law of every state and action. Validated once."""

    joint: tuple[tuple[JointLaw, ...], ...]
    initial: tuple[Belief, ...] = ()
    """The beliefs that the plant may begin with: none when unknown."""

    kind: ClassVar[str] = "hidden"
    has_certain_transitions: ClassVar[bool] = False
    origin: ClassVar[tuple[str, ...]] = ()
    """Hidden models are not joined; machines that are have the names of their parts here."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.joint) != self.num_states or any(len(row) != self.num_actions for row in self.joint):
            raise ModelError(
                f"the joint law must have a row for each of the {self.num_states} states, with an entry for each of "
                f"the {self.num_actions} actions"
            )
        sound: set[int] = set()
        for s, row in enumerate(self.joint):
            for a, law in enumerate(row):
                if id(law) not in sound:
                    self._check_law(law, f"action {self.actions[a]!r} in state {self.states[s]!r}")
                    sound.add(id(law))
        for belief in self.initial:
            self.check_belief(belief, "an initial belief")

    @property
    def num_entries(self) -> int:
        """How many probabilities are kept."""
        return sum(len(law) for row in self.joint for law in row)

    @property
    def is_total(self) -> bool:
        return all(law for row in self.joint for law in row)

    @property
    def is_noisy(self) -> bool:
        return any(len(law) > 1 for row in self.joint for law in row)

    @property
    def defined(self) -> BoolArray:
        return np.array([[bool(law) for law in row] for row in self.joint], dtype=np.bool_)

    @property
    def initial_states(self) -> tuple[State, ...]:
        return tuple(s for belief in self.initial for s, _ in belief)

    def initial_names(self) -> list[str]:
        return [self.belief_text(belief) for belief in self.initial]

    def size_facts(self) -> dict[str, Any]:
        return {**super().size_facts(), "probabilities": self.num_entries}

    def allows(self, states: Iterable[State], action: Action) -> bool:
        return all(self.joint[s][action] for s in states)

    def reach(self, states: Iterable[State], action: Action, reading: Reading | None = None) -> set[State]:
        return {t for s in states for t, y, _ in self.joint[s][action] if reading in (None, y)}

    def _find_possible(self, action: Action) -> tuple[Reading, ...]:
        return tuple(sorted({y for row in self.joint for _, y, _ in row[action]}))

    def arrows(self) -> tuple[LongArray, LongArray]:
        pairs = [(s, t) for s, row in enumerate(self.joint) for t in {t for law in row for t, _, _ in law}]
        source, target = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return source, target

    def joint_law(self, state: State, action: Action) -> JointLaw:
        return self.joint[state][action]

    law_at = joint_law

    def as_machine(self) -> AbstractMachine:
        raise ModelError("this model is hidden; a machine, whose transitions are certain, is needed here")

    def on_actions(self, actions: list[Action]) -> HiddenModel:
        return replace(
            self,
            actions=tuple(self.actions[a] for a in actions),
            joint=tuple(tuple(row[a] for a in actions) for row in self.joint),
        )

    def without_entering(self, states: set[State]) -> HiddenModel:
        """Also the actions that lead there rarely are forbidden."""
        return replace(
            self,
            joint=tuple(tuple(() if any(t in states for t, _, _ in law) else law for law in row) for row in self.joint),
        )

    def with_loops(self, reading: str) -> HiddenModel:
        readings, y = self.know_reading(reading)
        stay = [((s, y, Fraction(1)),) for s in range(self.num_states)]
        joint = tuple(tuple(law or stay[s] for law in row) for s, row in enumerate(self.joint))
        return replace(self, readings=readings, joint=joint)

    def with_action(self, action: str, reading: str, to: State | None) -> HiddenModel:
        if to is None and len(self.initial) != 1:
            many = "several" if self.initial else "none"
            raise ModelError(f"a reset leads to the initial belief, and the model has {many}; say where it leads")
        readings, y = self.know_reading(reading)
        home: Belief = self.initial[0] if to is None else certain(to)
        law: JointLaw = tuple((t, y, p) for t, p in home)
        return replace(
            self,
            actions=(*self.actions, action),
            readings=readings,
            joint=tuple((*row, law) for row in self.joint),
        )

    def model_data(self) -> dict[str, Any]:
        """The joint laws, each listed once in order of appearance, and which one holds where."""
        number: dict[JointLaw, int] = {}
        table = [[number.setdefault(law, len(number)) if law else None for law in row] for row in self.joint]
        return {
            "kind": self.kind,
            **{what: list(names) for what, names in self.names.items()},
            "law": table,
            "laws": [[[t, y, str(p)] for t, y, p in law] for law in number],
        }

    def named_data(self) -> dict[str, Any]:
        rows = [
            [self.states[s], self.actions[a], [[self.states[t], self.readings[y], str(p)] for t, y, p in law]]
            for s, row in enumerate(self.joint)
            for a, law in enumerate(row)
            if law
        ]
        initial = [{self.states[s]: str(p) for s, p in belief} for belief in self.initial]
        return {"kind": self.kind, **self.names, "initial": initial, "transitions": rows}

    def belief_text(self, belief: Belief | State) -> str:
        """A belief on one line: the state alone where it is certain, and the first few where there are many."""
        if not isinstance(belief, tuple):  # a simulation that begins in a state for sure
            return self.states[belief]
        if len(belief) == 1:
            return self.states[belief[0][0]]
        shown = ", ".join(f"{self.states[s]} {p}" for s, p in belief[:4])
        return f"{shown} and {len(belief) - 4} more" if len(belief) > 4 else shown

    def check_belief(self, belief: Belief, where: str) -> None:
        """A belief lists states in ascending order with positive probabilities that sum to one."""
        states = [s for s, _ in belief]
        if states != sorted(set(states)) or not all(0 <= s < self.num_states for s in states):
            raise ModelError(f"{where} must list states 0 .. {self.num_states - 1}, ascending and each once")
        check_masses([p for _, p in belief], where)

    def _check_law(self, law: JointLaw, where: str) -> None:
        places = [(t, y) for t, y, _ in law]
        if any(map(ge, places, places[1:])):
            raise ModelError(f"{where}: the joint law must list (next state, reading) in ascending order, each once")
        last = len(self.readings) - 1
        # The states ascend, so that the first and the last bound them.
        if places and not (
            0 <= places[0][0] <= places[-1][0] < self.num_states and all(0 <= y <= last for _, y in places)
        ):
            raise ModelError(
                f"{where}: the joint law names a state outside 0 .. {self.num_states - 1} or a reading outside 0 .. "
                f"{len(self.readings) - 1}"
            )
        if law:
            check_masses([p for _, _, p in law], where)


def check_masses(masses: list[Fraction], where: str) -> None:
    """Refuse what is no list of positive probabilities that sum to one; `where` begins the message."""
    if not all(isinstance(p, Fraction) for p in masses):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ModelError(f"{where}: probabilities are exact; give Fractions, as Fraction(1, 3) or Fraction('0.85')")
    if any(p.numerator <= 0 for p in masses):
        raise ModelError(f"{where}: only positive probabilities are listed")
    total = sum_exactly(masses)
    if total != 1:
        raise ModelError(f"{where}: the probabilities sum to {total}; they must sum to 1")


def sum_exactly(values: Iterable[Fraction]) -> Fraction:
    """The sum over one common denominator, which is quicker than adding fraction by fraction."""
    listed = list(values)
    if len(listed) == 1:
        return listed[0]
    by_denominator: dict[int, int] = {}
    for p in listed:
        by_denominator[p.denominator] = by_denominator.get(p.denominator, 0) + p.numerator
    whole = math.lcm(*by_denominator)
    return Fraction(sum(total * (whole // q) for q, total in by_denominator.items()), whole)


def make_joint(law: Mapping[tuple[State, Reading], Fraction]) -> JointLaw:
    """The canonical form of a joint law: ascending, without zeros."""
    return tuple((t, y, Fraction(p)) for (t, y), p in sorted(law.items()) if p != 0)


def make_belief(weights: Mapping[State, Fraction | int]) -> Belief:
    """The canonical form of a belief, scaled so that it sums to one."""
    total = sum_exactly(Fraction(w) for w in weights.values())
    if total <= 0 or any(w < 0 for w in weights.values()):
        raise ModelError("a belief needs a state of positive probability, and none of a negative one")
    return tuple((s, Fraction(w) / total) for s, w in sorted(weights.items()) if w != 0)


def certain(state: State) -> Belief:
    """The belief that holds one state alone possible."""
    return ((state, Fraction(1)),)


def as_hidden(model: AbstractMachine) -> HiddenModel:
    """A machine, noisy or not, seen as a hidden model: where actions lead stays certain."""

    @cache
    def law(t: State, behaviour: int) -> JointLaw:
        return () if t == UNDEFINED else make_joint({(t, y): p for y, p in model.laws[behaviour]})

    rows = zip(model.successor.tolist(), model.behaviour.tolist(), strict=True)
    return HiddenModel(
        **model.names,
        joint=tuple(tuple(map(law, targets, behaviours)) for targets, behaviours in rows),
        initial=tuple(certain(s) for s in model.initial),
    )


def keep_readings(model: HiddenModel) -> HiddenModel:
    """The same plant with the last reading made part of the state: "t|y" is state t reached while y was read.

    The plain states stay, as those that the plant may begin in. Then every reading is a function of the state that is
    entered, which is what Cassandra's files ask for (`model/files/pomdp.py`).
    """
    entered = sorted({(t, y) for row in model.joint for law in row for t, y, _ in law})
    number: dict[tuple[State, Reading], State] = {pair: model.num_states + i for i, pair in enumerate(entered)}
    rows = [tuple(make_joint({(number[t, y], y): p for t, y, p in law}) for law in row) for row in model.joint]
    return replace(
        model,
        states=(*model.states, *(f"{model.states[t]}|{model.readings[y]}" for t, y in entered)),
        joint=(*rows, *(rows[t] for t, _ in entered)),
    )
