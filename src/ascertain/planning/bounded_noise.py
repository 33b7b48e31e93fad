"""Two-sided bounds where noise is a bound: for the worst noise within it.

*Lower.* Errors that are spread evenly are one noise within the bound. A policy that keeps to the risks whatever the
noise keeps to them under this one, and costs no less in the worst case; so bounds for that law hold.

*Upper.* Policies are found for that law, and evaluated in the worst case (`policy/robust.py`), where they may err more
often: of eleven readings errors may aim at one. So where none keeps to the risks they are looked for again, at risks
that are smaller by the factor that was missed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ascertain.errors import LimitError, TaskError
from ascertain.planning.exported import listed
from ascertain.planning.factors import PricedChoice, Risk
from ascertain.planning.limits import DEFAULT_LIMITS, SearchLimits
from ascertain.planning.noisy_search import QUICK_RATIO
from ascertain.planning.two_sided import TwoSidedBounds, bound_both_sides
from ascertain.policy.evaluate import evaluate
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task

METHOD = "worst noise"
"""The name, in the output, of what a policy costs under the worst noise within the bound."""
ROUNDS = 8
"""Searches at smaller risks: a dial of eleven readings takes two to four."""
LIGHT: dict[str, Any] = {
    "enough": QUICK_RATIO,
    "max_work": 100_000,
    "max_dives": 1,
    "max_starts": 1,
    "max_changes": 5,
    "max_leaves": 5,
    "max_branches": 1,
    "max_histories": 60,
}
"""Limits of these searches: what a price search finds at once keeps its risk best when errors aim, and what is tuned to
the last thousandth of a risk under one law misses it under another."""
MAX_PLACES = 20_000
"""Places of a policy that is evaluated, the most that is certified."""
REMARK = (
    "noise is a bound: the policy is evaluated for the worst noise within it, and the lower bounds for errors that are "
    "spread evenly"
)
"""What is said of every such result."""


def spread_evenly(task: Task) -> Task:
    """The task under one noise within its bound: errors of just that probability, spread evenly."""
    return replace(task, model=replace(task.model, at_most=None, lost=None))


def bound_under_noise(
    question: Task | PlantTask, limits: SearchLimits = DEFAULT_LIMITS, *, tell: Callable[[str], None] | None = None
) -> TwoSidedBounds:
    """As `bound_both_sides` at the risks of the question; where noise is a bound, for the worst noise within it."""
    if question.model.noise_bound is None or not question.model.is_noisy:
        return bound_both_sides(question, limits=limits, tell=tell)
    task = listed(question)
    even, best = spread_evenly(task), None
    # Half of the time, where it is limited, is kept for searches at smaller risks.
    half = limits if math.isinf(limits.until) else replace(limits, until=(time.monotonic() + limits.until) / 2)
    first = found = bound_both_sides(even, limits=half, tell=tell)
    risks: Risk = task.alpha, task.beta
    for searches in range(ROUNDS + 1):
        judged = _evaluate_all(task, found)
        best = min((one for one in judged if _misses(task, one[2]) <= 1), key=lambda one: one[0], default=None)
        over = limits.is_over or found.stopped_by == "interrupt" or searches == ROUNDS
        if best is not None or not judged or over:
            break
        wrong, abstain = min((risk for _, _, risk in judged), key=lambda risk: _misses(task, risk))
        risks = _lower(risks[0], wrong, task.alpha), _lower(risks[1], abstain, task.beta)
        if tell is not None:
            tell("looking for a policy at smaller risks, as none keeps to these under the worst noise")
        found = bound_both_sides(even, *risks, replace(limits, **LIGHT))
    cost, policy, risk = best or (None, None, None)
    return replace(
        first,
        upper=cost,
        policy=policy,
        risk=risk,
        upper_by_method={METHOD: cost},
        policies=() if best is None else (best,),
        remarks=(*first.remarks, REMARK),
        stopped_by=first.stopped_by or found.stopped_by,
    )


def _evaluate_all(task: Task, found: TwoSidedBounds) -> list[PricedChoice]:
    """The policies of a search with their cost and risks under the worst noise, as far as they can be evaluated."""
    judged: list[PricedChoice] = []
    for _, policy, _ in found.policies:
        with suppress(LimitError, TaskError):  # too large, or under some noise it never ends
            worst = evaluate(task, policy, max_places=MAX_PLACES)
            if worst.cost is not None:
                judged.append((worst.cost, policy, (worst.alpha, worst.beta)))
    return judged


def _lower(risk: Fraction, found: Fraction, allowed: Fraction) -> Fraction:
    """A risk by the factor that it was missed by, and by half at least: what it becomes moves in jumps."""
    return risk if found <= allowed else risk * min(Fraction(1, 2), allowed / found)


def _misses(task: Task, risk: Risk) -> Fraction:
    """The larger factor by which the risks are more than those of the task."""
    return max(risk[0] / task.alpha, risk[1] / task.beta)
