"""The guard: which actions may be done now.

An action is *forbidden* in each of these cases.

- The question does not let an experiment use it, or its limit is used up.
- On a partial machine: some state that is not beaten lacks it.
- On a Boolean plant: some state that is not beaten would enter an *unsafe* state, one that must never be entered. A
  plant that may be in an unsafe state already does not enter it by staying there; otherwise nothing could be done while
  all states are possible. (On a machine, whatever enters an unsafe state was taken out of the model beforehand, which
  makes the machine partial.)
- In a stage on the nominal, on a partial machine: some state that the actions so far may have led to lacks it, whatever
  was read. A fallback starts from all hypotheses again and must be able to follow each of them through all that was
  done, also those that only the nominal stage has ruled out. The trigger follows the nominal in the same way. (On a
  hidden model a fallback is shown what was read, so that only states that the readings leave possible count.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import cast, final

import numpy as np

from ascertain.evidence.evidence import Step
from ascertain.evidence.worlds import AbstractWorld
from ascertain.model.abstract import AbstractModel
from ascertain.model.boolean import BooleanPlant
from ascertain.observer.settings import ObserverSettings
from ascertain.types import Action, BoolArray, State, WordArray

LOW_BITS = 16
"""A table of 2^16 flags stays in the cache and already rules out nearly every state."""


@final
class Guard:
    """Keeps count of the actions that were done. Asked about a world, it remembers the answers until the next step."""

    def __init__(self, settings: ObserverSettings) -> None:
        self.actions = settings.question.actions
        self._limits = settings.limits
        self._used: Counter[Action] = Counter()
        self._model = settings.model
        self._question = question = settings.question
        self._never = np.array(sorted(question.never), dtype=np.uint64)
        self._reach: Reach | None = None
        self._known: dict[Action, bool] = {}
        self._predecessors: UnsafePredecessors | None = None
        self._dangerous: frozenset[Action] | None = None

    def follow(self, states: Iterable[State] | None) -> None:
        """From now on allow only what is defined wherever the actions may lead from these states; None: no longer."""
        self._reach = None
        self._forget()
        if states is not None and not self._model.is_total:
            question = self._question
            self._reach = Reach(self._model, question.states_of(states), question.scores_all_readings)

    def note(self, step: Step) -> None:
        self._used[step.action] += 1
        self._forget()
        if self._reach is not None:
            self._reach.take(step)

    def _forget(self) -> None:
        self._known.clear()
        self._dangerous = None

    def allows(self, world: AbstractWorld, action: Action) -> bool:
        """Whether the action may be done now."""
        if action not in self._known:
            self._known[action] = self._judge(world, action)
        return self._known[action]

    def allowed(self, world: AbstractWorld) -> tuple[Action, ...]:
        """All actions that may be done now."""
        return tuple(a for a in self.actions if self.allows(world, a))

    @property
    def usable(self) -> tuple[Action, ...]:
        """The question's actions that are not used up, wherever they are defined."""
        return tuple(a for a in self.actions if self._used[a] < self._limits.get(a, self._used[a] + 1))

    def _judge(self, world: AbstractWorld, action: Action) -> bool:
        if action not in self.usable:
            return False
        if self._reach is not None and not self._reach.allows(action):
            return False
        return world.is_allowed(action) and not self._endangers(world, action)

    def _endangers(self, world: AbstractWorld, action: Action) -> bool:
        if not self._never.size:
            return False
        if self._predecessors is None:
            self._predecessors = UnsafePredecessors(cast("BooleanPlant", self._model), self.actions, self._never)
        if self._dangerous is None:
            self._dangerous = self._predecessors.find_open(world)
        return action in self._dangerous


@final
class Reach:
    """The states of a partial model that may have been led to: by what was done, and, where that is asked for, read."""

    def __init__(self, model: AbstractModel, states: Iterable[State], sees_readings: bool = False) -> None:
        self._model, self._sees_readings = model, sees_readings
        self._current = states

    def allows(self, action: Action) -> bool:
        return self._model.allows(self._current, action)

    def take(self, step: Step) -> None:
        """A step that is allowed; where it may not have run, the plant may also be where it was."""
        reading = step.reading if self._sees_readings else None
        after = self._model.reach(self._current, step.action, reading)
        self._current = after if step.certain else {*after, *self._current}


@final
class UnsafePredecessors:
    """From where, and by which of the commands given, a Boolean plant would enter one of the states `never`.

    Reversible gates undo themselves, so under a reversible command each such state has one predecessor: its gates
    backwards. The predecessors under all reversible commands are found among millions of states by their lowest bits
    first, which a small table holds. Other commands are done to every state.
    """

    def __init__(self, plant: BooleanPlant, actions: Iterable[Action], never: WordArray) -> None:
        self._plant, self._never = plant, never
        self._actions = tuple(actions)
        self._before = {
            a: np.array([plant.predecessor(int(z), a) for z in never], dtype=np.uint64)
            for a in self._actions
            if plant.is_injective(a)
        }
        self._near: BoolArray = np.zeros(1 << LOW_BITS, dtype=np.bool_)
        for states in self._before.values():
            self._near[states & np.uint64((1 << LOW_BITS) - 1)] = True

    def find_open(self, world: AbstractWorld) -> frozenset[Action]:
        """The actions by which some state outside, not beaten, would enter; found in one pass over what is left."""
        pending = set(self._actions)

        def look(states: WordArray) -> BoolArray:
            near = states[self._near[states & np.uint64((1 << LOW_BITS) - 1)]]
            near = near[~np.isin(near, self._never)]
            outside = states[~np.isin(states, self._never)] if len(pending - self._before.keys()) else states
            for action in sorted(pending):
                if self._enters(action, near, outside):
                    pending.remove(action)
            return np.array([not pending])

        world.may_be_in(look)
        return frozenset(self._actions) - pending

    def _enters(self, action: Action, near: WordArray, outside: WordArray) -> bool:
        if action in self._before:
            return bool(near.size) and bool(np.isin(near, self._before[action]).any())
        after, _ = self._plant.outcomes(outside, action)
        return bool(np.isin(after.astype(np.uint64), self._never).any())
