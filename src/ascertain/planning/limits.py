"""How far the searches of `planning/` may go. Larger limits cost time and memory; no limit can harm a guarantee."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from ascertain.errors import LimitError


@final
@dataclass(frozen=True)
class SearchLimits:
    """One record for all searches; with the defaults a question of `benchmarks/two_sided.py` takes up to a minute."""

    until: float = math.inf
    """When searches end with what they have, by `time.monotonic`; whoever sets it chooses when that is."""
    enough: Fraction = Fraction(1)
    """Two-sided bounds are left as they are once the upper one is at most so many times the lower one."""
    time_limit: float = 30.0
    """Seconds for the deterministic optimum of the skeleton, and again for the program bound."""
    program_nodes: int = 300
    """Joint states in the linear program of the program bound."""

    max_nodes: int = 60_000
    """Information states of a belief graph that a policy is made from."""
    max_bound_nodes: int = 250_000
    """Information states of a belief graph that only a lower bound is read off."""

    weight_rounds: int = 3
    """Rounds of the price search that move weight to the hypotheses whose cost is largest."""
    mixing_trials: int = 30
    """Evaluations spent on mixing the decisions of two neighbouring policies of a price search."""

    max_work: int = 30_000_000
    """Iterations of column generation times options of all information states."""
    max_dives: int = 12
    """Decisions that are fixed one after the other to bring a mixture closer to one policy."""
    max_starts: int = 24
    """Columns that a local search starts from."""
    max_changes: int = 150
    """Changes of one decision that a local search makes."""
    max_leaves: int = 400
    """Histories after which a derandomised policy follows a column of its own."""
    max_branches: int = 16
    """Partial policies that branch and bound replaces by their extensions."""
    max_histories: int = 1500
    """Histories of an integer program over short policies."""

    @property
    def is_over(self) -> bool:
        """Whether time is up."""
        return time.monotonic() >= self.until

    def check_time(self) -> None:
        """LimitError where time is up: for work that is of no use unless it is finished."""
        if self.is_over:
            raise LimitError("time was up before this was done")

    @property
    def seconds(self) -> float:
        """For work that has a time limit of its own."""
        return max(0.0, min(self.time_limit, self.until - time.monotonic()))


DEFAULT_LIMITS = SearchLimits()
"""What is used where a caller gives no limits."""
