"""What simulated plants have in common: a seed, draws from exact laws, and going through the same once more."""

from __future__ import annotations

import math
import random
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ascertain.plant.abstract import AbstractPlant
from ascertain.types import State


class AbstractSeeded(AbstractPlant):
    """Draws are exact, without rounding, so that the same seed reads the same everywhere."""

    name = "simulated"
    retry_safe = True
    start: Any
    """What the plant began with: a state, or on a hidden model a belief."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed)  # noqa: S311  a simulation must be repeatable, not secret
        self._last: str | None = None

    @property
    @abstractmethod
    def state(self) -> State:
        """Where the plant is now: what an observer is not shown."""

    @abstractmethod
    def step(self, action: str) -> str:
        """Move and read; refused where the model does not define the action."""

    def send(self, action: str) -> str:
        self._last = None
        self._last = self.step(action)
        return self._last

    def repeat(self, action: str) -> str:
        return self.send(action) if self._last is None else self._last

    def resume(self, actions: Sequence[str], confirmed: int | None = None) -> None:
        """Go through the same actions once more: the seed reads the same."""
        for action in actions:
            self.send(action)
        self._last = None

    def draw(self, masses: Sequence[Fraction]) -> int:
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
