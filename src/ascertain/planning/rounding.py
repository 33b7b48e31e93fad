"""One policy out of a mixture: decisions are changed one at a time, where that brings the worst cost down.

The best mixture of plans (`columns.py`) is no policy as it stands: nothing is drawn at random, and each of its plans is
too dear under one hypothesis or too rash under another. But a plan is made of decisions at many memories, most of them
rarely met, so that a plan can be changed little by little. For the plan at hand let N(v) be the
visits of memory v, and G(v) what it costs, errs and abstains from there on, under each hypothesis, for each visit.
Deciding otherwise at v changes what the plan achieves by N(v) (G'(v) - G(v)), where G' is what the other decision leads
to: exact when v is visited at most once, and near enough to choose by. The decision is changed that lowers most

    the smooth maximum over h of cost_h  +  what is above alpha or beta, at a high price,

until none does. What comes of it is judged by evaluation like every other policy (`remembering.set_clock`).
"""

from __future__ import annotations

from typing import final

import numpy as np

from ascertain.kernels.planning.controllers import foresee
from ascertain.planning.column_generation import PATIENCE, Columns, Plan
from ascertain.planning.controller import ABSTAIN
from ascertain.planning.information_state import FloatArray
from ascertain.types import BoolArray, IntArray, LongArray

SHARP = 60.0
"""How sharp the smooth maximum is: hypotheses count e times less for each part of so many below the largest cost."""
FINE = 3.0
"""What being above a risk by as much again costs, in units of the cost."""
MARGIN = 0.999
"""Parts of a risk that are used, as evaluation adds what the memories have forgotten."""


@final
class Rounding:
    """A plan that is changed decision by decision. Hypotheses are told by name."""

    def __init__(self, columns: Columns, unit: float) -> None:
        """`unit` is about what a policy costs."""
        self.columns, self.ledgers, self.unit = columns, columns.ledgers, unit
        assert self.ledgers.slot is None, "decisions are weighed for hypotheses by name"
        self.task = self.ledgers.book.task
        self.size, self.options, _ = self.ledgers.child.shape
        self.num_labels = len(self.task.labels)
        self.room: FloatArray = np.full(2 * self.task.num_hypotheses, MARGIN)
        """Parts of alpha and of beta that may be used, for each hypothesis."""
        self.scale = np.repeat([1.0, float(1 / columns.alpha), float(1 / columns.beta)], self.task.num_hypotheses)

    def improve(self, choice: LongArray, moves: int) -> LongArray:
        """The plan after so many attempts at a change."""
        choice, tried = choice.copy(), np.zeros((self.size, 1 + self.num_labels + self.options), dtype=np.bool_)
        worth = self.foresee(choice, np.zeros((self.size, len(self.scale))))
        now, visits = float(self.judge(worth[:1])[0]), self.columns.visits(choice)[0]
        for _ in range(moves):
            found = self.find(choice, visits, worth, tried)
            if found is None or found[0] >= now - 1e-8 * now:
                break
            _, v, decision = found
            other = choice.copy()
            other[v] = decision
            after = self.foresee(other, worth)
            value = float(self.judge(after[:1])[0])
            if value < now:
                choice, worth, now, visits = other, after, value, self.columns.visits(other)[0]
            else:
                tried[v, self.number(decision)] = True
        return choice

    def value_of(self, plan: Plan) -> float:
        """How good a plan is, the less the better."""
        met = np.flatnonzero(plan.visits)
        return float(self.judge(plan.visits[None, met] @ self.pay(met, plan.choice[met]))[0])

    def foresee(self, choice: LongArray, worth: FloatArray) -> FloatArray:
        """What a plan achieves from each memory on; `worth` is where to begin, such as what a plan like it achieves."""
        worth = worth.copy()
        foresee(*self.follow(choice), worth, PATIENCE, 1e-7)
        return worth

    def number(self, decision: int) -> int:
        return 0 if decision == ABSTAIN else decision + self.num_labels + 1

    def follow(self, choice: LongArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """Where a plan leads from each memory, and what it pays there."""
        rows: LongArray = np.arange(self.size, dtype=np.int64)
        asked = np.maximum(choice, 0)
        child = np.where((choice >= 0)[:, None], self.ledgers.child[rows, asked], -1).astype(np.int32)
        return child, self.columns.factor[rows, asked], self.pay(rows, choice)

    def pay(self, rows: LongArray, choice: LongArray) -> FloatArray:
        """(cost, wrong, abstain) under each hypothesis of these decisions at these memories, in units of the risks."""
        weight, n = self.columns.weight[rows], self.task.num_hypotheses
        result = np.zeros((len(rows), 3 * n))
        asks, quits = choice >= 0, choice == ABSTAIN
        action = self.ledgers.option[rows, np.maximum(choice, 0)]
        result[:, :n] = np.where(asks[:, None], self.ledgers.book.cost[action][:, None] * weight, 0.0)
        misses = self.task.label[None, :] != (-1 - choice)[:, None]
        result[:, n : 2 * n] = np.where((~asks & ~quits)[:, None] & misses, weight, 0.0)
        result[:, 2 * n :] = np.where(quits[:, None], weight, 0.0)
        return result * self.scale[None, :]

    def judge(self, achieved: FloatArray) -> FloatArray:
        """How good each of these outcomes is, the less the better."""
        n = self.task.num_hypotheses
        cost, risk = achieved[:, :n], achieved[:, n:]
        top = cost.max(axis=1)
        above = np.log(np.exp(SHARP / self.unit * (cost - top[:, None])).sum(axis=1)) * self.unit / SHARP
        return top + above + FINE * self.unit * np.maximum(0.0, risk - self.room).sum(axis=1)

    def find(
        self, choice: LongArray, visits: FloatArray, worth: FloatArray, tried: BoolArray
    ) -> tuple[float, int, int] | None:
        """The change that is best: how good it is, where, and to which decision."""
        rows = np.flatnonzero(visits * self.columns.weight.max(axis=1) > 1e-9)
        best: tuple[float, int, int] | None = None
        for decision in [ABSTAIN, *range(-self.num_labels, 0), *range(self.options)]:
            here = rows[(choice[rows] != decision) & ~tried[rows, self.number(decision)]]
            if decision >= 0:
                here = here[self.ledgers.option[here, decision] >= 0]
            if len(here) == 0:
                continue
            other = self.pay(here, np.full(len(here), decision, dtype=np.int64))
            if decision >= 0:
                after = self.ledgers.child[here, decision]
                part = np.where(after >= 0, self.columns.factor[here, decision], 0.0)
                other = other + (part[:, :, None] * worth[np.maximum(after, 0)]).sum(axis=1)
            value = self.judge(worth[0] + visits[here, None] * (other - worth[here]))
            k = int(value.argmin())
            if best is None or value[k] < best[0]:
                best = float(value[k]), int(here[k]), decision
        return best
