"""Where computation has a price: the policy that is expected to cost least, estimated before any fresh reading.

The cost of a run is that of its actions plus a price for each model step (compiling and scoring candidates) and each
world step. What it will be is estimated from the log and the declarations alone, so that policy, threshold and share of
the nominal are as fixed as if a person had named them: any choice is valid, and a bad estimate costs money, not risk.

*Compiling*. With at most one replacement, the first DRY_COMMANDS of the log are compiled: a few thousand model steps,
which are counted. They end in n other states than the nominal; r replacements then lead to about n^r / r!, so that T
commands with A commands of alternatives each take

    C = T * sum over r = 0 .. k of n^r / r! * (1 + A, or 1 where r = k)

model steps for M = sum of n^r / r! candidates.

*Readings*. A true candidate of weight w beats a rival that contradicts m = ceil(log(1/(alpha w)) / l) readings more, l
nats each. Where a reading contradicts a rival with probability 1/2, independently, n readings with a share e of wrong
ones leave N * P(Binomial(n, 1/2) < m + e n) of N rivals: `r(w)` is the least n that leaves less than one. The sum of
these shares up to n, `s(w)`, is how many readings a rival, or a candidate, is scored on.

*Policies*. p is the probability that the nominal holds, q its share, d = (log(1 + lambda) + log 5) / g the readings
until the trigger exceeds 1 + lambda if the nominal is false; it grows by g nats a reading. W stands for the weights
that a true state has in a bank.

                nominal true                        nominal false
    eager       r(W), C + M s(W)                    the same
    reuse       r(q), (C + M s) / (1 + lambda)      r((1 - q) W) + d/8, C + M s
    incremental as reuse                            as reuse, and d/8 for a shell; C + M s (1/9 + 25 / (1 + lambda))
    readwise    as reuse                            r((1 - q) W) + d, C + M s
    staged      as readwise with lambda = 1/beta_nom - 1

So a bank is not compiled as long as p C / (1 + lambda) weighs more than the readings that waiting costs: the dearer a
model step, the larger lambda.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, final

import numpy as np

from ascertain.bank.compile import DEFAULT_COMPILER, compile_bank
from ascertain.bank.encoding import MANY_PATHS, count_paths
from ascertain.bank.operation import Operation
from ascertain.evidence.trigger import MIXTURE
from ascertain.observer.settings import ObserverSettings, PolicyName

DRY_COMMANDS = 32
"""Of the log: on the testbed, what one replacement can lead to has stopped growing by then, at a 200th of C."""
THRESHOLDS = tuple(Fraction(x) for x in (0, 3, 10, 30, 100, 300))
"""The values of lambda that are compared: one contradiction more or less makes a factor of about five."""
SHARES = (Fraction(1, 2), Fraction(3, 4))
"""Shares of the nominal that are compared: the usual one, and one that is as good as 1 where errors are 1/50."""
WEIGHTS = ((0.4, 0.75), (0.6, 1 / 30))
"""What a true state weighs in a bank, and how often: nearly alone in the first shell, or one of many, or later (24
testbed operations, drawn for this alone)."""
EVEN = Fraction(1, 2)
"""The probability that the nominal holds, where none is declared."""
AFTER_CONTRADICTION = Fraction(1, 4)
"""What is left of it where the log as sent contradicts a trusted reading: the nominal then holds only if whatever was
replaced has been overwritten since. On those 24 operations it held in 2 of 10, and in 10 of 14 of the others."""
CONTRADICTION_RATE = 0.25
"""How often a false nominal is contradicted at first, before the difference has spread."""
LOST = 1 / 8
"""The part of the readings before the trigger that a mixture has to take again: they were chosen for the nominal."""
LATER_SHELL = 1 / 3
"""How often the first shell does not hold the true state."""
RESCORED = 25
"""What is scored again for every further shell, half the number of shells times the bank, where even the true state
fails the test that asks for the next one: of 50 shells, as on the testbed."""


@final
@dataclass(frozen=True)
class Estimate:
    """What a policy is expected to take."""

    policy: PolicyName
    threshold: Fraction
    nominal_share: Fraction
    readings: float
    model_steps: float
    world_steps: float
    cost: float
    """The cost of the actions and of all steps."""

    def facts(self) -> dict[str, Any]:
        """As plain data; estimates are rounded, for they are no more."""
        rough = {key: float(f"{getattr(self, key):.3g}") for key in ("readings", "model_steps", "world_steps", "cost")}
        fixed = {"threshold": str(self.threshold), "nominal_share": str(self.nominal_share)}
        return {"policy": self.policy, **fixed, **rough}


@final
@dataclass(frozen=True)
class PolicyChoice:
    """The policy that is expected to cost least, and what it was compared with."""

    estimates: tuple[Estimate, ...]
    """The best of each policy, least cost first."""
    probability: Fraction
    """How likely the nominal is taken to be."""
    compile_steps: float
    model_steps: int
    """What the estimate itself took; part of the cost of the run."""

    @property
    def best(self) -> Estimate:
        return self.estimates[0]

    def __str__(self) -> str:
        best, second = self.estimates[:2]
        how = f" (lambda {best.threshold}, share of the nominal {best.nominal_share})" if best.policy != "eager" else ""
        return (
            f"the policy {best.policy}{how} is expected to cost least: {best.cost:.3g}, where {second.policy} would "
            f"cost {second.cost:.3g}; compiling takes about {self.compile_steps:.1g} model steps, and the nominal is "
            f"taken to hold with probability {self.probability}"
        )

    def facts(self) -> dict[str, Any]:
        """As plain data, which is what `observe --json` prints."""
        return {
            "estimates": [estimate.facts() for estimate in self.estimates],
            "nominal_probability": str(self.probability),
            "compile_steps": float(f"{self.compile_steps:.3g}"),
            "model_steps": self.model_steps,
        }


def choose_policy(
    settings: ObserverSettings,
    operation: Operation,
    prices: Mapping[str, Fraction],
    *,
    compiler: str = DEFAULT_COMPILER,
    probability: Fraction | None = None,
    thresholds: Sequence[Fraction] = THRESHOLDS,
    shares: Sequence[Fraction] = SHARES,
) -> PolicyChoice | None:
    """The policy, with threshold and share of the nominal, that is expected to cost least at these prices.

    `prices` are those of a `model_step` and of a `world_step`. `probability` is how likely the nominal is; if it is not
    given, one half, less where the log contradicts it. None where nothing can be compared: without a nominal, or
    where readings are noisy and no risk is allowed.
    """
    law = _reading_law(settings)
    if law is None:
        return None
    plan = _look_ahead(settings, operation, prices, compiler, probability, law)
    found = [plan.estimate_eager()]
    for share, threshold in product(shares, thresholds):
        found += [plan.estimate(policy, threshold, share) for policy in ("reuse", "incremental", "readwise")]
    found += [plan.estimate("staged", 1 / settings.rejection - 1, share) for share in shares]
    best = {each.policy: each for each in sorted(found, key=lambda each: -each.cost)}
    return PolicyChoice(
        tuple(sorted(best.values(), key=lambda each: each.cost)), plan.probability, plan.compile_steps, plan.spent
    )


def _reading_law(settings: ObserverSettings) -> tuple[float, int] | None:
    """How often a reading is not the likeliest, and how many readings there are; None where that says nothing."""
    model, nominal = settings.model.deterministic, settings.nominal
    if model is None or nominal is None:
        return None
    laws = [law for a in settings.question.actions if (law := model.reading_law(nominal, a))]
    if not laws or (settings.alpha == 0 and model.is_noisy):
        return None
    errors, size = sum(1 - max(law.values()) for law in laws) / len(laws), max(2, len(model.readings))
    return (float(errors), size) if errors < Fraction(size - 1, size) else None


def _look_ahead(
    settings: ObserverSettings,
    operation: Operation,
    prices: Mapping[str, Fraction],
    compiler: str,
    probability: Fraction | None,
    law: tuple[float, int],
) -> _Plan:
    """What is known before the first reading, for a few model steps."""
    as_sent = compile_bank(replace(operation, max_replaced=0))
    if probability is None:
        contradicted = len(as_sent.score) == 0 or as_sent.score[0][0] > 0
        probability = EVEN * AFTER_CONTRADICTION if contradicted else EVEN
    first, length = slice(0, DRY_COMMANDS), operation.length
    head = replace(
        operation,
        sent=operation.sent[first],
        readings=operation.readings[first],
        trusted=operation.trusted[first],
        max_replaced=min(1, operation.max_replaced),
    )
    dry = compile_bank(head)
    others = max(0, dry.endpoint.size - 1)
    groups = [1.0]
    for r in range(1, operation.max_replaced + 1):
        groups.append(min(groups[-1] * others / r, MANY_PATHS))
    sizes = np.array([sum(map(len, words)) for words in operation.alternatives])
    longer = float(sizes[operation.sent].mean())
    merged = length * (sum(groups) + longer * sum(groups[:-1]))
    apart = float(count_paths(operation)) * length
    question, errors = settings.question, law[0]
    return _Plan(
        rivals=float(question.num_candidates),
        errors=errors,
        nats=math.inf if errors == 0 else math.log((1 - errors) * (law[1] - 1) / errors),
        num_readings=law[1],
        alpha=float(settings.alpha),
        probability=probability,
        compile_steps=min(apart, merged) if compiler in (DEFAULT_COMPILER, "direct") else apart,
        candidates=min(sum(groups), float(question.num_candidates)),
        action_cost=float(sum(question.cost[a] for a in question.actions) / len(question.actions)),
        most=settings.budget,
        prices={name: float(price) for name, price in prices.items()},
        spent=as_sent.stats.model_steps + dry.stats.model_steps,
    )


@final
@dataclass(frozen=True, kw_only=True)
class _Plan:
    """What estimates are made from; the module's text has the formulas."""

    rivals: float
    errors: float
    nats: float
    """What a contradicted reading is worth."""
    num_readings: int
    alpha: float
    probability: Fraction
    compile_steps: float
    candidates: float
    action_cost: float
    most: int
    """Readings of a run at most."""
    prices: Mapping[str, float]
    spent: int

    def certify(self, weight: float) -> tuple[float, float]:
        """r(w) and s(w): readings until no rival is left, and those that a rival is scored on."""
        need = 1 if self.errors == 0 else max(1, math.ceil(-math.log(self.alpha * weight) / self.nats))
        scored = 0.0
        for n in range(self.most):
            fewer = range(min(n, need - 1 + int(self.errors * n)) + 1)
            left = sum(math.comb(n, j) for j in fewer) / 2**n
            if self.rivals * left < 1:
                return n, scored
            scored += left
        return self.most, scored

    def certify_candidate(self, part: float) -> tuple[float, float]:
        """The same for a true state in a bank that has a part of the weight."""
        each = [(often, self.certify(part * weight)) for often, weight in WEIGHTS]
        return sum(often * r for often, (r, _) in each), sum(often * s for often, (_, s) in each)

    def wait(self, threshold: float) -> float:
        """d: readings until the trigger exceeds 1 + lambda, the nominal being false."""
        if self.errors == 0:
            return 1 / CONTRADICTION_RATE
        right, wrong = 1 / (self.num_readings * (1 - self.errors)), (self.num_readings - 1) / self.num_readings
        wrong /= self.errors
        growth = max(
            CONTRADICTION_RATE * math.log(1 - q + q * wrong) + (1 - CONTRADICTION_RATE) * math.log(1 - q + q * right)
            for q in map(float, MIXTURE)
        )
        return (math.log(1 + threshold) + math.log(len(MIXTURE))) / max(growth, 1 / self.most)

    def estimate_eager(self) -> Estimate:
        """What eager takes: its bank is there from the beginning."""
        readings, scored = self.certify_candidate(1)
        steps = self.compile_steps + self.candidates * scored
        return self._price("eager", THRESHOLDS[0], SHARES[0], (readings, steps, self.rivals * scored))

    def estimate(self, policy: PolicyName, threshold: Fraction, share: Fraction) -> Estimate:
        """What a policy with a nominal stage takes."""
        readings, alive = self.certify(float(share))
        later, scored = self.certify_candidate(float(1 - share))
        waited, world = self.wait(float(threshold)), self.rivals * scored
        bank = self.compile_steps + self.candidates * scored
        if policy in ("readwise", "staged"):  # the bank is led through what was done, and the world begins again
            later, world, bank = later + waited, world + self.rivals * waited, bank + self.candidates * waited
        else:
            later += LOST * waited
        if policy == "incremental":
            later += LATER_SHELL * LOST * waited
            again = LATER_SHELL**2 + RESCORED / (1 + float(threshold))
            bank = self.compile_steps + again * self.candidates * scored
        true = (readings, bank / (1 + float(threshold)) + alive, self.rivals * alive)
        p = float(self.probability)
        mean = [p * x + (1 - p) * y for x, y in zip(true, (later, bank, world), strict=True)]
        return self._price(policy, threshold, share, (mean[0], mean[1], mean[2]))

    def _price(
        self, policy: PolicyName, threshold: Fraction, share: Fraction, mean: tuple[float, float, float]
    ) -> Estimate:
        readings, model_steps, world_steps = mean
        computed = self.prices.get("model_step", 0) * model_steps + self.prices.get("world_step", 0) * world_steps
        return Estimate(policy, threshold, share, *mean, self.action_cost * readings + computed)
