"""Ways to make one model from another: from transitions, with a reset, on fewer actions, safe, completed.

Every function returns a new model of the kind that it was given: a machine, with noise or without, or a hidden model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from ascertain.errors import ModelError
from ascertain.model.abstract import AbstractListed
from ascertain.model.machine import Machine
from ascertain.types import UNDEFINED, State

M = TypeVar("M", bound=AbstractListed)


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
