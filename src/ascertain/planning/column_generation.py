"""Column generation: prices for each hypothesis by itself, the best mixture of policies, and the bound that it proves.

`lagrangian.py` gives one price to every wrong answer. Here each hypothesis h has a weight w_h, sum 1, a price A_h of a
wrong answer and a price B_h of an abstention. For whatever prices, a policy that keeps to (alpha, beta) has

    max over h of cost_h >= min over policies of sum (w_h cost_h + A_h wrong_h + B_h abstain_h)
                            - alpha sum A_h - beta sum B_h,

and the minimum is the same stopping problem, on masses weighted by h. The right side is concave in the prices. So
prices are found by *column generation* (Dantzig and Wolfe, Operations Research 8, 1960): the best policy at some prices
is a column (what it costs, errs and abstains under each hypothesis); the *master* program mixes the columns found so
far, within the risks, as cheaply as possible; its multipliers are the next prices, drawn half-way towards the best ones
so far, so that they do not oscillate. The bound rises to the cost of the best *mixture* of policies. A policy here
draws nothing at random, so a mixture is none, but it shows which policies a good one is put together from
(`minimax.py`).

*Groups.* Belief graphs merge hypotheses of one label that meet in one state, and then cannot tell whose price it is;
and slots that are not named do not say whose they are. Prices are therefore equal within a *group*: all hypotheses of a
label if a label has several, all of them if the current state is asked for or slots are not named (nothing is lost by
that where they are exchangeable: the bound is concave and symmetric), else each by itself.

What a policy achieves is computed in floats, approximately. Bounds are on the safe side, whatever the prices are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast, final

import numpy as np

from ascertain.kernels.planning.controllers import accumulate_visits
from ascertain.planning.belief_graph import BeliefGraph
from ascertain.planning.controller import ABSTAIN
from ascertain.planning.information_state import weigh_answers
from ascertain.planning.lagrangian import SAFETY, solve_stopping
from ascertain.planning.limits import DEFAULT_LIMITS, SearchLimits
from ascertain.types import BoolArray, FloatArray, LongArray

MAX_VISIT_SWEEPS = 200
"""Sweeps after which what is still on its way through a policy's nodes is taken to abstain: it is close to nothing."""
Prices: TypeAlias = FloatArray
"""One row each for weights, prices of wrong answers and of abstentions; one column for each group."""
RISK_PENALTY = 100.0
"""What exceeding a risk by as much again costs a mixture, in units of the dearest column: more than it ever saves."""
LP_ZERO = 1e-9
"""Entries of a linear program below this are taken for zero, and shares of a mixture too: the solver is no finer."""
FIRST_PRICES = (0.25, 1.0, 4.0)
"""Prices of a wrong answer, times 1/alpha, of the first columns: one rash, one about right, one careful."""


@final
@dataclass(frozen=True, eq=False)
class Column:
    """A policy as a choice at every node, as in `FiniteStateController`, and what it achieves, approximately."""

    choice: LongArray
    visits: FloatArray
    """Expected visits of each node, in units of its weights: times `weight[v, h]` it is so under h."""
    achieved: FloatArray
    """(cost, wrong, abstain) of each group, the average of its members; shape (3, groups)."""
    lower: Fraction
    """What its prices prove of all policies that the graph and the forbidden decisions leave room for."""


@final
@dataclass(frozen=True, eq=False)
class PricedValues:
    """At some prices, for each node: its mass, the prices of stopping, its value, and the best choice."""

    mass: FloatArray
    abstain: FloatArray
    answer: FloatArray
    """`answer[v, l]`: the price of answering l."""
    value: FloatArray
    """At or below the true one."""
    choice: LongArray


@final
@dataclass(frozen=True, eq=False)
class Mixture:
    """The outcome of column generation: columns, the share of each, the best prices, and the bound that they prove."""

    columns: tuple[Column, ...]
    share: FloatArray
    prices: Prices
    lower: Fraction
    value: float
    """What the mixture costs, approximately; never far below `lower`."""


@final
class ColumnGeneration:
    """A belief graph prepared for stopping problems at prices of each group, and for the master program."""

    def __init__(
        self, graph: BeliefGraph, alpha: Fraction, beta: Fraction, limits: SearchLimits = DEFAULT_LIMITS
    ) -> None:
        self.graph, self.alpha, self.beta, self.limits = graph, alpha, beta, limits
        task, label = graph.tables.task, graph.tables.task.label
        if graph.tables.slots != "named" or task.about == "current":
            self.group: LongArray = np.zeros(len(label), dtype=np.int64)
        elif len(np.unique(label)) < len(label):
            self.group = np.unique(label, return_inverse=True)[1].astype(np.int64)
        else:
            self.group = np.arange(len(label), dtype=np.int64)
        self.group_size: FloatArray = np.bincount(self.group).astype(np.float64)
        self.scale = np.array([1.0, float(1 / alpha), float(1 / beta)])
        """Errors and abstentions are counted in units of the risks in the master program."""

    def solve(self, prices: Prices, forbidden: BoolArray | None = None) -> Column:
        """The best column at these prices; see `solve_stopping` for what is forbidden."""
        found = self.value_nodes(prices, forbidden)
        return self.column_of(found.choice, self.bound(float(found.value[0]), prices))

    def value_nodes(self, prices: Prices, forbidden: BoolArray | None = None) -> PricedValues:
        """What every node is worth at these prices, from below, and what is best there."""
        graph = self.graph
        w, wrong, abstain = prices[:, self.group]
        mass: FloatArray = graph.weight @ w
        leave: FloatArray = graph.weight @ abstain
        priced: FloatArray = graph.weight * wrong
        by_answer = weigh_answers(priced, graph.right, graph.tables.num_answers)
        # Sums of what is not negative, without differences: a small share of rivals keeps all its digits.
        missed: FloatArray = by_answer @ (1 - np.eye(by_answer.shape[1]))
        said: LongArray = missed.argmin(axis=1)
        answer, value = missed[np.arange(len(said)), said], np.zeros(graph.size)
        # Where nodes were left out nobody asks on at a terminal node: it would draw all policies to where nothing is
        # known any more.
        choice = solve_stopping(graph, mass, (said, answer), leave, value, forbidden)
        return PricedValues(mass, leave, missed, value, choice)

    def column_of(self, choice: LongArray, lower: Fraction) -> Column:
        """These choices and what they achieve."""
        choice = self.possible(choice)
        visits, left = self.visits(choice)
        return Column(choice, visits, self.achieve(choice, visits, left), lower)

    def possible(self, choice: LongArray) -> LongArray:
        """The choices with abstention where the option that is asked for does not exist."""
        asked = self.graph.option[np.arange(len(choice)), np.maximum(choice, 0)]
        return np.where((choice >= 0) & (asked < 0), ABSTAIN, choice)

    def bound(self, value: float, prices: Prices) -> Fraction:
        """What the value at the start proves, on the safe side, of the policies that the graph leaves room for."""
        # Exact sums of the float prices: whatever they are, the bound they prove is computed without rounding.
        sizes = [Fraction(float(m)) for m in self.group_size]
        weight, wrong, abstain = (
            sum((m * Fraction(float(p)) for m, p in zip(sizes, row, strict=True)), Fraction(0)) for row in prices
        )
        if weight == 0:
            return Fraction(0)
        allowed = self.alpha * wrong + self.beta * abstain
        return max((Fraction(value) * SAFETY - allowed) / weight, Fraction(0))

    def visits(self, choice: LongArray) -> tuple[FloatArray, FloatArray]:
        """Expected visits of each node, and what is then still on its way, of policies that hardly ever end."""
        child, factor = self.graph.under(choice)
        now, total = np.zeros(len(choice)), np.zeros(len(choice))
        now[0] = 1.0
        accumulate_visits(child, factor, self.graph.weight.sum(axis=1), now, total, 1e-12, MAX_VISIT_SWEEPS)
        return total, now

    def achieve(self, choice: LongArray, visits: FloatArray, left: FloatArray) -> FloatArray:
        """(cost, wrong, abstain) for each group, as far as the graph knows; what is left on its way abstains."""
        seen = visits[:, None] * self.graph.weight
        # visits[v] * weight[v, h] is the expected number of times that v is met under h.
        asks, quits = choice >= 0, choice == ABSTAIN
        asked = self.graph.option[np.arange(len(choice)), np.maximum(choice, 0)]
        spent = (np.where(asks, self.graph.tables.cost[asked], 0.0)[:, None] * seen).sum(axis=0)
        answers = np.flatnonzero(~asks & ~quits)
        missed = self.graph.right[answers] != (-1 - choice[answers])[:, None]
        wrong = (seen[answers] * missed).sum(axis=0)
        rows = [spent, wrong, seen[quits].sum(axis=0) + left @ self.graph.weight]
        return np.array([np.bincount(self.group, weights=row) / self.group_size for row in rows])

    def generate(
        self,
        rounds: int,
        columns: tuple[Column, ...] = (),
        forbidden: BoolArray | None = None,
        enough: float = 1e-4,
        start: Prices | None = None,
    ) -> Mixture:
        """Mix columns and add the best one at the mixture's prices, until that no longer makes it much cheaper.

        From `start` on, prices that prove something already, all rounds stay half-way to the best prices so far.
        """
        found = list(columns) or [self.solve(self.uniform_prices(size), forbidden) for size in FIRST_PRICES]
        best: tuple[Fraction, Prices] | None = None
        if start is not None:
            found.append(self.solve(start, forbidden))
            best = found[-1].lower, start
        for turn in range(rounds):
            # Else two of three rounds do so, against oscillation, and the third is free.
            value, _, prices = self.mix(found)
            if best is not None and (turn % 3 or (start is not None and best[0] > 0)):
                prices = 0.5 * prices + 0.5 * best[1]
            column = self.solve(prices, forbidden)
            if best is None or column.lower > best[0]:
                best = column.lower, prices
            found.append(column)
            if value - float(best[0]) <= enough * value or self.limits.is_over:
                break
        value, share, _ = self.mix(found)
        assert best is not None
        return Mixture(tuple(found), share, best[1], best[0], value)

    def uniform_prices(self, size: float) -> Prices:
        """The same prices for all: wrong answers at about what they cost at the optimum."""
        w = np.full(len(self.group_size), 1.0 / self.group_size.sum())
        return np.array([w, w * size / float(self.alpha), w * 30.0 * self.graph.tables.cost.max()])

    def mix(self, columns: list[Column]) -> tuple[float, FloatArray, Prices]:
        """What the cheapest mixture of columns within the risks costs, its shares, and its multipliers as prices."""
        stack = np.array([column.achieved for column in columns])
        count, n = len(columns), len(self.group_size)
        achieved = (stack * self.scale[None, :, None]).reshape(1, count, 3 * n)
        limit = np.concatenate([np.zeros(n), np.ones(2 * n)])
        value, share, prices = self.solve_master(achieved, limit, RISK_PENALTY * (1 + stack[:, 0].max()))
        return value, share[0], prices

    def solve_master(self, achieved: FloatArray, limit: FloatArray, unsafe: float) -> tuple[float, FloatArray, Prices]:
        """The master program, with one mixture at each of several places.

        minimise  z + unsafe * (sum of excesses)
        such that sum of achieved[i, k] share[i, k] <= (z, ..., z, excesses) + limit,  shares at each place i sum to 1.

        `achieved[i, k]`: costs, errors and abstentions of column k from place i on, errors and abstentions in units of
        the risks. Returned are the value, the shares, and the multipliers as prices.
        """
        from scipy.optimize import linprog  # pyright: ignore[reportUnknownVariableType]

        places, count, width = achieved.shape
        n, total = width // 3, places * count
        rows = achieved.reshape(total, width).T
        # Unknowns: the shares of all columns at all places, z, and one excess for each risk of each group.
        matrix = np.hstack([np.where(rows < LP_ZERO, 0.0, rows), np.zeros((width, 1)), -np.eye(width)[:, n:]])
        matrix[:n, total] = -1.0
        goal = np.concatenate([np.zeros(total), [1.0], np.full(2 * n, unsafe)])
        sums = np.zeros((places, matrix.shape[1]))
        sums[np.arange(total) // count, np.arange(total)] = 1.0
        found = cast("Any", linprog(goal, A_ub=matrix, b_ub=limit, A_eq=sums, b_eq=np.ones(places), method="highs"))
        if found.x is None or found.ineqlin.marginals is None or found.status not in (0, 4):
            # Too hard for floats, which happens where columns are nearly alike: any prices prove something.
            return math.inf, np.full((places, count), 1.0 / count), self.uniform_prices(1.0)
        # Multipliers of "<=" rows are at most 0 in HiGHS; their negatives are prices, up to rounding errors.
        dual = np.maximum(0.0, -np.asarray(found.ineqlin.marginals, dtype=np.float64)).reshape(3, n)
        # Without any weight the bound would say nothing: all groups are then taken to weigh alike.
        if not dual[0].any():
            dual = np.vstack([np.full((1, n), 1.0 / n), dual[1:]])
        # A group counts as often as it has members, and its row is their average.
        prices: Prices = dual * self.scale[:, None] / self.group_size[None, :] / dual[0].sum()
        return float(found.fun), np.asarray(found.x[:total], dtype=np.float64).reshape(places, count), prices
