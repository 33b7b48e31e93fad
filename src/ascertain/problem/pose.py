"""Pose a question about a model: the road from names and numbers to a task, for files and for Python alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ascertain.errors import TaskError, find_name
from ascertain.model.abstract import AbstractModel
from ascertain.model.build import M, complete, forbid_entering, number_names, restrict, with_reset
from ascertain.model.network import BooleanNetwork
from ascertain.model.noisy import with_bound, with_flip, with_losses
from ascertain.model.tables import AbstractMachine
from ascertain.quotients.obstruction import coarsen
from ascertain.rational import Number, rational_field
from ascertain.task.hypotheses import StateChoice, choose_states, states_after_log, states_matching
from ascertain.task.labels import CLASS, LabelSpec, join_labels, resolve_labels
from ascertain.task.log import read_log
from ascertain.task.question import About
from ascertain.task.task import Task
from ascertain.types import IntArray


@dataclass(frozen=True)
class Reset:
    """An action that leads from everywhere to the initial state (or to `to`) and always gives the same reading."""

    action: str
    reading: str = "reset"
    to: str | None = None


@dataclass(frozen=True)
class Pattern:
    """Hypotheses: the states in whose name this regular expression finds something."""

    pattern: str


@dataclass(frozen=True)
class Log:
    """Hypotheses: the states that the plant may be in after this log."""

    path: str | Path


def pose(
    model: AbstractModel | BooleanNetwork,
    *,
    hypotheses: StateChoice | Pattern | Log = "all",
    label: LabelSpec = "state",
    about: About = "start",
    actions: Sequence[str] | None = None,
    undefined: str = "forbidden",
    cost: Mapping[str, Number] | None = None,
    default_cost: Number = 1,
    reset: Reset | None = None,
    never: Sequence[str] = (),
    flip: Number = 0,
    at_most: Number = 0,
    lost: Number = 0,
    reads: str = "-",
    alpha: Number = 0,
    beta: Number = 0,
) -> Task:
    """The task of finding the label of the state that the plant is in.

    `label` says what is asked (`task/labels.py` lists the ways); "class" asks for the state as far as experiments
    can tell. `actions` keeps these only; `undefined` is "forbidden" or "self-loop"; `cost` by action name over
    `default_cost`; `never` lists states that must not be entered; `flip` replaces a reading by another one of the
    same action; with `at_most` that is all that is known: an error has at most this probability, and may be any such
    reading; with `lost` besides, any reading may become `reads`, with at most that probability. A Boolean plant is
    enumerated, if it is small enough; its flip is its own. So is a Boolean network, which is read without noise.
    Numbers are exact: integers, Fractions, or texts such as "1/50"; floats are refused.
    """
    plant = model.as_model().deterministic
    if plant is None:
        raise TaskError("a question about a hidden model is posed with pose_hidden; where its actions lead is random")
    if about not in ("start", "current"):
        raise TaskError(f'about: {about!r} is not understood; write "start" or "current"')
    if isinstance(never, str):
        raise TaskError("safety: never must be a list of states, not one text")
    named = model if model.bits else None
    added, bound = rational_field(flip, "flip", TaskError), rational_field(at_most, "at_most", TaskError)
    if (added or bound) and not plant.is_exact:
        word = "flip" if added else "at_most"
        raise TaskError(f"noise: {word} is for a machine without noise; this model says its noise itself")
    if added and bound:
        raise TaskError("noise: flip is exact and at_most a bound; give one of them")
    losses = rational_field(lost, "lost", TaskError)
    if losses and not bound:
        raise TaskError(
            "noise: lost is a bound beside at_most; add at_most, or, where nothing else is random, leave it out and "
            'write [observe] silence = "no evidence"'
        )
    how = partial(prepare, actions=actions, undefined=undefined, reset=reset, never=never)
    before = plant.without_flip()
    exact = how(before.as_machine())
    noisy = exact if before is plant else how(plant.as_machine())
    if added:
        noisy = with_flip(exact, added)
    elif bound:
        noisy = with_losses(exact, bound, losses, reads) if losses else with_bound(exact, bound)
    state = _states(noisy, exact, hypotheses)
    everywhere = range(noisy.num_states)
    names = resolve_labels(noisy, label, everywhere if about == "current" else state.tolist(), named)
    listed, labels = number_labels(names)
    number = np.array(listed, dtype=np.int32)
    task = Task(
        model=noisy,
        state=state,
        label=number[state] if about == "current" else number,
        labels=labels,
        state_label=number if about == "current" else None,
        **costs_and_risks(noisy, cost, default_cost, alpha, beta),
    )
    return coarsen(task, join=join_labels) if label == CLASS else task


def number_labels(names: Sequence[str]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The number of each label, counted as they first appear, and the labels by number."""
    place = number_names(names)
    return tuple(place[name] for name in names), tuple(place)


def costs_and_risks(
    model: AbstractModel, cost: Mapping[str, Number] | None, default_cost: Number, alpha: Number, beta: Number
) -> dict[str, Any]:
    """The fields that every kind of question has besides its hypotheses, as exact numbers."""
    return {
        "cost": _action_costs(model, cost or {}, default_cost),
        "alpha": rational_field(alpha, "alpha", TaskError),
        "beta": rational_field(beta, "beta", TaskError),
    }


def prepare(model: M, *, actions: Sequence[str] | None, undefined: str, reset: Reset | None, never: Sequence[str]) -> M:
    """The model as the experimenter may use it: fewer actions, completed, with a reset, and safe."""
    if undefined not in {"forbidden", "self-loop"}:
        raise TaskError(f'undefined: {undefined!r} is not understood; write "forbidden" or "self-loop"')
    if actions is not None:
        model = restrict(model, actions)
    if undefined == "self-loop":
        model = complete(model)
    if reset is not None:
        to = None if reset.to is None else model.state_named(reset.to, "reset: to")
        model = with_reset(model, reset.action, reading=reset.reading, to=to)
    if never:
        model = forbid_entering(model, [model.state_named(name, "safety: never") for name in never])
    return model


def _action_costs(model: AbstractModel, cost: Mapping[str, Number], default: Number) -> tuple[Fraction, ...]:
    """The cost of every action: its own where it has one."""
    for name in cost:
        find_name(name, model.actions, "cost", "an action of the model", TaskError)
    exact = {name: _positive(name, value) for name, value in cost.items()}
    otherwise = _positive("default", default)
    return tuple(exact.get(name, otherwise) for name in model.actions)


def _positive(name: str, value: Number) -> Fraction:
    exact = rational_field(value, f"cost: {name}", TaskError)
    if exact <= 0:
        raise TaskError(f"cost: {name!r} costs {exact}; a cost must be positive")
    return exact


def _states(noisy: AbstractMachine, exact: AbstractMachine, hypotheses: StateChoice | Pattern | Log) -> IntArray:
    if isinstance(hypotheses, Pattern):
        return states_matching(noisy, hypotheses.pattern)
    if not isinstance(hypotheses, Log):
        return choose_states(noisy, hypotheses)
    return states_after_log(noisy, exact, read_log(Path(hypotheses.path)), str(hypotheses.path))
