"""A policy as plain data, by name: what `ascertain solve --json` prints and `ascertain simulate` reads.

    {"nodes": [{"action": "gauge", "next": {"low": 1, "high": 2}}, {"answer": "tight"}, {"answer": "leak1"}]}

Node 0 is the root; children come after their parents.
"""

from __future__ import annotations

from typing import Any, cast

from ascertain.errors import AscertainError, FileError
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.task.task import Task


def named_policy_data(task: Task, policy: Automaton) -> dict[str, Any]:
    """The policy by the names of the task."""
    return {"nodes": [_node_data(task, policy, v) for v in range(policy.size)]}


def _node_data(task: Task, policy: Automaton, v: int) -> dict[str, Any]:
    if policy.action[v] == NOWHERE:
        return {"answer": None if policy.label[v] == NOWHERE else task.labels[policy.label[v]]}
    following = {task.model.readings[y]: child for y, child in sorted(policy.children[v].items())}
    return {"action": task.model.actions[policy.action[v]], "next": following}


def parse_policy(data: object, task: Task, where: str) -> Automaton:
    """The policy that plain data describes; FileError names the node that does not fit."""
    nodes = cast(dict[str, Any], data).get("nodes") if isinstance(data, dict) else None
    if not isinstance(nodes, list):
        raise FileError(f'{where}: a policy is an object with a list "nodes"')
    reading_of = {name: y for y, name in enumerate(task.model.readings)}
    parsed = [
        _parse_node(node, task, reading_of, f"{where}: node {v}") for v, node in enumerate(cast(list[Any], nodes))
    ]
    try:
        action, label, children = zip(*parsed, strict=True) if parsed else ((), (), ())
        return Automaton(action, label, children).named(task)
    except AscertainError as reason:
        raise FileError(f"{where}: {reason}") from None


def _parse_node(node: object, task: Task, reading_of: dict[str, int], where: str) -> tuple[int, int, dict[int, int]]:
    table = cast(dict[str, Any], node) if isinstance(node, dict) else {}
    if set(table) == {"answer"}:
        label = table["answer"]
        if label is not None and label not in task.labels:
            raise FileError(f"{where}: {label!r} is not a label of the task")
        return NOWHERE, NOWHERE if label is None else task.labels.index(label), {}
    if set(table) != {"action", "next"} or not isinstance(table["next"], dict):
        raise FileError(f'{where}: either "answer", or "action" and "next", is needed')
    if table["action"] not in task.model.actions:
        raise FileError(f"{where}: {table['action']!r} is not an action of the model")
    children: dict[int, int] = {}
    for reading, child in cast(dict[str, Any], table["next"]).items():
        if reading not in reading_of:
            raise FileError(f"{where}: {reading!r} is not a reading of the model")
        if type(child) is not int:
            raise FileError(f"{where}: the node after {reading!r} must be a number")
        children[reading_of[reading]] = child
    return task.model.actions.index(table["action"]), NOWHERE, children
