"""A plant that does what its model says, from a known state and a known seed."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import final

from ascertain.model import BooleanPlant, Model
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import Refused
from ascertain.types import UNDEFINED, Action, Reading, State


@final
class SimulatedPlant(AbstractPlant):
    """Readings are drawn from the exact law: no rounding, so that the same seed reads the same everywhere."""

    name = "simulated"
    retry_safe = True

    def __init__(self, model: Model | BooleanPlant, state: State, seed: int | str = 0) -> None:
        self.model = model
        self.start = state
        self._state = state
        self._random = random.Random(seed)  # noqa: S311  a simulation must be repeatable, not secret
        self._last: str | None = None

    @property
    def state(self) -> State:
        """Where the plant is now: what an observer is not shown."""
        return self._state

    def send(self, action: str) -> str:
        """Move and read; refused where the model does not define the action."""
        self._last = None
        to, law = self._look_up(action)
        reading = self._draw(law)
        self._state = to
        self._last = self.model.readings[reading]
        return self._last

    def repeat(self, action: str) -> str:
        return self.send(action) if self._last is None else self._last

    def resume(self, actions: Sequence[str], confirmed: int | None = None) -> None:
        """Go through the same actions once more: the seed reads the same."""
        for action in actions:
            self.send(action)
        self._last = None

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

    def _draw(self, law: Mapping[Reading, Fraction]) -> Reading:
        if len(law) == 1:
            return next(iter(law))
        whole = math.lcm(*(p.denominator for p in law.values()))
        ticket = self._random.randrange(whole)
        for y, p in law.items():
            ticket -= int(p * whole)
            if ticket < 0:
                return y
        raise AssertionError("the probabilities of a law sum to one")


def _mass(right: bool, flip: Fraction) -> Fraction:
    return 1 - flip if right else flip
