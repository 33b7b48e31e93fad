"""What to do next: what the probing rule chooses among the actions that are allowed now, non-merging ones first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import final

from ascertain.evidence.evidence import Step
from ascertain.evidence.probing import AbstractRule
from ascertain.evidence.worlds import AbstractWorld
from ascertain.observer.guard import Guard
from ascertain.observer.non_merging import prefer_non_merging
from ascertain.observer.probing import find_rule
from ascertain.observer.settings import ObserverSettings
from ascertain.types import Action


@final
class Chooser:
    """Chooses among the actions that a guard allows; what it chooses follows from the world and what was done."""

    def __init__(self, settings: ObserverSettings) -> None:
        self._settings = settings

    @cached_property
    def _rule(self) -> AbstractRule:
        """Made when it is first wanted: a plan takes time, and a run that is given its actions needs none."""
        return find_rule(self._settings.probing, self._settings.question).make(self._settings.question)

    def choose(self, world: AbstractWorld, guard: Guard, steps: Sequence[Step]) -> Action | None:
        """The next action after these steps; None when none is allowed."""
        asked = self._rule.ask(steps)
        if asked is not None and guard.allows(world, asked):
            return asked
        allowed = prefer_non_merging(world, guard.allowed(world))
        return self._rule.choose(world, allowed) if allowed else None
