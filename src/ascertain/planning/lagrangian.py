"""Lagrangian relaxation: the best policy at given prices of errors, the bound it proves, and the search for prices.

Give every hypothesis h a weight w_h, sum 1, a wrong answer the price A and an abstention the price B. Every policy that
is wrong with probability at most alpha and abstains with probability at most beta, under every hypothesis, has

    max over h of its cost >= sum of w_h (cost_h) >= min over policies of sum w_h (cost_h + A wrong_h + B abstain_h)
                                                    - A alpha - B beta,

so the right side is a lower bound on the complexity AO, for whatever w, A and B: weak duality. The minimum is an
optimal stopping problem on unnormalised weights mu_h = w_h * (likelihood of the readings under h),

    W(mu) = min{ A (mass of mu not labelled l), for each l;  B (mass of mu);
                 c(a) (mass of mu) + sum over y of W(mu_{a,y}), for each a },

solved by value iteration on the belief graph. *Why the graph may be used.* W increases in every mu_h, being an infimum
of sums with coefficients that are not negative. The weights of an information state never exceed the true ones:
penalties are rounded up, and what is eliminated is dropped. So W on the graph is at most W; and iterating from zero
stays below the solution, each update being shrunk by more than its rounding (`kernels/planning/controllers.py`).
Actions on eliminated ranks that a graph leaves out tell nothing about the others, free nothing, and cost.

*The search.* The minimising policy is what an optimal one looks like at those prices. Raising A makes it more careful:
the least A at which its risk, evaluated exactly, is within alpha gives an upper bound; the best prices found give the
lower one. Weights of hypotheses are moved towards the ones whose cost is largest, since the largest is what counts.
Where the whole graph is too large the program chooses among fewer actions and nodes (`pruning.py`), and proves no lower
bound.

*Between two prices.* Prices move whole groups of nodes from answering to asking at once, since evidence lies on a
lattice: threshold 4 may be too rash and 5 careful enough, with much of alpha left over. Between the last policy that is
too rash and the first that is careful enough, nodes are moved one after the other, as many as alpha allows; first as
they are, then unrolled in time, so that threshold 4 may hold until some time and 5 from then on.

Every policy is certified in one way: wrong-answer probability, abstention and cost under every hypothesis are evaluated
with rounding upwards (`controller.py`), and it is returned only if it keeps to alpha and beta.

References: Wald and Wolfowitz, Annals of Mathematical Statistics 19 (1948), for two hypotheses; Altman, Constrained
Markov Decision Processes (1999).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from ascertain.errors import LimitError
from ascertain.kernels.planning.controllers import SHRINK, iterate_values
from ascertain.planning.belief_graph import ActionFilter, BeliefGraph, GraphBuilder, alternate_ties, unroll_in_time
from ascertain.planning.controller import ABSTAIN, CertifiedController, FiniteStateController, fit_horizon
from ascertain.planning.information_state import UNIT, LikelihoodTables, Slots, tabulate_likelihoods, weigh_answers
from ascertain.planning.limits import DEFAULT_LIMITS, SearchLimits
from ascertain.planning.multipliers import Branching, Multipliers
from ascertain.planning.pruning import MAX_STATES, MostInformative, build_likely_graph, repeat_action
from ascertain.task.task import Task
from ascertain.types import BoolArray, FloatArray, IntArray, LongArray

MAX_SWEEPS = 4000
"""Sweeps of value iteration: stopping early only weakens a bound, and graphs at usual risks need a few hundred."""
TOLERANCE = 1e-7
"""The relative change of a value at which value iteration stops: far below what separates two policies."""
SAFETY = 1 - Fraction(1, 1 << 40)
"""What the value at the start is multiplied by: more than the rounding of the weights that the start stands for."""
PRICE_STEPS = range(-16, 33)
"""Prices of a wrong answer, in quarters of a nat from 1/alpha: where the risk meets alpha the price is about that."""
BOUND_STEPS = (-10, 2)
"""Prices, counted from the first careful one, that lower bounds are taken at: the best lies a little below it."""
MIN_ALTERNATED = 4
"""From so many ranked hypotheses on the order of equals is reversed now and then: with three it saves nothing."""
HIGH_ABSTAIN_PRICE, ABSTAIN_PRICE_RATIO = 1e6, 3.0
"""An abstention costs three times what a policy costs that hardly ever abstains, which is found at the first price."""


@final
@dataclass(frozen=True, eq=False)
class LagrangianSolution:
    """The solution of the stopping problem at some prices."""

    value: FloatArray
    """`value[v]`, at or below the true one."""
    choice: LongArray
    """What the best policy does at each node, as in `FiniteStateController`."""
    lower: Fraction
    """The lower bound on AO that these prices prove, if the graph has all actions."""


@final
class LagrangianProgram:
    """A belief graph prepared for stopping problems at any prices."""

    def __init__(self, graph: BeliefGraph, total: float, alpha: Fraction, beta: Fraction) -> None:
        """`total` is the mass that the weights at the start stand for, not less than it is."""
        self.graph, self.total, self.alpha, self.beta = graph, total, alpha, beta
        by_label = weigh_answers(graph.weight, graph.right, graph.tables.num_answers)
        others: FloatArray = by_label @ (1 - np.eye(by_label.shape[1]))
        self.mass: FloatArray = graph.weight.sum(axis=1)
        self.said: LongArray = others.argmin(axis=1)
        self.rivals: FloatArray = others[np.arange(len(others)), self.said]

    def solve(self, wrong: float, abstain: float, below: LagrangianSolution | None = None) -> LagrangianSolution:
        """The best policy at these prices. `below`: a solution at prices that are not higher, to start from."""
        graph = self.graph
        answer, leave = wrong * self.rivals, abstain * self.mass
        value = np.zeros(graph.size) if below is None else below.value.copy()
        choice = solve_stopping(graph, self.mass, (self.said, answer), leave, value)
        # Weak duality: the value for each unit of weight, less what the risks may cost at these prices.
        mean = Fraction(float(value[0])) / Fraction(self.total) * SAFETY
        return LagrangianSolution(value, choice, mean - Fraction(wrong) * self.alpha - Fraction(abstain) * self.beta)


def solve_stopping(
    graph: BeliefGraph,
    mass: FloatArray,
    best_answer: tuple[LongArray, FloatArray],
    leave: FloatArray,
    value: FloatArray,
    forbidden: BoolArray | None = None,
) -> LongArray:
    """Raise `value` from below to the solution of the stopping problem; the best choices, as in a controller.

    `best_answer` is the label to answer at each node and what that costs, `leave` what abstaining costs. Where
    `forbidden[v, 0]` a policy may not stop, and where `forbidden[v, 1 + k]` not ask option k.
    """
    said, answer = best_answer
    stop = np.minimum(answer, leave)
    if graph.has_all_actions:
        # Asking on at a closed node would cost its mass at least, whatever came of it.
        stop = np.where(graph.closed, np.minimum(stop, graph.tables.cost.min() * mass), stop)
    stop, option = stop * SHRINK, graph.option
    if forbidden is not None:
        option = np.where(forbidden[:, 1:], -1, option).astype(np.int32)
        stop = np.where(forbidden[:, 0] & (option >= 0).any(axis=1), np.inf, stop)
    once = np.where(option < 0, np.inf, graph.tables.cost[option] * mass[:, None])
    iterate_values(graph.child, graph.factor, once, stop, value, TOLERANCE, MAX_SWEEPS)
    asked = _choose_options(graph.child, graph.factor, once, stop, value)
    return np.where(asked >= 0, asked, np.where(answer <= leave, -1 - said, ABSTAIN))


def _choose_options(
    child: IntArray, factor: FloatArray, once: FloatArray, stop: FloatArray, value: FloatArray
) -> LongArray:
    """The option at each node that is best in view of the values, or -1 where stopping is."""
    # Readings are added one after the other, as `iterate_values` does it.
    total = once.copy()
    for y in range(child.shape[2]):
        total += np.where(child[:, :, y] >= 0, factor[:, :, y] * value[child[:, :, y]], 0.0)
    best = total.argmin(axis=1)
    return np.where(total[np.arange(len(best)), best] < stop, best, -1)


def start_penalties(weights: FloatArray) -> tuple[LongArray, float]:
    """Penalties that stand for these weights, rounded up, and the mass they stand for, in units of the largest."""
    largest = float(weights.max())
    nats = [-math.log(w / largest) for w in weights.tolist()]
    units = np.array([math.ceil(x * UNIT) + 1 if x > 0 else 0 for x in nats], dtype=np.int64)
    return units, math.fsum(weights.tolist()) / largest * (1 + 1e-12)


@final
@dataclass(frozen=True, eq=False)
class PricedPolicy:
    """The best policy that was found, if any keeps to alpha and beta, and the best lower bounds that were proved."""

    best: CertifiedController | None
    lower: Fraction | None
    """For mixtures of policies too; None where the graph was pruned."""
    branched: Fraction | None = None
    """For policies that draw nothing at random, where branch and bound was used; never below `lower`."""
    multipliers: Multipliers | None = None
    """What proves `lower`."""
    branching: Branching | None = None
    """What proves `branched`."""


def search_prices(
    task: Task,
    alpha: Fraction,
    beta: Fraction,
    *,
    limits: SearchLimits = DEFAULT_LIMITS,
    preference: FloatArray | None = None,
    slots: Slots = "named",
    report: Callable[[PricedPolicy], None] | None = None,
) -> PricedPolicy:
    """The best policy found for a task; LimitError when no belief graph of it is small enough.

    The graph has all actions if it can. Else, or if it shows no policy, it is pruned, slots being named: to three, two
    or one action at each node, at last to one action altogether. `preference[h, a]` are expected visits, as the program
    bound gives them, which pruning prefers. `report` is called with what is known so far, as soon as it is.
    """
    tables = tabulate_likelihoods(task, slots)

    def attempt(action_filter: ActionFilter | None) -> PricedPolicy | None:
        try:
            return _PriceSearch(tables, alpha, beta, limits, action_filter, report).run()
        except LimitError:
            return None

    whole = attempt(None)
    if whole is not None and whole.best is not None:
        return whole
    if slots == "named":
        small_enough = task.model.num_states <= MAX_STATES
        for options in range(min(3, tables.num_actions), 0, -1) if small_enough else ():
            found = attempt(MostInformative(tables, options, preference, float(alpha)))
            if found is not None and found.best is not None:
                return found if whole is None else PricedPolicy(found.best, whole.lower)
        # With one action there is nothing to choose among, and it was tried above.
        left = range(tables.num_actions) if tables.num_actions > 1 or not small_enough else ()
        repeated = [attempt(repeat_action(a)) for a in left]
        best = [one.best for one in repeated if one is not None and one.best is not None]
        if best:
            lower = None if whole is None else whole.lower
            return PricedPolicy(min(best, key=lambda one: one.cost), lower)
    if whole is not None:
        return whole
    raise LimitError("no policy within reach keeps to the risk; the task leads to too many information states")


def build_search_graph(
    tables: LikelihoodTables,
    alpha: Fraction,
    beta: Fraction,
    action_filter: ActionFilter | None,
    limits: SearchLimits,
    start: LongArray | None = None,
    *,
    coarse: bool = False,
) -> BeliefGraph:
    """The graph that a policy of this risk needs."""
    n, most = tables.num_slots, limits.max_nodes
    if action_filter is None:
        graph = GraphBuilder.at_risk(tables, alpha, max_nodes=most, limits=limits).build(start)
        return alternate_ties(graph) if tables.slots == "ranked" and n >= MIN_ALTERNATED else graph
    # The rarer the nodes that are expanded the better the policy; the first graph that is small enough is taken.
    rare = float(beta) / n
    for least in (rare / 1_000, rare / 100, rare / 10, *((rare,) if coarse else ())):
        with suppress(LimitError):
            builder = GraphBuilder.at_risk(tables, alpha, max_nodes=most, limits=limits, action_filter=action_filter)
            return build_likely_graph(builder, start, least=least, remaining=rare / 4)
    raise LimitError(f"even the likely readings of this task lead to more than {most} information states")


@dataclass
class _PriceSearch:
    """Prices and weights are looked for on one kind of graph, and what was best is kept."""

    tables: LikelihoodTables
    alpha: Fraction
    beta: Fraction
    limits: SearchLimits
    action_filter: ActionFilter | MostInformative | None
    report: Callable[[PricedPolicy], None] | None = None
    best: CertifiedController | None = None
    lower: Fraction | None = None
    multipliers: Multipliers | None = None

    def run(self) -> PricedPolicy:
        weights, found = np.ones(self.tables.num_slots) / self.tables.num_slots, None
        # Where slots are not named all hypotheses are treated alike, and so are their weights.
        for _ in range(self.limits.weight_rounds if self.tables.slots == "named" else 1):
            try:
                found = self.attempt(weights)
            except LimitError:
                if found is None:
                    raise
                break  # the first weights were searched, and these make a graph that is too large
            if found is None or self.limits.is_over:
                break
            cost = np.array([float(c) for c in found.risk.cost])
            if cost.max() - cost.min() <= 1e-3 * cost.max():
                break
            # Multiplicative weights: e^2 times less for one that costs nothing, but never below 1e-4 of an equal share.
            weights = weights * np.exp(2.0 * (cost / cost.max() - 1))
            weights = np.maximum(weights / weights.sum(), 1e-4 / len(weights))
            if isinstance(self.action_filter, MostInformative):
                self.action_filter = self.action_filter.weigh(weights)
        return self.found

    @property
    def found(self) -> PricedPolicy:
        return PricedPolicy(self.best, self.lower, multipliers=self.multipliers)

    def offer(self, found: CertifiedController | None = None) -> None:
        """Keep a policy if it is better, and report what is known."""
        if found is not None and (self.best is None or found.cost < self.best.cost):
            self.best = found
        if self.report is not None:
            self.report(self.found)

    def attempt(self, weights: FloatArray) -> CertifiedController | None:
        """Look for prices with these weights; the best policy that keeps to alpha and beta."""
        start, total = start_penalties(weights)
        # Once there is a policy, other weights may be tried on a coarser graph.
        graph = build_search_graph(
            self.tables, self.alpha, self.beta, self.action_filter, self.limits, start, coarse=self.best is not None
        )
        program = LagrangianProgram(graph, total, self.alpha, self.beta)
        grid = _PriceGrid(program, self.limits)
        first, careful = grid.first_careful()
        self.offer(careful)  # the rest takes as long again
        if graph.has_all_actions:
            steps = range(max(0, first + BOUND_STEPS[0]), min(first + BOUND_STEPS[1], len(PRICE_STEPS)))
            for i in steps:
                if self.limits.is_over:
                    break
                if self.lower is None or grid.solve(i).lower > self.lower:
                    self.lower = grid.solve(i).lower
                    self.multipliers = Multipliers.uniform(weights, grid.prices[i], grid.abstain)
            self.offer()
        if careful is None:
            return None
        found = [careful]
        if first > 0:
            rash, order = grid.solve(first - 1).choice, np.argsort(program.rivals / program.mass, kind="stable")
            found += self.mix(graph, rash, careful.policy.choice, order)
            found += self.mix_in_time(graph, rash, careful.policy)
        best = min(found, key=lambda one: one.cost)
        self.offer(best)
        return best

    def mix_in_time(
        self, graph: BeliefGraph, rash: LongArray, careful: FiniteStateController
    ) -> list[CertifiedController]:
        """The same on the careful policy unrolled in time, the earliest first; nothing where it has too many nodes."""
        try:
            unrolled, node = unroll_in_time(graph, careful.choice, careful.horizon, self.limits.max_nodes // 4)
        except LimitError:
            return []
        # The unrolled policy asks its one option (0) or ends; where the rash one would answer, it may answer instead.
        asks = unrolled.option[:, 0] >= 0
        choice = np.where(asks, 0, np.where(careful.choice[node] < 0, careful.choice[node], ABSTAIN))
        early = np.where(asks & (rash[node] < 0), rash[node], choice)
        return self.mix(unrolled, early, choice, np.arange(len(node)))

    def mix(
        self, graph: BeliefGraph, rash: LongArray, careful: LongArray, order: LongArray
    ) -> list[CertifiedController]:
        """Take from the rash choices as many early answers as alpha allows: all, then halves of what failed."""
        early = order[(rash[order] < 0) & (careful[order] >= 0)]
        choice = careful.copy()
        # Few trials on large graphs, where an evaluation is slow.
        groups, trials = [early], min(self.limits.mixing_trials, 4 + 200_000 // graph.size)
        found: list[CertifiedController] = []
        while groups and trials > 0 and not self.limits.is_over:
            group, trials = groups.pop(), trials - 1
            attempt = choice.copy()
            attempt[group] = rash[group]
            certified = fit_horizon(graph, attempt, self.alpha, self.beta)
            if certified is not None:
                choice = attempt
                found.append(certified)
            elif len(group) > 1:
                groups += [group[len(group) // 2 :], group[: len(group) // 2]]
        return found


class _PriceGrid:
    """Prices of a wrong answer, from rash to careful, with what they lead to; each is solved once."""

    def __init__(self, program: LagrangianProgram, limits: SearchLimits) -> None:
        self.program, self.limits = program, limits
        # A price e times higher buys about one nat of evidence more, which divides the risk by e.
        middle = math.log(1 / program.alpha)
        self.prices = [math.exp(middle + step / 4) for step in PRICE_STEPS]
        careful = program.solve(float(1 / program.alpha), HIGH_ABSTAIN_PRICE)
        self.abstain = ABSTAIN_PRICE_RATIO * float(careful.value[0]) / program.total
        self.solved: dict[int, LagrangianSolution] = {}

    def solve(self, i: int) -> LagrangianSolution:
        if i not in self.solved:
            # Values rise with the price, so those of a lower one are a start from below.
            below = max((j for j in self.solved if j < i), default=None)
            start = None if below is None else self.solved[below]
            self.solved[i] = self.program.solve(self.prices[i], self.abstain, start)
        return self.solved[i]

    def first_careful(self) -> tuple[int, CertifiedController | None]:
        """The first price, by bisection, whose policy keeps to alpha and beta, and that policy.

        If none does, the number of prices and None.
        """
        low, high, found = 0, len(self.prices), None
        while low < high:
            self.limits.check_time()
            middle, program = (low + high) // 2, self.program
            certified = fit_horizon(program.graph, self.solve(middle).choice, program.alpha, program.beta)
            if certified is not None:
                high, found = middle, certified
            else:
                low = middle + 1
        return low, found
