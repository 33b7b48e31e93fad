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
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar, final

from ascertain.errors import TaskError
from ascertain.evidence.beliefs import IntegerModel, Weights, scale_beliefs
from ascertain.evidence.evidence import Doubts, Step
from ascertain.evidence.misfit import MIXTURE, Tally
from ascertain.model.abstract import AbstractDeterministic, AbstractModel
from ascertain.model.hidden import Belief, HiddenModel
from ascertain.types import UNDEFINED, Action, Reading, State

REJECTION = Fraction(1, 1000)
"""The default beta_nom: a true nominal is rejected in one run of a thousand."""
NominalT = TypeVar("NominalT")
"""What stands for the nominal: a state, or the weights of a belief."""


@dataclass
class _Case(Generic[NominalT]):
    """The nominal, had the doubted actions run in one particular way: where it is, and T so far."""

    nominal: NominalT
    tally: Tally
    impossible: bool = False
    """Whether the nominal cannot have shown what was read, so that T is infinite."""

    def compare(self, bound: Fraction) -> int:
        """The sign of T - bound."""
        return 1 if self.impossible else self.tally.compare(bound)


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
        self._cases = [_Case(nominal, Tally(self.mixture))]
        self._num_doubts = 0

    @abstractmethod
    def _predict(self, nominal: NominalT, action: Action, reading: Reading) -> Fraction:
        """K(y): the probability that the nominal gives to the reading."""

    @abstractmethod
    def _follow(self, nominal: NominalT, action: Action, reading: Reading | None) -> NominalT:
        """The nominal after the action, and what was read; refused where the action is not defined."""

    def observe(self, action: Action, reading: Reading | None) -> None:
        """One more action, and what was read; None when the reading is missing."""
        self.model.check_step(action, reading)
        for case in self._cases:
            if reading is not None:
                self._score(case, action, reading)
            case.nominal = self._follow(case.nominal, action, reading)

    def _score(self, case: _Case[NominalT], action: Action, reading: Reading) -> None:
        likelihood = self._predict(case.nominal, action, reading)
        if likelihood == 0:
            case.impossible = True
        else:
            case.tally.add(1 / (likelihood * len(self.model.possible_readings(action))))

    def doubt(self, action: Action) -> None:
        """One more action, of which it is not known whether it ran. Past the limit of doubts nothing is scored."""
        self.model.check_step(action, None)
        self._num_doubts += 1
        if self._num_doubts <= self.doubts.limit:
            self._cases += [
                _Case(self._follow(c.nominal, action, None), c.tally.copy(), c.impossible) for c in self._cases
            ]

    def take(self, step: Step) -> None:
        """The same as `observe` or `doubt`, whichever the step is."""
        if step.certain:
            self.observe(step.action, step.reading)
        else:
            self.doubt(step.action)

    def exceeds(self, bound: Fraction) -> bool:
        """Whether T > bound: for readwise switching the bound is 1 + lambda."""
        return self._trusted and all(case.compare(bound) > 0 for case in self._cases)

    def reaches(self, bound: Fraction) -> bool:
        """Whether T >= bound."""
        return self._trusted and all(case.compare(bound) >= 0 for case in self._cases)

    def rejects(self, beta_nominal: Fraction = REJECTION) -> bool:
        """Formal rejection of the nominal: T >= 1 / beta_nominal."""
        return self.reaches(1 / Fraction(beta_nominal))

    @property
    def nats(self) -> float:
        """The logarithm of T."""
        return min(math.inf if case.impossible else case.tally.nats for case in self._cases) if self._trusted else 0.0

    @property
    def _trusted(self) -> bool:
        return self._num_doubts <= self.doubts.limit


@final
class Trigger(AbstractTrigger[State]):
    """Evidence that a nominal state does not explain the readings."""

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

    def _predict(self, nominal: State, action: Action, reading: Reading) -> Fraction:
        return self.model.reading_law(nominal, action).get(reading, Fraction(0))

    def _follow(self, nominal: State, action: Action, reading: Reading | None) -> State:
        del reading  # it tells nothing about where the action led
        after = self.model.next_state(nominal, action)
        if after == UNDEFINED:
            raise TaskError(f"action {self.model.actions[action]!r} is not defined where the nominal would be now")
        return after


@final
class BeliefTrigger(AbstractTrigger[Weights]):
    """Evidence that a nominal belief does not explain the readings of a hidden model."""

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
