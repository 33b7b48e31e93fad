"""What a product of independent tests achieves, factor by factor: no list of the combined hypotheses is ever made.

Fix a hypothesis h = (h0, h1, ...) of the whole, and write x, b, c for the probability that factor i answers wrongly,
that it does not answer, and for its expected cost, given hi; r = 1 - x - b; and g for the probability that the product
goes on to the next factor: 1 - b when it asks *which*, the probability that the factor gives its nominal label when it
asks *nominal or not*. The parts are independent, so the runs of the factors are, and whether a factor is run is decided
by the earlier ones alone. Hence

    abstain = b0 + g0 (b1 + g1 (b2 + ...)),    cost = c0 + g0 (c1 + g1 (c2 + ...)).

*Which*: all factors have answered, not all of them rightly, so wrong = prod g - prod r (1 - prod (1 - x) where nothing
abstains). *Nominal or not*: if every hi is nominal, any other label is wrong, so wrong = x0 + g0 (x1 + g1 (...)); if
one is not, "not nominal" is right whichever factor says so, and wrong = prod g.

*The worst case over all combinations*, for each of the three by itself. A nested sum increases with what follows, so
its largest value is found from the last factor back, each hi chosen by itself; a product of non-negative numbers is
largest where each factor is, with a flag for "one of them is not nominal". A difference of two products needs more: the
pairs (prod g, prod r) that no other pair beats in both are kept. They are few where factors are alike. Past MAX_FRONT
neighbours are merged outward, (largest g, least r), which can only raise the bound.

*Bounds.* Where factors are enclosed and not solved exactly, the formulas, which increase in x, b, g and c and decrease
in r, are taken at both ends of the enclosures: the upper values are reported, the difference is `error`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from ascertain.policy.evaluate import Evaluation, evaluate
from ascertain.policy.product import Factor, Product

MAX_FRONT = 1_000
"""Pairs that are kept. Each factor multiplies all of them, with rationals that grow from factor to factor; merging two
of a thousand neighbours, which lie close together, costs little of the bound."""
ZERO, ONE = Fraction(0), Fraction(1)
"""As rationals: sums and products start from them."""
Cost: TypeAlias = Fraction | None
"""None is infinite."""


@final
@dataclass(frozen=True)
class FactorChances:
    """What a factor does under one of its hypotheses."""

    wrong: Fraction
    abstain: Fraction
    right: Fraction
    go: Fraction
    """The probability that the product goes on to the next factor."""
    cost: Cost
    is_nominal: bool


BestAndWorst: TypeAlias = tuple[FactorChances, FactorChances]
"""What makes the product look best, and worst: the two ends of an enclosure, equal where a factor is solved exactly."""


@final
@dataclass(frozen=True)
class Combination:
    """The worst case of a product over all combinations of hypotheses; at most `error` above the truth."""

    alpha: Fraction
    beta: Fraction
    cost: Cost
    error: Fraction

    def meets(self, alpha: Fraction, beta: Fraction) -> bool:
        """Whether the product is proved to be valid at these risks: it ends, and errs and abstains no more often."""
        return self.cost is not None and self.alpha <= alpha and self.beta <= beta


def evaluate_product(product: Product, *, exact: bool | None = None) -> Combination:
    """alpha, beta and cost of a product; `exact` is handed on to the evaluation of each factor."""
    both = chances_by_factor(product, exact=exact)
    high = worst_case([[c for _, c in factor] for factor in both], product.asks_nominal, outward=True)
    low = worst_case([[c for c, _ in factor] for factor in both], product.asks_nominal, outward=False)
    error = max(h - x for h, x in zip(high, low, strict=True) if h is not None and x is not None)
    return Combination(high[0], high[1], high[2], error)


def chances_by_factor(product: Product, *, exact: bool | None = None) -> list[list[BestAndWorst]]:
    """For each factor and hypothesis, chances that make the product look best and worst; equal where exact."""
    # Factors are mostly alike: those with one task, one policy and one nominal label are evaluated once.
    keys = [(id(factor.task), id(factor.policy), factor.nominal) for factor in product.factors]
    done = {key: _chances(factor, exact) for key, factor in dict(zip(keys, product.factors, strict=True)).items()}
    return [done[key] for key in keys]


def _chances(factor: Factor, exact: bool | None) -> list[BestAndWorst]:
    own = evaluate(factor.task, factor.policy, exact=exact)
    nominal = factor.nominal
    # Bounds on the probability that the product goes on: with the nominal answer, or with any.
    any_answer = [(1 - b, min(ONE, 1 - b + own.error)) for b in own.abstain]
    go = any_answer if nominal is None else _nominal_answers(factor, nominal, exact)
    is_nominal = [int(k) == nominal for k in factor.task.label]
    return [_pair(own, h, go[h], is_nominal[h]) for h in range(factor.task.num_hypotheses)]


def _pair(own: Evaluation, h: int, go: tuple[Fraction, Fraction], is_nominal: bool) -> BestAndWorst:
    wrong, abstain, cost, error = own.wrong[h], own.abstain[h], own.costs[h], own.error
    low_wrong, low_abstain = max(ZERO, wrong - error), max(ZERO, abstain - error)
    low_cost = None if cost is None else max(ZERO, cost - error)
    best = FactorChances(low_wrong, low_abstain, min(ONE, 1 - low_wrong - low_abstain), go[0], low_cost, is_nominal)
    return best, FactorChances(wrong, abstain, max(ZERO, 1 - wrong - abstain), go[1], cost, is_nominal)


def _nominal_answers(factor: Factor, nominal: int, exact: bool | None) -> list[tuple[Fraction, Fraction]]:
    """Bounds on the probability of the nominal answer, for each hypothesis: were it right everywhere, how often so."""
    states, where = np.unique(factor.task.state, return_inverse=True)
    everywhere = None if factor.task.state_label is None else np.full_like(factor.task.state_label, nominal)
    asked = replace(factor.task, state=states, label=np.full_like(states, nominal), state_label=everywhere)
    other = evaluate(asked, factor.policy, exact=exact)
    bounds = [
        (max(ZERO, 1 - w - b), min(ONE, 1 - w - b + 2 * other.error))
        for w, b in zip(other.wrong, other.abstain, strict=True)
    ]
    return [bounds[i] for i in where.tolist()]


def worst_case(
    factors: list[list[FactorChances]], asks_nominal: bool, *, outward: bool
) -> tuple[Fraction, Fraction, Cost]:
    """The largest wrong, abstain and cost, each over all combinations."""
    abstain: Cost = ZERO
    cost: Cost = ZERO
    for factor in reversed(factors):
        abstain = _largest(_then(c.abstain, c.go, abstain) for c in factor)
        cost = _largest(_then(c.cost, c.go, cost) for c in factor)
    assert abstain is not None  # only costs are infinite
    wrong = _wrong_about_nominal(factors) if asks_nominal else _wrong_about_which(factors, outward=outward)
    return wrong, abstain, cost


def _then(here: Cost, go: Fraction, rest: Cost) -> Cost:
    """here + go * rest, where None is infinite and what is never reached does not count."""
    if here is None or (rest is None and go > 0):
        return None
    return here + go * (rest or ZERO)


def _largest(values: Iterable[Cost]) -> Cost:
    every = list(values)
    finite = [v for v in every if v is not None]
    return max(finite) if len(finite) == len(every) else None


def _wrong_about_nominal(factors: list[list[FactorChances]]) -> Fraction:
    """The larger of a false alarm, where all are nominal, and a miss, where one is not; either may be impossible."""
    alarm = ZERO
    for factor in reversed(factors):
        alarm = max((c.wrong + c.go * alarm for c in factor if c.is_nominal), default=ZERO)
    possible = all(any(c.is_nominal for c in factor) for factor in factors)
    largest, missed = ONE, ZERO
    for factor in factors:
        here = max(c.go for c in factor)
        other = max((c.go for c in factor if not c.is_nominal), default=ZERO)
        largest, missed = largest * here, max(missed * here, largest * other)
    return max(alarm if possible else ZERO, missed)


def _wrong_about_which(factors: list[list[FactorChances]], *, outward: bool) -> Fraction:
    front = [(ONE, ONE)]
    for factor in factors:
        choices = {(c.go, c.right) for c in factor}
        front = _front({(g * x, r * y) for x, y in front for g, r in choices}, outward=outward)
    return max(g - r for g, r in front)


def _front(points: set[tuple[Fraction, Fraction]], *, outward: bool) -> list[tuple[Fraction, Fraction]]:
    """The pairs that none beats: largest g first, each with a smaller r than all before."""
    kept: list[tuple[Fraction, Fraction]] = []
    for g, r in sorted(points, key=lambda pair: (-pair[0], pair[1])):
        if not kept or r < kept[-1][1]:
            kept.append((g, r))
    while len(kept) > MAX_FRONT:
        # In a pair of neighbours the first has the larger g and the second the smaller r.
        pairs = zip(kept[::2], [*kept[1::2], kept[-1]], strict=False)
        kept = [(a[0], b[1]) if outward else a for a, b in pairs]
    return kept
