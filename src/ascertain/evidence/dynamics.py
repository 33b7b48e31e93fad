"""What one state shows and where it goes, whatever kind of plant it is a state of; slow, exact and obvious."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ascertain.errors import TaskError
from ascertain.model import Model
from ascertain.model.boolean import BooleanPlant
from ascertain.model.hidden import HiddenModel
from ascertain.types import UNDEFINED, Action, Reading, State

AnyModel: TypeAlias = Model | BooleanPlant
"""A model whose transitions are deterministic."""
ObservedModel: TypeAlias = AnyModel | HiddenModel
"""Any model that a plant can be observed with."""


def num_states(model: AnyModel) -> int:
    return 1 << model.num_bits if isinstance(model, BooleanPlant) else model.num_states


def reading_law(model: AnyModel, state: State, action: Action) -> Mapping[Reading, Fraction]:
    """What is read with which probability; readings of probability zero are left out."""
    if not isinstance(model, BooleanPlant):
        return model.reading_law(state, action)
    _, tapped = model.step(state, action)
    law = {tapped: 1 - model.flip, 1 - tapped: model.flip}
    return {y: p for y, p in law.items() if p}


def next_state(model: AnyModel, state: State, action: Action) -> State:
    """Where the action leads; UNDEFINED where it is not defined."""
    if isinstance(model, BooleanPlant):
        return model.step(state, action)[0]
    return int(model.successor[state, action])


def possible_readings(model: ObservedModel, action: Action) -> tuple[Reading, ...]:
    """What the action gives in some state, with whatever probability."""
    if isinstance(model, BooleanPlant):
        return (0, 1)
    if isinstance(model, HiddenModel):
        return tuple(sorted({y for row in model.joint for _, y, _ in row[action]}))
    behaviours = np.unique(model.behaviour[:, action])
    example = {int(b): int(np.argmax(model.behaviour[:, action] == b)) for b in behaviours if b != UNDEFINED}
    return tuple(sorted({y for s in example.values() for y in model.reading_law(s, action)}))


def check_step(model: ObservedModel, action: Action, reading: Reading | None) -> None:
    """Refuse an action or a reading that the model does not have."""
    if not 0 <= action < len(model.actions):
        raise TaskError(f"action {action} is not one of the model's; they are 0 .. {len(model.actions) - 1}")
    if reading is not None and not 0 <= reading < len(model.readings):
        raise TaskError(f"reading {reading} is not one of the model's; they are 0 .. {len(model.readings) - 1}")
