"""Hidden models written in Cassandra's `.POMDP` format, where the law of the reading depends on the state entered.

A joint law can be written as T and O when, for each action a and each state t, the reading has one law O(. | t, a)
whichever state t is entered from. Where it has several, the model with its readings kept in its states has one
(`keep_readings`), and JSON takes every hidden model. Numbers are exact: decimals where they are short, else fractions
such as 1/3, which this package reads and others may not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from ascertain.errors import FileError
from ascertain.model.files.json_text import named
from ascertain.model.files.pomdp_rows import Row
from ascertain.model.files.pomdp_tokens import RESERVED
from ascertain.model.hidden import HiddenModel
from ascertain.types import Action, State

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z", re.ASCII)


def write_pomdp(model: HiddenModel) -> str:
    """The text of a Cassandra file. Names that it cannot have are numbered, and listed as comments."""
    if len(model.initial) > 1:
        raise FileError(f"a .POMDP file has one start; the model has {len(model.initial)} initial beliefs")
    sorts = {"states": model.states, "actions": model.actions, "observations": model.readings}
    words = {what: _words(names) for what, names in sorts.items()}
    legend = [
        f"# {what[:-1]} {i} {name!r}"
        for what, names in sorts.items()
        if words[what] != names
        for i, name in enumerate(names)
    ]
    head = ["discount: 1.0", "values: reward"]
    head += [f"{what}: {_list(used)}" for what, used in words.items()]
    head += [f"start: {_row(dict(belief), model.num_states)}" for belief in model.initial]
    table = _tables(model, words["states"], words["actions"])
    return "\n".join([*legend, *head, *table, "R: * : * : * : * 0", ""])


def _tables(model: HiddenModel, states: tuple[str, ...], actions: tuple[str, ...]) -> Iterator[str]:
    for a in range(model.num_actions):
        seen: dict[State, Row] = {}
        for s in range(model.num_states):
            yield f"T: {actions[a]} : {states[s]}"
            yield _row(_factor(model, s, a, seen), model.num_states)
        for t in range(model.num_states):
            yield f"O: {actions[a]} : {states[t]}"
            yield _row(seen[t], len(model.readings)) if t in seen else "uniform"


def _factor(model: HiddenModel, s: State, a: Action, seen: dict[State, Row]) -> Row:
    """T(. | s, a); what is read in the states entered goes into `seen`, and must agree with what is there."""
    if not model.joint[s][a]:
        raise FileError(
            f"action {named(model.actions[a])} is not defined in state {named(model.states[s])}, and a .POMDP file "
            "defines all; complete the model first, or write it as .json"
        )
    transition: Row = {}
    for t, _, p in model.joint[s][a]:
        transition[t] = transition.get(t, Fraction(0)) + p
    read: dict[State, Row] = {t: {} for t in transition}
    for t, y, p in model.joint[s][a]:
        read[t][y] = p / transition[t]
    for t, row in read.items():
        if seen.setdefault(t, row) != row:
            raise FileError(
                f"what action {named(model.actions[a])} reads in {named(model.states[t])} depends on where it came "
                "from, which a .POMDP file cannot say; write it as .json, or keep_readings first"
            )
    return transition


def _words(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names themselves where the format allows them, else their numbers."""
    plain = all(_PLAIN.match(name) and name not in RESERVED for name in names)
    return names if plain else tuple(str(i) for i in range(len(names)))


def _list(words: tuple[str, ...]) -> str:
    return str(len(words)) if words[0] == "0" else " ".join(words)


def _row(row: Row, width: int) -> str:
    return " ".join(_number(row.get(c, Fraction(0))) for c in range(width))


def _number(value: Fraction) -> str:
    """As a decimal of at most nine digits, or as a fraction."""
    for digits in range(10):
        scaled = value * 10**digits
        if scaled.denominator == 1:
            whole = f"{int(scaled):0{digits + 1}d}"
            return f"{whole[: len(whole) - digits]}.{whole[len(whole) - digits :]}" if digits else whole
    return str(value)
