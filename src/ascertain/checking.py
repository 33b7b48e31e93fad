"""The border: what users pass to the vocabulary is checked for its kind before anything is done with it.

`ascertain.settle` is `settle` of `pipeline/settle.py` behind such a check, and so is every function and every class
that `ascertain` exports. The check reads the annotations: a value of another kind is refused with a sentence that names
the parameter. Where an exact number is wanted a text such as "1/50" is one, and a list stands for a tuple. What lies
below the border trusts what it is given, and checks only what annotations cannot say: a class that `ascertain` exports
is the class itself, so its check looks at who calls, and lets our own modules pass.
"""

from __future__ import annotations

import inspect
import math
import operator
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from types import FrameType, NoneType, UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from ascertain.errors import ArgumentError, AscertainError, did_you_mean
from ascertain.rational import parse_rational

T = TypeVar("T")
Read: TypeAlias = Callable[[Any], Any]
"""Takes a value of the right kind as it is used; raises ValueError for any other."""

Kind: TypeAlias = tuple[str, Read]
"""What people call the values of a kind, and what reads them."""

_LATE = (
    "ascertain.types",
    "ascertain.model",
    "ascertain.model.abstract",
    "ascertain.model.tables",
    "ascertain.model.hidden",
)
"""Where names of annotations are found that are not imported at run time."""


def checked(thing: T, name: str) -> T:
    """The function behind a check of its arguments, or the class, whose `__init__` is checked from now on."""
    made: Any = thing
    if not isinstance(thing, type):
        made = _guard(made, name)
        made.__module__ = "ascertain"  # where pickle finds it again
    elif "__init__" in vars(thing) and Exception not in thing.__mro__ and not hasattr(made.__init__, "_checked"):
        made.__init__ = _guard(made.__init__, name, made)
    return made


def _guard(function: Callable[..., Any], name: str, of_class: type | None = None) -> Any:
    """The function, called with what its annotations, or those of a dataclass, make of the arguments."""
    signature = inspect.signature(function)

    @cache
    def hints() -> dict[str, Any]:
        found = read_hints(of_class if hasattr(of_class, "__dataclass_fields__") else function)
        return {key: hint for key, hint in found.items() if key in signature.parameters}

    @cache
    def kinds() -> dict[str, Kind]:
        return {key: read_kind(hint) for key, hint in hints().items()}

    @wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        if of_class is not None and _is_ours(sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]
            return function(*args, **kwargs)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as reason:  # Python's own sentence names the function; that of `bind` does not
            raise TypeError(f"{name}: {reason}") from None
        for key, value in bound.arguments.items():
            if key not in kinds():
                continue
            words, read = kinds()[key]
            try:
                bound.arguments[key] = read(value)
            except (ValueError, TypeError, OverflowError):
                if of_class is not None:
                    _refuse_in_own_words(function, args, kwargs)
                raise ArgumentError(f"{name}: {key} must be {words}{_instead(value, hints()[key])}") from None
        return function(*bound.args, **bound.kwargs)

    guarded._checked = True  # type: ignore[attr-defined]
    return guarded


def _is_ours(caller: FrameType) -> bool:
    """Whether a module of ours calls, itself or by `dataclasses.replace`."""
    name = caller.f_globals.get("__name__", "")
    if name == "dataclasses" and caller.f_back is not None:
        return _is_ours(caller.f_back)
    return name.partition(".")[0] in {"ascertain", "ascertain_paper"}


def _refuse_in_own_words(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Let a class that knows what is wrong with a value say so itself."""
    try:
        function(*args, **kwargs)
    except AscertainError:
        raise
    except Exception:  # whatever else goes wrong, the annotations say why
        return


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
def read_kind(hint: Any) -> Kind:
    """The kind that an annotation means."""
    origin, args = get_origin(hint), get_args(hint)
    if isinstance(hint, TypeVar):
        return read_kind(hint.__bound__ or Any)
    if origin in (Union, UnionType):
        return _union(args)
    if origin is Literal:
        return "one of " + ", ".join(map(repr, args)), _check(lambda value: isinstance(value, str) and value in args)
    if origin is np.ndarray:
        return _array(get_args(args[1])[0])
    if origin is tuple and Ellipsis not in args:
        return _tuple(args)
    if origin in (tuple, Sequence, Iterable):
        return _elements((tuple, list) if origin is tuple else (cast("type", origin),), args[0])
    if origin in (Mapping, dict):
        return _mapping(*map(read_kind, args))
    if origin is Callable:
        return "a function", _check(callable)
    return _KNOWN.get(hint) or _instances(origin or hint)


def _check(holds: Callable[[Any], bool]) -> Read:
    def read(value: Any) -> Any:
        if not holds(value):
            raise ValueError
        return value

    return read


def _is_a(*kinds: type) -> Read:
    return _check(lambda value: isinstance(value, kinds))


def _instances(kind: Any) -> Kind:
    """Of a class, or of whatever has the members of a protocol."""
    name = kind.__name__.removeprefix("Abstract")
    words = f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
    if not getattr(kind, "_is_protocol", False):
        return words, _is_a(kind)
    members = [name for name in cast("dict[str, Any]", vars(kind)) if not name.startswith("_")]
    return words, _check(lambda value: not isinstance(value, type) and all(hasattr(value, name) for name in members))


def _whole(value: Any) -> int:
    if isinstance(value, bool | np.bool_):
        raise ValueError
    return value if type(value) is int else operator.index(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise ValueError
    return float(value)


def _union(args: tuple[Any, ...]) -> Kind:
    kinds = [read_kind(part) for part in args]
    exact = Fraction in args  # whole numbers and texts are exact numbers
    named = [words for part, (words, _) in zip(args, kinds, strict=True) if not (exact and part in (int, str))]

    def read(value: Any) -> Any:
        for _, each in kinds:
            try:
                taken = each(value)
            except (ValueError, TypeError, OverflowError):
                continue
            # A text is an exact number only where no other kind takes it as it is.
            if taken is value or not isinstance(value, str):
                return taken
        if isinstance(value, str) and exact:
            return parse_rational(value)
        raise ValueError

    return " or ".join(named), read


def _array(dtype: Any) -> Kind:
    words, letters = ("truth values", "b") if dtype is np.bool_ else ("whole numbers", "iu")

    def read(value: Any) -> Any:
        array = np.asarray(value)
        if array.ndim == 0 or (array.size and array.dtype.kind not in letters):
            raise ValueError
        return array

    return f"an array of {words}", read


def _tuple(args: tuple[Any, ...]) -> Kind:
    kinds = [read_kind(part) for part in args]
    listed = _is_a(tuple, list)
    words = "(" + ", ".join(words for words, _ in kinds) + ")"
    return words, lambda value: tuple(read(x) for (_, read), x in zip(kinds, listed(value), strict=True))


def _elements(kinds: tuple[type, ...], hint: Any) -> Kind:
    words, every = read_kind(hint)
    listed = _check(lambda value: isinstance(value, kinds) and not isinstance(value, str | bytes | Mapping))

    def read(value: Any) -> Any:
        if hint is int and tuple not in kinds and isinstance(value, range | np.ndarray):
            array = np.empty(0, dtype=int) if isinstance(value, range) else cast("np.ndarray[Any, Any]", value)
            return _check(lambda _: array.ndim == 1 and array.dtype.kind in "iu")(value)
        return tuple(map(every, listed(value)))

    return f"a list, each of which is {words}", read


def _mapping(key: Kind, content: Kind) -> Kind:
    mapping = _is_a(cast("type", Mapping))
    words = f"a mapping from {key[0]} to {content[0]}"
    return words, lambda value: {key[1](k): content[1](v) for k, v in mapping(value).items()}


_KNOWN: Mapping[Any, Kind] = {
    str: ("a text", _is_a(str)),
    int: ("a whole number", _whole),
    float: ("a number", _number),
    bool: ("True or False", _is_a(bool)),
    Path: ("a path", _is_a(Path)),
    Fraction: ('an exact number such as 3, "1/50" or "0.02"', parse_rational),
    NoneType: ("None", _is_a(NoneType)),
    Any: ("anything", _is_a(object)),
    object: ("anything", _is_a(object)),
}
"""The commonest kinds."""
