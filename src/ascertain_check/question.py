"""The task, whichever kind of model it is about.

Every kind of task has a `kind`, its `sha256`, its `alpha`, and what the claim of a run needs: `num_actions`,
`num_readings`, the `actions` that an experiment may use, `num_candidates` (the candidates of a bank are indices below
it) and the `candidates` that are hypotheses.
"""

from __future__ import annotations

from typing import TypeAlias, cast

from ascertain_check.hidden_task import HiddenTask, read_hidden_task
from ascertain_check.plant_task import PlantTask, read_plant_task
from ascertain_check.reading import Object, read_map
from ascertain_check.task import Task, read_task

Question: TypeAlias = Task | PlantTask | HiddenTask


def read_question(value: object) -> Question:
    kind = find_kind(read_map(value, "the task"))
    if kind == "boolean":
        return read_plant_task(value)
    return read_hidden_task(value) if kind == "hidden" else read_task(value)


def find_kind(data: Object) -> object:
    """What the model says that it is; None where it is no object, which `read_task` then says."""
    model = data.get("model")
    return cast("Object", model).get("kind") if isinstance(model, dict) else None
