"""The canonical JSON form of a task: what certificates are checked against.

UTF-8, keys sorted, no spaces, no floats: a number is an integer, a rational is a string "p/q" in lowest terms ("p" when
q is 1), and an undefined entry of a table is null. Two tasks are the same exactly when these bytes are.
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Any

from ascertain.errors import TaskError
from ascertain.model import BooleanPlant, Machine, Model
from ascertain.model.hidden import Belief, HiddenModel, JointLaw
from ascertain.task.hidden_task import HiddenTask
from ascertain.task.plant_task import BitsRule, ExpressionRule, LabelRule, NominalRule, PlantTask, Question, StateRule
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, IntArray

FORMAT = "ascertain-task"
VERSION = 1


def canonical_bytes(data: object) -> bytes:
    """Canonical JSON of plain data, without a final newline; not all that a file can hold has such a form."""
    try:
        return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise TaskError(
            f"a name holds {half!a}, half of a surrogate pair, which is not a character; tasks, journals and "
            "certificates are UTF-8, so rename it"
        ) from None
    except (ValueError, RecursionError):
        raise TaskError("an infinite number, or data nested too deeply, has no canonical form; write neither") from None


def task_data(task: Question) -> dict[str, Any]:
    """The task as plain data: dictionaries, lists, strings and integers."""
    if isinstance(task, HiddenTask):
        return _hidden_task_data(task)
    return _listed_data(task) if isinstance(task, Task) else _plant_task_data(task)


def _listed_data(task: Task) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": model_data(task.model),
        "hypotheses": [[int(s), int(k)] for s, k in zip(task.state, task.label, strict=True)],
        "labels": list(task.labels),
        "cost": [str(c) for c in task.cost],
        "alpha": str(task.alpha),
        "beta": str(task.beta),
        "current": None if task.state_label is None else [int(k) for k in task.state_label],
    }


def _plant_task_data(task: PlantTask) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": plant_data(task.plant),
        "hypotheses": None if task.states is None else list(task.states),
        "label": rule_data(task.rule),
        "about": task.about,
        "actions": list(task.actions),
        "never": list(task.never),
        "cost": [str(c) for c in task.cost],
        "alpha": str(task.alpha),
        "beta": str(task.beta),
    }


def _hidden_task_data(task: HiddenTask) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": hidden_data(task.model),
        "hypotheses": [
            [name, _belief_data(belief), k] for name, belief, k in zip(task.name, task.belief, task.label, strict=True)
        ],
        "labels": list(task.labels),
        "cost": [str(c) for c in task.cost],
        "alpha": str(task.alpha),
        "beta": str(task.beta),
    }


def _belief_data(belief: Belief) -> list[list[Any]]:
    return [[s, str(p)] for s, p in belief]


def hidden_data(model: HiddenModel) -> dict[str, Any]:
    """A hidden model: its joint laws, each listed once in order of appearance, and which one holds where."""
    number: dict[JointLaw, int] = {}
    table = [[number.setdefault(law, len(number)) if law else None for law in row] for row in model.joint]
    return {
        "kind": model.kind,
        "states": list(model.states),
        "actions": list(model.actions),
        "readings": list(model.readings),
        "law": table,
        "laws": [[[t, y, str(p)] for t, y, p in law] for law in number],
    }


def plant_data(plant: BooleanPlant) -> dict[str, Any]:
    """A Boolean plant: each command is [name, gates, tap], each gate [operation, target, sources...]."""
    return {
        "kind": plant.kind,
        "bits": list(plant.bits),
        "commands": [
            [c.name, [[gate.op, gate.target, *gate.sources] for gate in c.gates], c.tap] for c in plant.commands
        ],
        "flip": str(plant.flip),
    }


def rule_data(rule: LabelRule) -> list[Any]:
    """A rule of labels; an expression is its postfix program, where a number pushes that bit."""
    match rule:
        case StateRule():
            return ["state"]
        case BitsRule(bits):
            return ["bits", list(bits)]
        case ExpressionRule(expression):
            return ["expression", list(expression.program)]
        case NominalRule(state):
            return ["nominal", state]


def model_data(model: Model) -> dict[str, Any]:
    """The part of a model that bears on a task: names and tables; initial states and origins do not."""
    data: dict[str, Any] = {
        "kind": model.kind,
        "states": list(model.states),
        "actions": list(model.actions),
        "readings": list(model.readings),
        "successor": _rows(model.successor),
    }
    if isinstance(model, Machine):
        return data | {"output": _rows(model.output)}
    laws = [[[y, str(p)] for y, p in law] for law in model.laws]
    return data | {"law": _rows(model.law), "laws": laws}


def _rows(table: IntArray) -> list[list[int | None]]:
    return [[None if x == UNDEFINED else x for x in row] for row in table.tolist()]


def task_hash(task: Question) -> str:
    """SHA-256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical_bytes(task_data(task))).hexdigest()


def fraction_text(value: Fraction | None) -> str:
    """A rational as results print it; None stands for infinity."""
    return "inf" if value is None else str(value)
