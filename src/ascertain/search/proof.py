"""From the bounds of a search to a proof that can be replayed: rows, each held up by others.

A *demand* (R, b) says that the proof needs the configuration R to cost at least b. It is met by a part of R for which
that is known: two labels in one state (nothing settles them), a pair at that distance, a small set whose D is in the
table of subsets, a stuck leaf of the splitting tree, as many labels as cost b at least (`search/leaves.py`), or R
itself, a node of the graph whose lower bound is at least b. For every action that all members of the part allow, some
branch is known to cost at least b - c(a), and becomes a demand in turn, unless its number of labels says so. Demands
are taken in falling order of b. A branch's demand is lower than the row's, so a row is formed once, with the largest b
that anything asks of it. Finite bounds are proved by a kernel (`kernels/search/rows.py`), for such proofs are long.

Rows are *renamed* as nodes of the graph are, so that a configuration that the proof meets under many names is one row.
A row R' stands for what is left, R_{a,y}, if every state of R' is a state of R_{a,y} and members that differ in label
in R' differ in label in R_{a,y}: a policy that solves R_{a,y} solves R', once its answers are renamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ascertain.collecting import collecting_later
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.kernels.search import rows as kernels
from ascertain.kernels.search.rows import Rows, find_part, form_rows
from ascertain.search.configuration import Configuration, Member
from ascertain.search.graph import SearchGraph
from ascertain.search.solution import ProofRow
from ascertain.search.splitting import SplittingTree
from ascertain.types import Action, Reading

AT_ONCE = 1_000
"""Rows in one call of the kernel: a tenth of a second, so that Ctrl-C is noticed."""


def prove_bound(graph: SearchGraph, bound: int) -> tuple[tuple[ProofRow, ...], int]:
    """Rows for "the start costs at least `bound`", finite and above 0, and the number of the row that says so."""
    with collecting_later():
        return _RowWriter(graph).prove(bound)


class _RowWriter:
    """Collects rows on demand from a finished (or interrupted) search for worst costs."""

    def __init__(self, graph: SearchGraph) -> None:
        self.graph, self.arena = graph, graph.arena
        size, room = len(graph.data.lower), 1024 + 2 * self.arena.num_actions
        self.rows = Rows(
            need=np.zeros(size, dtype=np.int64),
            number=np.full(size, -1, dtype=np.int32),
            node=np.zeros(size, dtype=np.int32),
            first_move=np.zeros(size + 1, dtype=np.int64),
            action=np.zeros(room, dtype=np.int32),
            reading=np.zeros(room, dtype=np.int32),
            target=np.zeros(room, dtype=np.int32),
            asked=np.zeros(room, dtype=np.int32),
            part=np.zeros(len(self.arena.start) + 2, dtype=np.int32),
            best=np.zeros(len(self.arena.start) + 2, dtype=np.int32),
            used=np.zeros(4, dtype=np.int64),
        )

    def prove(self, bound: int) -> tuple[tuple[ProofRow, ...], int]:
        self.arena.most_bytes = None  # limits are those of the search
        root = self.graph.intern(dict.fromkeys(self.part_of_start(bound), 1))
        self.make_room()
        self.rows.need[root] = bound
        levels = {bound: [root]}
        while levels:
            self.form(np.array(levels.pop(max(levels)), dtype=np.int32))
            used = self.rows.used
            for u in self.rows.asked[: used[kernels.ASKED]].tolist():
                levels.setdefault(int(self.rows.need[u]), []).append(u)
            used[kernels.ASKED] = 0
        return tuple(self.list_rows()), int(self.rows.number[root])

    def part_of_start(self, bound: int) -> list[Member]:
        """The part of the start that costs so much."""
        start, leaves = self.arena.start, self.arena.tables.by_leaves
        part = self.part_of(start, bound)
        # One member of each label, and as few of them as cost so much.
        first = {label: (label, s) for label, s in sorted(start, reverse=True)}
        if len(part) == len(start) and len(leaves) > 0 and leaves[len(first)] >= bound:
            return sorted(first.values())[: int(np.searchsorted(leaves, bound))]
        return part

    def part_of(self, configuration: Configuration, need: int) -> list[Member]:
        """A small part that is known to cost so much; empty where none is known. No state has two labels."""
        tables, scratch = self.arena.tables, self.graph.scratch
        code = self.arena.encode(configuration)
        scratch.code[: len(code)] = code
        count = find_part(tables, self.graph.data, scratch, self.rows, len(code), need)
        member = {s: (label, s) for label, s in configuration}
        return [member[c >> tables.bits] for c in self.rows.part[:count].tolist()]

    def form(self, queue: np.ndarray) -> None:
        """Form the rows of these nodes."""
        self.rows.used[kernels.AT] = 0
        status = kernels.PAUSED
        while status != kernels.DONE:
            status = form_rows(self.arena.tables, self.graph.data, self.graph.scratch, self.rows, queue, AT_ONCE)
            if status == kernels.FULL:
                before = self.graph.num_bytes, len(self.rows.action), len(self.arena.tables.pairs.key)
                self.make_room()
                after = self.graph.num_bytes, len(self.rows.action), len(self.arena.tables.pairs.key)
                assert before != after, "what a search knows is held up by what it has met"

    def make_room(self) -> None:
        """Let grow whatever is short of room."""
        self.graph.grow(self.arena.num_actions)
        self.arena.make_pair_room()
        longer: dict[str, np.ndarray] = {}
        for name, size in (("need", 0), ("number", 0), ("node", 0), ("first_move", 1)):
            longer[name] = _padded(getattr(self.rows, name), len(self.graph.data.lower) + size, -(name == "number"))
        short = 2 * self.arena.num_actions + int(self.rows.used[kernels.MOVES :].max())
        for name in ("action", "reading", "target", "asked"):
            old = getattr(self.rows, name)
            longer[name] = _padded(old, 2 * len(old) if short > len(old) else len(old), 0)
        self.rows = self.rows._replace(**longer)

    def list_rows(self) -> Iterator[ProofRow]:
        data, rows, tables = self.graph.data, self.rows, self.arena.tables
        count = int(rows.used[kernels.ROWS])
        nodes, starts = rows.node[:count].tolist(), rows.first_move[: count + 1].tolist()
        target = rows.number[rows.target[: starts[-1]]].tolist()
        action, reading = rows.action[: starts[-1]].tolist(), rows.reading[: starts[-1]].tolist()
        cost = {need: Fraction(need, self.arena.scale) for need in set(rows.need[nodes].tolist())}
        bits, mask, class_of = tables.bits, (1 << tables.bits) - 1, self.arena.class_of.tolist()
        for v, begin, end in zip(nodes, starts, starts[1:], strict=False):
            codes = data.members[data.first_member[v] : data.first_member[v + 1]].tolist()
            yield ProofRow(
                members=tuple(sorted([(c & mask, class_of[c >> bits]) for c in codes])),
                bound=cost[int(rows.need[v])],
                moves={action[i]: (reading[i], target[i]) for i in range(begin, end)},
            )


def _padded(array: np.ndarray, size: int, value: int) -> np.ndarray:
    longer = np.full(max(size, len(array)), value, dtype=array.dtype)
    longer[: len(array)] = array
    return longer


class InfinityProver:
    """Collects rows for a start that nothing settles."""

    def __init__(self, graph: SearchGraph, tree: SplittingTree | None) -> None:
        self.arena, self.tree, self.small = graph.arena, tree, _RowWriter(graph)
        self.moves: dict[Configuration, dict[Action, tuple[Reading, Configuration]]] = {}
        self.known: dict[Configuration, Configuration | None] = {}
        """A part that nothing settles, as far as that is known."""

    def prove(self) -> tuple[tuple[ProofRow, ...], int]:
        """Rows, and the number of the one that is about the start."""
        root = self.part_of(self.arena.start)
        assert root is not None, "it is known that nothing settles the start"
        queue = [root]
        for row in queue:
            if row not in self.moves:
                self.moves[row] = dict(self.justify(row))
                queue.extend(part for _, part in self.moves[row].values())
        number = {row: i for i, row in enumerate(self.moves)}
        rows = tuple(
            ProofRow(
                members=tuple(sorted((label, int(self.arena.class_of[s])) for label, s in row)),
                bound=None,
                moves={a: (y, number[part]) for a, (y, part) in moves.items()},
            )
            for row, moves in self.moves.items()
        )
        return rows, number[root]

    def justify(self, row: Configuration) -> Iterator[tuple[Action, tuple[Reading, Configuration]]]:
        """For each action a reading, and a part of what is left after it that nothing settles."""
        if self.meeting(row) is not None:
            return
        for a in range(self.arena.num_actions):
            found: list[tuple[bool, int, Reading, Configuration]] = []
            for y, after in sorted((self.arena.branches(row, a) or {}).items()):
                part = self.part_of(after)
                if part is not None:
                    part = frozenset(self.arena.named(dict.fromkeys(part, 1)))
                    found.append((part not in self.moves, len(part), y, part))
            if found:
                # Rows that exist already cost nothing, and small ones need few moves: proofs stay short that way.
                _, _, y, part = min(found, key=lambda entry: entry[:3])
                yield a, (y, part)

    def part_of(self, configuration: Configuration) -> Configuration | None:
        """A part of a configuration that nothing settles, None if none is known; looked up once."""
        if configuration not in self.known:
            self.known[configuration] = self.find_part(configuration)
        return self.known[configuration]

    def find_part(self, configuration: Configuration) -> Configuration | None:
        pair = self.meeting(configuration)
        if pair is not None or len({label for label, _ in configuration}) < 2:
            return pair
        part = frozenset(self.small.part_of(configuration, INFINITE))
        stuck = None if self.tree is None or 0 < len(part) < len(configuration) else self.tree.stuck_part(configuration)
        return stuck or part or None

    def meeting(self, configuration: Configuration) -> Configuration | None:
        """Two labels in one state; None if there are none."""
        met: dict[int, Member] = {}
        for member in sorted(configuration):
            if member[1] in met:
                return frozenset((met[member[1]], member))
            met[member[1]] = member
        return None
