"""Machines written as .dot: for Graphviz, LearnLib and AALpy where names are plain, and without loss for every name.

Nodes stand in the order of the states, edges in the order of states and actions. A plain transition has the label
`input/output`, a plain state its name as id. A name is plain when it is printable, has no backslash and no space at
either end; an input must also have no slash, and a state must not be called like a pseudo-node, nor begin with "%",
which Graphviz takes as no name. What is not plain, and what .dot cannot say, stands in attributes, described in `dot`;
they are written only where they are needed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import numpy as np

from ascertain.model.files.dot_tokens import KEYWORDS
from ascertain.model.machine import Machine
from ascertain.types import UNDEFINED, IntArray

BARE = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def write_dot(machine: Machine) -> str:
    """The text of a .dot file that reads back as the same machine."""
    return "".join(f"{line}\n" for line in _lines(machine))


def _lines(machine: Machine) -> Iterator[str]:
    ids = _node_ids(machine.states)
    yield "digraph g {"
    extras = _extras(machine)
    if extras:
        yield f"    ascertain={quote(json.dumps(extras, separators=(',', ':')))};"
    for node, name in zip(ids, machine.states, strict=True):
        own = "" if _is_plain_state(name) else f" ascertain={quote(name)}"
        yield f"    {node} [label={quote(name)}{own}];"
    for s, a in np.argwhere(machine.successor != UNDEFINED).tolist():
        t, y = int(machine.successor[s, a]), int(machine.output[s, a])
        yield f"    {ids[s]} -> {ids[t]} [{_transition(machine.actions[a], machine.readings[y])}];"
    for k, s in enumerate(machine.initial):
        yield f'    __start{k} [label="" shape="none"];'
        yield f"    __start{k} -> {ids[s]};"
    yield "}"


def quote(text: str) -> str:
    """A JSON string, which is always a DOT string too; only text that is not printable is spelled in ASCII."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _transition(action: str, reading: str) -> str:
    label = f"label={quote(f'{action}/{reading}')}"
    if _is_plain(action) and "/" not in action and _is_plain(reading):
        return label
    return f"{label} input={quote(action)} output={quote(reading)}"


def _is_plain(name: str) -> bool:
    return name != "" and name.isprintable() and "\\" not in name and name == name.strip()


def _is_plain_state(name: str) -> bool:
    return _is_plain(name) and not name.startswith(("__start", "%"))


def _node_ids(states: tuple[str, ...]) -> list[str]:
    """An id for each state: its name where that is plain, else one that is free."""
    taken = set(states)
    return [_bare_or_quoted(name) if _is_plain_state(name) else _free_id(s, taken) for s, name in enumerate(states)]


def _bare_or_quoted(name: str) -> str:
    return name if BARE.fullmatch(name) and name.lower() not in KEYWORDS else quote(name)


def _free_id(s: int, taken: set[str]) -> str:
    node = f"state{s}"
    while node in taken:
        node += "_"
    taken.add(node)
    return node


def _extras(machine: Machine) -> dict[str, object]:
    """What a reader would get wrong from the nodes and edges alone."""
    extras: dict[str, object] = {}
    if _appearing(machine.successor, None) != list(range(machine.num_actions)):
        extras["actions"] = list(machine.actions)
    if _appearing(machine.successor, machine.output) != list(range(len(machine.readings))):
        extras["readings"] = list(machine.readings)
    if not machine.initial:
        extras["initial"] = []
    if machine.origin:
        extras["origin"] = dict(zip(machine.states, machine.origin, strict=True))
    return extras


def _appearing(successor: IntArray, output: IntArray | None) -> list[int]:
    """The actions, or with a table the readings, in the order in which the transitions first show them."""
    cells = np.argwhere(successor != UNDEFINED)
    values = cells[:, 1] if output is None else output[cells[:, 0], cells[:, 1]]
    return list(dict.fromkeys(values.tolist()))
