"""What to probe next: the action rules by name, among the actions that are allowed now, gentle ones first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast, final

from ascertain.evidence.belief_probing import SeparatingBeliefs
from ascertain.evidence.evidence import Step
from ascertain.evidence.hidden_world import HiddenWorld
from ascertain.evidence.probing import Separating
from ascertain.evidence.worlds import AbstractWorld
from ascertain.model.abstract import AbstractDeterministic
from ascertain.model.hidden import HiddenModel
from ascertain.observer.guard import Guard
from ascertain.observer.non_merging import prefer_gentle
from ascertain.observer.planned import Plan
from ascertain.observer.settings import ObserverSettings
from ascertain.task.task import Task
from ascertain.types import Action

MAX_RULES = 64
"""Separating rules that are kept, one for each set of allowed actions."""


@final
class Chooser:
    """Chooses among the actions that a guard allows; what it chooses follows from the world and what was done."""

    def __init__(self, settings: ObserverSettings) -> None:
        self._settings = settings
        self._taps = _by_tap(settings)
        self._rules: dict[tuple[Action, ...], Separating] = {}
        self._planned: Plan | None = None
        self._certain = settings.model.has_certain_transitions
        self._beliefs: SeparatingBeliefs | None = None

    def choose(self, world: AbstractWorld, guard: Guard, steps: Sequence[Step]) -> Action | None:
        """The next action after these steps; None when none is allowed."""
        planned = self._plan(steps)
        if planned is not None and guard.allows(world, planned):
            return planned
        allowed = guard.allowed(world)
        if self._certain:
            allowed = prefer_gentle(cast("AbstractDeterministic", self._settings.model), world, allowed)
        if not allowed:
            return None
        if self._settings.probing == "round-robin":
            return next(a for a in self._in_turn(len(world.history)) if a in allowed)
        if not self._certain:
            model, cost = cast("HiddenModel", self._settings.model), self._settings.question.cost
            self._beliefs = self._beliefs or SeparatingBeliefs(model, cost)
            return self._beliefs.choose(cast("HiddenWorld", world), allowed)
        return self._separating(allowed).choose(world)

    def _plan(self, steps: Sequence[Step]) -> Action | None:
        if self._settings.probing != "planned":
            return None
        self._planned = self._planned or Plan(cast("Task", self._settings.question))
        return self._planned.ask(steps)

    def _in_turn(self, turn: int) -> Iterator[Action]:
        """The action whose turn it is, then those after it: tap after tap, each by its commands in turn."""
        for t in range(turn, turn + len(self._taps)):
            commands = self._taps[t % len(self._taps)]
            first = t // len(self._taps) % len(commands)
            yield from (*commands[first:], *commands[:first])

    def _separating(self, allowed: tuple[Action, ...]) -> Separating:
        if allowed not in self._rules:
            if len(self._rules) >= MAX_RULES:
                self._rules.clear()
            model, cost = cast("AbstractDeterministic", self._settings.model), self._settings.question.cost
            self._rules[allowed] = Separating(model, allowed, tuple(cost[a] for a in allowed))
        return self._rules[allowed]


def _by_tap(settings: ObserverSettings) -> Sequence[tuple[Action, ...]]:
    """The actions by the bit that they tap, in order of the bits; on a machine each by itself."""
    tapping: dict[int, list[Action]] = {}
    for a in settings.actions:
        tapping.setdefault(settings.model.sensor(a), []).append(a)
    return [tuple(commands) for _, commands in sorted(tapping.items())]
