"""JSON read strictly: a key stands once, there is no NaN, and whatever is wrong is one sentence with its place."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from itertools import islice
from typing import Any, NoReturn, cast

from ascertain.errors import FileError, did_you_mean
from ascertain.model.abstract import find_repeated
from ascertain.model.files.text import cut

SHOWN = 80
"""Characters of a name that an error message repeats: a line or less, so that the sentence stays readable."""
COMPARED = 1000
"""Names among which an error message looks for the one that was meant; comparing with each takes microseconds."""


def parse_json(text: str, where: str) -> object:
    """What a JSON text holds: dictionaries, lists, strings, integers, floats, booleans and None.

    `where` begins every error message.
    """
    try:
        return decode_json(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        problem = error.msg[:1].lower() + error.msg[1:]
        raise FileError(f"{where}: {place}: this is not JSON ({problem}); JSON text was expected") from None
    except RecursionError:
        raise FileError(f"{where}: the JSON is nested too deeply; a model needs four levels") from None
    except NotStrict as error:
        raise FileError(f"{where}: {error}") from None
    except ValueError:
        raise FileError(f"{where}: an integer has too many digits; at most 4300 are read") from None


class NotStrict(ValueError):
    """JSON that Python would read and we do not; the rest of a sentence says what it is."""


def decode_json(text: str) -> Any:
    """`json.loads` without its leniency: NotStrict where it would let something pass, its own errors otherwise."""
    return _DECODER.decode(text)


def decode_or_refuse(text: str, where: str, expected: str) -> Any:
    """What a short JSON text holds; `where` begins the message, and `expected` ends it where this is no JSON at all."""
    try:
        return decode_json(text)
    except NotStrict as reason:
        raise FileError(f"{where}: {reason}") from None
    except (ValueError, RecursionError):
        raise FileError(f"{where} is not JSON; {expected}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        twice = named(find_repeated([key for key, _ in pairs]))
        raise NotStrict(f"the key {twice} stands twice in one object; each key may stand once")
    return table


def _refuse(constant: str) -> NoReturn:
    raise NotStrict(f"{constant} is not a number of JSON; write an integer, or a rational as '1/2'")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse)
"""Refuses what `json.loads` would let pass."""


def dump_line(value: object) -> str:
    """JSON on one line, as it reads best: only what is not printable is spelled in ASCII."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)


_KINDS = {
    "str": "a string",
    "int": "an integer",
    "float": "a number with a point",
    "bool": "true or false",
    "NoneType": "null",
    "list": "a list",
    "dict": "a table",
}
"""What JSON and TOML call the types that Python's readers give."""


def kind_of(value: object) -> str:
    """What a value is, in the words of the file."""
    kind = type(value).__name__
    return _KINDS.get(kind, f"a {kind}")


def as_list(value: object, where: str, expected: str) -> list[Any]:
    """The value, if it is a list; `where` begins the message otherwise."""
    if not isinstance(value, list):
        raise FileError(f"{where} is {kind_of(value)}; {expected} was expected")
    return cast("list[Any]", value)


def named(value: object) -> str:
    """A name in quotes for an error message, cut where it is long."""
    return repr(cut(str(value), SHOWN))


def near(name: str, known: Iterable[str]) -> str:
    """`did_you_mean` within bounds, since a file may hold many names and long ones."""
    few = islice((other for other in known if len(other) <= SHOWN), COMPARED)
    return did_you_mean(name, few) if len(name) <= SHOWN else ""


def near_or_all(name: str, known: Collection[str]) -> str:
    """The tail of an error message: the known word that was meant, or else all of them."""
    return near(name, known) or f"; known are {', '.join(known)}"
