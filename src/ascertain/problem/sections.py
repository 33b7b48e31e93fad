"""What a problem file says about an operation that went before and about how to observe the plant now.

Both sections are read as they stand, by names; `problem/operation.py` and `problem/observer.py` turn them into what is
needed, because they know the models and the logs that the names belong to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, cast, final

from ascertain.bank.compile import DEFAULT_COMPILER, compiler_names
from ascertain.bank.weights import DEFAULT, POWERS, WEIGHTINGS
from ascertain.errors import TaskError, check_keys
from ascertain.observer.probing import PROBING
from ascertain.observer.settings import LOSSES, POLICIES, PolicyName
from ascertain.problem.fields import read_one_of, read_probability, read_rational, read_value

MAX_NUMBER = 10**9
"""The largest whole number: whoever writes more readings, retries or commands has made a typing mistake."""


@final
@dataclass(frozen=True)
class OperationSection:
    """The section [operation]: a log and what is declared about it."""

    log: Path
    start: str | None
    """The state that the operation started in; None: the model's only initial state."""
    replaced: int
    alternatives: Mapping[str, tuple[str | tuple[str, ...], ...]]
    """By command, "*" for all that are not named: a text is a command, or commands with blanks between, or nothing."""
    replacement_window: tuple[int, int]
    flip_window: tuple[int, int]
    calibration: Path | None = None
    """The file of a calibration that says how many shells the bank keeps; None: there is none."""
    group: str | None = None
    """The group of the calibration that this operation belongs to; None: the calibration as a whole speaks of it."""
    weighting: str = DEFAULT.name
    """How the bank's weight is shared over shells: a name in `bank/weights.py`."""


@final
@dataclass(frozen=True)
class ObserveSection:
    """The section [observe]: how to decide."""

    nominal: str | None = None
    """The state that the plant should be in; None: where the operation ends if nothing was replaced."""
    budget: int = 600
    """The most readings that are taken."""
    policy: PolicyName | None = None
    """None: readwise, or where computation is priced what is expected to cost least."""
    threshold: Fraction | None = None
    """lambda of readwise switching; None: 100, or as the policy."""
    probing: str | None = None
    """How actions are chosen; None: look-ahead on a Boolean plant, planned on a machine without noise, separating on
    one with it, where looking in turn may never tell states apart."""
    limits: Mapping[str, int] | None = None
    """How often each action may be used; actions that are not named, without limit."""
    deadline: float | None = None
    """The most seconds of a run, of each part of it that is resumed; None: no limit."""
    silence: str = "evidence"
    """Whether the reading that stands for no answer counts: "evidence", or "no evidence"."""
    nominal_budget: int | None = None
    """The most actions of the nominal stage, after which the fallback begins; None: no limit of its own."""
    nominal_share: Fraction | None = None
    """The part of alpha that the nominal stage may spend; None: one half, or as the policy."""
    nominal_probability: Fraction | None = None
    """How likely the nominal is to hold, for the expected cost alone; None: it is estimated."""
    rejection: Fraction = Fraction(1, 1000)
    """beta_nom: the nominal is formally rejected when the trigger reaches its inverse."""
    doublings: int = 4
    """The most actions of which it may be unknown whether they ran."""
    losses: int = LOSSES
    """On a model with noise, the most readings that may be missing."""
    compiler: str = DEFAULT_COMPILER
    shells: int | None = None
    """How many shells the bank keeps; None: as the operation's calibration says, or all of them."""


def read_operation(path: Path, section: dict[str, Any]) -> OperationSection:
    """The section [operation] of the problem file at `path`."""
    where = "[operation] "
    known = ("log", "start", "replaced", "alternatives", "window", "calibration", "group", "weights")
    check_keys(where, section, known)
    window: dict[str, Any] = read_value(section, "window", {}, (dict,), where)
    check_keys(f"{where}window: ", window, ("replacements", "flips"))
    if "log" not in section:
        raise TaskError(f'{where}log: the name of the log file is needed, such as log = "run.csv"')
    return OperationSection(
        log=path.parent / read_value(section, "log", "", (str,), where),
        start=_text(section, "start", where) if "start" in section else None,
        replaced=_number({"replaced": 1, **section}, "replaced", where),
        alternatives={
            command: _words(words, command)
            for command, words in read_value(section, "alternatives", {}, (dict,), where).items()
        },
        replacement_window=_window(window, "replacements"),
        flip_window=_window(window, "flips"),
        calibration=path.parent / _text(section, "calibration", where) if "calibration" in section else None,
        group=_text(section, "group", where) if "group" in section else None,
        weighting=_weighting(section, where),
    )


def _weighting(section: dict[str, Any], where: str) -> str:
    if "weights" not in section:
        return DEFAULT.name
    name = read_one_of(section, "weights", (*WEIGHTINGS, *POWERS), where)
    return POWERS.get(name, name)


def read_observe(section: dict[str, Any]) -> ObserveSection:
    """The section [observe] of a problem file; what it does not say is as documented."""
    check_keys("[observe] ", section, tuple(_OBSERVE))
    return ObserveSection(**{key: read(section, key, "[observe] ") for key, read in _OBSERVE.items() if key in section})


def _number(data: Mapping[str, Any], key: str, where: str, low: int = 0) -> int:
    value = data[key]
    if type(value) is not int or not low <= value <= MAX_NUMBER:
        raise TaskError(f"{where}{key}: {value!r} is not understood; write a whole number from {low} on")
    return value


def _window(window: Mapping[str, Any], key: str) -> tuple[int, int]:
    value: Any = window.get(key, [0, 0])
    where = "[operation] window: "
    if not isinstance(value, list) or len(cast("list[Any]", value)) != 2:
        raise TaskError(f"{where}{key} must be two numbers, the least first, such as {key} = [0, 1]")
    low, high = (_number({key: number}, key, where) for number in cast("list[Any]", value))
    if low > high:
        raise TaskError(f"{where}{key} is [{low}, {high}], upside down; write the least number first")
    return low, high


def _words(value: Any, command: str) -> tuple[str | tuple[str, ...], ...]:
    if not isinstance(value, list | str):
        raise TaskError(f'[operation] alternatives: {command!r} must be a list, such as ["SHUT", ""], or one of them')
    words: list[str | tuple[str, ...]] = []
    for word in [value] if isinstance(value, str) else cast("list[Any]", value):
        names: list[Any] = cast("list[Any]", word) if isinstance(word, list) else [word]
        if not all(isinstance(name, str) for name in names):
            raise TaskError(f"[operation] alternatives: {command!r} must list commands as text")
        words.append(tuple(names) if isinstance(word, list) else str(word))
    return tuple(words)


def _text(section: Mapping[str, Any], key: str, where: str) -> str:
    return read_value(section, key, "", (str,), where)


def _threshold(section: Mapping[str, Any], key: str, where: str) -> Fraction:
    value = read_rational(section, key, where.strip())
    if value < 0:
        raise TaskError(f"{where}{key}: {value} is negative; lambda must be at least 0")
    return value


def _seconds(section: Mapping[str, Any], key: str, where: str) -> float:
    value = read_rational(section, key, where.strip())
    if not 0 < value <= MAX_NUMBER:
        raise TaskError(f"{where}{key}: {value} is not understood; write seconds, more than 0")
    return float(value)


def _inside(section: Mapping[str, Any], key: str, where: str) -> Fraction:
    value = read_probability(section, key, where.strip())
    if value == 0:
        raise TaskError(f"{where}{key}: 0 is not inside (0, 1)")
    return value


def _limits(section: Mapping[str, Any], key: str, where: str) -> dict[str, int]:
    limits: dict[str, Any] = read_value(section, key, {}, (dict,), where)
    return {name: _number(limits, name, f"{where}{key}: ") for name in limits}


_OBSERVE: Mapping[str, Callable[[Mapping[str, Any], str, str], Any]] = {
    "nominal": _text,
    "budget": _number,
    "deadline": _seconds,
    "policy": lambda section, key, where: read_one_of(section, key, POLICIES, where),
    "threshold": _threshold,
    "probing": lambda section, key, where: read_one_of(section, key, tuple(PROBING.words()), where),
    "limits": _limits,
    "nominal_budget": lambda section, key, where: _number(section, key, where, low=1),
    "silence": lambda section, key, where: read_one_of(section, key, ("evidence", "no evidence"), where),
    "nominal_share": _inside,
    "nominal_probability": _inside,
    "rejection": _inside,
    "doublings": _number,
    "losses": _number,
    "compiler": lambda section, key, where: read_one_of(section, key, compiler_names(), where),
    "shells": lambda section, key, where: _number(section, key, where, low=1),
}
"""The keys of [observe], which are the fields of `ObserveSection`, and how each is read."""
