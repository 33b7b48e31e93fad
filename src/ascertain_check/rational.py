"""Rationals whose arithmetic is counted: the work of adding and comparing grows with the square of their length."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ascertain_check.work import spend

COUNTED = ["add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "lt", "le", "gt", "ge"]
"""The operations that are counted, as their methods are called; what they give is counted in its turn."""
OPERATION = 11
"""Steps for one on short numbers: some two microseconds, most of which Python takes for the call and the fraction."""


class Rational(Fraction):
    """A fraction like any other, every operation on which takes work."""

    __slots__ = ()

    def __pow__(self, exponent: Any) -> Any:
        spend(OPERATION + (length(self) * abs(int(exponent)) >> 7) ** 2)
        return as_rational(Fraction(self) ** exponent)

    __hash__ = Fraction.__hash__


def length(number: Any) -> int:
    """In bits, of both parts."""
    return number.numerator.bit_length() + number.denominator.bit_length()


def as_rational(number: Any) -> Any:
    if isinstance(number, Fraction):
        number.__class__ = Rational
    return number


def count(name: str) -> Callable[[Fraction, Any], Any]:
    plain = getattr(Fraction, name)

    def counted(self: Fraction, other: Any) -> Any:
        spend(OPERATION + (length(self) + length(other) >> 8) ** 2)
        return as_rational(plain(self, other))

    return counted


for word in COUNTED:
    setattr(Rational, f"__{word}__", count(f"__{word}__"))
