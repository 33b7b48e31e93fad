"""One search: deepening in slices, and what is due between slices.

As long as no policy is known, the nodes met so far are searched for a set that cannot be left, which proves infinity.
When a search turns out to be long, D of ever larger small sets of states is tabulated, for better lower bounds, and the
policy at hand is improved, for better upper bounds; each about as much work as the search itself has been so far. When
these things are done depends on counts of the work done and never on the clock: the same task takes the same road.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import cached_property, partial
from typing import TypeAlias

import numpy as np

from ascertain.interruption import OutOfTime
from ascertain.kernels._jit import compiling_seconds, whole_kernels
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.kernels.search.deepen import deepen, prove_infinite
from ascertain.kernels.search.graph import DONE, EXPANDED, FULL, PAUSED, bound_again
from ascertain.policy.automaton import Automaton
from ascertain.policy.evaluate import cost_by_hypothesis
from ascertain.search.configuration import Arena, Member, price_of_next, value_next_size
from ascertain.search.first_policy import MIDDLE, WIDE, find_first_policy
from ascertain.search.graph import SearchGraph
from ascertain.search.greedy import enter_policy, improve_plan, plan_greedily
from ascertain.search.limits import default_memory_limit
from ascertain.search.plan import read_policy
from ascertain.search.shares import Shares, bound_by_counting, bound_by_joint_states, bound_by_packing
from ascertain.search.solution import SearchStats, StopReason
from ascertain.search.splitting import SplittingTree, grow_splitting_tree
from ascertain.task.task import Task

SearchProgress: TypeAlias = Callable[[Fraction, Fraction | None, SearchStats], None]
"""Called with the lower bound, the upper bound (None while there is none) and the work done so far."""

SLICE = 20_000
"""Visits in one call of the kernel: a few hundredths of a second."""
IMPROVE_AFTER = 40_000
"""Visits after which a policy is improved: a search that is over sooner would only lose time by it."""
MANY_VISITS = 2_000
"""Visits before infinity is first looked for: most tasks are settled sooner."""
SHORT_SLICE, FIRST_PASSES, SMALL = 4_000, 12_000_000, 2_000
"""Where members times actions are at most SMALL, visits that are spent before a first policy is looked for: so many, or
fewer if these times actions times the square of members come to more."""
PASSES = 300_000
"""Visits in one call times members times actions, on larger tasks: limits are looked at every few hundredths of a
second."""
PACK_AFTER = 400_000_000
"""Visits times the square of members times actions after which a small task is bounded by packing: a second of search,
which importing the solver of linear programs and listing pairs takes too."""
MOST_SPLIT = 4_096
"""States whose splitting tree is grown: blocks are sorted in a time that grows with the square of their size."""
MOST_ENTERED = 20_000
"""Members of all configurations of a first policy that is entered into the graph; each of them is bounded."""


class Search:
    """One search for the optimum of an arena."""

    def __init__(
        self,
        arena: Arena,
        weight: dict[Member, int] | None = None,
        *,
        task: Task | None = None,
        first: Automaton | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        started: float | None = None,
        compiled_before: float | None = None,
    ) -> None:
        self.arena = arena
        self.task = arena.task if task is None else task
        """The question before its quotient was taken: there, too, a greedy policy must not be cheaper."""
        self.started = time.monotonic() if started is None else started
        self.compiled_before = compiling_seconds() if compiled_before is None else compiled_before
        """Seconds of compiling that do not belong to this search."""
        self.deadline = None if time_limit is None else self.started + time_limit
        """On the clock of `time.monotonic`; None for never."""
        self.given_memory = memory_limit
        if len(arena.tables.distance) == 0 and self.memory_limit is not None:
            # Pairs may take a quarter of it; without room for more of them bounds are weaker, and as valid.
            arena.most_bytes = self.memory_limit // 4
        self.graph = SearchGraph(arena, weight)
        self.first = first
        """A policy that is known from elsewhere; the graph knows its cost, and its steps if it is small."""
        self.tree: SplittingTree | None = None
        self.prepared = False
        """Whether a first policy has been looked for."""
        self.checked = 0
        """Visits when infinity was last looked for."""
        self.strengthened = 0
        """Visits when the table of small sets last grew."""
        self.shares: Shares | None = None
        """What proves the lower bound of the start, as long as the graph knows no better one."""
        self.packed = False
        """Whether a bound by packing has been looked for."""
        self.improved = IMPROVE_AFTER
        """Visits after which the first policy is improved next."""

    @cached_property
    def memory_limit(self) -> int | None:
        """Bytes that the tables of the search may take, None for any number; asked for when they grow."""
        return default_memory_limit() if self.given_memory is None else self.given_memory

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
            why, self.deadline = "interrupt", time.monotonic()
        except OutOfTime:
            why = "time"
        if why is not None and not self.prepared:
            with suppress(OutOfTime):
                self.prepare()
        return why if self.lower < self.upper else None

    def deepen(self, progress: SearchProgress | None) -> StopReason | None:
        """The loop: a slice of deepening, then whatever is due between slices."""
        size = len(self.arena.start) * self.arena.num_actions
        # Small ones are visited in slices that do not depend on their size.
        at_once = SLICE if size <= SMALL else max(1, PASSES // size)
        first = min(SHORT_SLICE, FIRST_PASSES // (size * len(self.arena.start)))
        while True:
            # Where the machine is large, a first policy is known, and better ones are there sooner than bounds.
            if not self.prepared and (self.graph.num_visits >= first or size > SMALL or self.first is not None):
                self.prepare()
                if self.is_over:
                    return "time"
                self.report(progress)
                if self.graph.mean and size > SMALL:
                    self.pack()  # to lower a sum takes many small steps, and to raise its bound even more
            status = self.visit(1 if self.is_over else at_once if self.prepared else max(1, first))
            if status == DONE:
                return None
            if status == FULL:
                # Arrays grow by doubling, so that twice what there is has to fit.
                if self.memory_limit is not None and 2 * self.graph.num_bytes > self.memory_limit:
                    return "memory"
                self.graph.grow()
                if self.is_over:
                    return "time"
                continue
            due = [partial(self.look_for_infinity, patiently=status == PAUSED), self.pack]
            if status == PAUSED:
                due += [self.strengthen, self.improve_policy]
            for work in due:
                with suppress(OutOfTime):  # what would take longer than is left; the search goes on without it
                    work()
            if self.is_over:
                return "time"
            self.report(progress)

    def report(self, progress: SearchProgress | None) -> None:
        """Say how far it is, unless it is over."""
        if progress is not None and self.lower < self.upper:
            progress(*self.interval(), self.stats())

    def visit(self, number: int) -> int:
        """So many visits, in as many calls as the kernel takes for them; cut short only when time runs out."""
        graph, left = self.graph, self.graph.stack[0]
        left[1] = number
        while True:
            status = deepen(self.arena.tables, graph.data, graph.scratch, graph.stack, int(left[1]))
            self.arena.make_pair_room()
            if status != PAUSED or left[1] == 0 or self.is_over:
                return status

    @property
    def is_over(self) -> bool:
        """Whether the time is."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def prepare(self) -> None:
        """Let the splitting tree and greedy policies say what they can."""
        self.prepared = True
        if self.lower >= self.upper:
            return
        is_large = len(self.arena.start) * self.arena.num_actions > SMALL
        is_small = not is_large and len(self.arena.tables.distance) > 0
        # Of a large task a policy was mostly sought before; where there was none, there may be none.
        if is_large and self.first is None and self.is_stuck():
            return
        # Of a small task it takes a moment, whatever the time.
        until = None if is_small else self.deadline
        self.take(self.first or find_first_policy(self.task, deadline=until, eager=True))
        for by_largest in (False, True) if is_large else (False,):
            if not self.is_over:
                self.take(find_first_policy(self.arena.task, MIDDLE, self.deadline, by_largest=by_largest))
        if self.counts_start and not self.is_over:
            self.raise_start(bound_by_counting(self.arena, self.lower))
        if self.lower >= self.upper or (self.is_over and self.upper < INFINITE):
            return
        if self.is_stuck():
            return
        if is_small or self.upper >= INFINITE:
            plan_greedily(self.graph, self.tree, None if self.upper >= INFINITE and is_small else self.deadline)

    def is_stuck(self) -> bool:
        """Whether the splitting tree shows that nothing settles the start."""
        if self.arena.about_current or len(self.arena.class_of) > MOST_SPLIT:
            return False
        if self.tree is None:
            self.tree = grow_splitting_tree(self.arena)
        if self.tree.stuck_part(self.arena.start) is not None:
            self.graph.data.lower[0] = INFINITE
        return self.lower >= INFINITE

    @property
    def counts_start(self) -> bool:
        """Whether bounds by shares hold: for worst costs, about the start, of more than two hypotheses."""
        return not self.graph.mean and not self.arena.about_current and len(self.arena.start) > 2

    def raise_start(self, shares: Shares | None) -> None:
        """Raise the lower bound of the start to what shares prove."""
        if shares is not None and shares.bound > self.lower:
            self.shares = shares
            self.graph.data.lower[0] = shares.bound

    def pack(self) -> None:
        """When a search turns out to be long: bound the start by packing, and look for policies further, once."""
        size = len(self.arena.start) * self.arena.num_actions
        due = 0 if size > SMALL else PACK_AFTER // size**2
        if self.packed or self.graph.num_visits < due or self.lower >= self.upper:
            return
        self.packed = True
        if self.counts_start:
            for bound in (bound_by_packing, bound_by_joint_states):
                self.raise_start(bound(self.arena, self.lower, lambda: self.is_over))
        self.take(find_first_policy(self.arena.task, WIDE, self.deadline))
        if self.is_planned and self.lower < self.upper:
            improve_plan(self.graph, self.tree, 4, self.deadline)

    def take(self, policy: Automaton | None) -> None:
        """Make use of a policy that is known from elsewhere, if it is cheaper than what the graph knows."""
        if policy is None:
            return
        reduced, unit = self.arena.task, self.arena.scale
        costs = cost_by_hypothesis(reduced, policy)
        if self.graph.mean:
            places = np.searchsorted(self.arena.class_of, reduced.state).tolist()
            members = zip(reduced.label.tolist(), places, strict=True)
            value = int(sum(c * unit * self.graph.start[member] for c, member in zip(costs, members, strict=True)))
        else:
            value = int(max(costs) * unit)
        if value >= self.upper:
            return
        entered = False
        with suppress(OutOfTime):
            entered = enter_policy(self.graph, policy, MOST_ENTERED, self.deadline)
        if not entered:
            # The plan first, as everywhere: without one the bound is that of the policy from elsewhere.
            self.first = policy
            self.graph.data.plan[0] = -1
            self.graph.data.upper[0] = value

    @property
    def is_planned(self) -> bool:
        """Whether the graph has the steps of the best policy."""
        return bool(self.graph.data.plan[0] >= 0) or self.knows_pair

    def read_policy(self) -> Automaton:
        """The best policy that is known; there is one."""
        if self.first is not None and self.graph.data.plan[0] < 0 and not self.knows_pair:
            return self.first
        return read_policy(self.graph)

    @property
    def knows_pair(self) -> bool:
        """Whether the start is two members whose distance is known."""
        states = [s for _, s in self.arena.start]
        return len(states) == 2 and states[0] != states[1] and self.arena.measure(*states)[1] is not None

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
        self.strengthened = graph.num_visits
        subsets = value_next_size(tables, self.deadline)
        if subsets is not None:
            self.arena.tables = tables._replace(subsets=subsets)
            bound_again(self.arena.tables, graph.data)

    def improve_policy(self) -> None:
        """Try more words at each step of the policy at hand; again, with twice as many, each time the work doubles."""
        if INFINITE > self.upper > self.lower and self.graph.num_visits >= self.improved and self.is_planned:
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
