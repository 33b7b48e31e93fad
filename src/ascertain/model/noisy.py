"""A noisy machine: transitions as in a machine, but what is read is random with a law known exactly.

K(y | s, a) is the probability of reading y when action a is done in state s. Laws are kept once each:
`laws[law[s, a]]` lists the readings of positive probability in ascending order, so that two laws are equal exactly
when their numbers are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, final

import numpy as np

from ascertain.errors import ModelError
from ascertain.model.abstract import AbstractMachine, Law, table_data
from ascertain.rational import Number, rational_field
from ascertain.types import UNDEFINED, IntArray, Reading


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class NoisyMachine(AbstractMachine):
    """`law[s, a]` is the number, in `laws`, of the law of the reading; -1 where a is not defined."""

    law: IntArray
    laws: tuple[Law, ...]
    kind: ClassVar[str] = "noisy"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "law", self.check_table(self.law, "law", len(self.laws)))
        self.check_defined_alike(self.law)
        for law in self.laws:
            check_law(law, len(self.readings))
        if len(set(self.laws)) < len(self.laws):
            raise ModelError("a reading law is listed twice; each law must stand once")

    @property
    def behaviour(self) -> IntArray:
        return self.law

    def rebuilt(self, *, successor: IntArray, behaviour: IntArray, **changes: Any) -> NoisyMachine:
        return replace(self, successor=successor, law=behaviour, **changes)

    def certain_behaviour(self, reading: Reading) -> tuple[int, dict[str, Any]]:
        law: Law = ((reading, Fraction(1)),)
        laws = self.laws if law in self.laws else (*self.laws, law)
        return laws.index(law), {"laws": laws}

    def model_data(self) -> dict[str, Any]:
        laws = [[[y, str(p)] for y, p in law] for law in self.laws]
        return super().model_data() | {"law": table_data(self.law), "laws": laws}


def check_law(law: Law, num_readings: int) -> None:
    """A law lists readings in ascending order with positive probabilities that sum to one."""
    readings = [y for y, _ in law]
    if readings != sorted(set(readings)) or not all(0 <= y < num_readings for y in readings):
        raise ModelError(f"a reading law must list readings 0 .. {num_readings - 1} in ascending order; got {readings}")
    if any(p <= 0 for _, p in law):
        raise ModelError("a reading law must list positive probabilities only")
    total = sum((p for _, p in law), Fraction(0))
    if total != 1:
        raise ModelError(f"the probabilities of a reading law sum to {total}; they must sum to 1")


def make_law(probabilities: dict[Reading, Fraction]) -> Law:
    """The canonical form of a law: ascending, without zeros."""
    return tuple(sorted((y, Fraction(p)) for y, p in probabilities.items() if p != 0))


def total_variation(law: Law, other: Law) -> Fraction:
    """The largest difference of the two probabilities of one event: half the sum of |p - q|."""
    against = dict(other)
    return sum((max(p - against.get(y, Fraction(0)), Fraction(0)) for y, p in law), Fraction(0))


def with_flip(machine: AbstractMachine, flip: Number) -> NoisyMachine:
    """Each reading is replaced, with probability `flip`, by one of the others the same action can give, uniformly.

    What an action can give is what it gives in some state of this machine; an action that can give one reading only
    is never flipped.
    """
    if not machine.is_exact:
        raise ModelError("flip is for a machine without noise; this model says its noise itself")
    flip = rational_field(flip, "flip", ModelError)
    if not 0 <= flip < 1:
        raise ModelError(f"flip is {flip}; a probability in [0, 1) is needed")
    number: dict[Law, int] = {}
    law = np.full_like(machine.behaviour, UNDEFINED)
    for a in range(machine.num_actions):
        column = machine.behaviour[:, a]
        possible = [int(y) for y in np.unique(column[column != UNDEFINED])]
        for y in possible:
            others = [z for z in possible if z != y]
            share = flip / len(others) if others else Fraction(0)
            flipped = make_law({y: 1 - share * len(others), **dict.fromkeys(others, share)})
            law[column == y, a] = number.setdefault(flipped, len(number))
    return NoisyMachine(
        states=machine.states,
        actions=machine.actions,
        readings=machine.readings,
        successor=machine.successor,
        initial=machine.initial,
        origin=machine.origin,
        law=law,
        laws=tuple(number),
    )
