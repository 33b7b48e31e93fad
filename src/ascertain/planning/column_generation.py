"""Prices for each hypothesis by itself: the best lower bound that dynamic programs on ledgers prove, and its plans.

`pricing.py` gives one price to every wrong answer. Here each hypothesis h has a weight w_h, sum 1, a price A_h of a
wrong answer and a price B_h of an abstention. For whatever prices, a policy that keeps to (alpha, beta) has

    max over h of cost_h >= min over policies of sum (w_h cost_h + A_h wrong_h + B_h abstain_h)
                            - alpha sum A_h - beta sum B_h,

and the minimum is the same dynamic program, on masses weighted by h. The right side is concave in the prices, and what
is subtracted from is linear in them for each policy. So prices are found by *column generation*: the best policy at
some prices is a column (what it costs, errs and abstains under each hypothesis); a linear program mixes the columns
found so far, within the risks, as cheaply as possible; its multipliers are the next prices, drawn half-way towards the
best ones so far, so that they do not leap. The bound rises to the cost of the best *mixture* of policies. A mixture is
not a policy here, for nothing is drawn at random, but it says which policies a good one is put together from
(`rounding.py`).

*Who shares prices.* Ledgers join hypotheses of one label that meet in one place, and then cannot tell whose price it
is; and exchangeable ones are told by rank. Prices are therefore equal within a *party*: all hypotheses of a label if a
label has several, all of them if they are exchangeable (nothing is lost by that: the bound is concave and symmetric),
else each by itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast, final

import numpy as np
from scipy.optimize import linprog  # pyright: ignore[reportUnknownVariableType]

from ascertain.kernels.planning.controllers import SHRINK, choose_options, improve_values, pass_on
from ascertain.planning.belief_graph import Ledgers
from ascertain.planning.controller import ABSTAIN
from ascertain.planning.information_state import UNIT, FloatArray
from ascertain.planning.pricing import weigh
from ascertain.types import BoolArray, LongArray

SWEEPS = 4000
PATIENCE = 200
"""Sweeps after which a plan that has not ended is taken to give up."""
PRECISION = 1e-7
DEAR = 100.0
"""What breaking a limit costs a mixture, in units of the dearest column, for each limit that is broken by as much."""
SLIGHT = 1e-9
"""Entries of a linear program below this are taken for zero, and shares of a mixture too."""
Column: TypeAlias = FloatArray
"""(cost, wrong, abstain) of each party, on the average of its members; shape (3, parties)."""


@final
@dataclass(frozen=True, eq=False)
class Prices:
    """One row each for weights, prices of wrong answers and of abstentions; one column for each party."""

    table: FloatArray

    def towards(self, other: Prices, part: float) -> Prices:
        return Prices((1 - part) * self.table + part * other.table)

    def dearer(self, factor: float) -> Prices:
        """The same weights, with risks dearer by a factor."""
        return Prices(self.table * np.array([[1.0], [factor], [factor]]))


@final
@dataclass(frozen=True, eq=False)
class Plan:
    """A choice at every memory, as in `Remembering`, what it achieves, about, and the bound that its prices prove.

    It bounds all policies if the ledgers are whole and nothing is banned, else those that are left room for.
    """

    choice: LongArray
    visits: FloatArray
    """How often each memory is visited, such that times its weights it is so under each hypothesis; about."""
    column: Column
    lower: Fraction


@final
@dataclass(frozen=True, eq=False)
class Appraisal:
    """At some prices, for each memory: its mass, the price of giving up and of each answer, its value, what to do."""

    mass: FloatArray
    leave: FloatArray
    missed: FloatArray
    value: FloatArray
    choice: LongArray


@final
@dataclass(frozen=True, eq=False)
class Mixture:
    """The outcome of column generation: plans, how much of each, the best prices, and the bound that they prove."""

    plans: tuple[Plan, ...]
    share: FloatArray
    prices: Prices
    lower: Fraction
    value: float
    """What the mixture costs, about; never far below `lower`."""


class Columns:
    """Ledgers prepared for dynamic programs at prices of each party."""

    def __init__(self, ledgers: Ledgers, alpha: Fraction, beta: Fraction) -> None:
        self.ledgers, self.alpha, self.beta = ledgers, alpha, beta
        task = ledgers.book.task
        label = task.label
        if ledgers.slot is not None:
            self.party: LongArray = np.zeros(len(label), dtype=np.int64)
        elif len(np.unique(label)) < len(label):
            self.party = np.unique(label, return_inverse=True)[1].astype(np.int64)
        else:
            self.party = np.arange(len(label), dtype=np.int64)
        self.members: FloatArray = np.bincount(self.party).astype(np.float64)
        self.weight: FloatArray = weigh(ledgers.penalty)
        self.factor: FloatArray = np.where(ledgers.child >= 0, np.exp(-ledgers.shift / UNIT), 0.0)
        self.closed: BoolArray = np.all(ledgers.option < 0, axis=1)
        right = np.arange(len(label)) if ledgers.slot is not None else label
        answers = np.arange(len(label) if ledgers.slot is not None else len(task.labels))
        self.misses: FloatArray = (right[:, None] != answers[None, :]).astype(np.float64)

    def solve(self, prices: Prices, ban: BoolArray | None = None) -> Plan:
        """The best plan at these prices; where `ban[v, 0]` it may not stop, and where `ban[v, 1 + k]` not ask k."""
        found = self.appraise(prices, ban)
        return self.plan_of(found.choice, self.bound(float(found.value[0]), prices))

    def appraise(self, prices: Prices, ban: BoolArray | None = None) -> Appraisal:
        """What every memory is worth at these prices, from below, and what is best there."""
        ledgers, cost = self.ledgers, self.ledgers.book.cost
        w, wrong, abstain = prices.table[:, self.party]
        mass: FloatArray = self.weight @ w
        leave: FloatArray = self.weight @ abstain
        missed: FloatArray = (self.weight * wrong) @ self.misses
        said: LongArray = missed.argmin(axis=1)
        answer = missed[np.arange(len(said)), said]
        stop = np.minimum(answer, leave)
        # Asking on at a closed memory would cost its mass at least, whatever came of it. Where memories were left out
        # there is no such thing: it would draw all plans to where nothing is known any more.
        may_go_on = self.closed & ledgers.whole
        low: FloatArray = np.where(may_go_on, np.minimum(stop, cost.min() * mass), stop) * SHRINK
        option = ledgers.option
        if ban is not None:
            option = np.where(ban[:, 1:], -1, option).astype(np.int32)
            low = np.where(ban[:, 0] & (option >= 0).any(axis=1), np.inf, low)
        value = np.zeros(ledgers.size)
        arguments = (option, ledgers.child, self.factor, mass, cost, low, value)
        improve_values(*arguments, SWEEPS, PRECISION)
        choice = np.empty(ledgers.size, dtype=np.int64)
        choose_options(*arguments, choice)
        choice = np.where(choice >= 0, choice, np.where(answer <= leave, -1 - said, ABSTAIN))
        return Appraisal(mass, leave, missed, value, choice)

    def plan_of(self, choice: LongArray, lower: Fraction) -> Plan:
        """These choices and what they achieve; what is asked where nothing may be asked is given up."""
        asked = self.ledgers.option[np.arange(len(choice)), np.maximum(choice, 0)]
        choice = np.where((choice >= 0) & (asked < 0), ABSTAIN, choice)
        visits, left = self.visits(choice)
        return Plan(choice, visits, self.achieve(choice, visits, left), lower)

    def bound(self, value: float, prices: Prices) -> Fraction:
        """What the value at the start proves, on the safe side, of the policies that the ledgers leave room for."""
        members = [Fraction(float(m)) for m in self.members]
        weight, wrong, abstain = (
            sum((m * Fraction(float(p)) for m, p in zip(members, row, strict=True)), Fraction(0))
            for row in prices.table
        )
        if weight == 0:
            return Fraction(0)
        spent = self.alpha * wrong + self.beta * abstain
        return max((Fraction(value) * (1 - Fraction(1, 1 << 40)) - spent) / weight, Fraction(0))

    def visits(self, choice: LongArray) -> tuple[FloatArray, FloatArray]:
        """How often each memory is visited, and what is then still on its way, of plans that hardly ever end."""
        asked = np.maximum(choice, 0)
        rows = np.arange(len(choice))
        child = np.where((choice >= 0)[:, None], self.ledgers.child[rows, asked], -1).astype(np.int32)
        factor = self.factor[rows, asked]
        now, total = np.zeros(len(choice)), np.zeros(len(choice))
        now[0] = 1.0
        pass_on(child, factor, self.weight.sum(axis=1), now, total, PATIENCE, 1e-12)
        return total, now

    def achieve(self, choice: LongArray, visits: FloatArray, left: FloatArray) -> Column:
        """What a plan achieves for each party, as far as its memories know; what is left on its way is given up."""
        seen = visits[:, None] * self.weight
        asks, quits = choice >= 0, choice == ABSTAIN
        asked = self.ledgers.option[np.arange(len(choice)), np.maximum(choice, 0)]
        spent = (np.where(asks, self.ledgers.book.cost[asked], 0.0)[:, None] * seen).sum(axis=0)
        answers = np.flatnonzero(~asks & ~quits)
        wrong = (seen[answers] * self.misses.T[-1 - choice[answers]]).sum(axis=0)
        rows = [spent, wrong, seen[quits].sum(axis=0) + left @ self.weight]
        return np.array([np.bincount(self.party, weights=row) / self.members for row in rows])

    def generate(
        self, rounds: int, plans: tuple[Plan, ...] = (), ban: BoolArray | None = None, enough: float = 1e-4
    ) -> Mixture:
        """Mix plans, asking for new ones at the mixture's prices, until those no longer make it much cheaper."""
        found = list(plans)
        if not found:
            found = [self.solve(self.even(size), ban) for size in (0.25, 1.0, 4.0)]
        best: tuple[Fraction, Prices] | None = None
        share, value = np.ones(1), 0.0
        for turn in range(rounds):
            value, share, prices = self.mix([plan.column for plan in found])
            if best is not None and turn % 3:
                prices = prices.towards(best[1], 0.5)
            plan = self.solve(prices, ban)
            if best is None or plan.lower > best[0]:
                best = plan.lower, prices
            found.append(plan)
            if value - float(best[0]) <= enough * value:
                break
        value, share, _ = self.mix([plan.column for plan in found])
        assert best is not None
        return Mixture(tuple(found), share, best[1], best[0], value)

    def even(self, size: float) -> Prices:
        """The same prices for all: wrong answers at about what they cost at the optimum."""
        count = len(self.members)
        w = np.full(count, 1.0 / self.members.sum())
        return Prices(np.array([w, w * size / float(self.alpha), w * 30.0 * self.ledgers.book.cost.max()]))

    def mix(self, columns: list[Column]) -> tuple[float, FloatArray, Prices]:
        """The cheapest mixture of columns within the risks, which may be broken dearly, and its multipliers."""
        stack = np.array(columns)
        count, n = len(columns), len(self.members)
        scale = np.array([1.0, float(1 / self.alpha), float(1 / self.beta)])
        rows = (stack * scale[None, :, None]).reshape(count, 3 * n).T
        rows = np.where(rows < SLIGHT, 0.0, rows)
        matrix = np.hstack([rows, np.zeros((3 * n, 1)), -np.eye(3 * n)[:, n:]])
        matrix[:n, count] = -1.0
        goal = np.concatenate([np.zeros(count), [1.0], np.full(2 * n, DEAR * (1 + stack[:, 0].max()))])
        total = np.concatenate([np.ones(count), np.zeros(1 + 2 * n)])[None, :]
        limit = np.concatenate([np.zeros(n), np.ones(2 * n)])
        found = cast("Any", linprog(goal, A_ub=matrix, b_ub=limit, A_eq=total, b_eq=[1.0], method="highs"))
        if found.x is None or found.ineqlin.marginals is None or found.status not in (0, 4):
            # Too hard for floats, which happens where columns are nearly alike: any prices prove something.
            return math.inf, np.full(count, 1.0 / count), self.even(1.0)
        dual = np.maximum(0.0, -np.asarray(found.ineqlin.marginals, dtype=np.float64)).reshape(3, n)
        return float(found.fun), np.asarray(found.x[:count], dtype=np.float64), self.read_prices(dual)

    def read_prices(self, dual: FloatArray) -> Prices:
        """Prices from multipliers of costs, and of errors and abstentions in units of the risks."""
        if not dual[0].any():
            dual = np.vstack([np.full((1, dual.shape[1]), 1.0 / dual.shape[1]), dual[1:]])
        scale = np.array([1.0, float(1 / self.alpha), float(1 / self.beta)])
        # A party counts as often as it has members, and its row is their average.
        return Prices(dual * scale[:, None] / self.members[None, :] / dual[0].sum())
