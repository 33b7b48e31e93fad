"""A plant that does what its hidden model says, from a belief that it begins with and a known seed."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import final

from ascertain.model.hidden import Belief, HiddenModel
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import Refused
from ascertain.types import State


@final
class SimulatedHiddenPlant(AbstractPlant):
    """Where it begins is drawn from the belief, and each step from the joint law: exactly, so that seeds reproduce."""

    name = "simulated"
    retry_safe = True

    def __init__(self, model: HiddenModel, belief: Belief, seed: int | str = 0) -> None:
        self.model, self.start = model, belief
        self._random = random.Random(seed)  # noqa: S311  a simulation must be repeatable, not secret
        self._state = belief[self._draw([p for _, p in belief])][0]
        self._last: str | None = None

    @property
    def state(self) -> State:
        """Where the plant is now: what an observer is not shown."""
        return self._state

    def send(self, action: str) -> str:
        """Move and read; refused where the model does not define the action."""
        self._last = None
        law = self.model.joint[self._state][self.model.action_named(action, "simulated plant")]
        if not law:
            raise Refused(f"action {action!r} is not defined in state {self.model.states[self._state]!r}")
        self._state, reading, _ = law[self._draw([p for _, _, p in law])]
        self._last = self.model.readings[reading]
        return self._last

    def repeat(self, action: str) -> str:
        return self.send(action) if self._last is None else self._last

    def resume(self, actions: Sequence[str], confirmed: int | None = None) -> None:
        """Go through the same actions once more: the seed reads the same."""
        for action in actions:
            self.send(action)
        self._last = None

    def _draw(self, masses: Sequence[Fraction]) -> int:
        """The place of one of the probabilities, drawn by them."""
        if len(masses) == 1:
            return 0
        whole = math.lcm(*(p.denominator for p in masses))
        ticket = self._random.randrange(whole)
        for i, p in enumerate(masses):
            ticket -= int(p * whole)
            if ticket < 0:
                return i
        raise AssertionError("the probabilities of a law sum to one")
