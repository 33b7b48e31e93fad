"""One search: deepening in slices, and what is due between slices.

As long as no policy is known, the nodes met so far are searched for a set that cannot be left, which proves infinity.
When a search turns out to be long, D of ever larger small sets of states is tabulated, for better lower bounds, and the
policy at hand is improved, for better upper bounds; each about as much work as the search itself has been so far. When
these things are done depends on counts of the work done and never on the clock: the same task takes the same road.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ascertain.kernels._jit import compiling_seconds, whole_kernels
from ascertain.kernels.search.bounds import INFINITE
from ascertain.kernels.search.deepen import DONE, FULL, PAUSED, deepen, prove_infinite
from ascertain.kernels.search.graph import EXPANDED, bound_again
from ascertain.search.configuration import Arena, Member, price_of_next, value_next_size
from ascertain.search.graph import SearchGraph
from ascertain.search.greedy import improve_plan, plan_greedily
from ascertain.search.solution import SearchStats, StopReason
from ascertain.search.splitting import SplittingTree, grow_splitting_tree

SearchProgress: TypeAlias = Callable[[Fraction, Fraction | None, SearchStats], None]
"""Called with the lower bound, the upper bound (None while there is none) and the work done so far."""

SLICE = 20_000
"""Visits in one call of the kernel: a few hundredths of a second."""
MANY_VISITS = 2_000
"""Visits before infinity is first looked for: most tasks are settled sooner."""
IMPROVE_AFTER = 40_000
"""Visits after which a policy is improved: a search that is over sooner would only lose time by it."""
SHORT_SLICE, SMALL = 4_000, 2_000
"""Where members times actions are at most SMALL, that many visits are spent before a first policy is looked for."""


class Search:
    """One search for the optimum of an arena."""

    def __init__(
        self,
        arena: Arena,
        weight: dict[Member, int] | None = None,
        *,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        started: float | None = None,
        compiled_before: float | None = None,
    ) -> None:
        self.arena = arena
        self.started = time.monotonic() if started is None else started
        self.compiled_before = compiling_seconds() if compiled_before is None else compiled_before
        """Seconds of compiling that do not belong to this search."""
        self.deadline = None if time_limit is None else self.started + time_limit
        """On the clock of `time.monotonic`; None for never."""
        self.memory_limit = memory_limit
        """Bytes that the tables of the search may take; None for any number."""
        self.graph = SearchGraph(arena, weight)
        self.tree: SplittingTree | None = None
        self.prepared = False
        """Whether a first policy has been looked for."""
        self.checked = 0
        """Visits when infinity was last looked for."""
        self.strengthened = 0
        """Visits when the table of small sets last grew."""
        self.improved = IMPROVE_AFTER
        """Visits after which the first policy is improved next."""

    @property
    def lower(self) -> int:
        return self.graph.lower(0)

    @property
    def upper(self) -> int:
        return self.graph.upper(0)

    @property
    def unit(self) -> Fraction:
        """What bounds are divided by to become costs."""
        return self.arena.scale * (sum(self.graph.start.values()) if self.graph.mean else 1)

    def run(self, progress: SearchProgress | None = None) -> StopReason | None:
        """Search until the bounds meet (None) or a limit is reached (which one)."""
        try:
            with whole_kernels():
                why = self.deepen(progress)
        except KeyboardInterrupt:
            why = "interrupt"
        if why is not None and not self.prepared:
            self.prepare()
        return why if self.lower < self.upper else None

    def deepen(self, progress: SearchProgress | None) -> StopReason | None:
        """The loop: a slice of deepening, then whatever is due between slices."""
        size = len(self.arena.start) * self.arena.num_actions
        while True:
            if not self.prepared and (self.graph.num_visits >= SHORT_SLICE or size > SMALL):
                self.prepare()
            status = self.visit(SLICE if self.prepared else SHORT_SLICE)
            if status == DONE:
                return None
            if status == FULL:
                # Arrays grow by doubling, so that twice what there is has to fit.
                if self.memory_limit is not None and 2 * self.graph.num_bytes > self.memory_limit:
                    return "memory"
                self.graph.grow()
            self.look_for_infinity(patiently=status == PAUSED)
            if status == PAUSED:
                self.strengthen()
                self.improve_policy()
            if self.is_over:
                return "time"
            if progress is not None and self.lower < self.upper:
                progress(*self.interval(), self.stats())

    def visit(self, number: int) -> int:
        """So many visits, in as many calls as the kernel takes for them; cut short only when time runs out."""
        graph, left = self.graph, self.graph.stack[0]
        left[1] = number
        while True:
            status = deepen(self.arena.tables, graph.data, graph.scratch, graph.stack, int(left[1]))
            if status != PAUSED or left[1] == 0 or self.is_over:
                return status

    @property
    def is_over(self) -> bool:
        """Whether the time is."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def prepare(self) -> None:
        """Let the splitting tree and a greedy policy say what they can."""
        self.prepared = True
        if self.lower >= self.upper:
            return
        if not self.arena.about_current:
            self.tree = grow_splitting_tree(self.arena)
            if self.tree.stuck_part(self.arena.start) is not None:
                self.graph.data.lower[0] = INFINITE
                return
        plan_greedily(self.graph, self.tree)

    def strengthen(self) -> None:
        """When a search for worst costs turns out to be long: bound configurations by their small parts too.

        Sets of one more state are valued once as much work has gone into searching as that will take.
        """
        tables, graph = self.arena.tables, self.graph
        count = None if graph.mean else price_of_next(tables, len(self.arena.start))
        if count is None or graph.num_visits - self.strengthened < count * self.arena.num_actions // 2:
            return
        # Values of sets are integers of four bytes.
        needed = graph.num_bytes + 4 * (len(tables.subsets.value) + count)
        if self.memory_limit is not None and needed > self.memory_limit:
            return
        subsets = value_next_size(tables, self.deadline)
        if subsets is not None:
            self.arena = replace(self.arena, tables=tables._replace(subsets=subsets))
            graph.arena = self.arena
            bound_again(self.arena.tables, graph.data)
        self.strengthened = graph.num_visits

    def improve_policy(self) -> None:
        """Try more words at each step of the policy at hand; again, with twice as many, each time the work doubles."""
        if INFINITE > self.upper > self.lower and self.graph.num_visits >= self.improved:
            width = 4 * self.improved // IMPROVE_AFTER
            self.improved *= 2
            improve_plan(self.graph, self.tree, width, self.deadline)

    def look_for_infinity(self, *, patiently: bool) -> None:
        """Search the nodes met so far for a set that cannot be left, if enough has changed since the last time."""
        visits = self.graph.num_visits
        if self.upper < INFINITE or visits < max(MANY_VISITS, (2.0 if patiently else 1.2) * self.checked):
            return
        # The fixpoint looks at all nodes, so that it is due only when their number has grown by a good part.
        self.checked = visits
        prove_infinite(self.graph.data, np.zeros(self.graph.num_nodes, dtype=np.bool_))

    def interval(self) -> tuple[Fraction, Fraction | None]:
        """The bounds as costs; a lower bound that has become infinite is reported by the result, as `Unsolvable`."""
        lower = Fraction(self.lower, self.unit) if self.lower < INFINITE else Fraction(0)
        return lower, Fraction(self.upper, self.unit) if self.upper < INFINITE else None

    def stats(self) -> SearchStats:
        return SearchStats(
            seconds=time.monotonic() - self.started,
            configurations=self.graph.num_nodes,
            expanded=int(self.graph.data.used[EXPANDED]),
            visits=self.graph.num_visits,
            bytes=self.graph.num_bytes,
            compiling_seconds=compiling_seconds() - self.compiled_before,
        )
