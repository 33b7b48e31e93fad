"""Models written as JSON, in the schema that `json_model` describes: all names listed, then one line a transition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ascertain.model.files.json_text import dump_line
from ascertain.model.hidden import HiddenModel
from ascertain.model.machine import Machine
from ascertain.model.noisy import Law, NoisyMachine
from ascertain.types import UNDEFINED

FORMAT = "ascertain-model"
"""What the key `format` holds, so that a file of another program is not taken for one of ours."""
VERSION = 1
"""Grows when the schema changes its meaning."""


def write_json(model: Machine | NoisyMachine | HiddenModel) -> str:
    """The text of a JSON file that reads back as the same model."""
    fields: dict[str, object] = {"format": FORMAT, "version": VERSION}
    names = {"states": model.states, "actions": model.actions, "readings": model.readings}
    if isinstance(model, HiddenModel):
        initial = [{model.states[s]: str(p) for s, p in belief} for belief in model.initial]
        fields |= {"kind": model.kind, **names, "initial": initial}
        rows = _hidden_transitions(model)
    else:
        fields |= {**names, "initial": [model.states[s] for s in model.initial]}
        if model.origin:
            fields["origin"] = model.origin
        if isinstance(model, NoisyMachine) and not _laws_appear_in_order(model):
            fields["laws"] = [_law_table(model, law) for law in model.laws]
        rows = _transitions(model)
    head = "".join(f"  {dump_line(key)}: {dump_line(value)},\n" for key, value in fields.items())
    listed = ",".join(f"\n    {dump_line(row)}" for row in rows)
    return f'{{\n{head}  "transitions": [{listed}\n  ]\n}}\n'


def _transitions(model: Machine | NoisyMachine) -> Iterator[list[Any]]:
    for s, a in np.argwhere(model.successor != UNDEFINED).tolist():
        k, t = int(model.behaviour[s, a]), int(model.successor[s, a])
        reading = model.readings[k] if isinstance(model, Machine) else _law_table(model, model.laws[k])
        yield [model.states[s], model.actions[a], reading, model.states[t]]


def _hidden_transitions(model: HiddenModel) -> Iterator[list[Any]]:
    for s, row in enumerate(model.joint):
        for a, law in enumerate(row):
            if law:
                ends = [[model.states[t], model.readings[y], str(p)] for t, y, p in law]
                yield [model.states[s], model.actions[a], ends]


def _law_table(model: NoisyMachine, law: Law) -> dict[str, str]:
    return {model.readings[y]: str(p) for y, p in law}


def _laws_appear_in_order(model: NoisyMachine) -> bool:
    """Whether a reader numbers the laws as the model does; one without transitions is marked as noisy by its laws."""
    shown = list(dict.fromkeys(model.law[model.law != UNDEFINED].tolist()))
    return bool(shown) and shown == list(range(len(model.laws)))
