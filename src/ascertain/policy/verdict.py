"""How a run ends: with an answer that carries its guarantee, with none of the models left, or without either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, final


@final
@dataclass(frozen=True)
class Certified:
    """The label is right, up to the risk of the task."""

    label: str


@final
@dataclass(frozen=True)
class Abstained:
    """No answer, and why."""

    reason: str


@final
@dataclass(frozen=True)
class NoneOfThese:
    """Every model is contradicted: the plant is outside the world."""

    witness: tuple[tuple[str, str], ...]
    """What was done and read, from the beginning or from the last reset on; the last reading is the one that shows
    it."""

    @property
    def reason(self) -> str:
        """The witness as a sentence."""
        action, reading = self.witness[-1]
        others = len(self.witness) - 1
        after = f" after {others} other{'s' if others > 1 else ''}" if others else ""
        return f"no model explains the reading {reading!r} of action {action!r}{after}"


Verdict: TypeAlias = Certified | Abstained | NoneOfThese
"""How a run of an observer ends."""
