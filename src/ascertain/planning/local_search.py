"""Local search on policies: one decision is changed at a time, where that brings the worst cost down.

A column of `column_generation.py` is no good policy as it stands: it is too dear under one hypothesis or too rash under
another. But it is made of decisions at many nodes, most of them rarely met, so it can be changed little by little. For
the policy at hand let N(v) be the visits of node v, and G(v) what it costs, errs and abstains from there on, under each
hypothesis, for each visit. Deciding otherwise at v changes what the policy achieves by N(v) (G'(v) - G(v)), where G' is
what the other decision leads to (the performance difference of policy iteration): exact when v is visited at most once,
and a good guess else. The decision is changed that lowers most

    the smooth maximum over h of cost_h  +  what exceeds alpha or beta, at a high price,

until none does. What comes of it is evaluated like every other policy (`controller.fit_horizon`).

Throughout an *outcome* is a row of 3 n numbers: costs, errors and abstentions under each of n hypotheses (or groups),
errors and abstentions in units of the risks.
"""

from __future__ import annotations

from typing import final

import numpy as np

from ascertain.kernels.planning.controllers import accumulate_outcomes
from ascertain.planning.column_generation import MAX_VISIT_SWEEPS, Column, ColumnGeneration
from ascertain.planning.controller import ABSTAIN
from ascertain.planning.lagrangian import TOLERANCE
from ascertain.types import BoolArray, FloatArray, LongArray

SHARPNESS = 60.0
"""Of the smooth maximum: a hypothesis counts e times less for every sixtieth of the usual cost below the largest."""
EXCESS_PRICE = 3.0
"""What exceeding a risk by as much again costs, in units of the usual cost: well above what it can save."""
MARGIN = 0.999
"""Part of a risk that is used: evaluation adds what the belief graph has forgotten."""
RARELY_MET = 1e-9
"""Nodes met less often than this are left as they are: changing them changes nothing that can be measured."""


@final
class LocalSearch:
    """A policy that is changed decision by decision. Slots are named."""

    def __init__(self, program: ColumnGeneration, unit: float) -> None:
        """`unit` is about what a policy costs."""
        self.program, self.graph, self.unit = program, program.graph, unit
        self.task = self.graph.tables.task
        assert self.graph.tables.slots == "named", "decisions are weighed for hypotheses by name"
        self.size, self.num_options, _ = self.graph.child.shape
        self.num_labels = len(self.task.labels)
        self.room: FloatArray = np.full(2 * self.task.num_hypotheses, MARGIN)
        """Parts of alpha and of beta that may be used, for each hypothesis."""
        self.scale = np.repeat(program.scale, self.task.num_hypotheses)

    def improve(self, choice: LongArray, max_changes: int) -> LongArray:
        """The policy after so many attempts at a change."""
        tried = np.zeros((self.size, 1 + self.num_labels + self.num_options), dtype=np.bool_)
        outcomes = self.outcomes(choice)
        now, visits = float(self.judge(outcomes[:1])[0]), self.program.visits(choice)[0]
        for _ in range(max_changes):
            found = self.find_change(choice, visits, outcomes, tried)
            if found is None or found[0] >= now - 1e-8 * now or self.program.limits.is_over:
                break
            _, v, decision = found
            other = choice.copy()
            other[v] = decision
            after = self.outcomes(other, outcomes)
            value = float(self.judge(after[:1])[0])
            if value < now:
                choice, outcomes, now, visits = other, after, value, self.program.visits(other)[0]
            else:
                tried[v, self.number(decision)] = True
        return choice

    def value_of(self, column: Column) -> float:
        """How good a column is, the less the better."""
        met = np.flatnonzero(column.visits)
        return float(self.judge(column.visits[None, met] @ self.immediate(met, column.choice[met]))[0])

    def outcomes(self, choice: LongArray, start: FloatArray | None = None) -> FloatArray:
        """`[v]`: the outcome of a policy from v on; `start`: those of a policy like it, to begin from."""
        result = np.zeros((self.size, len(self.scale))) if start is None else start.copy()
        rows: LongArray = np.arange(self.size, dtype=np.int64)
        accumulate_outcomes(
            *self.graph.under(choice), self.immediate(rows, choice), result, TOLERANCE, MAX_VISIT_SWEEPS
        )
        return result

    def number(self, decision: int) -> int:
        """Decisions numbered from 0: abstention, the answers, the options."""
        return 0 if decision == ABSTAIN else decision + self.num_labels + 1

    def immediate(self, rows: LongArray, choice: LongArray) -> FloatArray:
        """The outcomes of these decisions at these nodes by themselves, for one visit."""
        weight, n = self.graph.weight[rows], self.task.num_hypotheses
        result = np.zeros((len(rows), 3 * n))
        asks, quits = choice >= 0, choice == ABSTAIN
        action = self.graph.option[rows, np.maximum(choice, 0)]
        result[:, :n] = np.where(asks[:, None], self.graph.tables.cost[action][:, None] * weight, 0.0)
        misses = self.graph.right[rows] != (-1 - choice)[:, None]
        result[:, n : 2 * n] = np.where((~asks & ~quits)[:, None] & misses, weight, 0.0)
        result[:, 2 * n :] = np.where(quits[:, None], weight, 0.0)
        return result * self.scale[None, :]

    def judge(self, outcomes: FloatArray) -> FloatArray:
        """How good each of these outcomes is, the less the better."""
        n = self.task.num_hypotheses
        cost, risk = outcomes[:, :n], outcomes[:, n:]
        top = cost.max(axis=1)
        # log-sum-exp, relative to the largest cost so that nothing overflows.
        above = np.log(np.exp(SHARPNESS / self.unit * (cost - top[:, None])).sum(axis=1)) * self.unit / SHARPNESS
        return top + above + EXCESS_PRICE * self.unit * np.maximum(0.0, risk - self.room).sum(axis=1)

    def find_change(
        self, choice: LongArray, visits: FloatArray, outcomes: FloatArray, tried: BoolArray
    ) -> tuple[float, int, int] | None:
        """The best change that was not tried: how good it seems, at which node, and to which decision."""
        # The hypothesis that makes a node likeliest decides whether it is met at all.
        rows = np.flatnonzero(visits * self.graph.weight.max(axis=1) > RARELY_MET)
        best: tuple[float, int, int] | None = None
        for decision in [ABSTAIN, *range(-self.num_labels, 0), *range(self.num_options)]:
            here = rows[(choice[rows] != decision) & ~tried[rows, self.number(decision)]]
            if decision >= 0:
                here = here[self.graph.option[here, decision] >= 0]
            if len(here) == 0:
                continue
            other = self.immediate(here, np.full(len(here), decision, dtype=np.int64))
            if decision >= 0:
                child, factor = self.graph.child[here, decision], self.graph.factor[here, decision]
                other = other + (factor[:, :, None] * outcomes[np.maximum(child, 0)]).sum(axis=1)
            # First order: what changes at v, times the visits of v, is added to what the policy achieves now.
            value = self.judge(outcomes[0] + visits[here, None] * (other - outcomes[here]))
            k = int(value.argmin())
            if best is None or value[k] < best[0]:
                best = float(value[k]), int(here[k]), decision
        return best
