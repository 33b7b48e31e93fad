"""From the bounds of a search for a mean to a proof that can be replayed: weighted rows, each held up by others.

A weighted configuration W is known to cost a mean in two ways. *Pairs*: each member costs at least its weight times the
distance d of its farthest partner; a row for that has two members, one of weight 1 and its partner of weight 0, and the
bound d. A partner serves any number of members, because weight 0 uses up nothing. *Nodes*: W itself is a node of the
graph with a lower bound above that, which its branches hold up for every action.

A *demand* (W, b) says that the proof needs the node W to cost at least b. For each action the branches must cost b less
the action's price; as few as possible of them become demands in turn, and pairs say enough of the others. Costs and the
weights of a node are positive, so a branch's demand is lower than the row's: taken in falling order of b, a row is
formed once, with the largest b that anything asks of it. That nothing settles a configuration does not depend on
weights, so such rows have weights 0 and serve all weights.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.search.configuration import Member, is_pure
from ascertain.search.graph import SearchGraph
from ascertain.search.solution import MeanRow
from ascertain.types import Action, Reading, State

Weights: TypeAlias = dict[Member, int]
RowKey: TypeAlias = frozenset[tuple[Member, int]]
"""The members of a row with their weights."""
Part: TypeAlias = tuple[Reading, RowKey, int]
"""After this reading, this row, so many times."""


@dataclass(frozen=True, eq=False)
class _Known:
    """What is known of a weighted configuration that is not pure."""

    weights: Weights
    lower: int
    """What it costs at least; INFINITE where nothing settles it."""
    pairs: list[tuple[int, int, Member, Member]]
    """(what the member costs, its weight, the member, its farthest partner), dearest first."""
    infinite_pair: tuple[Member, Member] | None

    @cached_property
    def by_pairs(self) -> int:
        """What pairs alone say that it costs."""
        return sum(value for value, _, _, _ in self.pairs)


class MeanProver:
    """Collects rows on demand from a finished (or interrupted) search for a mean."""

    def __init__(self, graph: SearchGraph) -> None:
        self.graph = graph
        self.arena = graph.arena
        self.need: dict[RowKey, int] = {}
        self.moves: dict[RowKey, dict[Action, list[Part]]] = {}
        self.found: dict[RowKey, _Known] = {}
        self.behind: dict[RowKey, Weights] = {}
        """The configuration behind a row, with the weights that the graph knows it by: a row may have weights 0."""
        self.queue: list[tuple[int, int, RowKey]] = []

    def prove(self, bound: int) -> tuple[tuple[MeanRow, ...], list[tuple[int, int]]]:
        """Rows for "the start costs at least `bound`", and the parts of the start, (row, times), that say so.

        Costs of rows are in the units of the graph, divided by the arena's scale.
        """
        start = [(0, self.look(self.graph.start))]
        root = self.hold(start, bound)
        while self.queue:
            _, _, row = heapq.heappop(self.queue)
            if row not in self.moves:
                self.moves[row] = {}
                self.moves[row].update(self.justify(row, self.need[row]))
        number = {row: i for i, row in enumerate(self.moves)}
        return tuple(self.list_rows(number)), [(number[row], times) for _, row, times in root]

    def justify(self, row: RowKey, bound: int) -> Iterator[tuple[Action, list[Part]]]:
        """For each action that needs some, parts that hold the bound up."""
        members, weights = dict(row), self.behind[row]
        if len({s for _, s in members}) < len(members):
            return
        total = sum(members.values())
        for a in range(self.arena.num_actions):
            price = self.arena.cost(a) * total
            if (bound < INFINITE and bound <= price) or not all(self.arena.allows(s, a) for _, s in members):
                continue
            after = sorted(self.graph.branch(weights, a).items())
            known = [(y, self.look(left)) for y, left in after if not is_pure(left)]
            if len(members) == 2:
                # A pair goes on as a pair, and nothing else need be known.
                ((y, left),) = known
                yield a, [self.pair_part(y, self.moved(members, a), left)]
            else:
                yield a, self.hold(known, bound if bound == INFINITE else bound - price)

    def moved(self, members: Mapping[Member, int], action: Action) -> State | None:
        """Where the member of weight 1 of a pair goes; None in a pair that nothing settles."""
        heavy = [member for member, w in members.items() if w]
        return self.arena.move(heavy[0], action)[1][1] if heavy else None

    def pair_part(self, y: Reading, heavy: State | None, left: _Known) -> Part:
        """The row of the pair that is left of a pair, its member in state `heavy` weighing 1."""
        if left.infinite_pair is not None:
            return y, self.ask_never(*left.infinite_pair), 1
        value, w, member, partner = next(entry for entry in left.pairs if entry[2][1] == heavy)
        return y, self.ask_pair(member, partner, value // w), 1

    def hold(self, known: list[tuple[Reading, _Known]], need: int) -> list[Part]:
        """Parts of what is left after each reading that cost at least `need` together; there are such."""
        for y, left in known:
            if left.infinite_pair is not None:
                return [(y, self.ask_never(*left.infinite_pair), 1)]
        for y, left in known:
            if left.lower >= INFINITE:
                return [(y, self.ask(dict.fromkeys(left.weights, 0), INFINITE, left.weights), 1)]
        parts: list[Part] = []
        surplus = sum(left.by_pairs for _, left in known) - need
        pairs = dict(known)
        # Rows that exist already cost nothing; then those first that pairs say least about.
        for y, left in sorted(
            known, key=lambda entry: (not self.is_asked(entry[1]), entry[1].by_pairs - entry[1].lower)
        ):
            gain = left.lower - left.by_pairs
            if surplus < 0 < gain:
                surplus += gain
                demand = left.lower - max(0, surplus)
                parts.append((y, self.ask(left.weights, demand, left.weights), 1))
                del pairs[y]
        assert surplus >= 0, "the bound of a node is held up by its branches"
        missing = need - sum(self.need[row] for _, row, _ in parts)
        entries = [(y, *entry) for y, left in pairs.items() for entry in left.pairs]
        for y, value, w, member, partner in sorted(entries, key=lambda entry: -entry[1]):
            if missing <= 0:
                break
            missing -= value
            parts.append((y, self.ask_pair(member, partner, value // w), w))
        return parts

    def is_asked(self, left: _Known) -> bool:
        """Whether there is a row already that says of a configuration all that is known."""
        return self.need.get(self.key(left.weights), 0) >= left.lower

    def ask_pair(self, member: Member, partner: Member, distance: int) -> RowKey:
        """The row of a member of weight 1 and a partner of weight 0."""
        return self.ask({member: 1, partner: 0}, distance, {member: 1, partner: 1})

    def ask_never(self, one: Member, other: Member) -> RowKey:
        """The row of two members that nothing settles."""
        return self.ask({one: 0, other: 0}, INFINITE, {one: 1, other: 1})

    def ask(self, weights: Weights, need: int, behind: Weights) -> RowKey:
        """The row of these weights, which is to say so much."""
        row = self.key(weights)
        if need > self.need.get(row, 0):
            assert row not in self.moves, "demands fall from row to part"
            self.need[row] = need
            self.behind[row] = self.arena.named(behind)
            heapq.heappush(self.queue, (-need, len(self.need), row))
        return row

    def key(self, weights: Weights) -> RowKey:
        return frozenset(self.arena.named(weights).items())

    def look(self, weights: Weights) -> _Known:
        """What is known of a configuration; looked up once, whatever its labels are called."""
        weights = self.arena.named(weights)
        key = frozenset(weights.items())
        if key not in self.found:
            self.found[key] = self.look_anew(weights)
        return self.found[key]

    def look_anew(self, weights: Weights) -> _Known:
        members = sorted(weights, key=lambda member: (member[1], member[0]))
        far, partner = self.arena.farthest_partners(members)
        if max(far) >= INFINITE:
            i = far.index(max(far))
            return _Known(weights, INFINITE, [], (members[i], members[partner[i]]))
        pairs = [(d * weights[m], weights[m], m, members[j]) for d, m, j in zip(far, members, partner, strict=True)]
        pairs.sort(key=lambda entry: -entry[0])
        node = self.graph.find(weights)
        lower = max(sum(value for value, _, _, _ in pairs), self.graph.lower(node) if node >= 0 else 0)
        return _Known(weights, lower, pairs, None)

    def list_rows(self, number: Mapping[RowKey, int]) -> Iterator[MeanRow]:
        for row, moves in self.moves.items():
            need = self.need[row]
            yield MeanRow(
                members=tuple(sorted((label, int(self.arena.class_of[s]), w) for (label, s), w in row)),
                bound=None if need == INFINITE else Fraction(need, self.arena.scale),
                moves={a: tuple((y, number[part], times) for y, part, times in parts) for a, parts in moves.items()},
            )
