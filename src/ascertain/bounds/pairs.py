"""The pair bound: telling a whole set apart costs at least what its hardest pair costs.

D(S) >= max over two members of S of their distance, because a policy for S settles each of its pairs. The bound is
infinite exactly when two hypotheses with different labels are obstructed. Distances are measured on the states that
hypotheses can become, and no others.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.quotients.separation import PairDistances, list_few_reachable, measure_task
from ascertain.task.task import Task
from ascertain.types import Action, IntArray, LongArray

MOST_STATES = 20_000
"""Beyond this many states the pairs no longer fit an ordinary memory."""


@dataclass(frozen=True)
class PairBound:
    """A lower bound on D, the hypotheses that attain it and a cheapest word that settles these two."""

    value: Fraction | None
    """None when infinite."""
    pair: tuple[int, int] | None
    """The two hypotheses; None when there is nothing to settle."""
    word: tuple[Action, ...] | None
    """None when the bound is infinite."""


def bound_by_pairs(task: Task) -> PairBound:
    """The largest distance between two hypotheses of different labels, with the pair and its word."""
    distances = measure_task(task, list_few_reachable(task, MOST_STATES, "the pair bound takes"))
    element = np.searchsorted(distances.states, task.state).astype(np.int64)
    pair, worst = _hardest(element, task.label, distances)
    if pair is None:
        return PairBound(Fraction(0), None, ())
    if worst == INFINITE:
        return PairBound(None, pair, None)
    g, h = (int(element[k]) for k in pair)
    return PairBound(Fraction(worst, task.integer_costs()[1]), pair, distances.word(g, h))


def _hardest(element: LongArray, label: IntArray, distances: PairDistances) -> tuple[tuple[int, int] | None, int]:
    """The two hypotheses of different labels that are farthest apart, and their distance."""
    pair, worst = None, 0
    for h in range(1, len(element)):
        low, high = np.minimum(element[:h], element[h]), np.maximum(element[:h], element[h])
        row = np.where(label[:h] == label[h], 0, INFINITE)
        apart = (row > 0) & (low < high)
        row[apart] = distances.distance[(high * (high - 1) // 2 + low)[apart]]
        g = int(row.argmax())
        if int(row[g]) > worst:
            pair, worst = (g, h), int(row[g])
    return pair, worst
