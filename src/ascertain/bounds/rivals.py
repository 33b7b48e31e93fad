"""Which rivals to keep: a bound that leaves some out is still a bound, so the hardest are kept.

A rival is hard when it pays little. Rivals are ordered by their best rate, then by what all actions pay together, now
and, counting less and less, a few steps later. (On a register read bit by bit all rivals have the same best rate, and
those that differ in one bit pay least in all.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ascertain.bounds.encounters import Encounters
from ascertain.bounds.information import best_rates
from ascertain.types import UNDEFINED

STEPS = 3
DISCOUNT = 0.5
CERTAIN = 50.0
"""What a reading counts for that settles the pair, in nats."""


def rank_rivals(met: Encounters, most: int) -> dict[int, tuple[int, ...]]:
    """For each hypothesis its hardest rivals, at most so many, the hardest first."""
    order, _ = best_rates(met)
    together = total_payment(met)
    label, element = met.task.label, met.element
    ranked: dict[int, tuple[int, ...]] = {}
    for h in range(met.task.num_hypotheses):
        rivals = np.flatnonzero(label != label[h])
        s, t = element[h], element[rivals]
        hardest = np.lexsort((rivals, together[s, t], order[s, t]))[:most]
        ranked[h] = tuple(int(g) for g in rivals[hardest])
    return ranked


def total_payment(met: Encounters) -> npt.NDArray[np.float64]:
    """What all actions pay together from each pair of elements, for each unit of cost, in nats."""
    n, num_actions = met.successor.shape
    now = np.zeros((n, n))
    for a in range(num_actions):
        now += _payment(met, a) / float(met.task.cost[a])
    total = now.copy()
    for _ in range(STEPS):
        later = np.zeros((n, n))
        for a in range(num_actions):
            allowed = np.flatnonzero(met.successor[:, a] != UNDEFINED)
            target = met.successor[allowed, a]
            later[np.ix_(allowed, allowed)] += total[np.ix_(target, target)]
        total = now + DISCOUNT / num_actions * later
    return total


def _payment(met: Encounters, a: int) -> npt.NDArray[np.float64]:
    """What one action pays in each pair of elements."""
    top = int(met.law.max()) + 1
    table = np.zeros((top + 1, top + 1))
    for (k, m, cost), kind in met.number.items():
        if cost == met.task.cost[a]:
            entropy = met.kinds[kind].entropy
            table[k, m] = CERTAIN if entropy is None else float(entropy.high)
    law = met.law[:, a]
    paid = table[law[:, None], law[None, :]]
    paid[(law == UNDEFINED)[:, None] | (law == UNDEFINED)[None, :]] = 0.0
    if met.label is not None:
        after = met.label[met.successor[:, a]]
        paid[(after[:, None] == after[None, :]) & (law != UNDEFINED)[:, None] & (law != UNDEFINED)[None, :]] = CERTAIN
    return paid
