"""A world of beliefs: which of the listed hypotheses about a hidden model the readings have not yet beaten.

It is a world like those of `worlds.py`, held exactly: likelihoods are integers over one denominator (`beliefs.py`).
An action is allowed when every state that some hypothesis, not beaten, holds possible defines it.

*Numbers of beliefs.* The interface of worlds speaks of states by number. Here a number below n, the number of states,
is the belief that is certain of that state; n and above are the other beliefs that are followed at the moment, and
`belief_numbered` says what they are. The bank's candidates are hypotheses, by their place in the list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from typing import final

import numpy as np

from ascertain.errors import TaskError
from ascertain.evidence.beliefs import BeliefEvidence, Case, IntegerModel, advance, divide, scale_beliefs
from ascertain.evidence.evidence import Doubts, Step
from ascertain.evidence.groups import Group
from ascertain.evidence.labelling import Labelling
from ascertain.evidence.misfit import Tally
from ascertain.evidence.worlds import AbstractWorld
from ascertain.model.hidden import Belief, HiddenModel, certain, make_belief
from ascertain.task.bank import Bank
from ascertain.types import Action, BoolArray, State, WordArray


@final
class HiddenWorld(AbstractWorld):
    """A closed world of beliefs: hypothesis h began with `beliefs[h]`; candidates of the bank are hypotheses."""

    model: HiddenModel
    evidence: BeliefEvidence

    def __init__(
        self,
        model: HiddenModel,
        beliefs: Sequence[Belief],
        bank: Bank,
        alpha: Fraction,
        *,
        labelling: Labelling | None = None,
        doubts: Doubts | None = None,
    ) -> None:
        for h, belief in enumerate(beliefs):
            model.check_belief(belief, f"hypothesis {h}")
        if not beliefs:
            raise TaskError("a world lists at least one hypothesis")
        labels = labelling or Labelling(lambda h: h, str, "hypothesis")
        if labels.about != "hypothesis":
            raise TaskError("labels on a hidden model belong to hypotheses; the states behind them stay hidden")
        self.table = IntegerModel(model)
        evidence = BeliefEvidence(self.table, beliefs, bank, alpha, doubts)
        super().__init__(model, evidence, labels)
        self.beliefs = tuple(beliefs)
        self._restart()

    def _restart(self) -> None:
        self._cases = [Case(h, (), weights) for h, weights in enumerate(scale_beliefs(self.beliefs))]
        self._tallies = {(case.hypothesis, case.ran): Tally() for case in self._cases}
        """G of every case that is left."""

    def _advance(self, step: Step) -> None:
        self.world_steps += len(self._cases)
        after = advance(self.table, self._cases, step, self.evidence.cases)
        before = {(case.hypothesis, case.ran): case.likelihood for case in self._cases}
        self._cases = [case for case in after if not self.evidence.beats(case.likelihood)]
        self._tallies = {(case.hypothesis, case.ran): self._tally(case, step, before) for case in self._cases}
        # Only ratios of likelihoods count, so a factor that all weights share is taken out; without that the integers
        # would grow by the length of a denominator at every reading.
        followed = (*self._cases, *self.evidence.cases)
        common = math.gcd(*(w for case in followed for w in case.weights.values()))
        if common > 1:
            self.evidence.shrink(common)
            known = {(case.hypothesis, case.ran): case for case in self.evidence.cases}
            self._cases = [known.get((c.hypothesis, c.ran)) or divide(c, common) for c in self._cases]

    def _tally(self, case: Case, step: Step, before: Mapping[tuple[int, tuple[bool, ...]], int]) -> Tally:
        """G of a case after a step; `before` holds the likelihoods from before, by case."""
        key = case.hypothesis, case.ran if step.certain else case.ran[:-1]
        tally = self._tallies[key] if step.certain else self._tallies[key].copy()
        if step.reading is not None:
            chance = Fraction(case.likelihood, before[key] * self.table.scale[step.action])
            tally.add(1 / (chance * len(self.model.possible_readings(step.action))))
        return tally

    def misfits(self, gamma: Fraction) -> bool:
        if self._stands_still or not self._tallies:
            return False
        return all(tally.reaches(1 / gamma) for tally in self._tallies.values())

    def _blocks(self) -> Iterator[Group]:
        placed = sorted(enumerate(self._cases), key=lambda pair: (pair[1].ran, pair[1].hypothesis))
        for ran, group in groupby(placed, key=lambda pair: pair[1].ran):
            cases = [(case, self._number(case, i)) for i, case in group]
            yield Group(
                ran,
                np.array([case.hypothesis for case, _ in cases], dtype=np.uint64),
                np.array([number for _, number in cases], dtype=np.uint64),
                np.array([self.evidence.penalty(case.likelihood) for case, _ in cases], dtype=np.int64),
            )

    def _number(self, case: Case, place: int) -> int:
        """The number of a case's belief: the state that it is certain of, or one past the states."""
        return next(iter(case.weights)) if len(case.weights) == 1 else self.model.num_states + place

    def belief_numbered(self, number: int) -> Belief:
        """The belief that a number of this moment stands for: see the module's text."""
        n, followed = self.model.num_states, [*self._cases, *self.evidence.cases]
        if not 0 <= number < n + len(followed):
            raise TaskError(f"{number} is no belief of this world; they are 0 .. {n + len(followed) - 1} now")
        return certain(number) if number < n else make_belief(followed[number - n].weights)

    def _state_of(self, hypothesis: WordArray) -> WordArray:
        n = self.model.num_states
        starts = [b[0][0] if len(b) == 1 else n + h for h, b in enumerate(self.beliefs)]
        return np.array(starts, dtype=np.uint64)[hypothesis]

    def is_allowed(self, action: Action) -> bool:
        """Whether the action is defined in every state that some hypothesis, not beaten, holds possible."""
        return super().is_allowed(action) and all(self.model.allows(case.weights, action) for case in self._cases)

    def may_be_in(self, test: Callable[[WordArray], BoolArray]) -> bool:
        """Whether some hypothesis that is not beaten holds possible a state that passes the test."""
        states = sorted({s for case in self._cases for s in case.weights})
        return bool(np.any(test(np.array(states, dtype=np.uint64)))) if states else False

    def current_state(self) -> State | None:
        """The one state that the plant is in now, whichever hypothesis is left; None when more are possible."""
        states = {s for case in self._cases for s in case.weights}
        return states.pop() if len(states) == 1 else None

    def leader(self) -> tuple[State, int]:
        """The number of the belief of the candidate that explains the readings best, and its label."""
        i = self.evidence.leading_case()
        case = self.evidence.cases[i]
        return self._number(case, len(self._cases) + i), self.labelling.code_of(case.hypothesis)

    def leading_case(self) -> Case:
        """The candidate that explains the readings best, with its weights now."""
        return self.evidence.cases[self.evidence.leading_case()]

    def rival_cases(self, label: int, limit: int) -> list[Case]:
        """At most `limit` cases, not beaten, of another label: the likeliest first, the first listed of equals."""
        rivals = [case for case in self._cases if case.weights and self.labelling.code_of(case.hypothesis) != label]
        return sorted(rivals, key=lambda case: -case.likelihood)[:limit]

    def evidence_against(self, state: State) -> float:
        """The logarithm of E for hypothesis number `state` now, beaten or not; the least over doubted cases."""
        if not 0 <= state < len(self.beliefs):
            raise TaskError(f"hypothesis {state} is not one of the world's; they are 0 .. {len(self.beliefs) - 1}")
        cases = [Case(state, (), scale_beliefs(self.beliefs)[state])]
        for step in self.history[: self._num_scored]:
            cases = advance(self.table, cases, step)
        whole = self.evidence.shrunk
        return min(self._nats(case.likelihood, whole) for case in cases)

    def _nats(self, likelihood: int, whole: int) -> float:
        """The logarithm of E for a likelihood that was never shrunk."""
        if likelihood == 0 or self.evidence.vanished:
            return self.evidence.nats(self.evidence.penalty(likelihood))
        return self.evidence.nats(self.evidence.penalty(1)) - math.log(likelihood) + math.log(whole)
