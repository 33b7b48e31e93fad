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
from collections.abc import Iterable, Set
from typing import final

import numpy as np

from ascertain.evidence.evidence import Step
from ascertain.evidence.worlds import AbstractWorld
from ascertain.model import Model
from ascertain.model.boolean import BooleanPlant
from ascertain.model.hidden import HiddenModel
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.unsafe_predecessors import Entrances
from ascertain.task.hidden_task import HiddenTask
from ascertain.task.plant_task import PlantTask
from ascertain.types import UNDEFINED, Action, State


@final
class Guard:
    """Keeps count of the actions that were done. Asked about a world, it remembers the answers until the next step."""

    def __init__(self, settings: ObserverSettings) -> None:
        self.actions = settings.actions
        self._limits = settings.limits
        self._used: Counter[Action] = Counter()
        self._model = settings.model
        self._question = question = settings.question
        never = question.never if isinstance(question, PlantTask) else ()
        self._never = np.array(sorted(never), dtype=np.uint64)
        self._reach: Reach | BeliefReach | None = None
        self._known: dict[Action, bool] = {}
        self._entrances: Entrances | None = None
        self._dangerous: frozenset[Action] | None = None

    def follow(self, states: Iterable[State] | None) -> None:
        """From now on allow only what is defined wherever the actions may lead from these states; None: no longer."""
        model, self._reach = self._model, None
        self._forget()
        if isinstance(self._question, HiddenTask):
            if states is not None and not self._question.model.is_total:
                held = {s for h in states for s, _ in self._question.belief[h]}
                self._reach = BeliefReach(self._question.model, held)
            return
        assert not isinstance(model, HiddenModel)
        if states is not None and not isinstance(model, BooleanPlant) and bool((model.successor == UNDEFINED).any()):
            self._reach = Reach(model, states)

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
        plant = self._model
        if not self._never.size or not isinstance(plant, BooleanPlant):
            return False
        if self._entrances is None:
            self._entrances = Entrances(plant, self.actions, self._never)
        if self._dangerous is None:
            self._dangerous = self._entrances.find_open(world)
        return action in self._dangerous


@final
class Reach:
    """The states of a partial machine that the actions may have led to, whatever was read."""

    def __init__(self, model: Model, states: Iterable[State]) -> None:
        self._successor = model.successor
        self._current = np.unique(np.array(list(states), dtype=np.int64))

    def allows(self, action: Action) -> bool:
        return not bool((self._successor[self._current, action] == UNDEFINED).any())

    def take(self, step: Step) -> None:
        """A step that is allowed; where it may not have run, the plant may also be where it was."""
        after = self._successor[self._current, step.action].astype(np.int64)
        self._current = np.unique(after if step.certain else np.concatenate([after, self._current]))


@final
class BeliefReach:
    """The states of a partial hidden model that what was done and read leaves possible, from where it may begin."""

    def __init__(self, model: HiddenModel, states: Set[State]) -> None:
        self._model, self._current = model, states

    def allows(self, action: Action) -> bool:
        return self._model.allows(self._current, action)

    def take(self, step: Step) -> None:
        """A step that is allowed; where it may not have run, the plant may also be where it was."""
        ends = (end for s in self._current for end in self._model.joint[s][step.action])
        after = {t for t, y, _ in ends if step.reading in (None, y)}
        self._current = after if step.certain else after | self._current
