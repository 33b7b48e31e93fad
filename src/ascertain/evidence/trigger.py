"""The trigger: a second e-process, against the nominal, that asks whether *something* fits better, not what.

Its numerator is a mixture over q of the laws "with probability q the reading is uniform, otherwise the nominal's":

    T(t) = sum over q of 1/5 * product over readings of ((1 - q) + q u(y) / K(y)),   q in 1/16, 1/8, 1/4, 1/2, 1.

Here K(y) is the probability that the nominal, propagated through all that was done and read, gives to the reading y,
and u is uniform over what the action can give. Given what went before, the mean of each factor under the nominal is
one, or less where some y has K(y) = 0, so that T ever exceeds x with probability at most 1/x. *Readwise* switching
happens after a reading at which T > 1 + lambda; *formal rejection* at T >= 1/beta_nom. Comparisons are exact: floating
point decides only where it is far off. After an action that may not have run, T is the lesser of its values for either
case. The nominal is a state, or on a hidden model a belief.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, TypeVar, final

from ascertain.errors import TaskError
from ascertain.evidence.beliefs import IntegerModel, Weights, scale_beliefs
from ascertain.evidence.evidence import Doubts, Step
from ascertain.evidence.misfit import MIXTURE
from ascertain.model.abstract import AbstractDeterministic, AbstractModel
from ascertain.model.hidden import Belief, HiddenModel
from ascertain.types import UNDEFINED, Action, Reading, State

REJECTION = Fraction(1, 1000)
"""The default beta_nom: a true nominal is rejected in one run of a thousand."""
_CLOSE = 1e-6
"""Logarithms nearer than this are compared exactly; they are accurate to about 1e-12 per thousand readings."""

NominalT = TypeVar("NominalT")
"""What stands for the nominal: a state, or the weights of a belief."""


@dataclass
class _Case(Generic[NominalT]):
    """The nominal, had the doubted actions run in one particular way: where it is, and what each u/K was how often."""

    nominal: NominalT
    ratios: Counter[Fraction] = field(default_factory=Counter[Fraction])
    logs: tuple[float, ...] = ()
    """For each q the logarithm of its product so far, where that is kept."""
    impossible: bool = False


class AbstractTrigger(ABC, Generic[NominalT]):
    """The interface of every trigger: T for each case of the doubted actions, the least of which is compared."""

    def __init__(
        self, model: AbstractModel, nominal: NominalT, mixture: Sequence[Fraction], doubts: Doubts | None
    ) -> None:
        if not mixture or not all(0 < q <= 1 for q in mixture):
            raise TaskError(f"the mixture is over {[str(q) for q in mixture]}; every q must be in (0, 1]")
        self.model = model
        self.mixture = tuple(Fraction(q) for q in mixture)
        self.doubts = doubts or Doubts()
        self._cases = [_Case(nominal, logs=(0.0,) * len(self.mixture))]
        self._num_doubts = 0
        self._support: dict[Action, int] = {}
        """How many readings each action can give."""

    @abstractmethod
    def _predict(self, nominal: NominalT, action: Action, reading: Reading) -> Fraction:
        """K(y): the probability that the nominal gives to the reading."""

    @abstractmethod
    def _follow(self, nominal: NominalT, action: Action, reading: Reading | None) -> NominalT:
        """The nominal after the action, and what was read; refused where the action is not defined."""

    @abstractmethod
    def _add_log(self, case: _Case[NominalT], ratio: Fraction) -> None:
        """One more reading with this ratio u/K, for the logarithms."""

    @abstractmethod
    def _logs(self, case: _Case[NominalT]) -> Sequence[float]:
        """For each q the logarithm of its product so far."""

    def observe(self, action: Action, reading: Reading | None) -> None:
        """One more action, and what was read; None when the reading is missing."""
        self.model.check_step(action, reading)
        for case in self._cases:
            if reading is not None:
                self._score(case, action, reading)
            case.nominal = self._follow(case.nominal, action, reading)

    def _score(self, case: _Case[NominalT], action: Action, reading: Reading) -> None:
        if action not in self._support:
            self._support[action] = len(self.model.possible_readings(action))
        likelihood = self._predict(case.nominal, action, reading)
        if likelihood == 0:
            case.impossible = True
        else:
            ratio = 1 / (likelihood * self._support[action])
            case.ratios[ratio] += 1
            self._add_log(case, ratio)

    def doubt(self, action: Action) -> None:
        """One more action, of which it is not known whether it ran. Past the limit of doubts nothing is scored."""
        self.model.check_step(action, None)
        self._num_doubts += 1
        if self._num_doubts <= self.doubts.limit:
            self._cases += [
                _Case(self._follow(c.nominal, action, None), Counter(c.ratios), c.logs, c.impossible)
                for c in self._cases
            ]

    def take(self, step: Step) -> None:
        """The same as `observe` or `doubt`, whichever the step is."""
        if step.certain:
            self.observe(step.action, step.reading)
        else:
            self.doubt(step.action)

    def exceeds(self, bound: Fraction) -> bool:
        """Whether T > bound: for readwise switching the bound is 1 + lambda."""
        return self._trusted and all(self._compare(case, bound) > 0 for case in self._cases)

    def reaches(self, bound: Fraction) -> bool:
        """Whether T >= bound."""
        return self._trusted and all(self._compare(case, bound) >= 0 for case in self._cases)

    def rejects(self, beta_nominal: Fraction = REJECTION) -> bool:
        """Formal rejection of the nominal: T >= 1 / beta_nominal."""
        return self.reaches(1 / Fraction(beta_nominal))

    @property
    def nats(self) -> float:
        """The logarithm of T."""
        return min(self._log(case) for case in self._cases) if self._trusted else 0.0

    @property
    def _trusted(self) -> bool:
        return self._num_doubts <= self.doubts.limit

    def _compare(self, case: _Case[NominalT], bound: Fraction) -> int:
        """The sign of T - bound."""
        log = self._log(case) - math.log(bound)
        if abs(log) > _CLOSE:
            return 1 if log > 0 else -1
        value = self._value(case)
        return (value > bound) - (value < bound)

    def _log(self, case: _Case[NominalT]) -> float:
        """The logarithm of T for a case; infinite where the nominal cannot have shown what was read."""
        if case.impossible:
            return math.inf
        logs = self._logs(case)
        top = max(logs)
        return top + math.log(math.fsum(math.exp(x - top) for x in logs) / len(logs))

    def _value(self, case: _Case[NominalT]) -> Fraction:
        """T for a case where it is finite, exactly."""
        total = Fraction(0)
        for q in self.mixture:
            total += math.prod(((1 - q + q * r) ** times for r, times in case.ratios.items()), start=Fraction(1))
        return total / len(self.mixture)

    def _factor_logs(self, ratio: Fraction) -> tuple[float, ...]:
        """For each q the logarithm of the factor that a reading of this ratio contributes."""
        return tuple(_log(1 - q + q * ratio) for q in self.mixture)


@final
class Trigger(AbstractTrigger[State]):
    """Evidence that a nominal state does not explain the readings.

    The laws of a model are few, so that ratios repeat: each is kept with how often it came, and logarithms are summed
    without loss when they are wanted.
    """

    model: AbstractDeterministic

    def __init__(
        self,
        model: AbstractDeterministic,
        nominal: State,
        mixture: Sequence[Fraction] = MIXTURE,
        doubts: Doubts | None = None,
    ) -> None:
        if not 0 <= nominal < model.num_states:
            raise TaskError(f"the nominal is state {nominal}; the model has {model.num_states} states")
        super().__init__(model, nominal, mixture, doubts)
        self._known: dict[Fraction, tuple[float, ...]] = {}

    def _predict(self, nominal: State, action: Action, reading: Reading) -> Fraction:
        return self.model.reading_law(nominal, action).get(reading, Fraction(0))

    def _follow(self, nominal: State, action: Action, reading: Reading | None) -> State:
        del reading  # it tells nothing about where the action led
        after = self.model.next_state(nominal, action)
        if after == UNDEFINED:
            raise TaskError(f"action {self.model.actions[action]!r} is not defined where the nominal would be now")
        return after

    def _add_log(self, case: _Case[State], ratio: Fraction) -> None:
        if ratio not in self._known:
            self._known[ratio] = self._factor_logs(ratio)

    def _logs(self, case: _Case[State]) -> list[float]:
        brought = [(self._known[ratio], times) for ratio, times in case.ratios.items()]
        return [math.fsum(times * log[i] for log, times in brought) for i in range(len(self.mixture))]


@final
class BeliefTrigger(AbstractTrigger[Weights]):
    """Evidence that a nominal belief does not explain the readings of a hidden model.

    What a belief predicts hardly ever repeats, so that the logarithms are summed as the readings come; the ratios serve
    the rare comparison that is too close to be left to floating point.
    """

    def __init__(
        self, model: HiddenModel, nominal: Belief, mixture: Sequence[Fraction] = MIXTURE, doubts: Doubts | None = None
    ) -> None:
        model.check_belief(nominal, "the nominal")
        super().__init__(model, scale_beliefs([nominal])[0], mixture, doubts)
        self._table = IntegerModel(model)

    def _predict(self, nominal: Weights, action: Action, reading: Reading) -> Fraction:
        shown = self._table.shown(nominal, action).get(reading, 0)
        return Fraction(shown, sum(nominal.values()) * self._table.scale[action]) if shown else Fraction(0)

    def _follow(self, nominal: Weights, action: Action, reading: Reading | None) -> Weights:
        if not self.model.allows(nominal, action):
            raise TaskError(f"action {self.model.actions[action]!r} is not defined where the nominal would be now")
        after = self._table.move(nominal, action, reading)
        common = math.gcd(*after.values())
        return {s: w // common for s, w in after.items()} if common > 1 else after

    def _add_log(self, case: _Case[Weights], ratio: Fraction) -> None:
        case.logs = tuple(x + y for x, y in zip(case.logs, self._factor_logs(ratio), strict=True))

    def _logs(self, case: _Case[Weights]) -> Sequence[float]:
        return case.logs


def _log(value: Fraction) -> float:
    """The logarithm of a positive rational: of the quotient, since those of long integers have lost digits by then."""
    try:
        return math.log(value.numerator / value.denominator)
    except OverflowError:
        return math.log(value.numerator) - math.log(value.denominator)
