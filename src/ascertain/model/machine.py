"""A machine: deterministic, possibly partial, with what is read known exactly (a Mealy machine)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, final

import numpy as np

from ascertain.model.abstract import AbstractMachine
from ascertain.types import UNDEFINED, Action, IntArray, Reading, State


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Machine(AbstractMachine):
    """`output[s, a]` is what is read when a is done in s, and -1 where a is not defined."""

    output: IntArray
    kind: ClassVar[str] = "machine"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "output", self.check_table(self.output, "output", len(self.readings)))
        self.check_defined_alike(self.output)

    @property
    def behaviour(self) -> IntArray:
        return self.output

    def reading_law(self, state: State, action: Action) -> dict[Reading, Fraction]:
        y = int(self.output[state, action])
        return {} if y == UNDEFINED else {y: Fraction(1)}

    def rebuilt(self, *, successor: IntArray, behaviour: IntArray, **changes: Any) -> Machine:
        return replace(self, successor=successor, output=behaviour, **changes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Machine):
            return NotImplemented
        return self.same_skeleton(other) and np.array_equal(self.output, other.output)

    __hash__ = None  # type: ignore[assignment]
