"""How a run ends: with an answer that carries its guarantee, or without one and with the reason."""

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


Verdict: TypeAlias = Certified | Abstained
"""How a run of an observer ends."""
