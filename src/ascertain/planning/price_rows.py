"""A bound by prices as a finite proof in rationals: rows, each a vector of weights and a bound, that bound one another.

The values of a belief graph at some prices (`column_generation.py`) are computed in floats. A row is one of its nodes
with weights rounded to short fractions, x, and a bound b a little below its value. Rows prove their bounds if, at each
of them, b is at most what stopping costs, and at most c(a) mass(x) plus what is known of the vectors that follow,
for every allowed action a; what is known of a vector is the bound of a row that fits below it, times the factor by
which it fits, or what one more step costs. `ascertain_check/claims/prices.py` has the theorem.

*Slack.* A row fits below what leads to it up to rounding, some 10^-8 of it. Let b be (1 - d) times the value: then the
first step, paid in full, leaves d c(a) mass(x) to spare, which covers that rounding wherever the value is at most
d / 10^-8 steps. More slack does more: an action that is clearly not the best needs no rows behind it at all.

*Trimming.* From the row of the start on, rows are taken up only where the bound of an action needs them, those that
contribute most first. A closed node never needs one: one step is what the graph knows of it. The least slack that
leaves few enough rows is taken.

Everything is checked here in floats, with a margin that is far above their rounding and far below the slack; whether
the proof holds is decided by the checker, in rationals.

Throughout: v is a node, i a slot (a hypothesis), a an action, y a reading, j a class of prices.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, final

import numpy as np

from ascertain.errors import LimitError
from ascertain.planning.belief_graph import MARGINS_NATS, BeliefGraph, GraphBuilder
from ascertain.planning.column_generation import ColumnGeneration, PricedValues
from ascertain.planning.information_state import tabulate_likelihoods
from ascertain.planning.lagrangian import start_penalties
from ascertain.planning.multipliers import Multipliers
from ascertain.policy.automaton import NOWHERE
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, FloatArray

Member: TypeAlias = tuple[int, int]
"""(class of prices, state)."""
Vector: TypeAlias = dict[Member, float]
Exact: TypeAlias = Mapping[Member, Fraction]

SLACKS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Parts of a bound that are given up for fewer rows, the least first; a thousandth is as much as anyone would."""
MAX_ROWS = 12_000
"""Rows of one proof: some megabytes, and about ten seconds of the checker."""
MAX_NODES = 60_000
"""Information states among which rows are looked for: as many as a policy is made from."""
FINE = Fraction(1, 1 << 25)
"""The part by which a weight is rounded, to a fraction of four digits or so; weights on a lattice are hit exactly."""
MARGIN = 1e-11
"""More than the rounding of a sum of floats, and far less than what a slack leaves."""


@final
@dataclass(frozen=True)
class PriceRow:
    """A vector with its bound; `moves[a][y]` is the row that follows."""

    members: tuple[tuple[int, int, Fraction], ...]
    """(class of prices, state, weight)."""
    bound: Fraction
    moves: dict[int, dict[int, int]]


@final
@dataclass(frozen=True)
class PriceProof:
    """Rows at some prices, and which row is that of which node of the graph."""

    prices: tuple[tuple[int, Fraction, Fraction, Fraction], ...]
    """(label, price of a unit of cost, of a wrong answer, of an abstention) by class."""
    start: tuple[tuple[int, Fraction], ...]
    """The class of each hypothesis, and how often it counts."""
    least: Fraction
    """The cost of the cheapest action."""
    rows: tuple[PriceRow, ...]
    number: Mapping[int, int]

    def mass(self, z: Exact) -> Fraction:
        return sum((self.prices[j][1] * x for (j, _), x in z.items()), Fraction(0))

    def answer(self, z: Exact, label: int) -> Fraction:
        """What answering the label costs."""
        return sum((self.prices[j][2] * x for (j, _), x in z.items() if self.prices[j][0] != label), Fraction(0))

    def abstain(self, z: Exact) -> Fraction:
        return sum((self.prices[j][3] * x for (j, _), x in z.items()), Fraction(0))

    def worth(self, z: Exact, v: int) -> Fraction:
        """What the row of a node is worth at a vector below which it lies; one step where the node has none."""
        if v not in self.number:
            answers = [self.answer(z, label) for label in {self.prices[j][0] for j, _ in z}]
            return min([self.abstain(z), self.least * self.mass(z), *answers])
        row = self.rows[self.number[v]]
        fits = [z.get((j, c), Fraction(0)) / x for j, c, x in row.members if x]
        return row.bound * min(fits, default=Fraction(0))

    def conclude(self, spent: Fraction, alpha: Fraction, beta: Fraction) -> Fraction:
        """What a priced sum of at least `spent` proves, rounded down."""
        counted = [(self.prices[j], m) for j, m in self.start]
        weight = sum((m * price[1] for price, m in counted), Fraction(0))
        allowed = sum((m * (alpha * price[2] + beta * price[3]) for price, m in counted), Fraction(0))
        return max(Fraction(0), round_down((spent - allowed) / weight)) if weight else Fraction(0)

    def vector(self, places: Iterable[tuple[int, Fraction] | None]) -> dict[Member, Fraction]:
        """The vector after a history: by hypothesis its state then and the probability of the readings, or None."""
        found: dict[Member, Fraction] = {}
        for (j, m), place in zip(self.start, places, strict=True):
            if place is not None:
                found[j, place[0]] = found.get((j, place[0]), Fraction(0)) + m * place[1]
        return found


def prove_prices(task: Task, alpha: Fraction, beta: Fraction, multipliers: Multipliers) -> tuple[Fraction, PriceProof]:
    """What these multipliers prove of all policies, and the rows that prove it; LimitError where there are too many."""
    rows = PriceRows(build_graph(task, alpha, multipliers), alpha, beta, multipliers)
    proof = rows.prove({0}, SLACKS)
    start = proof.vector((c, Fraction(1)) for c in task.state.tolist())
    return proof.conclude(proof.worth(start, 0), alpha, beta), proof


def build_graph(task: Task, alpha: Fraction, multipliers: Multipliers) -> BeliefGraph:
    """A belief graph with all actions and named slots whose weights begin as the multipliers say."""
    tables, start = tabulate_likelihoods(task), start_penalties(multipliers.start)[0]
    for more in MARGINS_NATS:
        with suppress(LimitError):
            return GraphBuilder.at_risk(tables, alpha, more=more, max_nodes=MAX_NODES).build(start)
    raise LimitError(f"the question leads to more than {MAX_NODES} information states")


@final
class PriceRows:
    """The nodes of a belief graph as rows at some prices."""

    def __init__(self, graph: BeliefGraph, alpha: Fraction, beta: Fraction, multipliers: Multipliers) -> None:
        program = ColumnGeneration(graph, alpha, beta)
        self.graph, self.task = graph, graph.tables.task
        member = [int(np.flatnonzero(program.group == j)[0]) for j in range(len(program.group_size))]
        exact = cost, wrong, abstain = [[shorten(float(p)) for p in row[member]] for row in multipliers.price]
        label: list[int] = self.task.label[member].tolist()
        self.prices = tuple(zip(label, cost, wrong, abstain, strict=True))
        self.group: list[int] = program.group.tolist()
        assert np.array_equal(multipliers.price, multipliers.price[:, member][:, program.group])
        self.start = tuple((j, shorten(float(m))) for j, m in zip(self.group, multipliers.start, strict=True))
        price: FloatArray = np.array([[float(p) for p in row] for row in exact])
        self.price: list[list[float]] = price.T.tolist()
        self.label = label
        self.priced: PricedValues = program.value_nodes(price)
        self.cost = [float(c) for c in self.task.cost]
        self.least = min(self.cost)
        self.vectors: dict[int, Vector] = {}

    def prove(self, needed: set[int], slacks: Sequence[float]) -> PriceProof:
        """The rows of these nodes and all that they need, with the least slack that leaves few enough of them."""
        *tried, largest = slacks
        for slack in tried:
            with suppress(LimitError):
                return self.trim(needed, slack)
        return self.trim(needed, largest)

    def trim(self, needed: set[int], slack: float) -> PriceProof:
        """Follow the rows that are needed; LimitError where they are too many, or the slack is too little."""
        number = {v: k for k, v in enumerate(sorted(v for v in needed if not self.graph.closed[v]))}
        stack, moves = list(number), dict[int, dict[int, dict[int, int]]]()
        while stack:
            v = stack.pop()
            moves[v] = self.find_moves(v, slack)
            for w in {w for named in moves[v].values() for w in named.values()}:
                if w not in number:
                    number[w] = len(number)
                    stack.append(w)
            if len(number) > MAX_ROWS:
                raise LimitError(f"a proof of the bound by prices needs more than {MAX_ROWS} rows")
        rows = tuple(
            PriceRow(
                tuple((j, c, x) for (j, c), x in self.exact_vector(v).items()),
                self.bound(v, slack),
                {a: {y: number[w] for y, w in named.items()} for a, named in moves[v].items()},
            )
            for v in number
        )
        return PriceProof(self.prices, self.start, min(self.task.cost), rows, number)

    def bound(self, v: int, slack: float) -> Fraction:
        return shorten(float(self.priced.value[v]) * (1 - slack))

    def exact_vector(self, v: int) -> dict[Member, Fraction]:
        """The weights of a node, rounded; eliminated hypotheses whose state is known weigh nothing."""
        state, weight = self.graph.state[v].tolist(), self.graph.weight[v].tolist()
        found: dict[Member, Fraction] = {}
        for i, c in enumerate(state):
            if c != NOWHERE:
                found[self.group[i], c] = max(simplest_near(weight[i]), found.get((self.group[i], c), Fraction(0)))
        return found

    def vector(self, v: int) -> Vector:
        if v not in self.vectors:
            self.vectors[v] = {member: float(x) for member, x in self.exact_vector(v).items()}
        return self.vectors[v]

    def find_moves(self, v: int, slack: float) -> dict[int, dict[int, int]]:
        """For each allowed action the readings whose rows the bound of a node needs, with the nodes they lead to."""
        x, bound = self.vector(v), float(self.bound(v, slack))
        if bound > self.stop(x) * (1 - MARGIN):
            raise LimitError("the slack is too little for what stopping costs")
        options: dict[int, int] = {int(a): k for k, a in enumerate(self.graph.option[v]) if a != NOWHERE}
        moves: dict[int, dict[int, int]] = {}
        for a, cost in enumerate(self.cost):
            if any(self.task.model.successor[c, a] == UNDEFINED for _, c in x):
                continue
            after = self.after(x, a)
            spent = cost * self.mass(x) + sum(self.step(z) for z in after.values())
            if bound <= spent * (1 - MARGIN):
                continue
            # An action that is no option here tells nothing and moves nothing: each reading leads back.
            child = {y: v if a not in options else int(self.graph.child[v, options[a], y]) for y in after}
            gains = sorted(((self.worth(z, child[y], slack) - self.step(z), y) for y, z in after.items()), reverse=True)
            named: dict[int, int] = {}
            for gain, y in gains:
                if gain > 0 and bound > spent * (1 - MARGIN):
                    spent += gain
                    named[y] = child[y]
            if bound > spent * (1 - MARGIN):
                raise LimitError("the slack is too little for the rounding of the rows")
            moves[a] = named
        return moves

    def mass(self, x: Vector) -> float:
        return math.fsum(self.price[j][0] * amount for (j, _), amount in x.items())

    def stop(self, x: Vector) -> float:
        """The least cost of ending here."""
        wrong = [(self.label[j], self.price[j][1] * amount) for (j, _), amount in x.items()]
        answers = [math.fsum(part for k, part in wrong if k != label) for label in {k for k, _ in wrong}]
        return min([math.fsum(self.price[j][2] * amount for (j, _), amount in x.items()), *answers])

    def step(self, x: Vector) -> float:
        """The least of stopping and of one more action, or less."""
        return min(self.stop(x), self.least * self.mass(x))

    def after(self, x: Vector, a: int) -> dict[int, Vector]:
        result: dict[int, Vector] = {}
        model = self.task.model
        for (j, c), amount in x.items():
            target = int(model.successor[c, a])
            for y, p in model.reading_law(c, a).items():
                z = result.setdefault(y, {})
                z[j, target] = z.get((j, target), 0.0) + amount * float(p)
        return result

    def worth(self, z: Vector, w: int, slack: float) -> float:
        """What the row of a node is worth at a vector, nothing where it does not fit below."""
        if w == NOWHERE or self.graph.closed[w]:
            return 0.0
        row = self.vector(w)
        if not row.keys() <= z.keys():
            return 0.0
        return float(self.bound(w, slack)) * min((z[member] / x for member, x in row.items() if x), default=0.0)


def shorten(value: float) -> Fraction:
    """A number that is not negative, rounded to twelve digits, so that it takes little room."""
    return Fraction(f"{value:.12g}")


def round_down(value: Fraction) -> Fraction:
    """To nine decimals."""
    return Fraction(math.floor(value * 10**9), 10**9)


@lru_cache(maxsize=100_000)
def simplest_near(weight: float) -> Fraction:
    """The fraction with the least denominator that is as good as equal to a weight."""
    exact = Fraction(weight)
    return simplest_between(exact * (1 - FINE), exact * (1 + FINE)) if exact else exact


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of least denominator in [low, high], 0 < low <= high, by the continued fractions of both."""
    terms: list[int] = []
    while True:
        whole = -(-low.numerator // low.denominator)
        if whole <= high:
            break
        terms.append(whole - 1)
        low, high = 1 / (high - terms[-1]), 1 / (low - terms[-1])
    found = Fraction(whole)
    for term in reversed(terms):
        found = term + 1 / found
    return found
