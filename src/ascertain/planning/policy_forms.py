"""The forms of a policy as plain data, by the names of its question: what policy files and journals hold.

`docs/policies.md` describes them, `exported.py` says what they are. Whatever is read may come from anyone: every name
and number is looked up or bounded before it is used, and FileError says in a sentence what does not fit.
"""

from __future__ import annotations

from typing import Any, cast

from ascertain.errors import AscertainError, FileError
from ascertain.model.build import number_names
from ascertain.model.files.json_text import as_list, kind_of, named
from ascertain.planning.exported import Controller, Form, factors_of, listed
from ascertain.planning.given_tree import parse_tree
from ascertain.planning.sequential_tests import LevelwiseTest
from ascertain.policy.automaton import AbstractNodes
from ascertain.policy.plain import (
    NodeWords,
    as_ordered,
    fields,
    named_nodes,
    named_policy_data,
    parse_nodes,
    parse_numbered,
    parse_policy,
)
from ascertain.policy.product import Factor, Product
from ascertain.policy.slots import SlotTable
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task

MAX_ACTIONS = 10**6
"""The most actions that a file may allow a controller: a run of more would take days."""
READS_FACTOR = "an action that reads a factor of the question"
"""What the tests of factors ask."""


def policy_data(controller: Controller) -> dict[str, Any]:
    """The policy as plain data, by names."""
    question, form = controller.question, controller.form
    if isinstance(form, AbstractNodes):
        return named_policy_data(listed(question), form)
    if isinstance(form, SlotTable):
        return _slots_data(listed(question), form)
    names = question.model.actions
    if isinstance(form, LevelwiseTest):
        levels = [names[a] for a in form.actions], list(form.nominal), form.up, form.down, list(form.caps)
        return {"levels": dict(zip(("actions", "nominal", "up", "down", "caps"), levels, strict=True))}
    # Factors are mostly alike: a test stands once, and the order of the factors refers to it.
    tests: list[AbstractNodes] = []
    order: list[dict[str, Any]] = []
    for factor in form.factors:
        assert isinstance(factor.policy, AbstractNodes)
        if factor.policy not in tests:
            tests.append(factor.policy)
        order.append({"action": names[factor.actions[0]], "test": tests.index(factor.policy)})
    return {"tests": [_test_data(test) for test in tests], "order": order}


def _test_data(test: AbstractNodes) -> list[dict[str, Any]]:
    """The nodes of the test of one bit: it asks the one action that it has, and answers 0 or 1."""
    nodes = named_nodes(test, ("bit",), ("0", "1"), (0, 1))
    return [{key: value for key, value in node.items() if key != "action"} for node in nodes]


def _slots_data(task: Task, form: SlotTable) -> dict[str, Any]:
    """A table with slots: what a node asks or answers is a slot where slots stand for hypotheses."""
    readings, actions, labels = task.model.readings, task.model.actions, task.labels
    slots = range(len(form.slot_labels))
    data = named_nodes(form.nodes, slots if form.sensors else actions, readings, slots or labels)
    for node, moves in zip(data, form.moves, strict=False):  # there are none where nothing moves
        if moves and "next" in node:
            node["moves"] = {readings[y]: list(move) for y, move in sorted(moves.items())}
    held = {"labels": [labels[k] for k in form.slot_labels], "sensors": [actions[a] for a in form.sensors]}
    return {"most_actions": form.most_actions, **({"slots": held} if slots else {}), "nodes": data}


def parse_controller(data: object, question: Task | PlantTask, where: str) -> Controller:
    """The controller that plain data describes; FileError says what does not fit."""
    table = fields(data)
    try:
        return Controller(question, _parse_form(table, question, where))
    except FileError:
        raise
    except AscertainError as reason:
        raise FileError(f"{where}: {reason}") from None


def _parse_form(table: dict[str, Any], question: Task | PlantTask, where: str) -> Form:
    match sorted(table):
        case ["order", "tests"]:
            return _parse_product(table, question, where)
        case ["levels"]:
            return _parse_levels(table["levels"], question, where)
        case ["tree"]:
            return parse_tree(table["tree"], listed(question), where)
        case ["most_actions", "nodes"] | ["most_actions", "nodes", "slots"]:
            return _parse_slots(table, listed(question), where)
        case ["nodes"]:
            nodes = as_list(table["nodes"], f"{where}: nodes", "a list of nodes")
            numbered = any("ask" in fields(node) for node in nodes)
            return (parse_numbered if numbered else parse_policy)(table, listed(question), where)
        case _:
            raise FileError(
                f'{where}: a policy has a list "nodes", perhaps with "most_actions" and "slots"; or "tests" and '
                '"order"; or "levels"; or "tree"'
            )


def _parse_slots(table: dict[str, Any], task: Task, where: str) -> SlotTable:
    most = _number(table["most_actions"], MAX_ACTIONS, f"{where}: most_actions")
    actions, labels = number_names(task.model.actions), number_names(task.labels)
    readings = number_names(task.model.readings)
    if "slots" not in table:
        return SlotTable(parse_nodes(table["nodes"], NodeWords(actions, readings, labels), where), most)
    slots = _object(table["slots"], {"labels", "sensors"}, f"{where}: slots")
    held = _find_all(labels, slots["labels"], f"{where}: slots: labels", "a label", "a list of labels")
    sensors = _find_all(actions, slots["sensors"], f"{where}: slots: sensors", "an action", "a list of actions")
    if not held:
        raise FileError(f"{where}: slots: labels: at least one slot is needed, with the label of its hypothesis")
    places = number_names(range(len(held)))
    nodes = as_list(table["nodes"], f"{where}: nodes", "a list of nodes")
    moves = [_parse_moves(node, readings, f"{where}: node {v}") for v, node in enumerate(nodes)]
    bare = [{k: x for k, x in fields(node).items() if k != "moves"} for node in nodes]
    words = NodeWords(places if sensors else actions, readings, places)
    return SlotTable(
        parse_nodes(bare, words, where), most, tuple(held), tuple(sensors), tuple(moves) if any(moves) else ()
    )


def _parse_moves(node: object, readings: dict[str, int], where: str) -> dict[int, tuple[int, ...]]:
    given: object = fields(node).get("moves", {})
    if not isinstance(given, dict):
        raise FileError(f"{where}: moves is {kind_of(given)}; an object by reading was expected")
    found: dict[int, tuple[int, ...]] = {}
    for reading, move in cast("dict[str, Any]", given).items():
        slots = as_list(move, f"{where}: the move after {named(reading)}", "a list of slots")
        if not all(type(j) is int for j in slots):
            raise FileError(f"{where}: the move after {named(reading)} must list numbers of slots")
        found[_find(readings, reading, where, "a reading")] = tuple(slots)
    return found


def _parse_product(table: dict[str, Any], question: Task | PlantTask, where: str) -> Product:
    """Tests of the factors of the question, each factor once, in any order."""
    factors = factors_of(question)
    words = NodeWords({"bit": 0}, {"0": 0, "1": 1}, {0: 0, 1: 1})
    tests: list[AbstractNodes] = []
    for k, nodes in enumerate(as_list(table["tests"], f"{where}: tests", "a list of tests")):
        spot = f"{where}: test {k}"
        bare = [fields(node) for node in as_list(nodes, spot, "a list of nodes")]
        asked = [{"action": "bit", **node} if "next" in node else node for node in bare]
        tests.append(as_ordered(parse_nodes(asked, words, spot)))
    reads = number_names(question.model.actions[a] for a in factors.actions)
    parts: dict[int, Factor] = {}
    for k, entry in enumerate(as_list(table["order"], f"{where}: order", "a list of factors")):
        spot = f"{where}: factor {k}"
        given = _object(entry, {"action", "test"}, spot)
        i = _find(reads, given["action"], spot, READS_FACTOR)
        if i in parts:
            raise FileError(f"{spot}: {named(given['action'])} is read twice; each factor has one test")
        test = tests[_number(given["test"], len(tests) - 1, f"{spot}: test")]
        bit = factors.one_bit(factors.costs[i])
        nominal = factors.nominal[i] if factors.asks == "nominal" else None
        parts[i] = Factor(bit, test, (factors.actions[i],), (0, 1), nominal)
    if len(parts) < len(factors.actions):
        missing = next(name for name, i in reads.items() if i not in parts)
        raise FileError(f"{where}: no test reads {named(missing)}; each factor of the question needs one")
    # Answers of a product are numbered by the order of its factors, and those of the question by its own.
    return Product(tuple(parts[i] for i in sorted(parts)))


def _parse_levels(data: object, question: Task | PlantTask, where: str) -> LevelwiseTest:
    factors, spot = factors_of(question), f"{where}: levels"
    given = _object(data, {"actions", "nominal", "up", "down", "caps"}, spot)
    reads = number_names(question.model.actions[a] for a in factors.actions)
    order = _find_all(reads, given["actions"], spot, READS_FACTOR, "a list of actions")
    if factors.asks != "nominal" or sorted(order) != list(range(len(reads))):
        raise FileError(f"{spot}: levels are for questions nominal or not, and read each factor of the question once")
    nominal = [_number(value, 1, f"{spot}: nominal") for value in as_list(given["nominal"], spot, "a list of bits")]
    if nominal != [factors.nominal[i] for i in order]:
        raise FileError(f"{spot}: nominal: these are not the values that are nominal in this question")
    caps = [_number(cap, MAX_ACTIONS, f"{spot}: caps") for cap in as_list(given["caps"], spot, "a list of numbers")]
    up, down = (_number(given[key], 1000, f"{spot}: {key}") for key in ("up", "down"))
    if min(up, down, *caps, 1) < 1:
        raise FileError(f"{spot}: up, down and caps must be at least 1")
    return LevelwiseTest(factors.flip, tuple(factors.actions[i] for i in order), tuple(nominal), up, down, tuple(caps))


def _object(value: object, keys: set[str], where: str) -> dict[str, Any]:
    if not isinstance(value, dict) or set(cast("dict[str, Any]", value)) != keys:
        raise FileError(f"{where}: an object with {', '.join(sorted(keys))} is needed, and with nothing else")
    return cast("dict[str, Any]", value)


def _number(value: object, most: int, where: str) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise FileError(f"{where}: {named(value)} is not a number from 0 to {most}")
    return value


def _find_all(known: dict[Any, int], names: object, where: str, what: str, expected: str) -> list[int]:
    return [_find(known, name, where, what) for name in as_list(names, where, expected)]


def _find(known: dict[Any, int], name: object, where: str, what: str) -> int:
    if not isinstance(name, str) or name not in known:
        raise FileError(f"{where}: {named(name)} is not {what} of the question")
    return known[name]
