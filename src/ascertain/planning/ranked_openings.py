"""A lower bound for exchangeable hypotheses that draw nothing at random: branching over how a run begins.

With ranked slots (`information_state.py`) eight sensors have some ten thousand information states, and prices prove
what the best *mixture* of policies costs: its first sensor is drawn at random. A policy that draws nothing has a first
sensor, and whichever hypothesis is asked for first waits least. Let s1 be that sensor. By symmetry nothing is lost, and
the theorem of `branch_and_bound.py` holds for whatever prices: so hypothesis 1 may weigh less than the others, and the
bound rises.

*The opening* goes on for as long as all readings are the ones that rivals give: after s1, ..., sj a policy asks one of
these again, or a sensor of which nothing was asked, where one stands for all. So every policy begins with

    s1 ... sj si   for some i <= j < d,   or with   s1 ... sd,

and the least of the bounds of these partial policies bounds the complexity. Answering or abstaining there would break a
risk; where it would not, the opening ends before. The value q of the theorem needs V of the information states that the
opening leads to, which one ranked graph has for all of them: with prices A w_h and B w_h weights are penalties at the
start. Those that were asked for weigh as much less as one reading speaks against them, so that penalties stay on their
lattice and information states few.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ascertain.kernels.planning.controllers import SHRINK
from ascertain.planning.belief_graph import BeliefGraph, GraphBuilder
from ascertain.planning.information_state import UNIT, tabulate_likelihoods
from ascertain.planning.lagrangian import SAFETY, LagrangianProgram, LagrangianSolution
from ascertain.planning.limits import DEFAULT_LIMITS, SearchLimits
from ascertain.task.task import Task
from ascertain.types import LongArray

MAX_OPENING = 4
"""Sensors of an opening: what a fourth one adds is already little."""
PRICE_STEPS = range(-6, 1)
"""Prices of a wrong answer, in quarters of a nat from 1/alpha: the best lies a little below 1/alpha."""


def bound_by_ranked_openings(
    task: Task, alpha: Fraction, beta: Fraction, abstain: float, limits: SearchLimits = DEFAULT_LIMITS
) -> Fraction:
    """A lower bound on what policies cost that draw nothing; `abstain` is the price of an abstention.

    TaskError where hypotheses are not exchangeable, LimitError where there are too many information states.
    """
    search = _Openings(task, alpha, beta, abstain, limits)
    # `others`: the bounds of openings that ask a sensor again; the one that does not is followed further.
    best, others = Fraction(0), list[Fraction]()
    for asked in range(1, min(MAX_OPENING, task.num_hypotheses) + 1):
        if asked > 1 and not search.must_go_on(asked - 1):
            break
        fresh = tuple(range(asked))
        straight, *again = search.bound([fresh, *((*fresh[:-1], i) for i in range(asked - 1))], asked)
        others += again
        reached = min(straight, *others) if others else straight
        if reached <= best or limits.is_over:
            break
        best = reached
    return best


class _Openings:
    """The ranked graphs of a task, by the number of sensors that were asked, and the values of openings on them."""

    def __init__(self, task: Task, alpha: Fraction, beta: Fraction, abstain: float, limits: SearchLimits) -> None:
        self.tables = tabulate_likelihoods(task, "ranked")
        self.alpha, self.beta, self.abstain, self.limits = alpha, beta, abstain, limits
        first, second = task.state[:2].tolist()
        self.expected = int(self.tables.chance[second, 0].argmax())
        """What sensors of rivals read most often."""
        penalty = self.tables.penalty[[first, second], 0, self.expected]
        self.lighter = max(0, int(penalty[0] - penalty[1]))

    def must_go_on(self, asked: int) -> bool:
        """Whether stopping after so many readings would break a risk under some hypothesis, whatever is answered."""
        first, second = self.tables.task.state[:2].tolist()
        own, other = self.tables.chance[[first, second], 0, self.expected].tolist()
        # Whatever is answered is wrong for a hypothesis that was not asked for, or for two that were.
        left = self.tables.num_slots - asked
        least = other**asked if left >= 2 else own * other ** (asked - 1)
        return least * (1 - 1e-9) > max(float(self.alpha), float(self.beta))

    def bound(self, openings: list[tuple[int, ...]], asked: int) -> list[Fraction]:
        """The bound of each opening, the best over some prices, with so many hypotheses that weigh less."""
        n = self.tables.num_slots
        start: LongArray = np.where(np.arange(n) < asked, self.lighter, 0).astype(np.int64)
        most = self.limits.max_bound_nodes
        graph = GraphBuilder.at_risk(self.tables, self.alpha, max_nodes=most, limits=self.limits).build(start)
        # Exact weights are not above e^(-penalty) as it is rounded to a float, times this.
        total = math.fsum(math.exp(-p / UNIT) for p in start.tolist()) * (1 + 1e-12)
        program = LagrangianProgram(graph, total, self.alpha, self.beta)
        best, known = [Fraction(0)] * len(openings), None
        for step in PRICE_STEPS:
            wrong = math.exp(math.log(1 / self.alpha) + step / 4)
            known = program.solve(wrong, self.abstain, known)
            allowed = Fraction(wrong) * self.alpha + Fraction(self.abstain) * self.beta
            for i, opening in enumerate(openings):
                value = self.value(graph, known, opening, 0, tuple(range(n)))
                best[i] = max(best[i], Fraction(value) / Fraction(total) * SAFETY - allowed)
            if self.limits.is_over:
                break
        return best

    def value(
        self, graph: BeliefGraph, solution: LagrangianSolution, opening: tuple[int, ...], v: int, slot: tuple[int, ...]
    ) -> float:
        """q of the theorem at node v, where hypothesis h is in slot `slot[h]`; each step is shrunk by its rounding."""
        if not opening:
            return float(solution.value[v])
        assert graph.slot is not None
        k = slot[opening[0]]
        total = float(graph.tables.cost[0]) * float(graph.weight[v].sum())
        for y, child in enumerate(graph.child[v, k].tolist()):
            if child >= 0:
                moved: list[int] = graph.slot[v, k, y].tolist()
                left = opening[1:] if y == self.expected else ()
                after = self.value(graph, solution, left, child, tuple(moved[i] for i in slot))
                total += float(graph.factor[v, k, y]) * after
        return total * SHRINK
