"""Ways to make one model from another: from transitions, with a reset, on fewer actions, safe, completed.

Every function returns a new model of the kind that it was given.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from ascertain.errors import ModelError
from ascertain.model.abstract import AbstractMachine
from ascertain.model.machine import Machine
from ascertain.model.noisy import Law, NoisyMachine
from ascertain.types import UNDEFINED, IntArray, State

M = TypeVar("M", bound=AbstractMachine)


def machine_from_transitions(transitions: Iterable[tuple[str, str, str, str]], initial: str | None = None) -> Machine:
    """A machine from (state, action, reading, successor); names are numbered in the order in which they appear."""
    rows = list(transitions)
    first = [] if initial is None else [initial]
    states = _numbered([*first, *(name for s, _, _, t in rows for name in (s, t))])
    actions = _numbered(a for _, a, _, _ in rows)
    readings = _numbered(y for _, _, y, _ in rows)
    successor = np.full((len(states), len(actions)), UNDEFINED, dtype=np.int32)
    output = successor.copy()
    given: dict[tuple[int, int], tuple[str, str]] = {}
    for s, a, y, t in rows:
        cell = states[s], actions[a]
        if cell in given:
            reading, to = given[cell]
            raise ModelError(
                f"action {a!r} in state {s!r} is given twice: to {to!r} reading {reading!r}, and to {t!r} reading "
                f"{y!r}; a machine has one transition for each state and action"
            )
        given[cell] = y, t
        successor[cell], output[cell] = states[t], readings[y]
    return Machine(
        states=tuple(states),
        actions=tuple(actions),
        readings=tuple(readings),
        successor=successor,
        output=output,
        initial=() if initial is None else (states[initial],),
    )


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: i for i, name in enumerate(dict.fromkeys(names))}


def with_reset(model: M, action: str, *, reading: str = "reset", to: State | None = None) -> M:
    """The model with one more action, allowed everywhere, that leads to the initial state and always reads the same.

    In a union each machine goes back to its own initial state. `to` names one other place for all.
    """
    if action in model.actions:
        raise ModelError(f"the reset action {action!r} already exists in the model; choose a name that is free")
    target = _homes(model) if to is None else np.full(model.num_states, to, dtype=np.int32)
    behaviour, changes = _certain(model, reading)
    return model.rebuilt(
        successor=np.hstack([model.successor, target[:, None]]),
        behaviour=np.hstack([model.behaviour, np.full_like(target, behaviour)[:, None]]),
        actions=(*model.actions, action),
        **changes,
    )


def _homes(model: AbstractMachine) -> IntArray:
    """`home[s]`: the initial state of the machine that s belongs to."""
    part = model.origin or ("the model",) * model.num_states
    homes: dict[str, State] = {}
    for s in model.initial:
        if part[s] in homes:
            raise ModelError(f"a reset leads to the initial state, and {part[s]} has several; say where it leads")
        homes[part[s]] = s
    for name in part:
        if name not in homes:
            raise ModelError(f"a reset leads to the initial state, and {name} has none; say where it leads")
    return np.array([homes[name] for name in part], dtype=np.int32)


def restrict(model: M, actions: Iterable[str]) -> M:
    """The model on these actions only, in the model's order."""
    columns = sorted({model.action_named(name) for name in actions})
    if not columns:
        raise ModelError("a model needs at least one action; none was kept")
    return model.rebuilt(
        successor=model.successor[:, columns],
        behaviour=model.behaviour[:, columns],
        actions=tuple(model.actions[a] for a in columns),
    )


def forbid_entering(model: M, states: Iterable[State]) -> M:
    """The model without the transitions into these states (a loop inside them included): there it is forbidden."""
    unsafe = np.isin(model.successor, list(states))
    return model.rebuilt(
        successor=np.where(unsafe, UNDEFINED, model.successor).astype(np.int32),
        behaviour=np.where(unsafe, UNDEFINED, model.behaviour).astype(np.int32),
    )


def complete(model: M, reading: str = "undefined") -> M:
    """The model with a self-loop that gives this reading wherever an action was not defined."""
    missing = model.successor == UNDEFINED
    if not missing.any():
        return model
    behaviour, changes = _certain(model, reading)
    stay = np.arange(model.num_states, dtype=np.int32)[:, None]
    return model.rebuilt(
        successor=np.where(missing, stay, model.successor).astype(np.int32),
        behaviour=np.where(missing, np.int32(behaviour), model.behaviour).astype(np.int32),
        **changes,
    )


def _certain(model: AbstractMachine, reading: str) -> tuple[int, dict[str, Any]]:
    """The behaviour that always gives this reading, and the fields of the model that must grow to know it."""
    readings = model.readings if reading in model.readings else (*model.readings, reading)
    y = readings.index(reading)
    if not isinstance(model, NoisyMachine):
        return y, {"readings": readings}
    law: Law = ((y, Fraction(1)),)
    laws = model.laws if law in model.laws else (*model.laws, law)
    return laws.index(law), {"readings": readings, "laws": laws}
