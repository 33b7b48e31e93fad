"""The pairwise information bound: the KL that two hypotheses need, at the best rate at which readings can give it.

Theorem 3.2 and what follows it in the paper. A policy with Pr(wrong) <= alpha and Pr(abstain) <= beta answers the
label of h with probability at least 1 - alpha - beta under h, and at most alpha under a g of another label. If 2 alpha
+ beta < 1, the stopped transcripts satisfy KL(P_h || P_g) >= d(1 - alpha - beta || alpha), and by the chain rule
each action adds at most its own KL. With Gamma the best KL for each unit of cost over the paired
states that a common word of actions reaches,

    AO >= d(1 - alpha - beta || alpha) / Gamma(h -> g)            for every ordered pair with different labels.

Nothing follows where Gamma is infinite; the complexity is infinite where Gamma is zero, and also where alpha is zero
and Gamma finite. When 2 alpha + beta >= 1 the bound is vacuous: an observer may then settle nothing and still be
valid.

*Which rivals to keep.* A bound that leaves some rivals out is still a bound, so the hardest are kept. A rival is hard
when readings give little KL against it. Rivals are ordered by their best rate, then by the KL of all actions together,
now and, counting less and less, a few steps later. (On a register read bit by bit all rivals have the same best rate,
and those that differ in one bit have the least KL in all.)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from ascertain.bounds.divergence import required_divergence, round_value
from ascertain.bounds.encounters import REVEALING, WORD, Encounters, find_encounters
from ascertain.errors import TaskError
from ascertain.task.question import AbstractQuestion
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action, FloatArray, IntArray, State

STEPS = 3
"""How many steps ahead KL is counted: it only breaks ties between equal best rates, so a few are enough."""
LATER = 0.5
"""What KL one step later counts for, beside KL now: the step that leads there has to be taken first."""
CERTAIN = 50.0
"""What a reading counts for that settles the pair, in nats: as much as a risk of 10^-21 needs."""


@final
@dataclass(frozen=True)
class PairwiseBound:
    """A lower bound on the complexity, and where it comes from."""

    value: Fraction | None
    """Rounded down; None when infinite."""
    vacuous: bool = False
    """Whether 2 alpha + beta >= 1, so that nothing is asked."""
    pair: tuple[int, int] | None = None
    """The truth h and the rival g that attain it, in this direction; None where no pair bounds anything."""
    place: tuple[State, State, Action] | None = None
    """Where the rate is best: the states that h and g are then in, and the action. None where they never differ."""
    rate: Fraction | None = None
    """KL for each unit of cost there, rounded up; None where there is no such place or the rate is infinite."""


def bound_by_information(
    task: Task, alpha: Fraction | None = None, beta: Fraction | None = None, *, encounters: Encounters | None = None
) -> PairwiseBound:
    """The best pairwise bound over both directions of every pair; the risks are the task's unless given."""
    alpha, beta = check_risks(task, alpha, beta)
    if 2 * alpha + beta >= 1:
        return PairwiseBound(Fraction(0), vacuous=True)
    met = encounters or find_encounters(task)
    required = required_divergence(alpha, beta)
    order, values = best_rates(met)
    at = order[np.ix_(met.element, met.element)].astype(np.int64)
    # Pairs of one label need not be told apart: they rank above every rate, also above infinity.
    at[task.label[:, None] == task.label[None, :]] = len(values)
    h, g = (int(i) for i in np.unravel_index(int(at.argmin()), at.shape))
    rank = int(at[h, g])
    rate = values[rank] if rank < len(values) else None
    if rate is None:
        return PairwiseBound(Fraction(0))
    place = _find_place(met, (h, g), rate)
    if rate == 0 or required is None:
        return PairwiseBound(None, False, (h, g), place, None if place is None else rate)
    return PairwiseBound(round_value(required.low / rate), False, (h, g), place, rate)


def check_risks(task: AbstractQuestion, alpha: Fraction | None, beta: Fraction | None) -> tuple[Fraction, Fraction]:
    """The risks asked for, or the task's own."""
    chosen = (task.alpha if alpha is None else Fraction(alpha), task.beta if beta is None else Fraction(beta))
    for name, risk in zip(("alpha", "beta"), chosen, strict=True):
        if not 0 <= risk < 1:
            raise TaskError(f"{name} is {risk}; a probability in [0, 1) is needed")
    return chosen


def best_rates(met: Encounters) -> tuple[IntArray, list[Fraction | None]]:
    """`values[order[s, t]]` is Gamma from element s to element t, rounded up; None, the last, is infinite.

    Rates are compared as rationals before pairs see their ranks, so that no rounding chooses the wrong one.
    """
    finite = sorted({rate for rate in (kind.rate for kind in met.kinds) if rate is not None} | {Fraction(0)})
    values: list[Fraction | None] = [*finite, None]
    rank = {rate: i for i, rate in enumerate(values)}
    order = np.zeros(met.words[0].shape, dtype=np.int32)
    # In ascending order of rates, so that the best rate that is reached is written last.
    for kind in sorted(range(len(met.kinds)), key=lambda k: rank[met.kinds[k].rate]):
        reached = met.words[kind // WORD] >> (kind % WORD) & 1 == 1
        order[reached] = rank[met.kinds[kind].rate]
    return order, values


def _find_place(met: Encounters, pair: tuple[int, int], rate: Fraction) -> tuple[State, State, Action] | None:
    """The first reachable encounter, in the order of breadth, that has this rate."""
    start = (int(met.element[pair[0]]), int(met.element[pair[1]]))
    seen, queue = {start}, [start]
    for s, t in queue:
        for a in range(met.successor.shape[1]):
            kind = met.kind_at(s, t, a)
            if kind > REVEALING and met.kinds[kind].rate == rate:
                return int(met.states[s]), int(met.states[t]), a
            after = (int(met.successor[s, a]), int(met.successor[t, a]))
            if min(after) >= 0 and after not in seen:
                seen.add(after)
                queue.append(after)
    return None


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
        total = now + LATER / num_actions * later
    return total
