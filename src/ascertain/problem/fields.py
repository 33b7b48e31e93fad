"""The fields of a problem file: each is read by its type and refused with a sentence that names it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeVar, cast

from ascertain.errors import TaskError
from ascertain.rational import rational_field

T = TypeVar("T")


def read_section(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The section of that name; empty when there is none."""
    value = data.get(name, {})
    if not isinstance(value, dict):
        raise TaskError(f"{name} must be a section [{name}] of keys and values")
    return cast(dict[str, Any], value)


def read_value(data: Mapping[str, Any], key: str, default: Any, kinds: tuple[type, ...], where: str) -> Any:
    """The value under a key, which must be of one of these types: text or a table."""
    value = data.get(key, default)
    if not isinstance(value, kinds):
        words = " or ".join({"str": "text", "dict": "a table"}[k.__name__] for k in kinds)
        raise TaskError(f"{where}{key} must be {words}, not {value!r}")
    return value


def read_one_of(data: Mapping[str, Any], key: str, known: tuple[T, ...], where: str) -> T:
    """The value under a key, which must be one of these; the first where there is none."""
    value = data.get(key, known[0])
    if value not in known:
        raise TaskError(f"{where}{key}: {value!r} is not understood; write one of {', '.join(map(repr, known))}")
    return value


def read_names(data: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    """The list of names under a key; none where there is no such key."""
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(x, str) for x in cast(list[Any], value)):
        raise TaskError(f"{where}{key} must be a list of names")
    return tuple(cast(list[str], value))


def read_rational(data: Mapping[str, Any], key: str, where: str) -> Fraction:
    """The exact number under a key, which must be there."""
    return rational_field(data[key], f"{where} {key}", TaskError)


def read_probability(data: Mapping[str, Any], key: str, where: str) -> Fraction:
    """The probability below 1 under a key; 0 where there is no such key."""
    value = read_rational(data, key, where) if key in data else Fraction(0)
    if not 0 <= value < 1:
        raise TaskError(
            f"{where} {key}: {value} is not a probability; a number from 0 up to, not including, 1 is needed"
        )
    return value
