"""An experiment as the decision graph that protocol-state-fuzzer identifies implementations with.

It is a graph of Graphviz in which inputs and outputs alternate. A node that sends has one edge, labelled with the
input; the node at its end has an edge for each output. A leaf is a box whose label lists the models, with commas
between. A reset is the input `reset` with the output "". An output without an edge means that it is none of the models;
an edge `other` would stand for all such outputs, so no reading may be called that.

Its reader takes the file line by line, and an attribute list ends at the first "]": names with such characters cannot
be written.
"""

from __future__ import annotations

from collections.abc import Sequence

from ascertain.drawing.outline import NOWHERE
from ascertain.drawing.tree import quoted
from ascertain.errors import FileError
from ascertain.policy.automaton import AbstractNodes
from ascertain.task.task import Task

OWN_RESET = "RESET"
"""What the action that leads back to the start is called here."""
RESET, NOTHING, OTHER = "reset", "", "other"
"""The input that resets, its output, and the output that stands for all others."""


def draw_decision_graph(task: Task, policy: AbstractNodes, models: Sequence[Sequence[str]]) -> str:
    """The text of the graph. `models` lists, for each label of the task, the models that share it. FileError where a
    name cannot be written."""
    # A node that asks is followed by the node that hears, so that v is number 2v and the other one 2v + 1.
    nodes, edges = list[str](), list[str]()
    for v in range(policy.size):
        if policy.action[v] == NOWHERE:
            names = [] if policy.label[v] == NOWHERE else sorted(models[policy.label[v]])
            listed = _write(", ".join(_check_model(name) for name in names))
            nodes.append(f"  n{2 * v} [label={listed} shape=box models={listed}]")
            continue
        action = task.model.actions[policy.action[v]]
        is_reset = action == OWN_RESET
        if action == RESET:
            raise FileError(f"the action {action!r} would be taken for the reset, which has this name there; rename it")
        nodes += [f'  n{2 * v} [label=""]', f'  n{2 * v + 1} [label=""]']
        edges.append(f"  n{2 * v} -> n{2 * v + 1} [label={_write(RESET if is_reset else action)}]")
        for y, child in policy.children[v].items():
            output = NOTHING if is_reset else _check_output(task.model.readings[y])
            edges.append(f"  n{2 * v + 1} -> n{2 * child} [label={_write(output)}]")
    return "\n".join(["digraph adg {", *nodes, "", *edges, "}"]) + "\n"


def _write(name: str) -> str:
    if "]" in name or not name.isprintable():
        raise FileError(
            f"{name[:60]!r} cannot stand in a decision graph, where neither ']' nor line ends may; rename it"
        )
    return quoted(name)


def _check_model(name: str) -> str:
    if "," in name or name != name.strip() or not name:
        raise FileError(
            f"the model {name[:60]!r} cannot stand in a decision graph, where commas part models; rename it"
        )
    return name


def _check_output(name: str) -> str:
    if name == OTHER:
        raise FileError(f"the reading {name!r} would be taken for all readings without a branch; rename it")
    return name
