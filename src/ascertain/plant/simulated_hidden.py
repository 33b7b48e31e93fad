"""A plant that does what its hidden model says, from a belief that it begins with and a known seed."""

from __future__ import annotations

from typing import final

from ascertain.model.hidden import Belief, HiddenModel
from ascertain.plant.faults import Refused
from ascertain.plant.seeded import AbstractSeeded
from ascertain.types import State


@final
class SimulatedHiddenPlant(AbstractSeeded):
    """Where it begins is drawn from the belief, and each step from the joint law."""

    def __init__(self, model: HiddenModel, belief: Belief, seed: int | str = 0) -> None:
        super().__init__(seed)
        self.model, self.start = model, belief
        self._state = belief[self.draw([p for _, p in belief])][0]

    @property
    def state(self) -> State:
        return self._state

    def step(self, action: str) -> str:
        law = self.model.joint[self._state][self.model.action_named(action, "simulated plant")]
        if not law:
            raise Refused(f"action {action!r} is not defined in state {self.model.states[self._state]!r}")
        self._state, reading, _ = law[self.draw([p for _, _, p in law])]
        return self.model.readings[reading]
