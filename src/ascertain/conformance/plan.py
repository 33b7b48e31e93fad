"""Plans: words to be run from reset, and what is known when all of them have agreed with the specification."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

from ascertain.conformance.sample import STOP, bound_disagreement, draw_words
from ascertain.conformance.specification import Specification, Word
from ascertain.conformance.suite import Suite


class AbstractPlan(ABC):
    """The interface of a plan."""

    @property
    @abstractmethod
    def spec(self) -> Specification:
        """What the plant is compared with."""

    @property
    @abstractmethod
    def words(self) -> tuple[Word, ...]:
        """What is run, each word from a reset."""

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


@final
@dataclass(frozen=True, eq=False)
class CompletePlan(AbstractPlan):
    """A suite that is complete for a fault domain."""

    suite: Suite

    @property
    def spec(self) -> Specification:
        return self.suite.spec

    @property
    def words(self) -> tuple[Word, ...]:
        return self.suite.words

    @property
    def method(self) -> dict[str, Any]:
        return {"complete": self.suite.extra}

    @property
    def statement(self) -> str:
        size, extra = self.spec.num_states + self.suite.extra, self.suite.extra
        return (
            f"every machine of at most {size} states that shows these readings is equivalent to the model, and so is "
            f"every larger one whose states are all reached by one of {len(self.suite.access)} access words and at "
            f"most {extra} further actions"
        )


@final
@dataclass(frozen=True, eq=False)
class SamplePlan(AbstractPlan):
    """Words drawn by a seed from the distribution of `sample.py`."""

    specification: Specification
    seed: str
    num_words: int
    confidence: Fraction
    bound: Fraction = field(init=False)
    """When all words agree, a word disagrees with at most this probability, with that confidence."""
    _words: tuple[Word, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", bound_disagreement(self.num_words, self.confidence))
        object.__setattr__(self, "_words", tuple(draw_words(self.specification, self.seed, self.num_words)))

    @property
    def spec(self) -> Specification:
        return self.specification

    @property
    def words(self) -> tuple[Word, ...]:
        return self._words

    @property
    def method(self) -> dict[str, Any]:
        return {"sample": self.num_words, "seed": self.seed, "stop": STOP, "confidence": str(self.confidence)}

    @property
    def statement(self) -> str:
        return (
            f"with confidence {self.confidence} a word drawn like these {self.num_words} disagrees with the model with "
            f"probability at most {float(self.bound):.6f} (drawn: the access word of a state, an action, and "
            f"{STOP - 1} further actions in the mean)"
        )
