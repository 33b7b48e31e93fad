"""A certified policy within a time limit: price searches on belief graphs of growing size, and trees of tests.

`bound_both_sides` wants both sides as close as they get. Whoever stands before a plant wants one good policy soon. The
searches are those of `two_sided.py`; the smallest comes first, each of the next may look at more information states,
and none begins that would probably not end in time. What has been found by then is the answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast, final

from ascertain.errors import LimitError
from ascertain.planning.composition import compose, skeleton
from ascertain.planning.factors import find_factors
from ascertain.planning.information_state import Slots, smallest_slots
from ascertain.planning.lagrangian import search_prices
from ascertain.planning.limits import DEFAULT_LIMITS
from ascertain.planning.two_sided import test_factors
from ascertain.quotients.obstruction import find_obstruction
from ascertain.quotients.quotient import take_quotient
from ascertain.search.exact import solve
from ascertain.search.solution import Bounded, Solved
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task

SIZES = (1_000, 4_000, 16_000, 60_000)
"""Information states that the searches may look at, one after the other; the last is that of `bounds`."""
GROWTH = 5
"""How much longer the next search may take than the last: it has four times as many information states."""


@final
@dataclass(frozen=True)
class Found:
    """A policy, and what is proved of it: wrong, abstain and cost, at most."""

    risk: tuple[Fraction, Fraction, Fraction]
    policy: Any


def find_in_time(
    question: Task | PlantTask, seconds: float, tell: Callable[[str], None] = lambda _: None
) -> list[Found]:
    """The policies found that keep to the risks of the question, the cheapest first.

    Without noise that is the optimum, and for a plant that is not enumerated the tests of its factors.
    """
    if question.model.listed is None:
        factors = find_factors(cast("PlantTask", question))
        if factors is None:
            return []
        policy, upper, risk = test_factors(factors, question.alpha, question.beta)
        return [Found((*risk, min(cost for cost in upper.values() if cost is not None)), policy)]
    if not question.model.is_noisy:
        plan = solve(cast("Task", question), time_limit=seconds, prove="never")
        cost = plan.cost if isinstance(plan, Solved) else plan.upper if isinstance(plan, Bounded) else None
        return [] if cost is None else [Found((Fraction(0), Fraction(0), cost), getattr(plan, "policy", None))]
    obstruction = find_obstruction(question)
    if obstruction is not None and obstruction.rules_out(question.alpha, question.beta):
        return []
    return _Search(take_quotient(cast("Task", question)).reduced, time.monotonic() + seconds, tell).run()


class _Search:
    """The policies so far, and how much time is left."""

    def __init__(self, task: Task, deadline: float, tell: Callable[[str], None]) -> None:
        self.task, self.deadline, self.tell = task, deadline, tell
        self.found: list[Found] = []

    def run(self) -> list[Found]:
        # Information states keep what hypotheses began as, so that a question about now has trees alone.
        if self.task.about == "start":
            # What is sorted is found sooner, and what is named is a smaller table.
            for slots in dict.fromkeys((smallest_slots(self.task), "named")):
                self.search_prices(slots)
        if self.left > 0 or not self.found:
            self.try_trees()
        return sorted(self.found, key=lambda found: found.risk[2])

    @property
    def left(self) -> float:
        return self.deadline - time.monotonic()

    def search_prices(self, slots: Slots) -> None:
        expected = 0.0
        for size in SIZES:
            if expected > self.left:
                return
            self.tell(f"looking for a policy among {size:,} information states")
            begun = time.monotonic()
            with suppress(LimitError):
                limits = replace(DEFAULT_LIMITS, max_nodes=size, max_bound_nodes=size)
                found = search_prices(self.task, self.task.alpha, self.task.beta, limits=limits, slots=slots)
                if found.best is not None:
                    self.found.append(Found(found.best.risk.worst, found.best.policy))
                if found.lower is not None:
                    return  # all information states were listed: a larger limit changes nothing
            expected = GROWTH * (time.monotonic() - begun)

    def try_trees(self) -> None:
        """Trees of tests, where the deterministic one is found soon."""
        self.tell("composing a tree of tests")
        plan = solve(skeleton(self.task), time_limit=max(self.left / 4, 0.5), prove="never")
        if not isinstance(plan, Solved | Bounded) or plan.policy is None or (self.found and self.left < 0):
            return
        for tree in compose(self.task, plan.policy, self.task.alpha, self.task.beta).values():
            if tree is not None:
                self.found.append(Found((tree.wrong, tree.abstain, tree.cost), tree))
