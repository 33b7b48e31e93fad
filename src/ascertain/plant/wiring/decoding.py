"""How a value becomes a reading: by bands of numbers, by a map, by regular expressions, or as the text that it is.

A value that fits nothing reads as `else`; where that is left out, and where a value is of a kind that cannot be decoded
(no number where bands are, a list, a text far too long), it is a fault. It is never a missing reading: whether a value
fits depends on the value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast, final

import regex

from ascertain.errors import TaskError
from ascertain.plant.faults import Garbled
from ascertain.rational import parse_rational

MAX_TEXT = 65536
"""Characters of a value that is decoded: far more than an instrument says, and searched at once."""
MAX_PATTERN = 1000
"""Characters of a pattern: compiling one takes longer than its length, and no reading needs as many."""
MAX_DIGITS = 300
"""Digits of a number that is shown as text: Python refuses to write very long ones."""
SECONDS = 1.0
"""For one search: a pattern from a file is not to be trusted, and a plant's answer neither."""

_NUMBER = re.compile(r"\s*[+-]?(?:\d{1,300}\.?\d{0,300}|\.\d{1,300})(?:[eE][+-]?\d{1,4})?\s*\Z", re.ASCII)
"""A number as instruments write it."""
_BOUND = re.compile(r"(<=|>=|<|>|=)\s*(\S+)\Z")
"""One side of a band."""


@final
@dataclass(frozen=True)
class Interval:
    """The numbers between two ends, each of which belongs to it or not; None is no end."""

    low: Fraction | None = None
    with_low: bool = True
    high: Fraction | None = None
    with_high: bool = False

    def __contains__(self, x: float | Fraction) -> bool:
        above = self.low is None or x > self.low or (self.with_low and x == self.low)
        below = self.high is None or x < self.high or (self.with_high and x == self.high)
        return above and below and x == x  # noqa: PLR0124  NaN is in no band, not even in one without ends

    def is_empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and not (self.with_low and self.with_high))

    def meet(self, other: Interval) -> Interval:
        """What is in both."""
        lows = [(i.low, not i.with_low) for i in (self, other) if i.low is not None]
        highs = [(i.high, i.with_high) for i in (self, other) if i.high is not None]
        low, without_low = max(lows, default=(None, False))
        high, with_high = min(highs, default=(None, False))
        return Interval(low, not without_low, high, with_high)


Band: TypeAlias = tuple[str, Interval]
"""A reading, and an interval in which it is read."""


@final
@dataclass(frozen=True)
class Decoder:
    """What values read as; without bands, map and patterns a value reads as its own text."""

    bands: tuple[Band, ...] = ()
    map: Mapping[str, str] | None = None
    patterns: tuple[tuple[str, Any], ...] = ()
    """Readings with their compiled patterns, in the order of the file: the first that is found counts."""
    otherwise: str | None = None

    def decode(self, value: object) -> str:
        """The reading; Garbled when there is none."""
        if self.bands:
            number = as_number(value)
            found = next((reading for reading, interval in self.bands if number in interval), None)
        elif self.map is not None:
            found = self._look_up(value)
        elif self.patterns:
            found = self._search(as_text(value))
        else:
            return as_text(value)
        if found is None and self.otherwise is None:
            raise Garbled(f"the value {short(value)} fits nothing that the wiring lists, and there is no `else`")
        return self.otherwise if found is None else found  # pyright: ignore[reportReturnType]  one of them is a text

    def _look_up(self, value: object) -> str | None:
        assert self.map is not None
        if isinstance(value, str | bool) or value is None:
            return self.map.get(as_text(value))
        number = as_number(value)
        return next((reading for key, reading in self.map.items() if _key_number(key) == number), None)

    def _search(self, text: str) -> str | None:
        try:
            return next((reading for reading, find in self.patterns if find.search(text, timeout=SECONDS)), None)
        except TimeoutError:
            raise Garbled(f"the patterns take too long on the answer {short(text)}; simplify them") from None


def as_number(value: object) -> float | Fraction:
    """The value as a number; a text is one if it is written like one. Garbled otherwise.

    Numbers are taken as the decimals that they are written as, so that 0.3 is in the band ">= 0.3". Only NaN and the
    infinities stay floats.
    """
    if isinstance(value, float):
        return Fraction(repr(value)) if math.isfinite(value) else value
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, str) and len(value) <= MAX_TEXT:
        if _NUMBER.match(value):
            return Fraction(value.strip())
        if (word := value.strip().lower().lstrip("+-")) in ("nan", "inf", "infinity"):
            return -math.inf if value.strip().startswith("-") and word != "nan" else float(word)
    raise Garbled(f"the plant gave {short(value)} where a number was expected")


def as_text(value: object) -> str:
    """A single value as text: `true`, `3`, `1.5`, `null`, or the text itself. Garbled when it is no single value."""
    match value:
        case str() if len(value) <= MAX_TEXT:
            return value
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case int() if value.bit_length() <= MAX_DIGITS * 3:
            return str(value)
        case float() if math.isfinite(value):
            return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
        case _:
            raise Garbled(f"the plant gave {short(value)}, which is no text, number or truth value that can be read")


def short(value: object) -> str:
    """A value as error messages show it."""
    text = f"an integer of {value.bit_length()} bits" if isinstance(value, int) and value.bit_length() > 999 else None
    text = text or (repr(value[:60]) if isinstance(value, str) else repr(value))
    return text if len(text) <= 80 else f"{text[:77]}..."


def _key_number(key: str) -> Fraction | None:
    try:
        return parse_rational(key)
    except ValueError:
        return None


def read_decoder(data: Mapping[str, Any], where: str) -> Decoder:
    """What an action of a wiring file says about its readings: bands, map or match, one of them or none, and else."""
    given = [key for key in ("bands", "map", "match") if key in data]
    if len(given) > 1:
        raise TaskError(f"{where}: {' and '.join(given)} are given; a value is decoded by one of bands, map and match")
    otherwise = data.get("else")
    if otherwise is not None and not isinstance(otherwise, str):
        raise TaskError(f"{where} else must be the name of a reading, not {short(otherwise)}")
    if not given:
        return Decoder(otherwise=otherwise)
    table: object = data[given[0]]
    if not isinstance(table, dict) or not table:
        raise TaskError(f"{where} {given[0]} must be a table with something in it, such as {_EXAMPLES[given[0]]}")
    entries = cast("dict[str, Any]", table)
    where = f"{where} {given[0]}"
    if given == ["bands"]:
        return Decoder(bands=_read_bands(entries, where), otherwise=otherwise)
    for key, value in entries.items():
        if not isinstance(value, str):
            raise TaskError(f"{where} {key!r}: a text is needed, not {short(value)}; write {_EXAMPLES[given[0]]}")
    if given == ["map"]:
        _check_map(entries, where)
        return Decoder(map=entries, otherwise=otherwise)
    patterns = tuple((reading, _compile(pattern, f"{where} {reading!r}")) for reading, pattern in entries.items())
    return Decoder(patterns=patterns, otherwise=otherwise)


_EXAMPLES = {
    "bands": '{ low = "< 1.5", middle = "1.5 .. 3", high = ">= 3" }',
    "map": '{ "0" = "shut", "1" = "open" }',
    "match": '{ ok = "^READY", busy = "^BUSY" }',
}
"""How each table is written."""


def _read_bands(entries: Mapping[str, Any], where: str) -> tuple[Band, ...]:
    bands: list[Band] = []
    for reading, written in entries.items():
        several = cast("list[object]", written) if isinstance(written, list) else [written]
        for text in several:
            interval = _read_interval(text, f"{where} {reading!r}")
            for other, taken in bands:
                if not interval.meet(taken).is_empty():
                    raise TaskError(f"{where}: the bands of {other!r} and {reading!r} overlap at {text!r}")
            bands.append((reading, interval))
    return tuple(bands)


def _read_interval(text: object, where: str) -> Interval:
    """`< 3`, `>= 1.5`, `= 2`, several of these with commas, or `1.5 .. 3`: from 1.5 up to, not including, 3."""
    help_ = f'write it like "< 1.5", ">= 1.5, <= 3", "= 2" or "1.5 .. 3" (3 not included), not {short(text)}'
    if not isinstance(text, str):
        raise TaskError(f"{where}: a band is a text; {help_}")
    low, dots, high = text.partition("..")
    parts = [f">= {low.strip()}", f"< {high.strip()}"] if dots else text.split(",")
    interval = Interval()
    for part in parts:
        match = _BOUND.match(part.strip())
        end = None if match is None else _key_number(match[2])
        if match is None or end is None:
            raise TaskError(f"{where}: this is not a band; {help_}")
        sign = match[1]
        low_end, high_end = (end if sign in (">", ">=", "=") else None), (end if sign in ("<", "<=", "=") else None)
        interval = interval.meet(Interval(low_end, sign != ">", high_end, sign != "<"))
    if interval.is_empty():
        raise TaskError(f"{where}: no number is in the band {text!r}")
    return interval


def _check_map(entries: Mapping[str, str], where: str) -> None:
    numbers: dict[Fraction, str] = {}
    for key in entries:
        number = _key_number(key)
        if number is not None and numbers.setdefault(number, key) != key:
            raise TaskError(f"{where}: {numbers[number]!r} and {key!r} are the same number; keep one of them")


def _compile(pattern: str, where: str) -> Any:
    if len(pattern) > MAX_PATTERN:
        raise TaskError(f"{where}: the pattern has {len(pattern)} characters; at most {MAX_PATTERN} are allowed")
    try:
        return regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as reason:
        raise TaskError(f"{where}: {pattern[:80]!r} is not a regular expression: {reason}") from None
