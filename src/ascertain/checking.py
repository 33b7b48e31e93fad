"""The border: what users pass to the vocabulary is checked for its kind before anything is done with it.

`ascertain.settle` is `settle` of `pipeline/settle.py` behind such a check, and so is every function and every class
that `ascertain` exports. The check reads the annotations: a value of another kind is refused with a sentence that names
the parameter. Where an exact number is wanted a text such as "1/50" is one, and a list stands for a tuple. What lies
below the border trusts what it is given, and checks only what annotations cannot say.
"""

from __future__ import annotations

import inspect
import math
import operator
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from ascertain.errors import ArgumentError, did_you_mean
from ascertain.rational import parse_rational

T = TypeVar("T")
Read: TypeAlias = Callable[[Any], Any]
"""Takes a value of the right kind as it is used; raises ValueError for any other."""

_WORDS: Mapping[Any, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    Path: "a path",
    Fraction: 'an exact number such as 3, "1/50" or "0.02"',
    NoneType: "None",
    Any: "anything",
    object: "anything",
}
"""What people call the commonest kinds."""

_LATE = ("ascertain.types", "ascertain.model", "ascertain.model.abstract", "ascertain.model.hidden")
"""Where names of annotations are found that are not imported at run time."""


def checked(thing: T, name: str) -> T:
    """The function behind a check of its arguments, or the class, whose `__init__` is checked from now on."""
    made: Any = thing
    if not isinstance(thing, type):
        made = _guard(made, name)
        made.__module__ = "ascertain"  # where pickle finds it again
    elif "__init__" in vars(thing) and Exception not in thing.__mro__ and not hasattr(made.__init__, "_checked"):
        made.__init__ = _guard(made.__init__, name, made if hasattr(made, "__dataclass_fields__") else None)
    return made


def _guard(function: Callable[..., Any], name: str, fields_of: type | None = None) -> Any:
    """The function, called with what its annotations, or those of a dataclass, make of the arguments."""
    signature = inspect.signature(function)

    @cache
    def readers() -> dict[str, tuple[Read, Any]]:
        hints = read_hints(fields_of or function)
        return {key: (_reader(hint), hint) for key, hint in hints.items() if key in signature.parameters}

    @wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        for key, value in bound.arguments.items():
            if key not in readers():
                continue
            read, hint = readers()[key]
            try:
                bound.arguments[key] = read(value)
            except (ValueError, TypeError, OverflowError):
                raise ArgumentError(f"{name}: {key} must be {_describe(hint)}{_instead(value, hint)}") from None
        return function(*bound.args, **bound.kwargs)

    guarded._checked = True  # type: ignore[attr-defined]
    return guarded


def read_hints(thing: Any) -> dict[str, Any]:
    """The annotations of a function or a class. Plants, which --help lists, import models for type checkers alone."""
    try:
        return get_type_hints(thing)
    except NameError:
        return get_type_hints(thing, localns={k: v for home in _LATE for k, v in vars(import_module(home)).items()})


def _instead(value: object, hint: Any) -> str:
    words = [w for part in (hint, *get_args(hint)) if get_origin(part) is Literal for w in get_args(part)]
    near = did_you_mean(value, words) if isinstance(value, str) else ""
    return f", not {reprlib.repr(value)}, which is of type {type(value).__name__}{near}"


@cache
def _reader(hint: Any) -> Read:
    """What reads values of this kind."""
    origin, args = get_origin(hint), get_args(hint)
    if isinstance(hint, TypeVar):
        return _reader(hint.__bound__ or Any)
    if hint is Any or hint is object:
        return lambda value: value
    if origin in (Union, UnionType):
        return _union([_reader(part) for part in args])
    if origin is Literal:
        return _check(lambda value: isinstance(value, str) and value in args)
    if origin is np.ndarray:
        return _array(get_args(args[1])[0])
    if origin is tuple:
        return _tuple(args)
    if origin in (Sequence, Iterable):
        return _elements(cast("type", origin), args[0])
    if origin in (Mapping, dict):
        return _mapping(_reader(args[0]), _reader(args[1]))
    if origin is Callable:
        return _check(callable)
    kind: Any = origin or hint
    if getattr(kind, "_is_protocol", False):
        members = [name for name in cast("dict[str, Any]", vars(kind)) if not name.startswith("_")]
        return _check(lambda value: not isinstance(value, type) and all(hasattr(value, name) for name in members))
    return {Fraction: parse_rational, int: _whole, float: _number}.get(kind) or _check(lambda v: isinstance(v, kind))


def _check(holds: Callable[[Any], bool]) -> Read:
    def read(value: Any) -> Any:
        if not holds(value):
            raise ValueError
        return value

    return read


def _whole(value: Any) -> int:
    if isinstance(value, bool | np.bool_):
        raise ValueError
    return value if type(value) is int else operator.index(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise ValueError
    return float(value)


def _union(readers: Sequence[Read]) -> Read:
    def read(value: Any) -> Any:
        for each in readers:
            try:
                taken = each(value)
            except (ValueError, TypeError, OverflowError):
                continue
            # A text is an exact number only where no other kind takes it as it is.
            if taken is value or not isinstance(value, str):
                return taken
        if isinstance(value, str) and parse_rational in readers:
            return parse_rational(value)
        raise ValueError

    return read


def _array(dtype: Any) -> Read:
    def read(value: Any) -> Any:
        array = np.asarray(value)
        if array.ndim == 0 or (array.size and array.dtype.kind not in ("b" if dtype is np.bool_ else "iu")):
            raise ValueError
        return array

    return read


def _tuple(args: tuple[Any, ...]) -> Read:
    if len(args) == 2 and args[1] is Ellipsis:
        every = _reader(args[0])
        return lambda value: tuple(map(every, _check(lambda v: isinstance(v, tuple | list))(value)))
    readers = [_reader(part) for part in args]
    sized = _check(lambda value: isinstance(value, tuple | list) and len(cast("Sequence[Any]", value)) == len(args))
    return lambda value: tuple(read(x) for read, x in zip(readers, sized(value), strict=True))


def _elements(kind: type, hint: Any) -> Read:
    every = _reader(hint)
    listed = _check(lambda value: isinstance(value, kind) and not isinstance(value, str | bytes | Mapping))

    def read(value: Any) -> Any:
        if hint is int and isinstance(value, range | np.ndarray):
            array = np.empty(0, dtype=int) if isinstance(value, range) else cast("np.ndarray[Any, Any]", value)
            return _check(lambda _: array.ndim == 1 and array.dtype.kind in "iu")(value)
        return tuple(map(every, listed(value)))

    return read


def _mapping(keys: Read, values: Read) -> Read:
    mapping = _check(lambda value: isinstance(value, Mapping))
    return lambda value: {keys(k): values(v) for k, v in mapping(value).items()}


def _describe(hint: Any) -> str:
    """The kind in words."""
    origin, args = get_origin(hint), get_args(hint)
    if hint in _WORDS:
        return _WORDS[hint]
    if isinstance(hint, TypeVar):
        return _describe(hint.__bound__)
    if origin in (Union, UnionType):
        exact = Fraction in args  # whole numbers and texts are exact numbers
        return " or ".join(_describe(part) for part in args if not (exact and part in (int, str)))
    if origin is Literal:
        return "one of " + ", ".join(map(repr, args))
    if origin is Callable:
        return "a function"
    if origin in (Mapping, dict):
        return f"a mapping from {_describe(args[0])} to {_describe(args[1])}"
    if origin is np.ndarray:
        return "an array of whole numbers" if get_args(args[1])[0] is not np.bool_ else "an array of truth values"
    if origin is tuple and Ellipsis not in args:
        return "(" + ", ".join(map(_describe, args)) + ")"
    if origin in (tuple, Sequence, Iterable):
        return f"a list, each of which is {_describe(args[0])}"
    name = (origin or hint).__name__.removeprefix("Abstract")
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
