"""The trigger: a second e-process, against the nominal, that asks whether *something* fits better, not what.

Its numerator is a mixture over q of the laws "with probability q the reading is uniform, otherwise the nominal's":

    T(t) = sum over q of 1/5 * product over readings of ((1 - q) + q u(y) / K(y | n, a)),   q in 1/16, 1/8, 1/4, 1/2, 1.

Here n is the nominal's propagated state and u is uniform over what the action can give. Under the nominal T has mean
one at every time, so it ever exceeds x with probability at most 1/x. *Readwise* switching happens after a reading at
which T > 1 + lambda; *formal rejection* at T >= 1/beta_nom. Comparisons are exact: floating point decides only where it
is far off. After an action that may not have run, T is the lesser of its values for either case. On a hidden model the
nominal is a belief, and K what it predicts: `belief_trigger.py`.
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
from ascertain.evidence.evidence import Doubts, Step
from ascertain.model.abstract import AbstractDeterministic
from ascertain.types import UNDEFINED, Action, Reading, State

MIXTURE = (Fraction(1, 16), Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(1))
REJECTION = Fraction(1, 1000)
"""The default beta_nom."""
_CLOSE = 1e-6
"""Logarithms nearer than this are compared exactly; they are accurate to about 1e-12 per thousand readings."""


CaseT = TypeVar("CaseT")


class AbstractTrigger(ABC, Generic[CaseT]):
    """The interface of every trigger: T for each case of the doubted actions, the least of which is compared."""

    def __init__(self, mixture: Sequence[Fraction], doubts: Doubts | None, case: CaseT) -> None:
        if not mixture or not all(0 < q <= 1 for q in mixture):
            raise TaskError(f"the mixture is over {[str(q) for q in mixture]}; every q must be in (0, 1]")
        self.mixture = tuple(Fraction(q) for q in mixture)
        self.doubts = doubts or Doubts()
        self._cases: list[CaseT] = [case]
        self._num_doubts = 0

    @abstractmethod
    def observe(self, action: Action, reading: Reading | None) -> None:
        """One more action, and what was read; None when the reading is missing."""

    @abstractmethod
    def doubt(self, action: Action) -> None:
        """One more action, of which it is not known whether it ran. Past the limit of doubts nothing is scored."""

    @abstractmethod
    def _log(self, case: CaseT) -> float:
        """The logarithm of T for a case; infinite where the nominal cannot have shown what was read."""

    @abstractmethod
    def _value(self, case: CaseT) -> Fraction:
        """T for a case where it is finite, exactly."""

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

    def _compare(self, case: CaseT, bound: Fraction) -> int:
        """The sign of T - bound."""
        log = self._log(case) - math.log(bound)
        if abs(log) > _CLOSE:
            return 1 if log > 0 else -1
        value = self._value(case)
        return (value > bound) - (value < bound)


@dataclass
class _Case:
    """The nominal, had the doubted actions run in one particular way: where it is, and what each u/K was how often."""

    state: State
    ratios: Counter[Fraction] = field(default_factory=Counter[Fraction])
    impossible: bool = False


@final
class Trigger(AbstractTrigger[_Case]):
    """Evidence that the nominal does not explain the readings."""

    def __init__(
        self,
        model: AbstractDeterministic,
        nominal: State,
        mixture: Sequence[Fraction] = MIXTURE,
        doubts: Doubts | None = None,
    ) -> None:
        if not 0 <= nominal < model.num_states:
            raise TaskError(f"the nominal is state {nominal}; the model has {model.num_states} states")
        super().__init__(mixture, doubts, _Case(nominal))
        self.model = model
        self._support: dict[Action, tuple[Reading, ...]] = {}
        self._logs: dict[Fraction, tuple[float, ...]] = {}
        """Of each ratio u/K met: the logarithm of what a reading of that ratio brings, by each q."""

    def observe(self, action: Action, reading: Reading | None) -> None:
        self.model.check_step(action, reading)
        for case in self._cases:
            if reading is not None:
                self._score(case, action, reading)
            case.state = self._follow(case.state, action)

    def doubt(self, action: Action) -> None:
        self.model.check_step(action, None)
        self._num_doubts += 1
        if self._num_doubts <= self.doubts.limit:
            ran = [_Case(self._follow(c.state, action), Counter(c.ratios), c.impossible) for c in self._cases]
            self._cases += ran

    def _follow(self, state: State, action: Action) -> State:
        after = self.model.next_state(state, action)
        if after == UNDEFINED:
            raise TaskError(f"action {self.model.actions[action]!r} is not defined where the nominal would be now")
        return after

    def _score(self, case: _Case, action: Action, reading: Reading) -> None:
        if action not in self._support:
            self._support[action] = self.model.possible_readings(action)
        support = self._support[action]
        likelihood = self.model.reading_law(case.state, action).get(reading)
        if likelihood is None:
            case.impossible = True
        else:
            case.ratios[Fraction(1, len(support)) / likelihood] += 1

    def _log(self, case: _Case) -> float:
        if case.impossible:
            return math.inf
        for ratio in case.ratios.keys() - self._logs.keys():
            self._logs[ratio] = tuple(math.log(1 - q + q * ratio) for q in self.mixture)
        brought = [(self._logs[ratio], times) for ratio, times in case.ratios.items()]
        logs = [math.fsum(times * log[i] for log, times in brought) for i in range(len(self.mixture))]
        top = max(logs)
        return top + math.log(math.fsum(math.exp(x - top) for x in logs) / len(logs))

    def _value(self, case: _Case) -> Fraction:
        total = Fraction(0)
        for q in self.mixture:
            term = Fraction(1)
            for ratio, times in case.ratios.items():
                term *= (1 - q + q * ratio) ** times
            total += term
        return total / len(self.mixture)
