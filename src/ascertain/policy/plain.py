"""A policy table as plain data: by name, as files and `ascertain solve --json` have it, and by number, as certificates.

    {"nodes": [{"action": "gauge", "next": {"low": 1, "high": 2}}, {"answer": "tight"}, {"answer": "leak1"}]}
    {"nodes": [{"ask": 0, "next": {"0": 1, "1": 2}}, {"answer": 0}, {"answer": 1}]}

Node 0 is the root. A node that answers null abstains, and so does a reading that is not listed. Where children come
after their parents every walk ends, and the policy is an `Automaton`; else it is a `PolicyTable`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, final

from ascertain.errors import AscertainError, FileError
from ascertain.model.build import number_names
from ascertain.model.files.json_text import named, near
from ascertain.policy.automaton import NOWHERE, AbstractNodes, Automaton, PolicyTable
from ascertain.task.task import Task


def named_policy_data(task: Task, policy: AbstractNodes) -> dict[str, Any]:
    """The policy by the names of the task."""
    return {"nodes": named_nodes(policy, task.model.actions, task.model.readings, task.labels)}


def named_nodes(
    policy: AbstractNodes, actions: Sequence[Any], readings: Sequence[str], labels: Sequence[Any]
) -> list[dict[str, Any]]:
    """The nodes by what their actions, readings and labels are called; an answer of None abstains."""
    return [
        {"action": actions[asked], "next": {readings[y]: child for y, child in sorted(after.items())}}
        if asked != NOWHERE
        else {"answer": None if said == NOWHERE else labels[said]}
        for asked, said, after in zip(policy.action, policy.label, policy.children, strict=True)
    ]


def numbered_data(table: AbstractNodes) -> dict[str, Any]:
    """The policy by number, as certificates and journals have it; an answer of None abstains."""
    return {"nodes": [_number_node(table, v) for v in range(table.size)]}


def _number_node(table: AbstractNodes, v: int) -> dict[str, Any]:
    if table.action[v] != NOWHERE:
        return {"ask": int(table.action[v]), "next": {str(y): int(child) for y, child in table.children[v].items()}}
    return {"answer": None if table.label[v] == NOWHERE else int(table.label[v])}


def parse_policy(data: object, task: Task, where: str) -> Automaton | PolicyTable:
    """The policy that plain data describes by name; FileError names the node that does not fit."""
    words = NodeWords(number_names(task.model.actions), number_names(task.model.readings), number_names(task.labels))
    return as_ordered(parse_nodes(fields(data).get("nodes"), words, where)).named(task)


def parse_numbered(data: object, task: Task, where: str) -> Automaton | PolicyTable:
    """The policy that plain data describes by number, as `numbered_data` writes it."""
    model = task.model
    actions, labels = number_names(range(model.num_actions)), number_names(range(len(task.labels)))
    readings = number_names(str(y) for y in range(len(model.readings)))
    words = NodeWords(actions, readings, labels, asks="ask")
    return as_ordered(parse_nodes(fields(data).get("nodes"), words, where)).named(task)


def as_ordered(table: PolicyTable) -> Automaton | PolicyTable:
    """The same policy; as an automaton where it never goes back."""
    return Automaton(table.action, table.label, table.children, names=table.names) if table.is_ordered else table


def fields(value: object) -> dict[str, Any]:
    """The fields of an object; none where it is none, which is then said by whoever misses them."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


@final
@dataclass(frozen=True)
class NodeWords:
    """What the nodes of a table may say, each with its number, and under which key they ask."""

    actions: Mapping[Any, int]
    readings: Mapping[str, int]
    labels: Mapping[Any, int]
    asks: str = "action"

    def find(self, kind: str, known: Mapping[Any, int], word: object, where: str) -> int:
        # Not `word in known` alone: True would be found as 1, and a list cannot be looked for.
        if type(word) not in (str, int) or word not in known:
            hint = near(word, (str(k) for k in known)) if isinstance(word, str) else ""
            raise FileError(f"{where}: {named(word)} is not {kind}{hint}")
        return known[word]


def parse_nodes(data: object, words: NodeWords, where: str) -> PolicyTable:
    """The table that a list of nodes describes; FileError names the node that does not fit."""
    if not isinstance(data, list) or not data:
        raise FileError(f'{where}: a policy is an object with a list "nodes", which has at least one')
    nodes = cast("list[Any]", data)
    parsed = [_parse_node(node, words, len(nodes), f"{where}: node {v}") for v, node in enumerate(nodes)]
    action, label, children = zip(*parsed, strict=True)
    try:
        return PolicyTable(action, label, children)
    except AscertainError as reason:
        raise FileError(f"{where}: {reason}") from None


def _parse_node(node: object, words: NodeWords, size: int, where: str) -> tuple[int, int, dict[int, int]]:
    table = fields(node)
    if set(table) == {"answer"}:
        label = table["answer"]
        return NOWHERE, NOWHERE if label is None else words.find("a label of the task", words.labels, label, where), {}
    if set(table) != {words.asks, "next"} or not isinstance(table["next"], dict):
        raise FileError(f'{where}: either "answer", or "{words.asks}" and "next", is needed')
    action = words.find("an action of the model", words.actions, table[words.asks], where)
    children: dict[int, int] = {}
    for reading, child in cast("dict[str, Any]", table["next"]).items():
        y = words.find("a reading of the model", words.readings, reading, where)
        if type(child) is not int or not 0 <= child < size:
            raise FileError(f"{where}: the node after {named(reading)} must be a number from 0 to {size - 1}")
        children[y] = child
    return action, NOWHERE, children
