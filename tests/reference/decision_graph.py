"""A slow and obvious reader of decision graphs: by the rules of the tool that they are for, line by line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

NODE = re.compile(r"^\s*(\w+)\s*\[([^\]]+)\]")
EDGE = re.compile(r"^\s*(\w+)\s*->\s*(\w+)\s*\[([^\]]+)\]")
LABEL = re.compile(r'label\s*=\s*"((?:[^\\"]|\\.)*)"')


@dataclass
class Graph:
    root: str
    edges: dict[str, dict[str, str]] = field(default_factory=dict[str, "dict[str, str]"])
    models: dict[str, list[str]] = field(default_factory=dict[str, "list[str]"])


def label_of(attributes: str) -> str:
    found = LABEL.search(attributes)
    assert found is not None
    return found[1].replace('\\"', '"').replace("\\\\", "\\")


def read_graph(text: str) -> Graph:
    """The first node that no edge leads to is the root; boxes are leaves."""
    edges: dict[str, dict[str, str]] = {}
    models: dict[str, list[str]] = {}
    nodes, reached = list[str](), set[str]()
    for line in text.split("\n"):
        if edge := EDGE.match(line):
            edges.setdefault(edge[1], {})[label_of(edge[3])] = edge[2]
            reached.add(edge[2])
        elif (node := NODE.match(line)) and node[1] not in ("node", "edge", "graph"):
            nodes.append(node[1])
            if re.search(r"shape\s*=\s*box", node[2]):
                models[node[1]] = [name.strip() for name in label_of(node[2]).split(",") if name.strip()]
    return Graph(next(node for node in nodes if node not in reached), edges, models)


def identify(graph: Graph, send: Callable[[str], str], reset: Callable[[], None]) -> list[str] | None:
    """The models of the leaf that a system leads to; None where it reads what the graph does not know."""
    node = graph.root
    while node in graph.edges:
        [(said, after)] = graph.edges[node].items()
        if said == "reset":
            reset()
            node = graph.edges[after][""]
            continue
        reading, known = send(said), graph.edges[after]
        following = known.get(reading, known.get("other"))
        if following is None:
            return None
        node = following
    return graph.models[node]
