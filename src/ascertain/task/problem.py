"""The problem file: a task in TOML, every key checked.

The file states the model, the hypotheses and their labels, costs, a reset, safety, noise and risk; DESIGN and
`docs/formats.md` list the keys. Paths are relative to the file. A key that is not known is an error that offers the one
that was probably meant.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar, cast

from ascertain.errors import AscertainError, FileError, TaskError, did_you_mean
from ascertain.model import BooleanPlant, Model
from ascertain.model.files import read_listed, read_model
from ascertain.model.files.boolean_toml import plant_from_data
from ascertain.model.files.json_model import parse_model_data
from ascertain.model.files.text import read_text
from ascertain.model.union import common_actions, union
from ascertain.rational import rational_field
from ascertain.task.pose import Log, Pattern, Reset, pose
from ascertain.task.task import Task

KEYS: Mapping[str, tuple[str, ...]] = {
    "task": ("hypotheses", "label", "about", "actions"),
    "reset": ("action", "reading", "to"),
    "safety": ("never",),
    "noise": ("flip",),
    "risk": ("alpha", "beta"),
}
"""The sections of fixed keys; [cost] has the names of actions for keys and [weights] those of states."""
TOP = ("model", "models", "undefined", "cost", "weights", *KEYS)
LATER = ("observe", "operation")
"""Sections of the format that no verb of this version reads; they are reported, not checked."""

T = TypeVar("T")


@dataclass(frozen=True)
class Problem:
    """What a problem file says: the task, and the sections that were not read."""

    path: Path
    task: Task
    weights: tuple[Fraction, ...]
    """One for each hypothesis, for expected costs; all equal unless the file says otherwise."""
    unread: tuple[str, ...]
    sources: tuple[Path, ...]
    """The files that it was read from; none of them should be written over."""


def read_problem(path: str | Path) -> Problem:
    """Read, check and pose the problem of a file."""
    path = Path(path)
    data = _parse(path, read_text(path))
    try:
        unread = tuple(name for name in LATER if name in data)
        task = _pose(path, {k: v for k, v in data.items() if k not in LATER})
        return Problem(path, task, _weights(task, _section(data, "weights")), unread, _sources(path, data))
    except FileError:
        raise
    except AscertainError as reason:
        raise type(reason)(f"{path}: {reason}") from None


def _parse(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=str)
    except tomllib.TOMLDecodeError as reason:
        raise FileError(f"{path}: not TOML: {reason}") from None
    except (ValueError, RecursionError):
        raise FileError(f"{path}: not TOML: a number is too long or tables are nested too deeply") from None


def _pose(path: Path, data: dict[str, Any]) -> Task:
    _check_keys("", data, TOP)
    sections = {name: _section(data, name) for name in ("cost", *KEYS)}
    for name, known in KEYS.items():
        _check_keys(f"[{name}] ", sections[name], known)
    model, common = _read_models(path, data) if "models" in data else _read_one(path, data)
    task, noise, risk = sections["task"], sections["noise"], sections["risk"]
    costs = {name: _rational(sections["cost"], name, "[cost]") for name in sections["cost"]}
    return pose(
        model,
        hypotheses=_hypotheses(path, task.get("hypotheses", "all")),
        label=_value(task, "label", "state", (str, dict), "[task] "),
        about=_one_of(task, "about", ("start", "current"), "[task] "),
        actions=_actions(task, common),
        undefined=_one_of(data, "undefined", ("forbidden", "self-loop"), ""),
        default_cost=costs.pop("default", Fraction(1)),
        cost=costs,
        reset=_reset(sections["reset"]) if "reset" in data else None,
        never=_names(sections["safety"], "never", "[safety] "),
        flip=_probability(noise, "flip", "[noise]"),
        alpha=_probability(risk, "alpha", "[risk]"),
        beta=_probability(risk, "beta", "[risk]"),
    )


def _read_models(path: Path, data: dict[str, Any]) -> tuple[Model, tuple[str, ...]]:
    """The union of several machines, and the actions that all of them know."""
    names = _names(data, "models", "")
    if "model" in data:
        raise TaskError('give either model = "FILE" or models = ["FILE", ...], not both')
    if not names:
        raise TaskError("models: the list names no file")
    models = {Path(name).stem: read_listed(path.parent / name) for name in names}
    if len(models) < len(names):
        raise TaskError("models: two files have the same name; rename one, as states are called NAME:STATE")
    return union(models), common_actions(models.values())


def _read_one(path: Path, data: dict[str, Any]) -> tuple[Model | BooleanPlant, tuple[str, ...]]:
    """The model of a file or of a table, and its actions."""
    if "model" not in data:
        raise TaskError('one of model = "FILE" and models = ["FILE", ...] is needed')
    given: Any = _value(data, "model", "", (str, dict), "")
    if isinstance(given, str):
        model = read_model(path.parent / given)
    else:
        model = (plant_from_data if "bits" in given else parse_model_data)(given, f"{path}: model")
    return model, model.actions


def _hypotheses(path: Path, value: object) -> Any:
    if isinstance(value, dict):
        table = cast(dict[str, Any], value)
        where = "[task] hypotheses: "
        _check_keys(where, table, ("log", "pattern"))
        if len(table) != 1:
            raise TaskError(f"{where}give either a log or a pattern")
        if "pattern" in table:
            return Pattern(_value(table, "pattern", "", (str,), where))
        return Log(path.parent / _value(table, "log", "", (str,), where))
    if isinstance(value, str):
        return value
    return _names({"hypotheses": value}, "hypotheses", "[task] ")


def _actions(task: dict[str, Any], common: tuple[str, ...]) -> tuple[str, ...] | None:
    if task.get("actions") == "common":
        return common
    return _names(task, "actions", "[task] ") if "actions" in task else None


def _reset(section: dict[str, Any]) -> Reset:
    if "action" not in section:
        raise TaskError('[reset] action: the name of the reset action is needed, such as action = "RESET"')
    text: Callable[[str, Any], Any] = lambda key, default: _value(section, key, default, (str,), "[reset] ")  # noqa: E731
    return Reset(text("action", ""), text("reading", "reset"), text("to", None) if "to" in section else None)


def _sources(path: Path, data: dict[str, Any]) -> tuple[Path, ...]:
    """The problem file, its models and its log."""
    hypotheses = _section(data, "task").get("hypotheses")
    table = cast("dict[str, Any]", hypotheses) if isinstance(hypotheses, dict) else {}
    named: list[Any] = [*data.get("models", ()), data.get("model"), table.get("log")]
    return (path, *(path.parent / name for name in named if isinstance(name, str)))


def _weights(task: Task, section: dict[str, Any]) -> tuple[Fraction, ...]:
    """The weight of each hypothesis by the name of its state."""
    given = {name: _rational(section, name, "[weights]") for name in section}
    for name, weight in given.items():
        if name != "default":
            task.model.state_named(name, "[weights]")
        if weight <= 0:
            raise TaskError(f"[weights] {name}: {weight} is not positive")
    default = given.get("default", Fraction(1))
    return tuple(given.get(task.model.states[int(s)], default) for s in task.state)


def _section(data: dict[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name, {})
    if not isinstance(value, dict):
        raise TaskError(f"{name} must be a section [{name}] of keys and values")
    return cast(dict[str, Any], value)


def _check_keys(where: str, data: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in data:
        if key not in known:
            raise TaskError(f"{where}unknown key {key!r}{did_you_mean(key, known)}; known are {', '.join(known)}")


def _value(data: Mapping[str, Any], key: str, default: Any, kinds: tuple[type, ...], where: str) -> Any:
    value = data.get(key, default)
    if not isinstance(value, kinds):
        words = " or ".join({"str": "text", "dict": "a table"}[k.__name__] for k in kinds)
        raise TaskError(f"{where}{key} must be {words}, not {value!r}")
    return value


def _one_of(data: Mapping[str, Any], key: str, known: tuple[T, ...], where: str) -> T:
    value = data.get(key, known[0])
    if value not in known:
        raise TaskError(f"{where}{key}: {value!r} is not understood; write one of {', '.join(map(repr, known))}")
    return value


def _names(data: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(x, str) for x in cast(list[Any], value)):
        raise TaskError(f"{where}{key} must be a list of names")
    return tuple(cast(list[str], value))


def _rational(data: Mapping[str, Any], key: str, where: str) -> Fraction:
    return rational_field(data[key], f"{where} {key}", TaskError)


def _probability(data: Mapping[str, Any], key: str, where: str) -> Fraction:
    value = _rational(data, key, where) if key in data else Fraction(0)
    if not 0 <= value < 1:
        raise TaskError(
            f"{where} {key}: {value} is not a probability; a number from 0 up to, not including, 1 is needed"
        )
    return value
