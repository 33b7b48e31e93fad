"""The graph of configurations as a Python object: it owns the arrays that the kernels write and lets them grow."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.kernels.search.graph import (
    CHILDREN,
    EDGES,
    MEMBERS,
    NODES,
    VISITS,
    ConfigurationGraph,
    Scratch,
    find_node,
    intern_node,
    rehash,
)
from ascertain.kernels.search.greedy import LONGEST_WORD
from ascertain.search.configuration import Arena, Member
from ascertain.types import Action, IntArray, LongArray, Reading

NO_WEIGHTS = np.empty(0, dtype=np.int64)
"""In place of the weights of members where costs are worst costs, which do not depend on weights."""


class SearchGraph:
    """Nodes, bounds and edges of the configurations met so far; node 0 is the start."""

    def __init__(self, arena: Arena, weight: Mapping[Member, int] | None = None) -> None:
        self.arena = arena
        self.mean = weight is not None
        self.start = {member: 1 if weight is None else weight[member] for member in arena.start}
        """The hypotheses with their weights: for worst costs all alike."""
        k = len(arena.start)
        room = max(4 * k, min(1024, 256 + 4 * k * arena.num_actions))
        self.data = _empty_graph(nodes=room, members=4 * room, edges=room, children=2 * room, mean=self.mean)
        self.scratch = Scratch(
            key=np.empty(k, dtype=np.int64),
            weight=np.ones(k, dtype=np.int64),
            code=np.empty(k, dtype=np.int32),
            rename=np.full(1 << arena.tables.bits, -1, dtype=np.int32),
            family=np.empty(k + 1, dtype=np.int32),
            trial=np.empty(k + LONGEST_WORD, dtype=np.int32),
        )
        self.stack = np.zeros((256, 2), dtype=np.int64)
        self.intern(self.start)

    @property
    def num_nodes(self) -> int:
        return int(self.data.used[NODES])

    @property
    def num_visits(self) -> int:
        return int(self.data.used[VISITS])

    @property
    def num_bytes(self) -> int:
        return sum(array.nbytes for array in self.data)

    def lower(self, node: int) -> int:
        return int(self.data.lower[node])

    def upper(self, node: int) -> int:
        return int(self.data.upper[node])

    def find(self, configuration: Mapping[Member, int]) -> int:
        """The node of a configuration, its members with their weights, or -1."""
        code, weights = self.encode(configuration)
        return find_node(self.data, self.mean, code, weights, len(code))[0]

    def encode(self, configuration: Mapping[Member, int]) -> tuple[IntArray, LongArray]:
        """The members as ascending integers, and for mean costs their weights in the same order."""
        code, weights = self.arena.encode(configuration), NO_WEIGHTS
        if self.mean:
            ordered = sorted((s, label) for label, s in configuration)
            weights = np.array([configuration[label, s] for s, label in ordered], dtype=np.int64)
        return code, weights

    def intern(self, configuration: Mapping[Member, int]) -> int:
        """The node of a configuration, its members with their weights, added if it is new. It is not pure."""
        code, weights = self.encode(configuration)
        self.make_room(1, len(code))
        return intern_node(self.arena.tables, self.data, code, weights, len(code))

    def make_room(self, nodes: int, members: int) -> None:
        """Grow, by doubling, whatever cannot take this many more nodes and members, with as many edges and children."""
        data, used = self.data, self.data.used
        if used[NODES] + nodes + 2 >= len(data.lower) or 2 * (used[NODES] + nodes) >= len(data.slot):
            data = _with_more_nodes(data, max(2 * len(data.lower), int(used[NODES]) + nodes + 2))
        if used[MEMBERS] + members >= len(data.members):
            size = max(2 * len(data.members), int(used[MEMBERS]) + members + 1)
            data = data._replace(members=grown(data.members, size))
            if self.mean:
                data = data._replace(weights=grown(data.weights, size))
        if used[EDGES] + nodes + 2 >= len(data.edge_action):
            size = max(2 * len(data.edge_action), int(used[EDGES]) + nodes + 3)
            data = data._replace(
                edge_action=grown(data.edge_action, size), first_child=grown(data.first_child, size + 1)
            )
        if used[CHILDREN] + members >= len(data.child):
            data = data._replace(child=grown(data.child, max(2 * len(data.child), int(used[CHILDREN]) + members + 1)))
        self.data = data

    def grow(self, num_actions: int = 1) -> None:
        """Make room for so many edges of any node, and for a deeper stack."""
        # An edge leads to at most as many branches as there are members.
        most = num_actions * len(self.arena.start)
        self.make_room(most, most)
        if int(self.stack[0, 0]) + 2 >= len(self.stack):
            stack = np.zeros((2 * len(self.stack), 2), dtype=np.int64)
            stack[: len(self.stack)] = self.stack
            self.stack = stack

    def branch(self, configuration: Mapping[Member, int], action: Action) -> dict[Reading, dict[Member, int]]:
        """What is left after each reading of an allowed action; for mean costs weights of members that meet add up."""
        branches: dict[Reading, dict[Member, int]] = {}
        for member, weight in configuration.items():
            y, after = self.arena.move(member, action)
            left = branches.setdefault(y, {})
            left[after] = left.get(after, 0) + weight if self.mean else 1
        return branches


def _empty_graph(*, nodes: int, members: int, edges: int, children: int, mean: bool) -> ConfigurationGraph:
    return ConfigurationGraph(
        slot=np.full(_power_of_two(4 * nodes), -1, dtype=np.int32),
        digest=np.zeros(nodes, dtype=np.int64),
        first_member=np.zeros(nodes + 1, dtype=np.int64),
        members=np.zeros(members, dtype=np.int32),
        weights=np.ones(members if mean else 1, dtype=np.int64),
        total=np.ones(nodes, dtype=np.int64),
        lower=np.zeros(nodes, dtype=np.int64),
        upper=np.full(nodes, INFINITE, dtype=np.int64),
        plan=np.full(nodes, -1, dtype=np.int32),
        first_edge=np.zeros(nodes, dtype=np.int64),
        num_edges=np.full(nodes, -1, dtype=np.int32),
        edge_action=np.zeros(edges, dtype=np.int32),
        first_child=np.zeros(edges + 1, dtype=np.int64),
        child=np.zeros(children, dtype=np.int32),
        used=np.zeros(8, dtype=np.int64),
    )


def _with_more_nodes(data: ConfigurationGraph, nodes: int) -> ConfigurationGraph:
    """The same graph with room for that many nodes; the hash table is filled anew, in the order of the nodes."""
    size = _power_of_two(4 * nodes)
    slot = np.full(size, -1, dtype=np.int32)
    rehash(slot, data.digest, int(data.used[NODES]))
    by_node = ("digest", "total", "lower", "upper", "plan", "first_edge", "num_edges")
    longer = {name: grown(getattr(data, name), nodes) for name in by_node}
    return data._replace(slot=slot, first_member=grown(data.first_member, nodes + 1), **longer)


def grown(array: np.ndarray, size: int) -> np.ndarray:
    """The array with rows of zeros behind its own, so many rows in all."""
    larger = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def _power_of_two(at_least: int) -> int:
    return 1 << (at_least - 1).bit_length()
