"""Exact rationals as people and files write them: 3, "1/50", "0.02", "2.5e-7"."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from ascertain.errors import AscertainError

Number: TypeAlias = Fraction | int | str
"""An exact number as people pass it; a text is read by `parse_rational`."""
MAX_DENOMINATOR_BITS = 10_000
"""Of a common denominator: exact sums over it still take microseconds."""

_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?:(?P<p>\d{1,200})/(?P<q>\d{1,200})|(?P<whole>\d{1,200})(?:\.(?P<part>\d{0,200}))?"
    r"(?:[eE](?P<exponent>[+-]?\d{1,3}))?)\Z",
    re.ASCII,
)


def parse_rational(value: object) -> Fraction:
    """The exact value of an integer, a Fraction or a text; ValueError with the rest of a sentence when it is none.

    Floats are refused: they are not what was written. Lengths and exponents are bounded, so that no text takes long.
    """
    if isinstance(value, bool) or not isinstance(value, int | str | Fraction):
        raise ValueError(f'{value!r} is not an exact number; write an integer or a text such as "1/50" or "0.02"')
    if not isinstance(value, str):
        return Fraction(value)
    match = _NUMBER.match(value.strip().replace("_", ""))
    if match is None:
        raise ValueError(f'{_short(value)} is not a number; write it like 3, "1/50", "0.02" or "2.5e-7"')
    sign = -1 if match["sign"] == "-" else 1
    if match["p"] is not None:
        if int(match["q"]) == 0:
            raise ValueError(f"{_short(value)} divides by zero")
        return Fraction(sign * int(match["p"]), int(match["q"]))
    part = match["part"] or ""
    exponent = int(match["exponent"] or 0) - len(part)
    return sign * int(match["whole"] + part) * Fraction(10) ** exponent


def rational_field(value: object, where: str, error: type[AscertainError]) -> Fraction:
    """`parse_rational`, raising the caller's error with the place in front."""
    try:
        return parse_rational(value)
    except ValueError as reason:
        raise error(f"{where}: {reason}") from None


def have_small_denominator(values: Iterable[Fraction]) -> bool:
    """Whether the numbers can be added without their common denominator growing past MAX_DENOMINATOR_BITS."""
    common = 1
    for denominator in {value.denominator for value in values}:
        common = math.lcm(common, denominator)
        if common.bit_length() > MAX_DENOMINATOR_BITS:
            return False
    return True


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
