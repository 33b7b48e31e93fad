"""A plant that does what its model says, from a known state and a known seed."""

from __future__ import annotations

from typing import final

from ascertain.model.abstract import AbstractDeterministic
from ascertain.plant.faults import Refused
from ascertain.plant.seeded import AbstractSeeded
from ascertain.types import UNDEFINED, State


@final
class SimulatedPlant(AbstractSeeded):
    """Where actions lead is certain, and readings are drawn."""

    def __init__(self, model: AbstractDeterministic, state: State, seed: int | str = 0) -> None:
        super().__init__(seed)
        self.model = model
        self.start = state
        self._state = state

    @property
    def state(self) -> State:
        return self._state

    def step(self, action: str) -> str:
        model, a = self.model, self.model.action_named(action, "simulated plant")
        to = model.next_state(self._state, a)
        if to == UNDEFINED:
            raise Refused(f"action {action!r} is not defined in state {model.name_state(self._state)!r}")
        law = sorted(model.reading_law(self._state, a).items())
        reading = law[self.draw([p for _, p in law])][0]
        self._state = to
        return model.readings[reading]
