"""The trigger on a hidden model: the nominal is a belief, and what it predicts of a reading follows from those before.

T is as in `trigger.py`, with K(y) the probability that the nominal, propagated through all that was done and read,
gives to the reading y. Given what went before, the mean of (1 - q) + q u(y) / K(y) under the nominal is one, or less
where some y has K(y) = 0: so T is again a supermartingale that starts at one.

Predictions hardly ever repeat, so the logarithms are summed as the readings come, and the ratios are kept for the rare
comparison that is too close to be left to floating point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

from ascertain.errors import TaskError
from ascertain.evidence.beliefs import IntegerModel, Weights, scale_beliefs
from ascertain.evidence.evidence import Doubts
from ascertain.evidence.trigger import MIXTURE, AbstractTrigger
from ascertain.model.hidden import Belief, HiddenModel
from ascertain.types import Action, Reading


@dataclass
class BeliefCase:
    """The nominal, had the doubted actions run in one particular way: its weights, and u/K of every reading."""

    weights: Weights
    logs: list[float]
    """For each q of the mixture, the logarithm of its product."""
    ratios: list[Fraction] = field(default_factory=list[Fraction])
    impossible: bool = False


@final
class BeliefTrigger(AbstractTrigger[BeliefCase]):
    """Evidence that the nominal belief does not explain the readings."""

    def __init__(
        self, model: HiddenModel, nominal: Belief, mixture: Sequence[Fraction] = MIXTURE, doubts: Doubts | None = None
    ) -> None:
        model.check_belief(nominal, "the nominal")
        super().__init__(mixture, doubts, BeliefCase(scale_beliefs([nominal])[0], [0.0] * len(mixture)))
        self.model, self._table = model, IntegerModel(model)
        self._support: dict[Action, int] = {}

    def observe(self, action: Action, reading: Reading | None) -> None:
        self.model.check_step(action, reading)
        for case in self._cases:
            if case.impossible:
                continue
            if reading is not None:
                self._score(case, action, reading)
            case.weights = self._follow(case.weights, action, reading)

    def doubt(self, action: Action) -> None:
        self.model.check_step(action, None)
        self._num_doubts += 1
        if self._num_doubts <= self.doubts.limit:
            self._cases += [
                BeliefCase(self._follow(c.weights, action, None), list(c.logs), list(c.ratios), c.impossible)
                for c in self._cases
            ]

    def _follow(self, weights: Weights, action: Action, reading: Reading | None) -> Weights:
        if not self.model.allows(weights, action):
            raise TaskError(f"action {self.model.actions[action]!r} is not defined where the nominal would be now")
        after = self._table.move(weights, action, reading)
        common = math.gcd(*after.values())
        return {s: w // common for s, w in after.items()} if common > 1 else after

    def _score(self, case: BeliefCase, action: Action, reading: Reading) -> None:
        if action not in self._support:
            self._support[action] = len(self.model.possible_readings(action))
        total = sum(case.weights.values()) * self._table.scale[action]
        shown = self._table.shown(case.weights, action).get(reading, 0)
        if shown == 0:
            case.impossible = True
            return
        ratio = Fraction(total, shown * self._support[action])
        case.ratios.append(ratio)
        case.logs = [log + _log(1 - q + q * ratio) for log, q in zip(case.logs, self.mixture, strict=True)]

    def _log(self, case: BeliefCase) -> float:
        if case.impossible:
            return math.inf
        top = max(case.logs)
        return top + math.log(math.fsum(math.exp(x - top) for x in case.logs) / len(case.logs))

    def _value(self, case: BeliefCase) -> Fraction:
        terms = [math.prod((1 - q + q * ratio for ratio in case.ratios), start=Fraction(1)) for q in self.mixture]
        return sum(terms, Fraction(0)) / len(terms)


def _log(value: Fraction) -> float:
    """The logarithm of a positive rational: of the quotient, since those of long integers have lost digits by then."""
    try:
        return math.log(value.numerator / value.denominator)
    except OverflowError:
        return math.log(value.numerator) - math.log(value.denominator)
