"""Ways to make one model from another: from transitions, with a reset, on fewer actions, safe, completed.

Every function returns a new model of the kind that it was given: a machine, with noise or without, or a hidden model.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from ascertain.errors import ModelError
from ascertain.model.abstract import AbstractListed
from ascertain.model.machine import Machine
from ascertain.types import UNDEFINED, IntArray, State

M = TypeVar("M", bound=AbstractListed)
"""A kind of model whose states are listed."""
Name = TypeVar("Name", bound=Hashable)
"""What is numbered: a text, or a number of another numbering."""


def machine_from_transitions(transitions: Iterable[tuple[str, str, str, str]], initial: str | None = None) -> Machine:
    """A machine from (state, action, reading, successor); names are numbered in the order in which they appear."""
    rows = list(transitions)
    first = [] if initial is None else [initial]
    states = number_names([*first, *(name for s, _, _, t in rows for name in (s, t))])
    actions, readings = number_names(a for _, a, _, _ in rows), number_names(y for _, _, y, _ in rows)
    given: dict[tuple[str, str], tuple[str, str]] = {}
    for s, a, y, t in rows:
        if (s, a) in given:
            reading, to = given[s, a]
            raise ModelError(
                f"action {a!r} in state {s!r} is given twice: to {to!r} reading {reading!r}, and to {t!r} reading "
                f"{y!r}; a machine has one transition for each state and action"
            )
        given[s, a] = y, t
    cells = [(states[s], actions[a], readings[y], states[t]) for s, a, y, t in rows]
    return machine_from_cells(states, actions, readings, cells, initial=() if initial is None else (0,))


def machine_from_cells(
    states: Iterable[str],
    actions: Iterable[str],
    readings: Iterable[str],
    cells: Sequence[tuple[int, ...]],
    **rest: Any,
) -> Machine:
    """A machine from its names and the numbers (state, action, reading, next state) of its transitions.

    `rest` are initial states and origins; of two transitions for one state and action the later one counts.
    """
    names = {"states": tuple(states), "actions": tuple(actions), "readings": tuple(readings)}
    successor, output = fill_tables((len(names["states"]), len(names["actions"])), cells)
    return Machine(**names, successor=successor, output=output, **rest)


def fill_tables(shape: tuple[int, int], cells: Sequence[tuple[int, ...]]) -> tuple[IntArray, IntArray]:
    """The tables of successors and of behaviours from cells (state, action, behaviour, next state)."""
    s, a, y, t = np.array(cells, dtype=np.int32).reshape(-1, 4).T
    successor = np.full(shape, UNDEFINED, dtype=np.int32)
    behaviour = successor.copy()
    successor[s, a], behaviour[s, a] = t, y
    return successor, behaviour


def number_names(names: Iterable[Name]) -> dict[Name, int]:
    """Names numbered in the order in which they first appear."""
    return {name: i for i, name in enumerate(dict.fromkeys(names))}


def with_reset(model: M, action: str, *, reading: str = "reset", to: State | None = None) -> M:
    """The model with one more action, allowed everywhere, that leads to where the plant begins and always reads the
    same.

    In a union each machine goes back to its own initial state, and a hidden model to its initial belief. `to` names
    one other place for all.
    """
    if to is not None and not 0 <= to < model.num_states:
        raise ModelError(f"the reset leads to state {to}; states are 0 .. {model.num_states - 1}")
    if action in model.actions:
        raise ModelError(f"the reset action {action!r} already exists in the model; choose a name that is free")
    return model.with_action(action, reading, to)


def restrict(model: M, actions: Iterable[str]) -> M:
    """The model on these actions only, in the model's order."""
    kept = sorted({model.action_named(name) for name in actions})
    if not kept:
        raise ModelError("a model needs at least one action; none was kept")
    return model.on_actions(kept)


def forbid_entering(model: M, states: Iterable[State]) -> M:
    """The model without the actions that lead into these states, a loop inside them included: there it is forbidden.

    In a hidden model an action that may lead there, however rarely, is forbidden.
    """
    return model.without_entering(set(states))


def complete(model: M, reading: str = "undefined") -> M:
    """The model with a self-loop that gives this reading wherever an action was not defined."""
    return model if model.is_total else model.with_loops(reading)
