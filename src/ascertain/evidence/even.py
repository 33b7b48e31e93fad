"""Evidence where every state of a Boolean plant is a candidate of the same weight: the bank of who knows nothing.

With 2^n candidates, r = flip / (1 - flip) and `many[k]` states that contradict k readings, the evidence against a state
that contradicts k of them is, whichever state it is,

    E = sum over j of many[j] r^j / (2^n r^k),

so that the histogram of contradictions is all there is to know, and the threshold follows from it in integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod
from typing import final

import numpy as np

from ascertain.errors import TaskError
from ascertain.evidence.census import MAX_HELD, Census, encode_steps
from ascertain.evidence.evidence import MAX_WITNESSES, AbstractFlipEvidence, Doubts, Step
from ascertain.evidence.groups import Group
from ascertain.kernels.evidence.worlds import Steps, filter_states
from ascertain.model.boolean import BooleanPlant
from ascertain.task.bank import Bank, EvenBank
from ascertain.types import State, WordArray

FEW_FOLLOWED = 1 << 6
"""The strongest states are listed anew when fewer of them are left: a list takes a pass over all states."""


@final
class EvenEvidence(AbstractFlipEvidence):
    """Every state counted; the strongest ones followed by themselves, so that rules have something to look at."""

    def __init__(
        self,
        plant: BooleanPlant,
        bank: EvenBank,
        alpha: Fraction,
        doubts: Doubts | None = None,
        max_held: int = MAX_HELD,
    ) -> None:
        super().__init__(bank, alpha, doubts or Doubts())
        if bank.num_candidates != plant.num_states:
            raise TaskError(f"the bank has {bank.num_candidates} states evenly; the plant has {plant.num_states}")
        self.plant = plant
        self._census = Census(plant, max_held)
        self._steps: list[Step] = []
        self._thresholds: list[int] = []
        self._scale = plant.num_states
        self._threshold = self._find_threshold()
        self._followed = self._list_strongest()

    def afresh(self, bank: Bank) -> AbstractFlipEvidence:
        raise TaskError(f"a bank of every state is whole; {len(bank.states)} candidates cannot be added to it")

    @property
    def num_candidates(self) -> int:
        return self.plant.num_states * len(self._census.cases)

    @property
    def num_unbeaten(self) -> int:
        """All of them: none is dropped from the census."""
        return self.num_candidates

    @property
    def unbeaten_states(self) -> WordArray:
        """None but hypotheses: every state is one, and the world knows which of them are left."""
        return np.empty(0, dtype=np.uint64)

    def take(self, step: Step) -> None:
        self._census.take(step)
        if not step.certain:
            self._scale *= self.doubts.ran.denominator
        if step.reading is not None:
            self._num_readings += 1
            self._threshold = self._find_threshold()
        self._steps.append(step)
        self._thresholds.append(self._threshold)
        self._followed = self._follow(step)

    def _terms(self) -> Iterator[tuple[int, int]]:
        ran = self.doubts.ran
        for case in self._census.cases:
            weight = prod(ran.numerator if done else ran.denominator - ran.numerator for done in case.ran)
            yield from ((weight * number, k) for k, number in enumerate(case.many) if number)

    def _leader_term(self) -> tuple[int, int]:
        ran = self.doubts.ran
        weight = prod(ran.numerator if done else ran.denominator - ran.numerator for done in self._lead().ran)
        return weight, int(self._lead().penalty[0])

    def leader(self) -> tuple[State, State]:
        lead = self._lead()
        return int(lead.hypothesis[0]), int(lead.current[0])

    def _lead(self) -> Group:
        """The strongest state that is followed, the first of equals."""
        group = min(self._followed, key=lambda group: int(group.penalty.min()))
        return group.only(np.argmin(group.penalty, keepdims=True))

    def first_witnesses(self) -> list[Group]:
        return self._followed

    def strongest(self) -> list[Group]:
        return self._followed if self._holds_out else []

    def _follow(self, step: Step) -> list[Group]:
        """The followed states after a step; others when there are stronger ones, or these run low."""
        groups = [after for group in self._followed for after in self.filter(group, step, lambda h: h)]
        groups = [group for group in groups if group.size]
        left = sum(group.size for group in groups)
        many = [sum(numbers) for numbers in zip(*(case.many for case in self._census.cases), strict=True)]
        least = next(k for k, number in enumerate(many) if number)
        best = min((int(group.penalty.min()) for group in groups), default=None)
        if not self._holds_out or best != least or (left < FEW_FOLLOWED and left < sum(many[: self._threshold])):
            groups = self._list_strongest()
        return groups

    def _list_strongest(self) -> list[Group]:
        """Of the states with the fewest contradictions those that were never beaten."""
        groups, start = list[Group](), list[Group]()
        thresholds = np.array(self._thresholds, dtype=np.int64)
        for case in self._census.cases:
            states = np.sort(self._census.strongest(case, MAX_WITNESSES // len(self._census.cases)))
            begun = Group(case.ran, states, states, np.zeros(states.size, dtype=np.int64))
            start.append(begun)
            steps = Steps(self.plant.circuit, *encode_steps(self._steps, case.ran), thresholds)
            groups.append(begun.filtered(lambda listed, steps=steps: filter_states(steps, listed)))
        self._holds_out = any(group.size for group in groups)
        # With nothing left there is no answer; some state is still shown to people.
        return [group for group in groups if group.size] or start
