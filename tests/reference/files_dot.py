"""Slow, obvious readers of .dot: by lines for files that hold one statement a line, and by Graphviz for all others."""

from __future__ import annotations

from typing import Any

from ascertain.model import Machine

Transitions = set[tuple[str, str, str, str]]
"""State, action, reading, next state."""


def transitions_of(machine: Machine) -> Transitions:
    """What a machine does, by names."""
    return {
        (machine.states[s], machine.actions[a], machine.readings[machine.output[s, a]], machine.states[t])
        for s in range(machine.num_states)
        for a in range(machine.num_actions)
        if (t := int(machine.successor[s, a])) >= 0
    }


def read_by_lines(text: str) -> tuple[set[str], Transitions, set[str]]:
    """States, transitions and initial states of a file with one plain statement a line."""
    states: set[str] = set()
    transitions: Transitions = set()
    initial: set[str] = set()
    for line in text.splitlines():
        statement = line.strip().rstrip(";")
        if not statement or statement.startswith(("digraph", "}", "label=")):
            continue
        what, _, attributes = statement.partition("[")
        nodes = [node.strip().strip('"') for node in what.split("->")]
        states |= {node for node in nodes if not node.startswith("__start")}
        if nodes[0].startswith("__start"):
            initial |= set(nodes[1:])
        elif len(nodes) == 2:
            action, reading = attributes.split('label="')[1].split('"')[0].split("/", 1)
            transitions.add((nodes[0], action.strip(), reading.strip(), nodes[1]))
    return states, transitions, initial


def read_by_graphviz(pygraphviz: Any, text: str) -> tuple[set[str], list[tuple[str, str, str]]]:
    """Nodes, and edges with their labels, as Graphviz reads a digraph."""
    graph = pygraphviz.AGraph(string=text)
    edges = [(str(edge[0]), str(edge[1]), str(edge.attr["label"] or "")) for edge in graph.edges_iter()]
    nodes = {str(node) for node in graph.nodes_iter()}
    graph.close()
    return nodes, sorted(edges)
