"""A plant that does what its model says, from a known state and a known seed."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import final

from ascertain.model import BooleanPlant, Model
from ascertain.plant.faults import Refused
from ascertain.plant.seeded import AbstractSeeded
from ascertain.types import UNDEFINED, Action, Reading, State


@final
class SimulatedPlant(AbstractSeeded):
    """Where actions lead is certain, and readings are drawn."""

    def __init__(self, model: Model | BooleanPlant, state: State, seed: int | str = 0) -> None:
        super().__init__(seed)
        self.model = model
        self.start = state
        self._state = state

    @property
    def state(self) -> State:
        return self._state

    def step(self, action: str) -> str:
        to, law = self._look_up(action)
        reading = list(law)[self.draw(list(law.values()))]
        self._state = to
        return self.model.readings[reading]

    def _look_up(self, action: str) -> tuple[State, Mapping[Reading, Fraction]]:
        """Where the action leads, and the law of what is read."""
        model = self.model
        if isinstance(model, BooleanPlant):
            to, tapped = model.step(self._state, model.command_named(action, "simulated plant"))
            flip = model.flip
            return to, {tapped: Fraction(1)} if flip == 0 else {
                0: _mass(tapped == 0, flip),
                1: _mass(tapped == 1, flip),
            }
        a: Action = model.action_named(action, "simulated plant")
        to = int(model.successor[self._state, a])
        if to == UNDEFINED:
            raise Refused(f"action {action!r} is not defined in state {model.states[self._state]!r}")
        return to, model.reading_law(self._state, a)


def _mass(right: bool, flip: Fraction) -> Fraction:
    return 1 - flip if right else flip
