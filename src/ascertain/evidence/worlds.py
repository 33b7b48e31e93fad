"""Worlds: every state the truth may be in, and which of them the readings have not yet beaten.

A state is beaten once the evidence against it has reached 1/alpha, and then stays beaten (the running supremum of the
evidence is what counts), so it can be dropped for good. A label is certified when all that is left has that label; with
nothing left, or no candidate that explains the readings, the world abstains. A *rival* of a label is a state, not
beaten, that has another. What is left is the same whichever class holds it; they differ in how they hold it:

- `ListWorld`: the states that are listed, of any plant.
- `MachineWorld`: every state of a machine.
- `BooleanWorld`: every state of a Boolean plant, in `boolean_world.py`.

Actions of which it is not known whether they ran double the hypotheses, each case to be beaten by itself; past the
stated number of doublings the world abstains.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import final

import numpy as np

from ascertain.errors import LimitError, TaskError
from ascertain.evidence.evidence import AbstractEvidence, AbstractStateEvidence, Doubts, FlipEvidence, Step
from ascertain.evidence.groups import Group, Rank, by_penalty, find_two_labels, keep_strongest, start_group
from ascertain.evidence.labelling import Labelling, label_states
from ascertain.evidence.laws import LawEvidence
from ascertain.model.abstract import AbstractDeterministic, AbstractModel
from ascertain.model.boolean import BooleanPlant
from ascertain.model.tables import AbstractMachine
from ascertain.policy.verdict import Abstained, Certified, Verdict
from ascertain.task.bank import Bank
from ascertain.types import Action, BoolArray, LongArray, Reading, State, WordArray

MAX_WORLD_STATES = 10_000_000
"""So many states of a machine take 0.6 s for the first reading and 240 MB; more would make a run wait."""
BLOCK = 1 << 16
"""Hypotheses that are labelled at a time: half a megabyte stays in the cache, and the first block often shows two
labels, which is enough to go on."""
NO_LABEL = 2**64 - 1
"""A code that no label has: the largest there is, and worlds have fewer states than that."""


@final
@dataclass(frozen=True)
class Rival:
    """A state, not beaten, whose label is not the one in question: where it began, where it is, the evidence so far."""

    hypothesis: int
    state: State
    current: State
    ran: tuple[bool, ...]
    evidence_nats: float


@final
@dataclass(frozen=True)
class Glance:
    """What can be said about the rivals of a label without a search: how many, None where that is not known, and the
    evidence against the strongest of those known, infinite when all are beaten."""

    rivals: int | None
    evidence_nats: float


class AbstractWorld(ABC):
    """The interface of every world. Made before the first reading; steps go in one at a time."""

    def __init__(self, model: AbstractModel, evidence: AbstractEvidence, labelling: Labelling) -> None:
        self.model = model
        self.evidence = evidence
        self.labelling = labelling
        self.history: list[Step] = []
        self._num_scored = 0
        self.world_steps = 0
        """Hypotheses taken through one command each, however packed, whether or not they were dropped on the way."""
        self.verifier_steps = 0
        """Candidates taken through a command whose reading was scored, each until it is beaten."""
        self.propagation_steps = 0
        """Candidates taken through a command without a reading."""

    @abstractmethod
    def _advance(self, step: Step) -> None:
        """Filter by a step that the evidence has taken."""

    @abstractmethod
    def _blocks(self) -> Iterator[Group]:
        """All that is left, each group in ascending order of hypotheses."""

    @abstractmethod
    def _state_of(self, hypothesis: WordArray) -> WordArray:
        """The states that the hypotheses began in."""

    @abstractmethod
    def _restart(self) -> None:
        """Go back to before the first reading; the evidence is new."""

    def observe(self, action: Action, reading: Reading | None) -> None:
        """The action was done and this was read; None when the reading is missing.

        A missing reading is no evidence. That is valid when losing it does not depend on its value, given the state and
        what went before; otherwise "missing" must be a reading of the model.
        """
        self.take(Step(action, reading))

    def doubt(self, action: Action) -> None:
        """The action may have been done or not, and nothing was read."""
        self.take(Step(action, None, certain=False))

    def take(self, step: Step) -> None:
        """The same as `observe` or `doubt`, whichever the step is."""
        self.model.check_step(step.action, step.reading)
        if not self._stands_still and not self.is_allowed(step.action):
            raise TaskError(
                f"action {self.model.actions[step.action]!r} is not defined in a state where the plant may be; it is "
                "forbidden until that is ruled out"
            )
        self.history.append(step)
        if self._stands_still:
            return
        if step.reading is None:
            self.propagation_steps += self.evidence.num_candidates
        else:
            self.verifier_steps += self.evidence.num_unbeaten
        self.evidence.take(step)
        self._num_scored += 1
        if self.evidence.vanished and self.evidence.bank.later is not None:
            # What is not yet computed may explain the readings: only the whole bank can fail.
            self.complete_bank()
        elif not self._stands_still:
            self._advance(step)

    def is_allowed(self, action: Action) -> bool:
        """Whether the action is defined in every state where the plant may be, as far as that is not ruled out."""
        return 0 <= action < len(self.model.actions)

    def complete_bank(self) -> None:
        """Compute the later part of the bank and score it on every reading so far, as if it had been there.

        It happens by itself when the part that is there no longer explains the readings.
        """
        bank = self.evidence.bank
        if bank.later is None:
            return
        self.evidence = self.evidence.afresh(bank.completed())
        self._restart()
        steps, self.history, self._num_scored = self.history, [], 0
        for step in steps:
            self.take(step)

    @property
    def num_doubts(self) -> int:
        return sum(not step.certain for step in self.history)

    @property
    def _stands_still(self) -> bool:
        """Whether the world has given up: then nothing more is filtered."""
        return self.evidence.vanished or self.num_doubts > self.evidence.doubts.limit

    def verdict(self) -> Verdict | None:
        """The answer, an abstention that no further reading can lift, or None: go on."""
        if self.num_doubts > self.evidence.doubts.limit:
            return Abstained(f"more than {self.evidence.doubts.limit} actions may or may not have run")
        if self.evidence.vanished:
            return Abstained("no candidate of the bank explains the readings")
        labels = self._some_labels()
        if len(labels) > 1:
            return None
        if not labels:
            return Abstained("the readings contradict every state of the world")
        return Certified(self.labelling.name(labels.pop()))

    def _some_labels(self) -> set[int]:
        """The labels that are left, or two of them when there are more."""
        return find_two_labels(self.codes(group) for group in self._blocks())

    def rivals_left(self, label: int) -> int:
        """How many hypotheses of another label are not beaten; a doubted action counts both its cases."""
        return sum(int(np.count_nonzero(self.codes(group) != label)) for group in self._blocks())

    @abstractmethod
    def misfits(self, gamma: Fraction) -> bool:
        """Whether none of the hypotheses that are left explains the readings, at that risk of a false alarm.

        False where nothing is left or the world has given up: the verdict says so.
        """

    def glance(self, label: int) -> Glance:
        """The rivals of a label, for people to watch: as far as they are known without a search."""
        strongest = self.strongest_rival(label)
        return Glance(self.rivals_left(label), math.inf if strongest is None else strongest.evidence_nats)

    def may_be_in(self, test: Callable[[WordArray], BoolArray]) -> bool:
        """Whether some hypothesis that is not beaten is now in a state that passes the test."""
        return any(bool(test(group.current).any()) for group in self._blocks())

    def list_left(self, limit: int) -> list[Group] | None:
        """All that is left, by group; None where it is more than `limit` hypotheses."""
        found, size = list[Group](), 0
        for group in self._blocks():
            found.append(group)
            size += group.size
            if size > limit:
                return None
        return found

    def current_state(self) -> State | None:
        """The one state that the plant is in now, whichever hypothesis is left; None when they differ."""
        states = find_two_labels(group.current for group in self._blocks())
        return states.pop() if len(states) == 1 else None

    def strongest_rival(self, label: int) -> Rival | None:
        """The rival with the least evidence against it now, the first listed of equals; None when all are beaten."""
        groups = self.strongest_rivals(label, 1)
        if not groups:
            return None
        group = groups[0]
        state = self._state_of(group.hypothesis)
        return Rival(
            hypothesis=int(group.hypothesis[0]),
            state=int(state[0]),
            current=int(group.current[0]),
            ran=group.ran,
            evidence_nats=self.evidence.nats(int(group.penalty[0])),
        )

    def strongest_rivals(self, label: int, limit: int, rank: Rank = by_penalty) -> list[Group]:
        """At most `limit` rivals, those with the least evidence against them, by group; empty groups are left out.

        With another `rank` those that are first by it.
        """
        best: list[Group] = []
        for block in self._blocks():
            rivals = block.only(self.codes(block) != np.uint64(label))
            best = keep_strongest([*best, rivals], limit, rank)
        return best

    def likely_rivals(self, label: int, limit: int, rank: Rank | None = None) -> list[Group]:
        """As `strongest_rivals`, or, where those would take long to find, a choice of rivals that are likely first."""
        return self.strongest_rivals(label, limit, rank or by_penalty)

    def leader(self) -> tuple[State, int]:
        """Where the candidate that explains the readings best is now, and its label; NO_LABEL if it is not listed."""
        state, current = self.evidence.leader()
        if self.labelling.about == "hypothesis":
            return current, self._label_of_listed(state)
        return current, self.labelling.code_of(state if self.labelling.about == "start" else current)

    def _label_of_listed(self, state: State) -> int:
        return self.labelling.code_of(state)

    @abstractmethod
    def evidence_against(self, state: State) -> float:
        """The logarithm of E for this state now, beaten or not; with doubted actions the least over their cases."""

    def codes(self, group: Group) -> WordArray:
        """The label codes of a group's hypotheses."""
        match self.labelling.about:
            case "start":
                return self.labelling.code(self._state_of(group.hypothesis))
            case "current":
                return self.labelling.code(group.current)
            case "hypothesis":
                return self.labelling.code(group.hypothesis)


class AbstractStateWorld(AbstractWorld):
    """What worlds have in common whose hypotheses are states, of a model where it is certain what actions lead to."""

    evidence: AbstractStateEvidence

    def evidence_against(self, state: State) -> float:
        if not 0 <= state < self.model.num_states:
            raise TaskError(f"state {state} is not one of the model's; they are 0 .. {self.model.num_states - 1}")
        groups = self.evidence.run_alone(state, self.history[: self._num_scored])
        return min(self.evidence.nats(int(group.penalty[0])) for group in groups)

    def misfits(self, gamma: Fraction) -> bool:
        if self._stands_still:
            return False
        left = [group for group in self._blocks() if group.size]
        return bool(left) and not self.evidence.some_fit(left, self._state_of, 1 / gamma)

    def _filter(self, groups: list[Group], step: Step) -> list[Group]:
        """What is left of groups after a step that the evidence has taken."""
        self.world_steps += sum(group.size for group in groups)
        return [after for group in groups for after in self.evidence.filter(group, step, self._state_of)]


@singledispatch
def make_evidence(model: AbstractMachine, bank: Bank, alpha: Fraction, doubts: Doubts | None) -> AbstractStateEvidence:
    """The bank's side of a world on this model: the kernels that score a bank differ by the model's tables."""
    return LawEvidence(model, bank, alpha, doubts)


@make_evidence.register
def _(model: BooleanPlant, bank: Bank, alpha: Fraction, doubts: Doubts | None) -> AbstractStateEvidence:
    return FlipEvidence(model, bank, alpha, doubts)


class _AbstractListed(AbstractStateWorld):
    """What worlds that hold every hypothesis in a list have in common."""

    _initial: WordArray
    """Hypothesis h began in `_initial[h]`."""

    def _restart(self) -> None:
        self._groups = [start_group(self._initial)]

    def _label_of_listed(self, state: State) -> int:
        listed = np.flatnonzero(self._initial == state)
        return self.labelling.code_of(int(listed[0])) if listed.size else NO_LABEL

    def is_allowed(self, action: Action) -> bool:
        return super().is_allowed(action) and all(self.model.allows(group.current, action) for group in self._groups)

    def _advance(self, step: Step) -> None:
        self._groups = self._filter(self._groups, step)

    def _blocks(self) -> Iterator[Group]:
        yield from cut_blocks(self._groups)

    def _state_of(self, hypothesis: WordArray) -> WordArray:
        return self._initial[hypothesis]


def cut_blocks(groups: Iterable[Group]) -> Iterator[Group]:
    """The groups in pieces that are labelled one at a time."""
    for group in groups:
        for low in range(0, group.size, BLOCK):
            yield group.only(slice(low, low + BLOCK))


@final
class ListWorld(_AbstractListed):
    """A closed world: hypothesis h began in `states[h]`. The bank's states need not be listed."""

    def __init__(
        self,
        model: AbstractDeterministic,
        states: Iterable[State] | LongArray | WordArray,
        bank: Bank,
        alpha: Fraction,
        *,
        labelling: Labelling | None = None,
        doubts: Doubts | None = None,
    ) -> None:
        listed = [int(z) for z in states]
        if not listed or min(listed) < 0 or max(listed) >= model.num_states:
            raise TaskError(f"a world lists states in 0 .. {model.num_states - 1}, at least one")
        super().__init__(model, make_evidence(model, bank, alpha, doubts), labelling or label_states())
        self._initial = np.array(listed, dtype=np.uint64)
        self._restart()


@final
class MachineWorld(_AbstractListed):
    """Every state of a machine, with noise or without."""

    def __init__(
        self,
        model: AbstractMachine,
        bank: Bank,
        alpha: Fraction,
        *,
        labelling: Labelling | None = None,
        doubts: Doubts | None = None,
    ) -> None:
        if model.num_states > MAX_WORLD_STATES:
            raise LimitError(
                f"the machine has {model.num_states} states; worlds of at most {MAX_WORLD_STATES} are filtered"
            )
        labels = labelling or label_states(lambda code: model.states[code])
        super().__init__(model, make_evidence(model, bank, alpha, doubts), labels)
        self._initial = np.arange(model.num_states, dtype=np.uint64)
        self._restart()
