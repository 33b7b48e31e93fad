"""What machines with and without noise have in common: named states, actions and readings, and where actions lead.

Throughout: s is a state, a an action, y a reading, all of them indices. `successor[s, a]` is where a leads from s, and
-1 where a is not defined in s. An action is *allowed* in a state where it is defined. `behaviour[s, a]` is a number
that stands for the law of the reading: two entries are equal exactly when the laws are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from ascertain.errors import ModelError
from ascertain.model.names import AbstractNamed
from ascertain.types import UNDEFINED, Action, IntArray, Reading, State


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractMachine(AbstractNamed, ABC):
    """The interface of a finite model whose transitions are deterministic. Validated once; arrays are read-only."""

    successor: IntArray
    initial: tuple[State, ...] = ()
    """The initial states: none when unknown, one for each part of a union."""
    origin: tuple[str, ...] = ()
    """For a union, `origin[s]` is the name of the machine that s came from; empty otherwise."""

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "successor", self.check_table(self.successor, "successor", self.num_states))
        if not all(0 <= s < self.num_states for s in self.initial) or len(set(self.initial)) < len(self.initial):
            raise ModelError(f"initial states {self.initial} must be distinct and in 0 .. {self.num_states - 1}")
        if self.origin and len(self.origin) != self.num_states:
            raise ModelError(f"origin has {len(self.origin)} entries; each of the {self.num_states} states needs one")

    @property
    @abstractmethod
    def behaviour(self) -> IntArray:
        """The table in which equal entries mean equal reading laws."""

    @abstractmethod
    def reading_law(self, state: State, action: Action) -> Mapping[Reading, Fraction]:
        """K(. | s, a): what is read with which probability; empty where the action is not defined."""

    @abstractmethod
    def rebuilt(self, *, successor: IntArray, behaviour: IntArray, **changes: object) -> Self:
        """This model with other tables and, if they are given, other names."""

    def check_table(self, table: IntArray, name: str, bound: int) -> IntArray:
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

    def check_defined_alike(self, table: IntArray) -> None:
        """An action has both a successor and a reading, or neither."""
        odd = np.argwhere((self.successor == UNDEFINED) != (table == UNDEFINED))
        if odd.size:
            s, a = (int(i) for i in odd[0])
            raise ModelError(
                f"action {self.actions[a]!r} in state {self.states[s]!r} has only one of successor and reading"
            )

    def same_skeleton(self, other: AbstractMachine) -> bool:
        """Whether names, initial states, origins and transitions agree."""
        return (self.states, self.actions, self.readings, self.initial, self.origin) == (
            other.states,
            other.actions,
            other.readings,
            other.initial,
            other.origin,
        ) and np.array_equal(self.successor, other.successor)
