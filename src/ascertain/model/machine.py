"""A machine: deterministic, possibly partial, with what is read known exactly (a Mealy machine)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, final

from ascertain.model.abstract import set_fields
from ascertain.model.tables import AbstractMachine
from ascertain.types import IntArray, Reading

_CERTAIN = Fraction(1)
"""The probability of what is sure; one object for all laws."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Machine(AbstractMachine):
    """`output[s, a]` is what is read when a is done in s, and -1 where a is not defined."""

    output: IntArray
    kind: ClassVar[str] = "machine"
    table_field: ClassVar[str] = "output"
    is_exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        set_fields(self, laws=tuple(((y, _CERTAIN),) for y in range(len(self.readings))))
        super().__post_init__()

    def named_behaviour(self, behaviour: int) -> str:
        return self.readings[behaviour]

    def certain_behaviour(self, reading: Reading) -> tuple[int, dict[str, Any]]:
        return reading, {}
