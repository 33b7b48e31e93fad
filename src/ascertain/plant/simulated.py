"""A plant that does what its model says, from a known start and a known seed.

Draws are exact, without rounding, so that the same seed reads the same everywhere.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, final

from ascertain.errors import ModelError, TaskError
from ascertain.plant import PlantContext, PlantKind
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import Refused

if TYPE_CHECKING:
    from ascertain.model.abstract import AbstractModel
    from ascertain.model.hidden import Belief
    from ascertain.types import State


@final
class SimulatedPlant(AbstractPlant):
    """Begins in a state, by number or by name, or in one that is drawn from a belief; each step is drawn from the
    model's joint law."""

    name = "simulated"
    retry_safe = True

    def __init__(self, model: AbstractModel, start: State | Belief | str, seed: int | str = 0) -> None:
        if isinstance(start, str):
            start = model.state_named(start, "simulated plant")
        belief = start if isinstance(start, tuple) else ((start, Fraction(1)),)
        if sum(p for _, p in belief) != 1 or not all(0 <= s < model.num_states and p > 0 for s, p in belief):
            raise ModelError(
                f"simulated plant: it begins in a state in 0 .. {model.num_states - 1}, or in one of several with "
                f"probabilities that sum to 1; got {start!r}"
            )
        self.model, self.start = model, start
        self._random = random.Random(seed)  # noqa: S311  a simulation must be repeatable, not secret
        self._last: str | None = None
        """The answer to the action that was sent last; None when it was refused, or nothing was sent."""
        self.state: State = belief[self._draw([p for _, p in belief])][0]
        """Where the plant is now: what an observer is not shown."""

    def send(self, action: str) -> str:
        self._last = None
        model = self.model
        law = model.joint_law(self.state, model.action_named(action, "simulated plant"))
        if not law:
            raise Refused(f"action {action!r} is not defined in state {model.name_state(self.state)!r}")
        self.state, reading, _ = law[self._draw([p for _, _, p in law])]
        self._last = model.readings[reading]
        return self._last

    def repeat(self, action: str) -> str:
        return self.send(action) if self._last is None else self._last

    def resume(self, actions: Sequence[str], confirmed: int | None = None) -> None:
        """Go through the same actions once more: the seed reads the same."""
        for action in actions:
            self.send(action)
        self._last = None

    def _draw(self, masses: Sequence[Fraction]) -> int:
        """The place of one of the probabilities, drawn by them; nothing is drawn where there is one."""
        if len(masses) == 1:
            return 0
        whole = math.lcm(*(p.denominator for p in masses))
        ticket = self._random.randrange(whole)
        for i, p in enumerate(masses):
            ticket -= int(p * whole)
            if ticket < 0:
                return i
        raise AssertionError("the probabilities of a law sum to one")


def _open(text: str, context: PlantContext) -> SimulatedPlant:
    digits, _, name = text.partition(":")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
        raise TaskError(f"--plant: the seed {digits[:40]!r} is not a whole number; write for example simulated:7")
    seed = int(digits)
    return SimulatedPlant(context.model, context.find_start(seed, name), f"readings {seed}")


SIMULATED = PlantKind("simulated", "simulated:SEED[:STATE]", _open, needs_model=True)
"""The model itself, with noise that is drawn."""
