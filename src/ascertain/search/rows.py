"""A row of a lower-bound proof: a set of possibilities, what it costs at least to settle them, and why.

The rows of a proof hold one another up. For every action that all members of a row allow, the row names a reading y and
another row, which must be contained in what is left of this one after that action and that reading, and whose bound
must be at least this bound less the cost of the action. No move is needed where the bound is no larger than the cost of
the action, nor in a row in which two members share a state and differ in label: nothing settles it. Every row holds at
least two labels. The theorem and its proof are in `ascertain_check/claims/lower.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from ascertain.types import Action, Reading


@final
@dataclass(frozen=True)
class Row:
    """Members are (label, state) of the original task, or (label, class) when the proof brings a partition."""

    members: tuple[tuple[int, int], ...]
    bound: Fraction | None
    """None stands for infinity: nothing settles the members."""
    moves: Mapping[Action, tuple[Reading, int]]
    """`moves[a]` is the reading and the number of the row that are named for action a."""
