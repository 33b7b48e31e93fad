"""From the bounds of a search to a proof that can be replayed: rows, each held up by others.

A *demand* (R, b) says that the proof needs the configuration R to cost at least b. It is met by a part of R for which
that is known: two labels in one state (nothing settles them), a pair at that distance, a small set whose D is in the
table of subsets, a stuck leaf of the splitting tree, as many labels as cost b at least (`search/leaves.py`), or R
itself, a node of the graph whose lower bound is at least b. For every action that all members of the part allow, some
branch is known to cost at least b - c(a), and becomes a demand in turn, unless its number of labels says so. Demands
are taken in falling order of b. A branch's demand is lower than the row's, so a row is formed once, with the largest b
that anything asks of it.

Rows are *renamed* as nodes of the graph are, so that a configuration that the proof meets under many names is one row;
the root alone keeps the labels of the task. A row R' stands for what is left, R_{a,y}, if every state of R' is a state
of R_{a,y} and members that differ in label in R' differ in label in R_{a,y}: a policy that solves R_{a,y} solves R',
once its answers are renamed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.kernels.search.bounds import NEVER, dearest_subset, farthest_pair, usable_size
from ascertain.search.configuration import Configuration, Member, is_pure
from ascertain.search.graph import SearchGraph
from ascertain.search.solution import ProofRow
from ascertain.search.splitting import SplittingTree
from ascertain.types import UNDEFINED, Action, IntArray, Reading, State


class Prover:
    """Collects rows on demand from a finished (or interrupted) search for worst costs."""

    def __init__(self, graph: SearchGraph, tree: SplittingTree | None) -> None:
        self.graph = graph
        self.arena = graph.arena
        self.tree = tree
        self.need: dict[Configuration, int] = {}
        self.moves: dict[Configuration, dict[Action, tuple[Reading, Configuration]]] = {}
        self.known: dict[Configuration, tuple[int, list[tuple[int, Configuration]]]] = {}
        """What a configuration costs at least, and small parts with their D."""
        self.onward: dict[tuple[State, State], list[tuple[Action, Reading, State, State]]] = {}
        self.costs = [self.arena.cost(a) for a in range(self.arena.num_actions)]

    def prove(self, bound: int) -> tuple[tuple[ProofRow, ...], int]:
        """Rows for "the start costs at least `bound`" (above 0), and the number of the row that says so."""
        root = self.part_for(self.arena.start, bound)
        self.need[root] = bound
        queue = [(-bound, 0, root)]
        count = 0
        while queue:
            _, _, row = heapq.heappop(queue)
            if row in self.moves:
                continue
            self.moves[row] = {}
            for a, y, part, need in self.justify(row, self.need[row]):
                self.moves[row][a] = (y, part)
                # Demands fall from row to part, so that a row that was formed is never asked for more.
                if need > self.need.get(part, 0):
                    self.need[part] = need
                    count += 1
                    heapq.heappush(queue, (-need, count, part))
        return self.list_rows(), list(self.moves).index(root)

    def justify(self, row: Configuration, bound: int) -> Iterator[tuple[Action, Reading, Configuration, int]]:
        """For each action that needs one: a reading, a part of what is left after it, and what that part must cost."""
        if len(row) == 2:
            one, other = sorted(row, key=lambda member: member[1])
            yield from self.justify_pair(one, other, bound)
            return
        for a in range(self.arena.num_actions):
            if bound != INFINITE and bound <= self.costs[a]:
                continue
            branches = self.arena.branches(row, a)
            if branches is not None:
                need = bound if bound == INFINITE else bound - self.costs[a]
                if any(self.by_leaves(after) >= need for after in branches.values()):
                    continue
                y, part = self.choose(branches, need)
                yield a, y, part, need

    def justify_pair(
        self, one: Member, other: Member, bound: int
    ) -> Iterator[tuple[Action, Reading, Configuration, int]]:
        """The same for a pair, which proofs are mostly made of: it has one branch, or readings tell it apart."""
        pair = one[1], other[1]
        if pair[0] == pair[1]:
            return
        if pair not in self.onward:
            self.onward[pair] = list(self.move_pair(*pair))
        for a, y, p, q in self.onward[pair]:
            cost = self.costs[a]
            if bound == INFINITE or bound > cost:
                after = self.named(frozenset((self.relabelled(one, p), self.relabelled(other, q))))
                yield a, y, after, bound if bound == INFINITE else bound - cost

    def move_pair(self, s: State, t: State) -> Iterator[tuple[Action, Reading, State, State]]:
        """Where two states go under each action that both allow and at which they read alike."""
        successor, reading, _ = self.arena.rows
        for a, (p, q) in enumerate(zip(successor[s], successor[t], strict=True)):
            if UNDEFINED not in (p, q) and reading[s][a] == reading[t][a]:
                yield a, reading[s][a], p, q

    def relabelled(self, member: Member, state: State) -> Member:
        """The member once its state has become this one."""
        state_label = self.arena.rows[2]
        return (state_label[state] if state_label else member[0], state)

    def choose(self, branches: dict[Reading, Configuration], need: int) -> tuple[Reading, Configuration]:
        """The branch whose part is already a row that says enough, or else the smallest part."""
        found: list[tuple[bool, int, Reading, Configuration]] = []
        for y in sorted(branches):
            after = branches[y]
            if not is_pure(after) and self.weigh(after)[0] >= need:
                part = self.named(self.part_for(after, need))
                found.append((self.need.get(part, -1) < need, len(part), y, part))
        # Rows that exist already cost nothing, and small ones need few moves: proofs stay short that way.
        _, _, y, part = min(found, key=lambda entry: entry[:3])
        return y, part

    def part_for(self, configuration: Configuration, need: int) -> Configuration:
        """The part of a configuration that is known to cost at least `need`."""
        for value, part in self.weigh(configuration)[1]:
            if value >= need:
                return part
        if self.by_leaves(configuration) >= need:
            return self.one_of_each_label(configuration, need)
        stuck = None if self.tree is None or need != INFINITE else self.tree.stuck_part(configuration)
        return configuration if stuck is None else stuck

    def by_leaves(self, configuration: Configuration) -> int:
        """What so many labels cost at least."""
        table = self.arena.tables.by_leaves
        return int(table[len({label for label, _ in configuration})]) if len(table) else 0

    def one_of_each_label(self, configuration: Configuration, need: int) -> Configuration:
        """Members of as few labels as cost `need`."""
        member = {label: (label, s) for label, s in sorted(configuration, reverse=True)}
        count = int(np.searchsorted(self.arena.tables.by_leaves, need))
        return frozenset(sorted(member.values())[:count])

    def named(self, part: Configuration) -> Configuration:
        """The part with its labels renamed in the order of its states; about the current state, labels are states'."""
        if self.arena.about_current:
            return part
        rename: dict[int, int] = {}
        return frozenset((rename.setdefault(label, len(rename)), s) for s, label in sorted((s, k) for k, s in part))

    def weigh(self, configuration: Configuration) -> tuple[int, list[tuple[int, Configuration]]]:
        """What a configuration is known to cost at least, and its small parts with their D; looked up once."""
        if configuration not in self.known:
            self.known[configuration] = self.weigh_anew(configuration)
        return self.known[configuration]

    def weigh_anew(self, configuration: Configuration) -> tuple[int, list[tuple[int, Configuration]]]:
        pair = self.meeting(configuration)
        if pair is not None:
            return INFINITE, [(INFINITE, pair)]
        code = self.arena.encode(configuration)
        parts = self.small_parts(sorted(configuration, key=lambda member: member[1]), code)
        bound = max(self.by_leaves(configuration), *(value for value, _ in parts))
        if bound < INFINITE and self.tree is not None and self.tree.stuck_part(configuration) is not None:
            return INFINITE, parts
        node = self.graph.find_code(code)
        return max(bound, self.graph.lower(node) if node >= 0 else 0), parts

    def small_parts(self, members: list[Member], code: IntArray) -> list[tuple[int, Configuration]]:
        """The farthest pair, and the dearest set of each larger size for which D is known; members by their states."""
        tables = self.arena.tables
        distance, i, j = farthest_pair(tables, code, len(code))
        parts = [(int(distance), frozenset((members[i], members[j])))]
        for m in range(3, usable_size(tables.subsets, len(code)) + 1):
            value = dearest_subset(tables, code, len(code), m)
            if value > 0:
                part = frozenset(members[int(place)] for place in tables.chosen[:m])
                parts.append((INFINITE if value >= NEVER else int(value), part))
        return parts

    def meeting(self, configuration: Configuration) -> Configuration | None:
        """Two labels in one state; None if there are none."""
        met: dict[int, Member] = {}
        for member in sorted(configuration):
            if member[1] in met:
                return frozenset((met[member[1]], member))
            met[member[1]] = member
        return None

    def list_rows(self) -> tuple[ProofRow, ...]:
        number = {row: i for i, row in enumerate(self.moves)}
        scale = self.arena.scale
        return tuple(
            ProofRow(
                members=tuple(sorted((label, int(self.arena.class_of[s])) for label, s in row)),
                bound=None if self.need[row] == INFINITE else Fraction(self.need[row], scale),
                moves={a: (y, number[part]) for a, (y, part) in moves.items()},
            )
            for row, moves in self.moves.items()
        )
