"""Listed hypotheses filtered a step at a time: those of a Boolean plant by counts, those of a machine by penalties."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ascertain.evidence.evidence import NEVER, FlipEvidence, Step
from ascertain.evidence.groups import Group, double_group
from ascertain.evidence.laws import IMPOSSIBLE, LawEvidence
from ascertain.kernels.evidence.worlds import MISSING, filter_laws, filter_states
from ascertain.model.boolean import BooleanPlant
from ascertain.types import UNDEFINED, LongArray, State, WordArray


class AbstractFilter(ABC):
    """How a group goes through a step that the evidence has just taken, and that every hypothesis in it allows."""

    @abstractmethod
    def advance(self, group: Group, step: Step, keep_all: bool = False) -> list[Group]:
        """The group after the step, two of them after a doubted one. With `keep_all` nothing is dropped."""


@final
@dataclass(frozen=True)
class FlipFilter(AbstractFilter):
    """States of a Boolean plant."""

    plant: BooleanPlant
    evidence: FlipEvidence

    def advance(self, group: Group, step: Step, keep_all: bool = False) -> list[Group]:
        reading = MISSING if step.reading is None else step.reading
        threshold = NEVER if keep_all else self.evidence.threshold
        moved = self._move(group, step.action, reading, threshold)
        return [moved] if step.certain else double_group(group, moved.current)

    def _move(self, group: Group, action: int, reading: int, threshold: int) -> Group:
        hypothesis, current, count = group.hypothesis.copy(), group.current.copy(), group.penalty.copy()
        size = filter_states(
            self.plant.gates,
            self.plant.offset,
            self.plant.tap,
            np.array([action], dtype=np.int32),
            np.array([reading], dtype=np.int32),
            np.array([threshold], dtype=np.int64),
            hypothesis,
            current,
            count,
        )
        return Group(group.ran, hypothesis[:size], current[:size], count[:size])


@final
@dataclass(frozen=True)
class LawFilter(AbstractFilter):
    """States of a machine. `initial` and `history` are what an exact comparison goes back to."""

    evidence: LawEvidence
    initial: WordArray
    history: Sequence[Step]

    def advance(self, group: Group, step: Step, keep_all: bool = False) -> list[Group]:
        if keep_all:
            scored = self._score(group, step)
            return [scored] if step.certain else double_group(group, scored.current)
        if step.reading is not None:
            return [self._drop(group, step.action, self.evidence.levels.costs(step.reading))]
        after = self.evidence.levels.successor[group.current, step.action].astype(np.uint64)
        if step.certain:
            return [Group(group.ran, group.hypothesis, after, group.penalty)]
        return double_group(group, after)

    def _drop(self, group: Group, action: int, cost: LongArray) -> Group:
        levels, evidence = self.evidence.levels, self.evidence
        hypothesis, current, penalty = group.hypothesis.copy(), group.current.copy(), group.penalty.copy()
        unclear = np.empty(group.size, dtype=np.bool_)
        size = filter_laws(
            levels.successor,
            levels.law,
            action,
            cost,
            evidence.threshold,
            evidence.doubtful,
            hypothesis,
            current,
            penalty,
            unclear,
        )
        left = Group(group.ran, hypothesis[:size], current[:size], penalty[:size])
        return self._settle(left, np.flatnonzero(unclear[:size]))

    def _score(self, group: Group, step: Step) -> Group:
        """Add penalties and drop nothing: what cannot have shown the reading, or lacks the action, is at NEVER."""
        levels = self.evidence.levels
        law = levels.law[group.current, step.action]
        cost = np.zeros(len(levels.level), np.int64) if step.reading is None else levels.costs(step.reading)
        added = np.where(law == UNDEFINED, IMPOSSIBLE, cost[law])
        penalty = np.where(added == IMPOSSIBLE, NEVER, np.minimum(group.penalty, NEVER - added) + added)
        after = np.where(law == UNDEFINED, group.current, levels.successor[group.current, step.action])
        return Group(group.ran, group.hypothesis, after.astype(np.uint64), penalty)

    def _settle(self, group: Group, unclear: LongArray) -> Group:
        """Drop those of the unclear hypotheses that exact rationals beat; equal ones are compared once."""
        if not unclear.size:
            return group
        uses, where = np.unique(self._count_uses(group.only(unclear)), axis=0, return_inverse=True)
        beaten = np.array([self.evidence.beats(row) for row in uses], dtype=np.bool_)
        kept = np.ones(group.size, dtype=np.bool_)
        kept[unclear] = ~beaten[where.reshape(-1)]
        return group.only(kept)

    def _count_uses(self, group: Group) -> LongArray:
        """How often each hypothesis has used each level, from the history."""
        levels = self.evidence.levels
        uses = np.zeros((group.size, len(levels.values)), dtype=np.int64)
        state = self.initial[group.hypothesis]
        ran = iter(group.ran)
        for step in self.history:
            if step.reading is not None:
                uses[np.arange(group.size), levels.level[levels.law[state, step.action], step.reading]] += 1
            if step.certain or next(ran):
                state = levels.successor[state, step.action].astype(np.uint64)
        return uses


def run_alone(filtering: AbstractFilter, state: State, hypothesis: int, history: Sequence[Step]) -> list[Group]:
    """One hypothesis through the whole history, dropped by nothing: a group of one for each way the doubts may go."""
    alone = Group((), np.array([hypothesis], np.uint64), np.array([state], np.uint64), np.zeros(1, np.int64))
    groups = [alone]
    for step in history:
        groups = [after for group in groups for after in filtering.advance(group, step, keep_all=True)]
    return groups
