"""The least mean among policies of the least worst cost, by the recursion itself."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from ascertain.task.task import Task
from tests.reference.mean_rows import weighted_start
from tests.reference.optimum import is_pure, optimum
from tests.reference.search import Weighted, move, support


def least_mean_of_least_worst(task: Task, weights: Sequence[Fraction]) -> Fraction | None:
    """None when nothing settles the task."""
    budget = optimum(task)

    @cache
    def value(here: Weighted, left: Fraction) -> Fraction | None:
        if is_pure(support(here)):
            return Fraction(0)
        found: list[Fraction] = []
        for a, cost in enumerate(task.cost):
            after = move(task, here, a) if cost <= left else None
            rest = None if after is None else [value(c, left - cost) for c in after]
            if rest is not None and None not in rest:
                found.append(cost * sum(w for _, w in here) + sum(r for r in rest if r is not None))
        return min(found, default=None)

    best = None if budget is None else value(weighted_start(task, weights), budget)
    return None if best is None else best / sum(weights)
