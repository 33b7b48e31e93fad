"""Machines in .dot files, the format of LearnLib, AALpy and the automata wiki, in every dialect that occurs.

A node is a state, named by its id and not by its label. An edge is a transition, or several: `dot_labels` says how
inputs and readings are written. States, actions and readings are numbered in the order in which they first appear.
The edge from a pseudo-node, which is no state, marks an initial state. A pseudo-node is called `__start...`, or is
drawn as nothing or a point and has only edges without a label, from it. Where there is none, the initial state is the
only red node, and where there is no such node either, the source of the first transition.

What the format cannot say stands in an attribute `ascertain`, which Graphviz carries along (all but empty names): on a
node the name of the state, as a JSON string, where the id cannot be the name; on the graph a JSON object with any of

    actions, readings    names in their order, also those that no transition uses
    initial              always [], when there is no initial state
    origin               an object that names, for each state, the machine it came from

What is written is for Graphviz, LearnLib and AALpy where names are plain, and without loss for every name. Nodes stand
in the order of the states, edges in the order of states and actions. A plain transition has the label `input/output`, a
plain state its name as id. A name is plain when it is printable, has no backslash and no space at either end; an input
must also have no slash, and a state must not be called like a pseudo-node, nor begin with "%", which Graphviz takes as
no name. Attributes `ascertain` are written only where they are needed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, cast, final

import numpy as np

from ascertain.errors import FileError, ModelError
from ascertain.model.build import machine_from_cells, number_names
from ascertain.model.files import Format, Read, check_size
from ascertain.model.files.dot_labels import LabelError, json_text, read_pairs
from ascertain.model.files.dot_syntax import KEYWORDS, Attributes, Digraph, id_text, parse_graph
from ascertain.model.files.json_text import decode_or_refuse, dump_line
from ascertain.model.machine import Machine

DRAWN_AS_NOTHING = frozenset({"none", "point", "plain", "plaintext"})
"""Shapes that the tools which write .dot give to the node before an initial state."""
BARE = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
"""Names that DOT needs no quotes for."""


def parse_dot(text: str, name: str) -> Machine:
    """The machine in the text of a .dot file; `name` begins every error message."""
    try:
        return _Builder(parse_graph(text, name)).machine()
    except ModelError as error:
        raise FileError(f"{name}: {error}") from None


@final
class _Builder:
    """The numbering of states, actions and readings, and the transitions as rows of four numbers."""

    def __init__(self, graph: Digraph) -> None:
        self.graph = graph
        extras = _read_extras(graph)
        self.no_initial = "initial" in extras
        self.origin: dict[str, str] = extras.get("origin", {})
        self.action = number_names(extras.get("actions", ()))
        self.reading = number_names(extras.get("readings", ()))
        self.starts = _find_starts(graph)
        self.state = number_names(node for node in graph.nodes if node not in self.starts)
        self.initial: dict[int, int] = {}
        self.rows: list[tuple[int, int, int, int]] = []
        self.offsets: list[int] = []
        """Where each row stands in the text."""

    def machine(self) -> Machine:
        self.read_edges()
        self.check_something()
        check_size(self.graph.where, len(self.state), len(self.action))
        states = tuple(self.name_of(node) for node in self.state)
        rest = {"initial": self.find_initial(), "origin": self.origins(states)}
        machine = machine_from_cells(states, self.action, self.reading, self.rows, **rest)
        # Where two rows are about one cell, fewer cells are filled than there are rows.
        if np.count_nonzero(machine.defined) < len(self.rows):
            self.fail_on_repetition()
        return machine

    def read_edges(self) -> None:
        """Number what the labels say, each spelling of attributes once, in the order of the text."""
        state, starts, rows, offsets = self.state, self.starts, self.rows, self.offsets
        known: dict[int, list[tuple[int, int]]] = {}
        for tail, head, attributes, offset in self.graph.edges:
            if tail in starts or head in starts:
                self.mark_initial(head, offset)
                continue
            pairs = known.get(id(attributes))
            if pairs is None:
                pairs = known[id(attributes)] = self.number_pairs(tail, head, attributes, offset)
            s, t = state[tail], state[head]
            for a, y in pairs:
                rows.append((s, a, y, t))
                offsets.append(offset)
            if len(rows) > len(self.graph.edges):
                self.graph.check_number(len(rows), offset)

    def number_pairs(self, tail: str, head: str, attributes: Attributes, offset: int) -> list[tuple[int, int]]:
        action, reading = self.action, self.reading
        try:
            pairs = read_pairs(attributes)
        except LabelError as error:
            self.graph.fail(offset, str(error))
        if not pairs:
            self.graph.fail(offset, f"the edge from {tail!r} to {head!r} has no label; 'input / output' was expected")
        return [(action.setdefault(a, len(action)), reading.setdefault(y, len(reading))) for a, y in pairs]

    def mark_initial(self, head: str, offset: int) -> None:
        if head in self.starts:
            self.graph.fail(offset, f"the edge leads to {head!r}, which marks the initial state and is not a state")
        s = self.state[head]
        if s in self.initial:
            line = self.graph.line(self.initial[s])
            self.graph.fail(offset, f"state {head!r} is marked as initial again, after line {line}; once is enough")
        self.initial[s] = offset

    def find_initial(self) -> tuple[int, ...]:
        if self.initial or self.no_initial:
            return tuple(self.initial)
        red = [s for node, s in self.state.items() if _text(self.graph.nodes[node], "color").lower() == "red"]
        if len(red) == 1:
            return (red[0],)
        return (self.rows[0][0],) if self.rows else ()

    def name_of(self, node: str) -> str:
        name = self.graph.nodes[node].get("ascertain")
        try:
            return node if name is None else json_text(name)
        except LabelError as error:
            raise FileError(f"{self.graph.where}: node {node!r}: ascertain = {error}") from None

    def origins(self, states: tuple[str, ...]) -> tuple[str, ...]:
        if self.origin and set(self.origin) != set(states):
            odd = min(set(self.origin) ^ set(states))
            raise FileError(
                f"{self.graph.where}: origin must name exactly the states; {odd!r} is only in one of the two"
            )
        return tuple(self.origin[name] for name in states) if self.origin else ()

    def check_something(self) -> None:
        if not self.state:
            raise FileError(f"{self.graph.where}: the digraph has no state; a machine needs at least one")
        if not self.rows and not (self.action and self.reading):
            raise FileError(f"{self.graph.where}: the digraph has no transition; a machine needs at least one")

    def fail_on_repetition(self) -> NoReturn:
        """Name the first transition whose state and action were given before."""
        seen: dict[tuple[int, int], tuple[int, int, int]] = {}
        states, actions, readings = tuple(self.state), tuple(self.action), tuple(self.reading)
        for (s, a, y, t), offset in zip(self.rows, self.offsets, strict=True):
            if (s, a) not in seen:
                seen[s, a] = y, t, offset
                continue
            y0, t0, earlier = seen[s, a]
            what, line = f"action {actions[a]!r} in state {states[s]!r}", self.graph.line(earlier)
            if (y0, t0) == (y, t):
                self.graph.fail(offset, f"{what} is given again, after line {line}; each transition must stand once")
            self.graph.fail(
                offset,
                f"{what} leads to {states[t]!r} reading {readings[y]!r}, but on line {line} to {states[t0]!r} reading "
                f"{readings[y0]!r}; a machine has one transition for each state and action",
            )
        raise AssertionError("a repetition was counted, so one is found")


def _text(attributes: Attributes, key: str) -> str:
    return id_text(attributes.get(key, ""))


def _find_starts(graph: Digraph) -> set[str]:
    """The pseudo-nodes."""
    starts = {node for node in graph.nodes if node.startswith("__start")}
    hidden = {node for node, given in graph.nodes.items() if _text(given, "shape") in DRAWN_AS_NOTHING} - starts
    if hidden:
        bare = {tail for tail, _, given, _ in graph.edges if tail in hidden and not _is_labelled(given)}
        used = {head for _, head, _, _ in graph.edges}
        used |= {tail for tail, _, given, _ in graph.edges if tail in bare and _is_labelled(given)}
        starts |= bare - used
    return starts


def _is_labelled(attributes: Attributes) -> bool:
    return "input" in attributes or _text(attributes, "label").strip() != ""


def _read_extras(graph: Digraph) -> dict[str, Any]:
    """What the attribute `ascertain` of the graph says, checked."""
    if "ascertain" not in graph.attributes:
        return {}
    where = f"{graph.where}: the graph's attribute 'ascertain'"
    try:
        text = json_text(graph.attributes["ascertain"])
    except LabelError:
        text = ""  # what is no string of JSON is no JSON either
    extras = decode_or_refuse(text, where, "an object in a JSON string was expected")
    if not isinstance(extras, dict):
        raise FileError(f"{where} must hold an object with any of {', '.join(EXTRAS)}")
    for key, value in cast("dict[str, Any]", extras).items():
        if key not in EXTRAS:
            raise FileError(f"{where} has the key {key!r}; known are {', '.join(EXTRAS)}")
        if not EXTRAS[key][0](value):
            raise FileError(f"{where}: {key} must be {EXTRAS[key][1]}")
    return cast("dict[str, Any]", extras)


def _is_names(value: Any) -> bool:
    names = cast("list[Any]", value) if isinstance(value, list) else [None]
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(name, str) for name in cast("dict[str, Any]", value).values())


EXTRAS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "actions": (_is_names, "a list of different names"),
    "readings": (_is_names, "a list of different names"),
    "initial": (lambda value: value == [], "an empty list"),
    "origin": (_is_table, "an object from states to names"),
}
"""What the graph's attribute `ascertain` may hold, how it is checked, and what was expected."""


# ---------------------------------------------------------------------------------------------------------- writing


def write_dot(machine: Machine) -> str:
    """The text of a .dot file that reads back as the same machine."""
    return "".join(f"{line}\n" for line in _lines(machine))


def _lines(machine: Machine) -> Iterator[str]:
    ids = _node_ids(machine.states)
    yield "digraph g {"
    extras = _extras(machine)
    if extras:
        yield f"    ascertain={dump_line(json.dumps(extras, separators=(',', ':')))};"
    for node, name in zip(ids, machine.states, strict=True):
        own = "" if _is_plain_state(name) else f" ascertain={dump_line(name)}"
        yield f"    {node} [label={dump_line(name)}{own}];"
    for s, a, y, t in machine.cells():
        yield f"    {ids[s]} -> {ids[t]} [{_transition(machine.actions[a], machine.readings[y])}];"
    for k, s in enumerate(machine.initial):
        yield f'    __start{k} [label="" shape="none"];'
        yield f"    __start{k} -> {ids[s]};"
    yield "}"


def _transition(action: str, reading: str) -> str:
    label = f"label={dump_line(f'{action}/{reading}')}"
    if _is_plain(action) and "/" not in action and _is_plain(reading):
        return label
    return f"{label} input={dump_line(action)} output={dump_line(reading)}"


def _is_plain(name: str) -> bool:
    return name != "" and name.isprintable() and "\\" not in name and name == name.strip()


def _is_plain_state(name: str) -> bool:
    return _is_plain(name) and not name.startswith(("__start", "%"))


def _node_ids(states: tuple[str, ...]) -> list[str]:
    """An id for each state: its name where that is plain, else one that is free."""
    taken = set(states)
    return [_bare_or_quoted(name) if _is_plain_state(name) else _free_id(s, taken) for s, name in enumerate(states)]


def _bare_or_quoted(name: str) -> str:
    return name if BARE.fullmatch(name) and name.lower() not in KEYWORDS else dump_line(name)


def _free_id(s: int, taken: set[str]) -> str:
    node = f"state{s}"
    while node in taken:
        node += "_"
    taken.add(node)
    return node


def _extras(machine: Machine) -> dict[str, object]:
    """What a reader would get wrong from the nodes and edges alone."""
    extras: dict[str, object] = {}
    _, action = np.nonzero(machine.defined)
    shown = {"actions": action, "readings": machine.output[machine.defined]}
    for what, numbers in shown.items():
        # A reader numbers names as the transitions first show them.
        if list(dict.fromkeys(numbers.tolist())) != list(range(len(machine.names[what]))):
            extras[what] = list(machine.names[what])
    if not machine.initial:
        extras["initial"] = []
    if machine.origin:
        extras["origin"] = dict(zip(machine.states, machine.origin, strict=True))
    return extras


DOT = Format("DOT", (".dot", ".gv"), lambda text, where, _: Read(parse_dot(text, where)), write_dot, (Machine,))
"""Without noise only: the format has no place for probabilities."""
