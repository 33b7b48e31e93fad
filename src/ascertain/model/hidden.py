"""A hidden model: where an action leads is random, and so is what is read, by one joint law for both.

P(t, y | s, a) is the probability that action a, done in state s, leads to state t and gives the reading y. It is kept
sparse and exact: `joint[s][a]` lists the (t, y, p) of positive probability in ascending order, and is empty where the
action is not defined. Machines and noisy machines are the special cases in which t is certain (`as_hidden`).

What is known about the plant at any moment is a *belief*: a probability for each state. After an action and a reading

    belief'(t)  =  sum over s of belief(s) P(t, y | s, a)

up to a factor, and that factor is the probability of the reading: so the total that is left after a whole word of
actions and readings is the probability of the word (`propagate`). A belief allows an action when every state that it
holds possible does.

Throughout: s and t are states, a an action, y a reading, p a probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import ge
from typing import ClassVar, TypeAlias, final

from ascertain.errors import ModelError
from ascertain.model.abstract import AbstractMachine
from ascertain.model.names import AbstractNamed
from ascertain.types import UNDEFINED, Action, Reading, State

JointLaw: TypeAlias = tuple[tuple[State, Reading, Fraction], ...]
"""(next state, reading, probability), ascending, without zeros; empty where the action is not defined."""
Belief: TypeAlias = tuple[tuple[State, Fraction], ...]
"""The states of positive probability, ascending, with their probabilities."""


@final
@dataclass(frozen=True, kw_only=True)
class HiddenModel(AbstractNamed):
    """Names and the joint law of every state and action. Validated once."""

    joint: tuple[tuple[JointLaw, ...], ...]
    initial: tuple[Belief, ...] = ()
    """The beliefs that the plant may begin with: none when unknown."""

    kind: ClassVar[str] = "hidden"
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
        """Whether every action is defined in every state."""
        return all(law for row in self.joint for law in row)

    def allows(self, states: Iterable[State], action: Action) -> bool:
        """Whether the action is defined in all these states."""
        return all(self.joint[s][action] for s in states)

    def check_belief(self, belief: Belief, where: str) -> None:
        """A belief lists states in ascending order with positive probabilities that sum to one."""
        states = [s for s, _ in belief]
        if states != sorted(set(states)) or not all(0 <= s < self.num_states for s in states):
            raise ModelError(f"{where} must list states 0 .. {self.num_states - 1}, ascending and each once")
        _check_masses([p for _, p in belief], where)

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
            _check_masses([p for _, _, p in law], where)


def _check_masses(masses: list[Fraction], where: str) -> None:
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


def propagate(
    model: HiddenModel, weights: Mapping[State, Fraction], action: Action, reading: Reading | None
) -> dict[State, Fraction]:
    """The weights after an action and its reading, None when that is missing; their sum is what it multiplies.

    Weights of states that lack the action are lost.
    """
    after: dict[State, Fraction] = {}
    for s, w in weights.items():
        for t, y, p in model.joint[s][action]:
            if reading is None or y == reading:
                after[t] = after.get(t, Fraction(0)) + w * p
    return after


def as_hidden(model: AbstractMachine) -> HiddenModel:
    """A machine, noisy or not, seen as a hidden model: where actions lead stays certain."""
    known: dict[tuple[int, int], JointLaw] = {}

    def law(s: State, a: Action) -> JointLaw:
        t, b = int(model.successor[s, a]), int(model.behaviour[s, a])
        if t == UNDEFINED:
            return ()
        if (t, b) not in known:
            known[t, b] = make_joint({(t, y): p for y, p in model.reading_law(s, a).items()})
        return known[t, b]

    return HiddenModel(
        states=model.states,
        actions=model.actions,
        readings=model.readings,
        joint=tuple(tuple(law(s, a) for a in range(model.num_actions)) for s in range(model.num_states)),
        initial=tuple(certain(s) for s in model.initial),
    )
