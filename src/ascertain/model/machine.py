"""A machine: deterministic, possibly partial, with what is read known exactly (a Mealy machine)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, final

from ascertain.model.abstract import AbstractMachine, table_data
from ascertain.types import IntArray, Reading

_CERTAIN = Fraction(1)
"""The probability of what is sure; one object for all laws."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Machine(AbstractMachine):
    """`output[s, a]` is what is read when a is done in s, and -1 where a is not defined."""

    output: IntArray
    kind: ClassVar[str] = "machine"
    is_exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "output", self.check_table(self.output, "output", len(self.readings)))
        self.check_defined_alike(self.output)
        object.__setattr__(self, "laws", tuple(((y, _CERTAIN),) for y in range(len(self.readings))))

    @property
    def behaviour(self) -> IntArray:
        return self.output

    def rebuilt(self, *, successor: IntArray, behaviour: IntArray, **changes: Any) -> Machine:
        return replace(self, successor=successor, output=behaviour, **changes)

    def named_behaviour(self, behaviour: int) -> str:
        return self.readings[behaviour]

    def certain_behaviour(self, reading: Reading) -> tuple[int, dict[str, Any]]:
        return reading, {}

    def model_data(self) -> dict[str, Any]:
        return super().model_data() | {"output": table_data(self.output)}
