"""JSON without its traps: every value that the checker uses passes through one of these functions first.

Python's `json` reads NaN, floats, and an object that says the same key twice; Python itself reads the index -1 as "the
last one" and True as 1. None of that gets past this file. In the formats of `ascertain` a number is an integer that is
not negative, and a rational is a string "p/q" in lowest terms, or "p" when q is 1.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import cache
from math import gcd
from typing import NoReturn, TypeAlias, cast

from ascertain_check.rational import Rational
from ascertain_check.verdicts import Malformed

Object: TypeAlias = dict[str, object]

MAX_BYTES = 2**28
"""The largest file that is read."""
MAX_DIGITS = 20
"""The longest integer: a state of 64 bits."""
RATIONAL = re.compile(r"(0|[1-9][0-9]{0,1999})(?:/([1-9][0-9]{0,1999}))?")
INDEX = re.compile(rf"0|[1-9][0-9]{{0,{MAX_DIGITS - 1}}}")


def read_json(text: bytes, where: str) -> object:
    """The value of a JSON text in UTF-8 that holds no float, no negative number and no key twice in one object."""
    if len(text) > MAX_BYTES:
        raise Malformed(f"{where} is longer than {MAX_BYTES} bytes")
    try:
        return json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_refuse_number,
            parse_constant=_refuse_number,
        )
    except UnicodeDecodeError:
        raise Malformed(f"{where} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise Malformed(f"{where} is not JSON: line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise Malformed(f"{where} is nested too deeply") from None


def canonical_bytes(data: object, where: str) -> bytes:
    """The one text of this value: UTF-8, keys sorted by code point, no spaces, nothing escaped that need not be."""
    try:
        return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:
        raise Malformed(f"{where} holds half of a surrogate pair, which is not a character") from None
    except RecursionError:
        raise Malformed(f"{where} is nested too deeply") from None


def read_object(value: object, keys: str, where: str) -> Object:
    """An object with exactly these keys, given as words; a word that ends in "?" may be missing."""
    if not isinstance(value, dict):
        raise Malformed(f"{where}: an object is needed")
    found = cast("Object", value)
    needed, allowed = split_keys(keys)
    for key in needed:
        if key not in found:
            raise Malformed(f"{where}: {quote(key)} is missing")
    for key in found:
        if key not in allowed:
            raise Malformed(f"{where}: {quote(key)} does not belong here")
    return found


@cache
def split_keys(keys: str) -> tuple[list[str], set[str]]:
    """The keys that are needed, and all that are allowed."""
    words = keys.split()
    return [word for word in words if not word.endswith("?")], {word.rstrip("?") for word in words}


def read_map(value: object, where: str) -> Object:
    """An object whose keys are not fixed beforehand."""
    if not isinstance(value, dict):
        raise Malformed(f"{where}: an object is needed")
    return cast("Object", value)


def read_list(value: object, where: str, length: int | None = None) -> list[object]:
    """A list, of this length if one is given."""
    if not isinstance(value, list):
        raise Malformed(f"{where}: a list is needed")
    items = cast("list[object]", value)
    if length is not None and len(items) != length:
        raise Malformed(f"{where}: a list of length {length} is needed, not {len(items)}")
    return items


def read_text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise Malformed(f"{where}: a string is needed")
    return value


def read_index(value: object, bound: int, where: str) -> int:
    """An integer in 0 .. bound - 1; not a Boolean."""
    if type(value) is not int or not 0 <= value < bound:
        raise Malformed(f"{where}: an index below {bound} is needed")
    return value


def read_key(key: str, bound: int, where: str) -> int:
    """An index written as the key of an object, in its one decimal form."""
    if not INDEX.fullmatch(key):
        raise Malformed(f"{where}: the key {quote(key)} is not an index in decimal")
    return read_index(int(key), bound, where)


def read_rational(value: object, where: str) -> Fraction:
    """A rational that is not negative, from its one form as a string."""
    match = RATIONAL.fullmatch(read_text(value, where))
    if not match:
        raise Malformed(f'{where}: a rational "p/q" or "p" is needed')
    p, q = int(match[1]), int(match[2] or 1)
    if gcd(p, q) != 1 or match[2] == "1":
        raise Malformed(f"{where}: a rational must be in lowest terms")
    return Rational(p, q)


def read_names(value: object, where: str) -> list[str]:
    """A list of at least one name, all different."""
    names = [read_text(name, where) for name in read_list(value, where)]
    if not names or len(set(names)) < len(names):
        raise Malformed(f"{where}: at least one name is needed, each once")
    return names


def quote(text: str) -> str:
    """A text from a file, for a message: short and in ASCII, so that it can be printed anywhere."""
    return ascii(text if len(text) <= 40 else text[:37] + "...")


def _object(pairs: list[tuple[str, object]]) -> Object:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise Malformed("an object says the same key twice")
    return result


def _integer(text: str) -> int:
    if text.startswith("-") or len(text) > MAX_DIGITS:
        raise Malformed(f"a number must be an integer of at most {MAX_DIGITS} digits and not negative")
    return int(text)


def _refuse_number(text: str) -> NoReturn:
    raise Malformed("a number must be an integer; floats, NaN and Infinity are not allowed")
