"""Configurations: what may still be true, and the tables that a search reads to move them.

A configuration is a set of members (label, state). In a task about the start a member keeps its label while its state
moves; in one about the current state its label is that of the state it is in. An action is allowed in a configuration
when every member allows it, and leaves, after reading y, the configuration S_{a,y} of those that read y, moved on. A
configuration is *pure* when one label is left.

The distance of two states of different labels is the least cost of a word that both allow and that settles the two: it
ends in different readings, or, about the current state, in equal labels. It is D of that pair, so no configuration
costs less than its farthest pair. Where two labels meet in one state, in a task about the start, nothing settles them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ascertain.errors import LimitError, TaskError
from ascertain.kernels.quotients.pairs import INFINITE, ShortArray
from ascertain.kernels.search.bounds import SearchTables
from ascertain.quotients.separation import PairDistances, list_reachable, measure_task, pair_number
from ascertain.search.subsets import LARGEST_SIZE, no_subsets
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action, IntArray, Reading, State

Member: TypeAlias = tuple[int, State]
"""(label, state)."""
Configuration: TypeAlias = frozenset[Member]


@dataclass(frozen=True, eq=False)
class Arena:
    """A task as tables, on the states that its hypotheses reach; actions, readings and labels keep their numbers."""

    task: Task
    start: Configuration
    """The hypotheses."""
    class_of: IntArray
    """`class_of[s]` is the number, in the task's model, of state s of the tables: only what can be reached is kept."""
    tables: SearchTables
    choice: ShortArray
    """The first action of a cheapest word for each pair of states, numbered like `tables.distance`."""
    scale: Fraction
    """What the task's costs were multiplied by to become integers."""

    @property
    def num_actions(self) -> int:
        return len(self.tables.cost)

    @property
    def about_current(self) -> bool:
        return len(self.tables.state_label) > 0

    def cost(self, action: Action) -> int:
        return int(self.tables.cost[action])

    def distance(self, one: Member, other: Member) -> int:
        """What it costs to settle two members: 0 for equal labels, INFINITE where nothing settles them."""
        if one[0] == other[0]:
            return 0
        return INFINITE if one[1] == other[1] else int(self.tables.distance[pair_number(one[1], other[1])])

    def first_action(self, one: Member, other: Member) -> Action:
        """How a cheapest word that settles two members begins; they are at a finite distance above 0."""
        return int(self.choice[pair_number(one[1], other[1])])

    @cached_property
    def rows(self) -> tuple[list[list[int]], list[list[int]], list[int]]:
        """Successors, readings and state labels as lists, which Python walks faster than arrays."""
        return self.tables.successor.tolist(), self.tables.reading.tolist(), self.tables.state_label.tolist()

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
            rename: dict[int, int] = {}
            mask = (1 << bits) - 1
            codes = [code & ~mask | rename.setdefault(code & mask, len(rename)) for code in codes]
        return np.array(codes, dtype=np.int32)


def is_pure(configuration: Iterable[Member]) -> bool:
    """Whether one label is left."""
    return len({label for label, _ in configuration}) <= 1


def build_arena(task: Task, *, mean: bool = False, distances: PairDistances | None = None) -> Arena:
    """The tables of a task on a deterministic machine; give it the reduced task of a quotient.

    `distances` are those of `measure_task(task)`, where they are known already.
    """
    model = task.model
    if not model.is_exact:
        raise TaskError(
            "the exact solver takes machines without noise; this task is on a noisy one: `ascertain bounds` says "
            "what it costs at a stated risk, `ascertain observe` runs it"
        )
    class_of = list_reachable(model, task.state)
    bits = max(len(task.labels) - 1, 1).bit_length()
    if len(class_of) << bits >= 2**31:
        raise LimitError(f"{len(class_of)} states with {len(task.labels)} labels are too many for the exact solver")
    cost, scale = task.integer_costs()
    pairs = measure_task(task, class_of) if distances is None else distances
    element: list[int] = np.searchsorted(class_of, task.state).tolist()
    return Arena(
        task=task,
        start=frozenset(zip(task.label.tolist(), element, strict=True)),
        class_of=class_of,
        tables=SearchTables(
            successor=pairs.successor,
            reading=pairs.behaviour,
            cost=cost,
            distance=pairs.distance,
            state_label=np.empty(0, dtype=np.int32) if pairs.label is None else pairs.label,
            bits=bits,
            mean=mean,
            subsets=no_subsets(),
            chosen=np.zeros(3 * LARGEST_SIZE + 1, dtype=np.int32),
        ),
        choice=pairs.choice,
        scale=scale,
    )
