"""A plant that does what its model says, from a known state and a known seed."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import final

from ascertain.errors import PlantFault
from ascertain.model import Model
from ascertain.types import UNDEFINED, State


@final
class SimulatedPlant:
    """Readings are drawn from the exact law: no rounding, so that the same seed reads the same everywhere."""

    def __init__(self, model: Model, state: State, seed: int = 0) -> None:
        self._model = model
        self._state = state
        self._random = random.Random(seed)  # noqa: S311  a simulation must be repeatable, not secret

    def send(self, action: str) -> str:
        """Move and read; a PlantFault where the model does not define the action."""
        a = self._model.action_named(action, "simulated plant")
        to = int(self._model.successor[self._state, a])
        if to == UNDEFINED:
            raise PlantFault(f"action {action!r} is not defined in state {self._model.states[self._state]!r}")
        reading = self._draw(self._model.reading_law(self._state, a))
        self._state = to
        return self._model.readings[reading]

    def _draw(self, law: dict[int, Fraction]) -> int:
        if len(law) == 1:
            return next(iter(law))
        whole = math.lcm(*(p.denominator for p in law.values()))
        ticket = self._random.randrange(whole)
        for y, p in law.items():
            ticket -= int(p * whole)
            if ticket < 0:
                return y
        raise AssertionError("the probabilities of a law sum to one")
