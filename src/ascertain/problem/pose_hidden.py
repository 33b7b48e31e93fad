"""Pose a question about a hidden model: from names and numbers to hypotheses that are beliefs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias, cast, final

from ascertain.errors import TaskError, find_name
from ascertain.model.hidden import Belief, HiddenModel, certain, make_belief, sum_exactly
from ascertain.problem.pose import Log, Pattern, Reset, costs_and_risks, number_labels, prepare
from ascertain.quotients.obstruction import coarsen_hidden
from ascertain.rational import Number, have_small_denominator, rational_field
from ascertain.task.hidden_task import HiddenTask
from ascertain.task.hypotheses import choose_states, states_matching
from ascertain.task.labels import CLASS, LabelSpec, join_labels, resolve_labels
from ascertain.task.question import About
from ascertain.types import State


@final
@dataclass(frozen=True)
class Beliefs:
    """Hypotheses: beliefs by name, each a table from states to probabilities."""

    table: Mapping[str, Mapping[str, Number]]


BeliefChoice: TypeAlias = str | Sequence[str] | Pattern | Log | Beliefs
"""Which beliefs: "all" states, the "initial" beliefs, states by name or pattern, or beliefs by name."""


def pose_hidden(
    model: HiddenModel,
    *,
    hypotheses: BeliefChoice = "all",
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
) -> HiddenTask:
    """The question of `pose`, about a hidden model."""
    if about != "start":
        raise TaskError(
            'about: the current state of a hidden model stays a belief and cannot be certified; ask about the "start"'
        )
    del reads  # only what is lost reads as that
    if any(rational_field(x, "noise", TaskError) for x in (flip, at_most, lost)):
        raise TaskError("noise: flip, at_most or lost is for a machine without noise; this model says its noise itself")
    plant = prepare(model, actions=actions, undefined=undefined, reset=reset, never=never)
    chosen = _choose(plant, hypotheses)
    numbers, labels = number_labels(resolve_labels(_Named(tuple(chosen)), label, range(len(chosen))))
    task = HiddenTask(
        model=plant,
        belief=tuple(chosen.values()),
        name=tuple(chosen),
        label=numbers,
        labels=labels,
        **costs_and_risks(plant, cost, default_cost, alpha, beta),
    )
    return coarsen_hidden(task, join=join_labels) if label == CLASS else task


def _choose(model: HiddenModel, choice: BeliefChoice) -> dict[str, Belief]:
    """The hypotheses by name."""
    match choice:
        case "initial" if model.initial:
            return {_name_belief(model, belief, i): belief for i, belief in enumerate(model.initial)}
        case Beliefs(table):
            return {name: _read_belief(model, name, weights) for name, weights in table.items()}
        case Log():
            raise TaskError("hypotheses: a log is not followed on a hidden model; list states or beliefs instead")
        case Pattern(pattern):
            states = states_matching(model, pattern)
        case _:
            states = choose_states(model, choice)
    return {model.states[s]: certain(s) for s in states.tolist()}


def _name_belief(model: HiddenModel, belief: Belief, i: int) -> str:
    """The state's name where the belief is certain, else "start", numbered where there are several."""
    if len(belief) == 1:
        return model.states[belief[0][0]]
    return "start" if len(model.initial) == 1 else f"start {i}"


def _read_belief(model: HiddenModel, name: str, weights: Mapping[str, Number]) -> Belief:
    where = f"hypotheses: belief {name!r}"
    if not isinstance(weights, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TaskError(f"{where} must be a table from states to probabilities")
    exact = {model.state_named(s, where): rational_field(p, f"{where}: {s}", TaskError) for s, p in weights.items()}
    if any(p < 0 for p in exact.values()) or not have_small_denominator(exact.values()):
        raise TaskError(f"{where}: probabilities must not be negative, nor need a huge common denominator")
    total = sum_exactly(exact.values())
    if total != 1:
        raise TaskError(f"{where}: the probabilities sum to {total}; they must sum to 1")
    return make_belief(exact)


@final
class _Named:
    """The names of hypotheses where labels look for those of states."""

    kind: ClassVar[str] = "hidden"

    def __init__(self, states: tuple[str, ...]) -> None:
        self.states = states
        self.origin: tuple[str, ...] = ()
        self.index = {name: h for h, name in enumerate(states)}

    def state_named(self, name: str, where: str = "state") -> State:
        return find_name(name, self.index, where, "a hypothesis", TaskError)


def read_beliefs(value: object) -> Beliefs:
    """The table of beliefs of a problem file."""
    if not isinstance(value, Mapping) or not value:
        raise TaskError("[task] hypotheses: beliefs must be a table of beliefs by name")
    return Beliefs(cast("Mapping[str, Mapping[str, Number]]", value))
