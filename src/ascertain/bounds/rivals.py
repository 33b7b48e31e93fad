"""Which rivals to keep: a bound that leaves some out is still a bound, so the hardest are kept.

A rival is hard when readings give little KL against it. Rivals are ordered by their best rate, then by the KL of all
actions together, now and, counting less and less, a few steps later. (On a register read bit by bit all rivals have the
same best rate, and those that differ in one bit have the least KL in all.)
"""

from __future__ import annotations

import numpy as np

from ascertain.bounds.encounters import Encounters
from ascertain.bounds.information import best_rates
from ascertain.types import UNDEFINED, FloatArray

STEPS = 3
"""How many steps ahead KL is counted: it only breaks ties between equal best rates, so a few are enough."""
DISCOUNT = 0.5
"""What KL one step later counts for, beside KL now: the step that leads there has to be taken first."""
CERTAIN = 50.0
"""What a reading counts for that settles the pair, in nats: as much as a risk of 10^-21 needs."""


def rank_rivals(met: Encounters, most: int) -> dict[int, tuple[int, ...]]:
    """For each hypothesis its hardest rivals, at most so many, the hardest first."""
    order, _ = best_rates(met)
    together = total_divergence(met)
    label, element = met.task.label, met.element
    ranked: dict[int, tuple[int, ...]] = {}
    for h in range(met.task.num_hypotheses):
        rivals = np.flatnonzero(label != label[h])
        s, t = element[h], element[rivals]
        hardest = np.lexsort((rivals, together[s, t], order[s, t]))[:most]
        ranked[h] = tuple(int(g) for g in rivals[hardest])
    return ranked


def total_divergence(met: Encounters) -> FloatArray:
    """The KL of all actions together from each pair of elements, for each unit of cost, in nats."""
    n, num_actions = met.successor.shape
    # The last entry stands for "no encounter": that is what -1 picks.
    nats = np.array([CERTAIN if kind.entropy is None else float(kind.entropy.high) for kind in met.kinds] + [0.0])
    now = np.zeros((n, n))
    for a in range(num_actions):
        now += nats[met.kinds_at(a)] / float(met.task.cost[a])
    total = now.copy()
    for _ in range(STEPS):
        later = np.zeros((n, n))
        for a in range(num_actions):
            allowed = np.flatnonzero(met.successor[:, a] != UNDEFINED)
            target = met.successor[allowed, a]
            later[np.ix_(allowed, allowed)] += total[np.ix_(target, target)]
        total = now + DISCOUNT / num_actions * later
    return total
