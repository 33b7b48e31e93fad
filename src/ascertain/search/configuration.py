"""Configurations: what may still be true, and the tables that a search reads to move them.

A configuration is a set of members (label, state). In a task about the start a member keeps its label while its state
moves; in one about the current state its label is that of the state it is in. An action is allowed in a configuration
when every member allows it, and leaves, after reading y, the configuration S_{a,y} of those that read y, moved on. A
configuration is *pure* when one label is left.

The distance of two states of different labels is the least cost of a word that both allow and that settles the two: it
ends in different readings, or, about the current state, in equal labels. It is D of that pair, so no configuration
costs less than its farthest pair. Where two labels meet in one state, in a task about the start, nothing settles them.

D of all small sets of states is a better bound than pairs, and is tabulated size by size where a search is long and
states are few.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ascertain.errors import LimitError, TaskError
from ascertain.interruption import OutOfTime, begin_work
from ascertain.kernels._jit import OVERTIME, expect_seconds
from ascertain.kernels.quotients.pairs import spread_pairs
from ascertain.kernels.search.bounds import NEVER, find_partners, sweep_subsets
from ascertain.kernels.search.distances import FULL, NONE, look_up_pair
from ascertain.kernels.search.tables import SearchTables, Subsets
from ascertain.quotients.separation import PairDistances, list_reachable, measure_task, pair_number, successors_within
from ascertain.search.leaves import bound_by_leaves
from ascertain.search.pair_table import grow_pairs, keep_met_pairs, keep_no_pairs
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action, IntArray, Reading, State

Member: TypeAlias = tuple[int, State]
"""(label, state)."""
Configuration: TypeAlias = frozenset[Member]
"""What may still be true."""
MOST_PASSES = 50_000_000
"""States squared times actions up to which the distances of all pairs are measured at once: tenths of a second."""
MOST_SETS = 30_000_000
"""Sets of one size that a table is made for: 120 MB, and a sweep over all of them takes seconds."""
SETS_AT_ONCE = 2_000
"""Sets that are brought up to date between two looks at the clock."""
LARGEST_SIZE = 8
"""States of a set in the table: of 35 states all sets of eight are within MOST_SETS, and a size more would shut out all
but 32; scratch arrays are made for this size."""


class _Rows(dict[State, list[int]]):
    """The rows of a table as lists, which Python walks faster than arrays; made when they are asked for."""

    def __init__(self, table: IntArray) -> None:
        super().__init__()
        self.table = table

    def __missing__(self, s: State) -> list[int]:
        self[s] = self.table[s].tolist()
        return self[s]


@dataclass(eq=False)
class Arena:
    """A task as tables, on the states that its hypotheses reach; actions, readings and labels keep their numbers.

    It is not frozen, because its tables grow while a search goes on: pairs are measured when they are met.
    """

    task: Task
    start: Configuration
    """The hypotheses."""
    class_of: IntArray
    """`class_of[s]` is the number, in the task's model, of state s of the tables: only what can be reached is kept."""
    tables: SearchTables
    scale: Fraction
    """What the task's costs were multiplied by to become integers."""
    most_bytes: int | None = None
    """What the table of pairs that were met may take; None for any number."""

    @property
    def num_actions(self) -> int:
        return len(self.tables.cost)

    @property
    def about_current(self) -> bool:
        return len(self.tables.state_label) > 0

    def cost(self, action: Action) -> int:
        return int(self.tables.cost[action])

    def make_pair_room(self) -> bool:
        """Let the table of pairs grow if a query found no room in it; whether it has."""
        if not self.tables.pairs.used[FULL]:
            return False
        larger = grow_pairs(self.tables.pairs, self.most_bytes)
        if larger is not None:
            self.tables = self.tables._replace(pairs=larger)
        return larger is not None

    def measure(self, s: State, t: State) -> tuple[int, Action | None, bool]:
        """The distance of two states, how a cheapest word begins, and whether they are known: else it is a bound."""
        tables = self.tables
        if len(tables.distance) > 0:
            p = pair_number(s, t)
            return int(tables.distance[p]), None if tables.choice[p] < 0 else int(tables.choice[p]), True
        while True:
            distance, choice = look_up_pair(self.tables, s, t, len(self.tables.pairs.explored))
            if choice >= NONE or not self.make_pair_room():
                return int(distance), None if choice < 0 else int(choice), bool(choice >= NONE)

    @cached_property
    def rows(self) -> tuple[_Rows, _Rows, list[int]]:
        """Successors, readings and state labels as lists."""
        return _Rows(self.tables.successor), _Rows(self.tables.reading), self.tables.state_label.tolist()

    def allows(self, state: State, action: Action) -> bool:
        return self.rows[0][state][action] != UNDEFINED

    def move(self, member: Member, action: Action) -> tuple[Reading, Member]:
        """What a member that allows the action reads, and what it becomes."""
        successor, reading, state_label = self.rows
        label, s = member
        t = successor[s][action]
        return reading[s][action], (state_label[t] if state_label else label, t)

    def branches(self, configuration: Iterable[Member], action: Action) -> dict[Reading, Configuration] | None:
        """What is left after each reading; None when a member forbids the action."""
        left: dict[Reading, list[Member]] = {}
        for member in configuration:
            if not self.allows(member[1], action):
                return None
            y, after = self.move(member, action)
            left.setdefault(y, []).append(after)
        return {y: frozenset(members) for y, members in left.items()}

    def encode(self, configuration: Iterable[Member]) -> IntArray:
        """The members as ascending integers, labels renamed as the graph of configurations does it."""
        bits = self.tables.bits
        codes = sorted([s << bits | label for label, s in configuration])
        if not self.about_current:
            # Labels in the order of their first appearance: D depends only on which members share one.
            rename: dict[int, int] = {}
            mask = (1 << bits) - 1
            codes = [code & ~mask | rename.setdefault(code & mask, len(rename)) for code in codes]
        return np.array(codes, dtype=np.int32)

    def named(self, weights: Mapping[Member, int]) -> dict[Member, int]:
        """A weighted configuration with its labels renamed in the order of the states, as nodes of the graph are."""
        if self.about_current:
            return dict(weights)
        rename: dict[int, int] = {}
        order = sorted(weights, key=lambda member: (member[1], member[0]))
        return {(rename.setdefault(label, len(rename)), s): weights[label, s] for label, s in order}

    def farthest_partners(self, members: Sequence[Member]) -> tuple[list[int], list[int]]:
        """For each member the distance of its farthest partner, and the partner's place; INFINITE where labels meet."""
        bits, k = self.tables.bits, len(members)
        code = np.array([s << bits | label for label, s in members], dtype=np.int32)
        far, partner = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64)
        find_partners(self.tables, code, k, far, partner)
        while self.make_pair_room():
            find_partners(self.tables, code, k, far, partner)
        return far.tolist(), partner.tolist()


def is_pure(configuration: Iterable[Member]) -> bool:
    """Whether one label is left."""
    return len({label for label, _ in configuration}) <= 1


def build_arena(task: Task, *, mean: bool = False, distances: PairDistances | None = None) -> Arena:
    """The tables of a task on a deterministic machine; give it the reduced task of a quotient.

    `distances` are those of `measure_task(task)`, where they are known already. Where states are few all of them are
    measured at once, which is quicker; elsewhere those that are met, when they are.
    """
    model = task.model
    if not model.is_exact:
        raise TaskError(
            "the exact solver takes machines without noise; this task is on a noisy one: `ascertain bounds` says "
            "what it costs at a stated risk, `ascertain observe` runs it"
        )
    class_of = list_reachable(model, task.state)
    bits = max(len(task.labels) - 1, 1).bit_length()
    # A member is one integer of 31 bits: its state above its label.
    if len(class_of) << bits >= 2**31:
        raise LimitError(f"{len(class_of)} states with {len(task.labels)} labels are too many for the exact solver")
    cost, scale = task.integer_costs()
    passes = len(class_of) ** 2 * len(cost)
    if distances is None and passes <= MOST_PASSES:
        with suppress(OutOfTime):  # what is met is measured all the same
            begin_work(expect_seconds(spread_pairs, passes) - OVERTIME)
            distances = measure_task(task, class_of)
    element: list[int] = np.searchsorted(class_of, task.state).tolist()
    return Arena(
        task=task,
        start=frozenset(zip(task.label.tolist(), element, strict=True)),
        class_of=class_of,
        tables=SearchTables(
            successor=successors_within(model, class_of) if distances is None else distances.successor,
            reading=model.behaviour[class_of] if distances is None else distances.behaviour,
            cost=cost,
            least=int(cost.min()),
            by_leaves=np.empty(0, dtype=np.int64) if mean else bound_by_leaves(task),
            distance=np.empty(0, dtype=np.int64) if distances is None else distances.distance,
            choice=np.empty(0, dtype=np.int16) if distances is None else distances.choice,
            pairs=keep_met_pairs(len(cost)) if distances is None else keep_no_pairs(),
            state_label=np.empty(0, dtype=np.int32) if task.state_label is None else task.state_label[class_of],
            bits=bits,
            mean=mean,
            subsets=no_subsets(),
            chosen=np.zeros(3 * LARGEST_SIZE + 1, dtype=np.int32),
        ),
        scale=scale,
    )


def no_subsets() -> Subsets:
    """The table of nothing."""
    return Subsets(2, np.zeros(4, dtype=np.int64), np.zeros((0, 3), dtype=np.int64), np.zeros(0, dtype=np.int32))


def price_of_next(tables: SearchTables, num_members: int) -> int | None:
    """How many sets the next size has, for configurations of at most so many members; None when it is not to be had."""
    size, n = tables.subsets.most + 1, len(tables.successor)
    count = math.comb(n, size)
    if size > min(LARGEST_SIZE, num_members - 1) or int(tables.cost.max()) >= NEVER:
        return None
    return count if 0 < count <= MOST_SETS else None


def value_next_size(tables: SearchTables, deadline: float | None) -> Subsets | None:
    """The table with the next size added, or None when time runs out.

    Let c be the least cost and g the greatest common divisor of all. After t sweeps every set with D <= (t - 1) c is
    exact: the first sweep settles D = 0, and what a set depends on is exact one sweep before it. Any other D is a
    multiple of g above that, so every value up to (t - 1) c + g is final, and need not be looked at again.
    """
    known = tables.subsets
    size, n = known.most + 1, len(tables.successor)
    new = np.full(math.comb(n, size), NEVER, dtype=np.int32)
    subsets = Subsets(
        most=size,
        first=np.append(known.first, len(known.value) + len(new)),
        binomial=np.array([[math.comb(s, i) for i in range(size + 1)] for s in range(n)], dtype=np.int64),
        value=np.concatenate((known.value, new)),
    )
    key = np.zeros(size, dtype=np.int64)
    least, divisor = int(tables.cost.min()), int(np.gcd.reduce(tables.cost))
    enlarged = tables._replace(subsets=subsets)
    swept, settled = np.array([0, 1]), 0
    while swept[1]:
        swept[:] = 0
        while sweep_subsets(enlarged, settled, key, swept, SETS_AT_ONCE):
            if deadline is not None and time.monotonic() > deadline:
                return None
        settled = min(settled + least, NEVER - 1) if settled else divisor
    return subsets
