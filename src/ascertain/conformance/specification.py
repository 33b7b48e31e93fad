"""A specification: what a plant must be equivalent to in order to conform.

It is the part of a machine that can be reached from one state, up to equivalence, over the actions that a suite of
words uses; all of them must be defined everywhere there. State 0 is where a reset leads. Words are tuples of numbers
of these actions. Throughout: s and t are states of a specification, i is the number of one of its actions.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from ascertain.errors import ModelError
from ascertain.model.tables import AbstractMachine
from ascertain.quotients.refinement import refine
from ascertain.types import UNDEFINED, Action, IntArray, Reading, State

Word: TypeAlias = tuple[int, ...]
"""Actions of a specification, one after another, from a reset on or from wherever it is said."""


@final
@dataclass(frozen=True, eq=False)
class Specification:
    """A minimal, complete, deterministic machine, and the model that it was taken from."""

    model: AbstractMachine
    start: State
    """The state of the model that a reset leads to."""
    actions: tuple[Action, ...]
    """`actions[i]` is the model's number of action i."""
    cost: tuple[Fraction, ...]
    """What each of these actions costs."""
    reset_cost: Fraction
    block: IntArray
    """`block[z]` is the state that stands for state z of the model; -1 where z cannot be reached."""
    successor: tuple[tuple[int, ...], ...]
    """`successor[s][i]`."""
    output: tuple[tuple[Reading, ...], ...]
    """`output[s][i]`, by the model's numbers of readings."""
    access: tuple[Word, ...] = field(init=False)
    """For each state the cheapest word that leads there from state 0; together they are a state cover."""
    weight: tuple[int, ...] = field(init=False, repr=False)
    """Costs of actions as integers in a common unit, and `reset_weight`, that of the reset, in the same unit."""
    reset_weight: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        unit = math.lcm(self.reset_cost.denominator, *(c.denominator for c in self.cost))
        object.__setattr__(self, "weight", tuple(int(c * unit) for c in self.cost))
        object.__setattr__(self, "reset_weight", int(self.reset_cost * unit))
        object.__setattr__(self, "access", _access_words(self))

    @property
    def num_states(self) -> int:
        return len(self.successor)

    @property
    def num_actions(self) -> int:
        return len(self.actions)

    def after(self, state: int, word: Word) -> int:
        """The state that a word leads to."""
        for i in word:
            state = self.successor[state][i]
        return state

    def readings(self, state: int, word: Word) -> tuple[Reading, ...]:
        """What is read along a word."""
        found: list[Reading] = []
        for i in word:
            found.append(self.output[state][i])
            state = self.successor[state][i]
        return tuple(found)

    def weigh(self, word: Word) -> int:
        """What the actions of a word cost, in the common unit."""
        return sum(self.weight[i] for i in word)

    def price(self, words: Sequence[Word]) -> Fraction:
        """What it costs to run these words, each from a reset."""
        return sum((self.cost[i] for word in words for i in word), Fraction(0)) + self.reset_cost * len(words)


def specify(
    machine: AbstractMachine,
    start: State,
    actions: Sequence[Action],
    *,
    cost: Mapping[Action, Fraction] | None = None,
    reset_cost: Fraction = Fraction(1),
) -> Specification:
    """The specification that a machine is from `start` on over these actions; actions without a cost cost 1."""
    if not machine.is_exact:
        raise ModelError("conformance is to a machine without noise: one disagreement shows that it is another")
    prices = cost or {}
    reached = reach(machine, [start], actions)
    classes = refine(machine.on_actions(list(actions))).block
    block = np.full_like(classes, UNDEFINED)
    number: dict[int, int] = {}
    rows: list[State] = []
    for z in reached:
        block[z] = number.setdefault(int(classes[z]), len(rows))
        if block[z] == len(rows):
            rows.append(z)
    return Specification(
        model=machine,
        start=start,
        actions=tuple(actions),
        cost=tuple(prices.get(a, Fraction(1)) for a in actions),
        reset_cost=reset_cost,
        block=block,
        successor=tuple(tuple(int(block[machine.successor[z, a]]) for a in actions) for z in rows),
        output=tuple(tuple(int(machine.behaviour[z, a]) for a in actions) for z in rows),
    )


def reach(machine: AbstractMachine, starts: Iterable[State], actions: Sequence[Action]) -> list[State]:
    """The states that can be reached, the nearest first; all the actions must be defined in each of them."""
    order = list(dict.fromkeys(starts))
    seen = set(order)
    for z in order:
        for a in actions:
            after = int(machine.successor[z, a])
            if after == UNDEFINED:
                raise ModelError(
                    f"action {machine.actions[a]!r} is not defined in state {machine.states[z]!r}; conformance is to a "
                    "complete machine: leave the action out, or complete the model"
                )
            if after not in seen:
                seen.add(after)
                order.append(after)
    return order


def _access_words(spec: Specification) -> tuple[Word, ...]:
    """The cheapest word to each state; of equally cheap ones the shortest, then the first."""
    found: dict[int, Word] = {}
    heap: list[tuple[int, int, Word, int]] = [(0, 0, (), 0)]
    while heap:
        weight, length, word, s = heapq.heappop(heap)
        if s in found:
            continue
        found[s] = word
        for i, t in enumerate(spec.successor[s]):
            if t not in found:
                heapq.heappush(heap, (weight + spec.weight[i], length + 1, (*word, i), t))
    return tuple(found[s] for s in range(spec.num_states))
