"""Evidence on a hidden model: what is propagated is a belief, and its total is the likelihood.

Hypothesis h begins with `beliefs[h]`. The forward filter multiplies its weights by P(t, y | s, a) step by step, so that
their total is L_h(t), the likelihood of the readings, and E_h(t) is as in `evidence.py`:

    E_h(t) = sum over candidates c of w_c L_c(t) / L_h(t)          (infinite where L_h(t) = 0).

All weights are integers over one denominator that every hypothesis and candidate shares: an action multiplies it by the
common denominator of its laws, whoever is followed. It falls out of every comparison, so integers decide exactly, and
a hypothesis is beaten when L_h <= alpha * sum of w_c L_c. Nothing is rounded; only what people read is a logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias, final

from ascertain.errors import TaskError
from ascertain.evidence.evidence import NEVER, AbstractEvidence, Doubts, Step
from ascertain.model.hidden import Belief, HiddenModel
from ascertain.quotients.words import common_denominators
from ascertain.task.bank import Bank
from ascertain.types import Action, Reading, State

Weights: TypeAlias = dict[State, int]
"""A belief up to a factor: by state a positive integer, in proportion to its probability."""
UNIT = 1 << 30
"""Evidence that people read is counted in nats / UNIT: finer than they can read, while 2^31 nats stay below FAR."""
FAR = 1 << 61
"""Stands for an infinite logarithm: greater than every finite one in these units, and less than NEVER."""


@final
class IntegerModel:
    """The joint law in integers: `scale[a]` times the probabilities."""

    def __init__(self, model: HiddenModel) -> None:
        self.model = model
        self.scale = common_denominators(model)
        self._ends: dict[tuple[State, Action, Reading | None], tuple[tuple[State, int], ...]] = {}
        self._shown: dict[tuple[State, Action], tuple[tuple[Reading, int], ...]] = {}

    def ends(self, state: State, action: Action, reading: Reading | None) -> tuple[tuple[State, int], ...]:
        """Where the action may lead while this is read, or whatever is read, with the scaled probabilities."""
        key = state, action, reading
        if key not in self._ends:
            found: Weights = {}
            for t, y, p in self.model.joint[state][action]:
                if reading is None or y == reading:
                    found[t] = found.get(t, 0) + p.numerator * (self.scale[action] // p.denominator)
            self._ends[key] = tuple(found.items())
        return self._ends[key]

    def shown(self, weights: Mapping[State, int], action: Action) -> dict[Reading, int]:
        """What the weights would come to after the action, by what would be read; zeros are left out."""
        totals: dict[Reading, int] = {}
        for s, w in weights.items():
            for y, k in self._law(s, action):
                totals[y] = totals.get(y, 0) + w * k
        return totals

    def _law(self, state: State, action: Action) -> tuple[tuple[Reading, int], ...]:
        """The scaled probabilities of the readings."""
        key = state, action
        if key not in self._shown:
            readings = dict.fromkeys(y for _, y, _ in self.model.joint[state][action])
            self._shown[key] = tuple((y, sum(k for _, k in self.ends(state, action, y))) for y in readings)
        return self._shown[key]

    def move(self, weights: Mapping[State, int], action: Action, reading: Reading | None) -> Weights:
        """The weights after a step; those of states that lack the action are lost."""
        after: Weights = {}
        for s, w in weights.items():
            for t, k in self.ends(s, action, reading):
                after[t] = after.get(t, 0) + w * k
        return after

    def lead(self, weights: Mapping[State, int], step: Step, ran: bool) -> Weights:
        """The weights after a step that ran, or did not; then over the denominator that it would have led to."""
        if ran:
            return self.move(weights, step.action, step.reading)
        return {s: w * self.scale[step.action] for s, w in weights.items()}


@final
@dataclass(frozen=True)
class Case:
    """A hypothesis, or a candidate, with what became of the doubted actions, and its weights now."""

    hypothesis: int
    ran: tuple[bool, ...]
    weights: Weights

    @cached_property
    def likelihood(self) -> int:
        return sum(self.weights.values())


def advance(table: IntegerModel, cases: Iterable[Case], step: Step, known: Iterable[Case] = ()) -> list[Case]:
    """Every case through a step, two of each after a doubted one; those `known` have been through it already."""
    found = {(case.hypothesis, case.ran): case for case in known}
    after: list[Case] = []
    for ran in (True,) if step.certain else (True, False):
        for case in cases:
            key = case.hypothesis, case.ran if step.certain else (*case.ran, ran)
            if key not in found:
                found[key] = Case(*key, table.lead(case.weights, step, ran))
            after.append(found[key])
    return after


@final
class BeliefEvidence(AbstractEvidence):
    """The bank's side on a hidden model: the mixture of the candidates' likelihoods, in integers."""

    def __init__(
        self, table: IntegerModel, beliefs: Sequence[Belief], bank: Bank, alpha: Fraction, doubts: Doubts | None = None
    ) -> None:
        super().__init__(bank, alpha, doubts or Doubts())
        if max(bank.states) >= len(beliefs):
            raise TaskError(f"the bank lists hypothesis {max(bank.states)}; there are {len(beliefs)}")
        self.table, self.beliefs = table, tuple(beliefs)
        self.cases = [Case(h, (), scaled) for h, scaled in enumerate(scale_beliefs(beliefs)) if h in set(bank.states)]
        self._unbeaten = [True] * len(self.cases)
        self.shrunk = 1
        """What all weights, those of the world too, were divided by so far."""
        weight = dict(zip(bank.states, bank.weights, strict=True))
        self._weigh([weight[case.hypothesis] for case in self.cases])

    def _weigh(self, weights: list[Fraction]) -> None:
        """The candidates' weights as integers over one denominator."""
        self._weights = weights
        self._whole = math.lcm(*(w.denominator for w in weights))
        self._shares = [int(w * self._whole) for w in weights]
        self._mix()

    def _mix(self) -> None:
        self._mixture = sum(k * case.likelihood for k, case in zip(self._shares, self.cases, strict=True))

    def afresh(self, bank: Bank) -> BeliefEvidence:
        return BeliefEvidence(self.table, self.beliefs, bank, self.alpha, self.doubts)

    def take(self, step: Step) -> None:
        self.cases = advance(self.table, self.cases, step)
        if not step.certain:
            self._split_weights()
            self._unbeaten *= 2
        alive = [i for i, case in enumerate(self.cases) if case.weights] or range(len(self.cases))
        self.cases = [self.cases[i] for i in alive]
        self._weigh([self._weights[i] for i in alive])
        self._unbeaten = [self._unbeaten[i] and not self.beats(self.cases[k].likelihood) for k, i in enumerate(alive)]

    @property
    def num_unbeaten(self) -> int:
        return sum(self._unbeaten)

    def shrink(self, common: int) -> None:
        """Divide all weights by what they, and those of the world, have in common."""
        self.cases = [divide(case, common) for case in self.cases]
        self.shrunk *= common
        self._mix()

    def beats(self, likelihood: int) -> bool:
        """Whether E >= 1/alpha for a hypothesis of this likelihood, exactly; never where no candidate is left."""
        if self._mixture == 0:
            return False
        return likelihood * self._whole * self.alpha.denominator <= self._mixture * self.alpha.numerator

    @property
    def vanished(self) -> bool:
        return self._mixture == 0

    @property
    def threshold(self) -> int:
        """In the units of `penalty`; decisions are made by `beats`."""
        return NEVER if self.alpha == 0 else math.ceil(-math.log(self.alpha) * UNIT) + 1

    def penalty(self, likelihood: int) -> int:
        """The logarithm of E for a hypothesis of this likelihood, in units of 1/UNIT nats, for people and for order."""
        if self._mixture == 0 or likelihood == 0:
            return -FAR if self._mixture == 0 else FAR
        return round((math.log(self._mixture) - math.log(self._whole) - math.log(likelihood)) * UNIT)

    def nats(self, penalty: int) -> float:
        return math.copysign(math.inf, penalty) if abs(penalty) >= FAR else penalty / UNIT

    def leading_case(self) -> int:
        """The place among the candidates of the one whose weighted likelihood is largest, the first of equals."""
        return max(range(len(self.cases)), key=lambda i: self._shares[i] * self.cases[i].likelihood)

    def leader(self) -> tuple[State, State]:
        raise TaskError("a candidate on a hidden model is a belief; ask the world for its leader")


def divide(case: Case, common: int) -> Case:
    """The case with its weights divided by what they have in common."""
    return Case(case.hypothesis, case.ran, {s: w // common for s, w in case.weights.items()})


def scale_beliefs(beliefs: Sequence[Belief]) -> list[Weights]:
    """The beliefs as integers over one denominator."""
    whole = math.lcm(*(p.denominator for belief in beliefs for _, p in belief))
    return [{s: p.numerator * (whole // p.denominator) for s, p in belief} for belief in beliefs]
