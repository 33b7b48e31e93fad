"""The guard: which actions may be done now.

An action is *forbidden*

- when it is not one that the question lets an experiment use, or its limit is used up;
- on a partial machine, while some state that is not beaten lacks it;
- on a Boolean plant, while some state that is not beaten would enter one of the states that must never be entered; a
  plant that may be in one already does not enter it by staying, or nothing could be done while all states are possible
  (the states of a machine that must not be entered have made it a partial machine, loops in them included);
- in a stage on the nominal, on a partial machine, when some state that the actions so far may have led to lacks it,
  whatever was read. A fallback starts from all hypotheses again and must be able to follow each through all that was
  done: what only the nominal stage has ruled out is not ruled out for it. So is where the trigger follows the nominal.
  (On a hidden model a fallback is shown what was read: there it is the states that the readings leave possible.)
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
from ascertain.observer.unsafe_predecessors import UnsafePredecessors
from ascertain.types import Action, State


@final
class Guard:
    """Keeps count of the actions that were done. Asked about a world, it remembers the answers until the next step."""

    def __init__(self, settings: ObserverSettings) -> None:
        self.actions = settings.actions
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
        """A step was done."""
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

    def _judge(self, world: AbstractWorld, action: Action) -> bool:
        if action not in self.actions or self._used[action] >= self._limits.get(action, self._used[action] + 1):
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
