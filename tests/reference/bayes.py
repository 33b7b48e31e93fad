"""The Bayes dual: a penalised problem without constraints, whose optimum bounds the constrained one from below.

For weights w_h >= 0 that sum to 1, and prices A_h, B_h >= 0 of a wrong answer and of an abstention under h, every valid
policy satisfies

    AO >= sum over h of w_h cost_h >= min over policies of sum over h (w_h cost_h + A_h wrong_h + B_h abstain_h)
                                      - alpha sum of A_h - beta sum of B_h.

The minimum is a stopping problem on joint states with the vector of likelihoods, solved backwards. It is unrolled to a
number of steps; where unrolling stops, what follows costs nothing, which keeps the bound valid (and exact, as far as
that is never worth reaching). The best prices are found by cutting planes: each best policy is a linear function of
the prices that bounds the minimum from above. That is column generation for the best *randomised* policy, whose cost
the bound approaches. The value for the prices found is then computed again in integers, rounded down throughout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, cast, final

import numpy as np
from scipy.optimize import linprog  # pyright: ignore[reportUnknownVariableType]

from ascertain.bounds.information import check_risks
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, FloatArray

UNIT = 1 << 80
"""Values are rounded down to multiples of 1 / UNIT."""
ROUNDS = 200
PRICE_LIMIT = 1e9
Node = tuple[tuple[int, ...], tuple[int, ...]]
"""The state of each hypothesis, and likelihoods without common factor; a hypothesis of likelihood 0 is in state -1."""


@final
@dataclass(frozen=True)
class BayesBound:
    """A lower bound on the complexity and the prices that prove it."""

    value: Fraction
    vacuous: bool
    weights: tuple[Fraction, ...]
    wrong: tuple[Fraction, ...]
    abstain: tuple[Fraction, ...]
    num_nodes: int
    num_steps: int
    """How far the problem was unrolled."""


@final
@dataclass(frozen=True, eq=False)
class Unrolled:
    """Nodes in the order of their depth. `moves[n]` lists, for each action, its cost and (child, scale) pairs."""

    likelihood: list[tuple[int, ...]]
    labels: list[tuple[int, ...]]
    """The right answer of each hypothesis at this node."""
    moves: list[list[tuple[Fraction, list[tuple[int, Fraction]]]]]
    layers: list[int]
    """Where each layer that was expanded begins, and where the last one ends: beyond, all is told for nothing."""

    @property
    def depth(self) -> int:
        return len(self.layers) - 1


def bound_by_bayes(
    task: Task,
    alpha: Fraction | None = None,
    beta: Fraction | None = None,
    *,
    max_nodes: int = 3_000,
    max_steps: int = 200,
    rounds: int = ROUNDS,
) -> BayesBound:
    """The Bayes dual at the best prices found; for small problems. The risks are the task's unless given."""
    alpha, beta = check_risks(task, alpha, beta)
    size = task.num_hypotheses
    nothing = (Fraction(0),) * size
    if 2 * alpha + beta >= 1:
        return BayesBound(Fraction(0), True, nothing, nothing, nothing, 0, 0)
    tree = unroll(task, max_nodes, max_steps)
    w, a, b = find_prices(task, tree, alpha, beta, rounds)
    value = certify_prices(task, tree, alpha, beta, w, a, b)
    return BayesBound(max(value, Fraction(0)), False, w, a, b, len(tree.likelihood), tree.depth)


def unroll(task: Task, max_nodes: int, max_steps: int) -> Unrolled:
    """Whole layers, as long as there is room for them; nodes of one layer that are proportional are one."""
    start: Node = (tuple(task.state.tolist()), (1,) * task.num_hypotheses)
    tree = Unrolled([], [], [], [0])
    layer = [start]
    _add_nodes(task, tree, layer)
    while tree.depth < max_steps and layer:
        number: dict[Node, int] = {}
        first = tree.layers[-1]
        moves = [_expand(task, node, number, first + len(layer)) for node in layer]
        if len(tree.likelihood) + len(number) > max_nodes and tree.depth > 0:
            break
        tree.moves[first:] = moves
        tree.layers.append(first + len(layer))
        layer = list(number)
        _add_nodes(task, tree, layer)
    return tree


def _add_nodes(task: Task, tree: Unrolled, layer: list[Node]) -> None:
    """Nodes without moves: whoever gets there is told the truth for nothing, unless they are expanded."""
    for states, likelihood in layer:
        tree.likelihood.append(likelihood)
        current = task.state_label
        own = task.label.tolist()
        tree.labels.append(tuple(own if current is None else [int(current[s]) for s in states]))
        tree.moves.append([])


def _expand(
    task: Task, node: Node, number: dict[Node, int], base: int
) -> list[tuple[Fraction, list[tuple[int, Fraction]]]]:
    """What each allowed action costs and where it leads; new nodes are numbered from `base` on."""
    states, likelihood = node
    moves: list[tuple[Fraction, list[tuple[int, Fraction]]]] = []
    for a, cost in enumerate(task.cost):
        after = [UNDEFINED if s == UNDEFINED else int(task.model.successor[s, a]) for s in states]
        if any(t == UNDEFINED and v for t, v in zip(after, likelihood, strict=True)):
            continue
        laws = [{} if s == UNDEFINED else task.model.reading_law(s, a) for s in states]
        children: list[tuple[int, Fraction]] = []
        for y in sorted({y for law in laws for y in law}):
            parts = [v * law.get(y, Fraction(0)) for v, law in zip(likelihood, laws, strict=True)]
            common = math.lcm(*(p.denominator for p in parts))
            whole = [int(p * common) for p in parts]
            divisor = math.gcd(*whole)
            vector = tuple(x // divisor for x in whole)
            kept = tuple(t if x else UNDEFINED for t, x in zip(after, vector, strict=True))
            child = number.setdefault((kept, vector), base + len(number))
            children.append((child, Fraction(divisor, common)))
        moves.append((cost, children))
    return moves


def find_prices(
    task: Task, tree: Unrolled, alpha: Fraction, beta: Fraction, rounds: int
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...], tuple[Fraction, ...]]:
    """The best weights and prices found, as rationals; weights sum to 1."""
    size, best = task.num_hypotheses, -math.inf
    prices = np.concatenate([np.full(size, 1 / size), np.full(2 * size, 1.0)])
    kept = prices
    risk = np.concatenate([np.zeros(size), np.full(size, float(alpha)), np.full(size, float(beta))])
    plans: list[FloatArray] = []
    walker = _Walker(task, tree)
    for _ in range(rounds):
        plan = walker.best_plan(prices) - risk
        value = float(plan @ prices)
        if value > best:
            best, kept = value, prices
        plans.append(plan)
        found = _master(np.array(plans), size)
        if found is None or found[0] <= best + 1e-9 * max(1.0, best):
            break
        prices = 0.5 * kept + 0.5 * found[1] if len(plans) % 3 else found[1]
    weights = [Fraction(max(x, 0.0)).limit_denominator(10**9) for x in kept[:size]]
    total = sum(weights, Fraction(0))
    rest = [
        tuple(Fraction(max(x, 0.0)).limit_denominator(10**6) for x in part) for part in (kept[size:-size], kept[-size:])
    ]
    return tuple(w / total for w in weights), rest[0], rest[1]


def _master(plans: FloatArray, size: int) -> tuple[float, FloatArray] | None:
    """The prices at which the least of these plans costs most."""
    count, width = plans.shape
    goal = np.zeros(width + 1)
    goal[-1] = -1.0
    rows = np.hstack([-plans, np.ones((count, 1))])
    sums = np.concatenate([np.ones(size), np.zeros(width - size + 1)])[None, :]
    limits = [(0.0, 1.0)] * size + [(0.0, PRICE_LIMIT)] * (width - size) + [(None, None)]
    found = cast(
        "Any",
        linprog(goal, A_ub=rows, b_ub=np.zeros(count), A_eq=sums, b_eq=[1.0], bounds=limits, method="highs"),
    )
    return None if found.status != 0 else (float(found.x[-1]), np.asarray(found.x[:-1], dtype=np.float64))


@final
class _Walker:
    """The stopping problem in floating point: its best plan for given prices, as what it costs each hypothesis."""

    def __init__(self, task: Task, tree: Unrolled) -> None:
        self.size, self.tree = task.num_hypotheses, tree
        count, width = len(tree.likelihood), max((len(c) for m in tree.moves for _, c in m), default=1)
        most = max((len(m) for m in tree.moves), default=1) or 1
        self.vector = np.array(tree.likelihood, dtype=np.float64)
        self.labels = np.array(tree.labels)
        self.paid, self.allowed = np.zeros((count, most)), np.zeros((count, most), dtype=np.bool_)
        self.child = np.zeros((count, most, width), dtype=np.int64)
        self.scale = np.zeros((count, most, width))
        for n, moves in enumerate(tree.moves):
            for i, (cost, children) in enumerate(moves):
                self.paid[n, i], self.allowed[n, i] = float(cost), True
                for j, (child, scale) in enumerate(children):
                    self.child[n, i, j], self.scale[n, i, j] = child, float(scale)

    def best_plan(self, prices: FloatArray) -> FloatArray:
        """(cost_h, wrong_h, abstain_h) of a policy that is best at these prices."""
        plan = np.zeros((len(self.vector), 3 * self.size))
        value = np.zeros(len(self.vector))
        for first, last in reversed(list(pairwise(self.tree.layers))):
            value[first:last], plan[first:last] = self._layer(first, last, prices, value, plan)
        return plan[0]

    def _layer(
        self, first: int, last: int, prices: FloatArray, value: FloatArray, plan: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Values and plans of the nodes of one layer, from those of the next."""
        size, here = self.size, slice(first, last)
        w, a, b = prices[:size], prices[size:-size], prices[-size:]
        v, labels = self.vector[here], self.labels[here]
        missed = [v * (labels != k) for k in range(int(labels.max()) + 1)]
        stops = np.stack([v @ b, *(m @ a for m in missed)])
        stop = stops.argmin(axis=0)
        after = (self.scale[here] * value[self.child[here]]).sum(axis=2)
        goes = np.where(self.allowed[here], self.paid[here] * (v @ w)[:, None] + after, np.inf)
        go = goes.argmin(axis=1)
        rows = np.arange(last - first)
        chosen = np.zeros((last - first, 3 * size))
        chosen[:, 2 * size :] = v * (stop == 0)[:, None]
        for k, m in enumerate(missed):
            chosen[:, size:-size] += m * (stop == k + 1)[:, None]
        moves = goes[rows, go] < stops[stop, rows]
        target, scale = self.child[here][rows, go], self.scale[here][rows, go]
        later = (scale[:, :, None] * plan[target]).sum(axis=1)
        later[:, :size] += self.paid[here][rows, go][:, None] * v
        chosen[moves] = later[moves]
        return np.where(moves, goes[rows, go], stops[stop, rows]), chosen


def certify_prices(
    task: Task,
    tree: Unrolled,
    alpha: Fraction,
    beta: Fraction,
    weights: tuple[Fraction, ...],
    wrong: tuple[Fraction, ...],
    abstain: tuple[Fraction, ...],
) -> Fraction:
    """The bound at these prices, in integers rounded down: a smaller value of a child never makes a parent's larger."""
    whole = math.lcm(*(x.denominator for x in (*weights, *wrong, *abstain)))
    w, a, b = ([int(x * whole) for x in part] for part in (weights, wrong, abstain))
    value = [0] * len(tree.likelihood)
    for n in reversed(range(tree.layers[-1])):
        v, labels = tree.likelihood[n], tree.labels[n]
        stops = [sum(x * y for x, y in zip(v, b, strict=True))]
        for label in set(labels):
            stops.append(sum(x * y for x, y, k in zip(v, a, labels, strict=True) if k != label))
        least = min(stops) * UNIT
        weight = sum(x * y for x, y in zip(v, w, strict=True)) * UNIT
        for cost, children in tree.moves[n]:
            total = weight * cost.numerator // cost.denominator
            total += sum(value[child] * scale.numerator // scale.denominator for child, scale in children)
            least = min(least, total)
        value[n] = least
    penalty = alpha * sum(wrong, Fraction(0)) + beta * sum(abstain, Fraction(0))
    return Fraction(value[0], UNIT * whole) - penalty
