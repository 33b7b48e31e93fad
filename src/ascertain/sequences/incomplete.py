"""The best incomplete identification: the largest set of labels that one experiment tells apart, and what it costs.

A set L of labels is *identifiable* when some experiment settles the question for the hypotheses whose labels are in L.
Subsets of identifiable sets are identifiable. What is optimised, in this order: the number of labels in L, then the
worst cost of the experiment. (For labels that are states: the largest set of states with an adaptive distinguishing
sequence, see Hierons and Tuerker, 2015.)

*Implicit hitting sets.* A *core* is a set of labels that is not identifiable. Every identifiable set leaves out at
least one label of each core, so a smallest set of labels that hits all known cores bounds what must be left out. If
leaving it out is enough, it is best; if not, what is left contains a new core, which the solver's witness names and
which is made minimal by leaving out one label after another. All smallest hitting sets are then gone through for the
least cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from ascertain.errors import TaskError
from ascertain.interruption import OutOfTime, look_up, seconds_left
from ascertain.search.exact import solve
from ascertain.search.solution import Bounded, Solved, Unsolvable
from ascertain.task.task import Task

Labels: TypeAlias = frozenset[int]
"""Numbers of labels of the task."""

MOST_TRIED = 1_000
"""Largest sets whose costs are compared; beyond, the cheapest of those that were tried is the answer."""


@final
@dataclass(frozen=True)
class Incomplete:
    """The best set that was found, and what is known of better ones."""

    names: tuple[str, ...]
    """Of the labels, by number."""
    labels: Labels
    """An identifiable set."""
    most: int
    """No identifiable set has more labels."""
    cost: Fraction
    """The least worst cost of telling them apart."""
    is_cheapest: bool
    """Whether no other set of as many labels costs less."""
    cores: tuple[Labels, ...]
    """Sets that are not identifiable; whatever is left out must hit each of them."""
    stopped_by: str | None = None
    """The limit that was met: "time" or "sets"; or "interrupt"."""
    seconds: float = 0.0
    """What finding that cost took: so long does it take again, with a proof."""

    def name(self, labels: Labels) -> list[str]:
        return [self.names[k] for k in sorted(labels)]


def find_identifiable(task: Task) -> Incomplete:
    """The largest set of labels of a task about the start that an experiment tells apart, and then the cheapest.

    Looks at the limit of time that holds (`interruption.limited`), and leaves as much of it as solving for the best set
    once more will take.
    """
    if task.about != "start":
        raise TaskError(
            "incomplete identification leaves out labels of hypotheses; in a question about the current state labels "
            "change on the way: ask about the start"
        )
    everything = frozenset(int(k) for k in task.label)
    best = Incomplete(task.labels, frozenset({min(everything)}), len(everything), Fraction(0), False, ())
    cores: list[Labels] = []
    tried: set[Labels] = set()
    dropped, stopped = 0, None
    try:
        for larger in _grow(task, everything, best, cores):
            best = larger
        while len(everything) - dropped >= len(best.labels) and stopped is None:
            fresh = False
            for drop in _hitting_sets(cores, dropped):
                if drop in tried:
                    continue
                tried.add(drop)
                found = _settle(task, everything - drop, best.seconds)
                if isinstance(found, frozenset):
                    cores.append(_minimise(task, found, best.seconds))
                    fresh = True
                    break  # the new core changes what hits them all
                best = _better(best, everything - drop, found)
                if len(tried) >= MOST_TRIED:
                    stopped = "sets"
                    break
            dropped += not fresh and stopped is None
    except OutOfTime:
        stopped = "time"
    except KeyboardInterrupt:
        stopped = "interrupt"
    most = max(len(best.labels), len(everything) - dropped)
    return replace(best, most=most, is_cheapest=stopped is None, cores=tuple(cores), stopped_by=stopped)


def _grow(task: Task, everything: Labels, best: Incomplete, cores: list[Labels]) -> Iterator[Incomplete]:
    """Larger and larger identifiable sets, until no label can be added, and the cores that keep labels out."""
    for k in sorted(everything):
        found = _settle(task, best.labels | {k}, best.seconds)
        if isinstance(found, frozenset):
            cores.append(found)
        else:
            best = _better(best, best.labels | {k}, found)
            yield best


def _better(best: Incomplete, labels: Labels, found: tuple[Fraction, float]) -> Incomplete:
    """The larger of two identifiable sets, of equal ones the cheaper."""
    cost, seconds = found
    larger = (len(labels), -cost) > (len(best.labels), -best.cost)
    return replace(best, labels=labels, cost=cost, seconds=seconds) if larger or labels == best.labels else best


def restrict_labels(task: Task, labels: Labels) -> Task:
    """The task about these labels alone."""
    kept = np.flatnonzero(np.isin(task.label, sorted(labels)))
    number = {k: i for i, k in enumerate(sorted(labels))}
    return replace(
        task,
        state=task.state[kept],
        label=np.array([number[int(k)] for k in task.label[kept]], dtype=np.int32),
        labels=tuple(task.labels[k] for k in sorted(labels)),
    )


def _settle(task: Task, labels: Labels, reserve: float) -> tuple[Fraction, float] | Labels:
    """The least worst cost of telling these labels apart and what that took, or a core among them.

    The limit of time is that of all, less the reserve.
    """
    look_up()
    left = seconds_left()
    limit = None if left is None else max(0.0, left - reserve)
    found = solve(restrict_labels(task, labels), time_limit=limit, prove="never", least_mean=False)
    match found:
        case Solved(cost=cost, stats=stats):
            return cost, stats.seconds
        case Unsolvable(members=left):
            names = sorted(labels)
            return frozenset(names[k] for k, _ in left)
        case Bounded(why="interrupt"):
            raise KeyboardInterrupt
        case Bounded():
            raise OutOfTime("the time limit of the search")


def _minimise(task: Task, core: Labels, reserve: float) -> Labels:
    """A core within a core, none of whose labels can be spared."""
    for k in sorted(core):
        if k in core:
            found = _settle(task, core - {k}, reserve)
            core = found if isinstance(found, frozenset) else core
    return core


def _hitting_sets(cores: Sequence[Labels], size: int, chosen: Labels = frozenset()) -> Iterator[Labels]:
    """The sets of so many labels that hit every core, each at least once."""
    look_up()
    missed = next((core for core in cores if not core & chosen), None)
    if missed is None:
        if len(chosen) == size:
            yield chosen
    elif len(chosen) < size:
        for k in sorted(missed):
            yield from _hitting_sets(cores, size, chosen | {k})
