"""Plans: words to be run from reset, and what is known when all of them have agreed with the specification."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ascertain.conformance.specification import Specification, Word


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractPlan(ABC):
    """The interface of a plan."""

    spec: Specification
    """What the plant is compared with."""
    words: tuple[Word, ...]
    """What is run, each word from a reset."""
    floor: Fraction | None = None
    """No plan that shows the same, beginning from nothing, costs less; None where that is not known."""

    @property
    @abstractmethod
    def method(self) -> dict[str, Any]:
        """What determines the words, as plain data: what a run commits to before its first action."""

    @property
    @abstractmethod
    def statement(self) -> str:
        """What is known when all words have agreed."""

    @property
    def num_actions(self) -> int:
        """How many actions are done, resets apart."""
        return sum(map(len, self.words))

    @property
    def cost(self) -> Fraction:
        """What running the words costs, resets included."""
        return self.spec.price(self.words)
