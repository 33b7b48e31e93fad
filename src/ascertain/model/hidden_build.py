"""Ways to make one hidden model from another: fewer actions, completed, with a reset, safe, readings kept in states."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from ascertain.errors import ModelError
from ascertain.model.hidden import Belief, HiddenModel, JointLaw, make_joint
from ascertain.types import Reading, State


def restrict_hidden(model: HiddenModel, actions: Iterable[str]) -> HiddenModel:
    """The model on these actions only, in the model's order."""
    columns = sorted({model.action_named(name) for name in actions})
    if not columns:
        raise ModelError("a model needs at least one action; none was kept")
    return replace(
        model,
        actions=tuple(model.actions[a] for a in columns),
        joint=tuple(tuple(row[a] for a in columns) for row in model.joint),
    )


def complete_hidden(model: HiddenModel, reading: str = "undefined") -> HiddenModel:
    """The model with a self-loop that gives this reading wherever an action was not defined."""
    if model.is_total:
        return model
    readings, y = _with_reading(model, reading)
    stay = [((s, y, Fraction(1)),) for s in range(model.num_states)]
    return replace(
        model,
        readings=readings,
        joint=tuple(tuple(law or stay[s] for law in row) for s, row in enumerate(model.joint)),
    )


def with_hidden_reset(
    model: HiddenModel, action: str, *, reading: str = "reset", to: State | None = None
) -> HiddenModel:
    """The model with one more action, allowed everywhere, that leads to the initial belief, or to a state, and always
    reads the same."""
    if action in model.actions:
        raise ModelError(f"the reset action {action!r} already exists in the model; choose a name that is free")
    if to is None and len(model.initial) != 1:
        many = "several" if model.initial else "none"
        raise ModelError(f"a reset leads to the initial belief, and the model has {many}; say where it leads")
    readings, y = _with_reading(model, reading)
    home: Belief = model.initial[0] if to is None else ((to, Fraction(1)),)
    law: JointLaw = tuple((t, y, p) for t, p in home)
    return replace(
        model,
        actions=(*model.actions, action),
        readings=readings,
        joint=tuple((*row, law) for row in model.joint),
    )


def forbid_entering_hidden(model: HiddenModel, states: Iterable[State]) -> HiddenModel:
    """The model without the actions that may lead into these states, however rarely: there they are forbidden."""
    unsafe = set(states)
    return replace(
        model,
        joint=tuple(tuple(() if any(t in unsafe for t, _, _ in law) else law for law in row) for row in model.joint),
    )


def keep_readings(model: HiddenModel) -> HiddenModel:
    """The same plant with the last reading made part of the state: "t|y" is state t reached while y was read.

    The plain states stay, as those that the plant may begin in. Then every reading is a function of the state that is
    entered, which is what Cassandra's files ask for (`model/files/pomdp_write.py`).
    """
    entered = sorted({(t, y) for row in model.joint for law in row for t, y, _ in law})
    number: dict[tuple[State, Reading], State] = {pair: model.num_states + i for i, pair in enumerate(entered)}
    rows = [tuple(make_joint({(number[t, y], y): p for t, y, p in law}) for law in row) for row in model.joint]
    return replace(
        model,
        states=(*model.states, *(f"{model.states[t]}|{model.readings[y]}" for t, y in entered)),
        joint=(*rows, *(rows[t] for t, _ in entered)),
    )


def _with_reading(model: HiddenModel, reading: str) -> tuple[tuple[str, ...], Reading]:
    readings = model.readings if reading in model.readings else (*model.readings, reading)
    return readings, readings.index(reading)
