"""What lower bounds by prices and by branching are proved from: plain records, from which the proof can be repeated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

import numpy as np

from ascertain.types import FloatArray, LongArray


@final
@dataclass(frozen=True, eq=False)
class Multipliers:
    """Hypothesis h counts `start[h]` times, at its prices; those of `lagrangian.py` and of `column_generation.py`."""

    start: FloatArray
    price: FloatArray
    """`price[0, h]` of a unit of cost, `[1, h]` of a wrong answer, `[2, h]` of an abstention; alike within a label that
    several hypotheses have."""

    @staticmethod
    def uniform(start: FloatArray, wrong: float, abstain: float) -> Multipliers:
        """One price for all wrong answers and one for all abstentions."""
        return Multipliers(start, np.array([1.0, wrong, abstain])[:, None] * np.ones(len(start)))

    @staticmethod
    def of_groups(prices: FloatArray, group: LongArray) -> Multipliers:
        """Prices by group of hypotheses, each of which counts once."""
        return Multipliers(np.ones(len(group)), prices[:, group])


@final
@dataclass(frozen=True, eq=False)
class Branch:
    """A partial policy in the list of branch and bound: what proves its bound, or by what it was replaced."""

    multipliers: Multipliers
    at: int | None = None
    """The history that was decided, as numbered in the partial policy; None where it is still in the list."""
    cases: Mapping[int, int] = field(default_factory=dict[int, int])
    """By decision, the number of the branch that takes it."""


@final
@dataclass(frozen=True, eq=False)
class Branching:
    """The bound of branch and bound, and all branches, the first of which decides nothing."""

    lower: Fraction
    branches: tuple[Branch, ...]
    symmetric: bool
    """Whether one decision stands for all that differ by exchangeable hypotheses alone."""
