"""Pose a question about a Boolean plant whose states are not listed: from names and numbers to a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, cast

from ascertain.errors import TaskError
from ascertain.model.boolean import BooleanPlant
from ascertain.model.expression import parse_expression
from ascertain.problem.pose import costs_and_risks
from ascertain.rational import Number
from ascertain.task.labels import LabelSpec
from ascertain.task.plant_task import BitsRule, ExpressionRule, LabelRule, NominalRule, PlantTask, StateRule
from ascertain.task.question import About


def pose_plant(
    plant: BooleanPlant,
    *,
    hypotheses: Literal["all"] | Sequence[str] = "all",
    label: LabelSpec = "state",
    about: About = "start",
    actions: Sequence[str] | None = None,
    cost: Mapping[str, Number] | None = None,
    default_cost: Number = 1,
    never: Sequence[str] = (),
    alpha: Number = 0,
    beta: Number = 0,
) -> PlantTask:
    """The question of `pose`, about a Boolean plant that is not enumerated."""
    if hypotheses != "all" and (isinstance(hypotheses, str) or not isinstance(hypotheses, Sequence)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TaskError(f'hypotheses: {hypotheses!r} is not understood here; write "all" or a list of states')
    listed = None if hypotheses == "all" else dict.fromkeys(plant.state_named(z, "hypotheses") for z in hypotheses)
    names = plant.actions if actions is None else actions
    return PlantTask(
        model=plant,
        rule=read_rule(plant, label),
        about=about,
        states=None if listed is None else tuple(listed),
        actions=tuple(dict.fromkeys(plant.action_named(name, "actions") for name in names)),
        never=tuple(dict.fromkeys(plant.state_named(z, "safety: never") for z in never)),
        **costs_and_risks(plant, cost, default_cost, alpha, beta),
    )


def read_rule(plant: BooleanPlant, spec: LabelSpec) -> LabelRule:
    """The rule that a label specification states, if it is one of those that need no list of states."""
    if spec == "state":
        return StateRule()
    if isinstance(spec, Mapping) and len(table := cast("Mapping[str, object]", spec)) == 1:
        word, value = next(iter(table.items()))
        if word == "bits" and isinstance(value, list | tuple):
            names = cast("Sequence[object]", value)
            return BitsRule(tuple(plant.bit_named(str(name), "label: bits") for name in names))
        if word == "expression" and isinstance(value, str):
            return ExpressionRule(parse_expression(value, plant.bits, "label: expression"))
        if word == "nominal" and isinstance(value, str):
            return NominalRule(plant.state_named(value, "label: nominal"))
    raise TaskError(
        f'label: {spec!r} is not for a plant whose states are not listed; write "state" or a table with one of '
        "bits, expression, nominal"
    )
