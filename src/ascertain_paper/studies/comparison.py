"""Comparison the paper: what a table may say of a figure of ours next to the paper's figure of the same quantity.

A row that repeats *the paper's own method* is `replicated`: "reproduced" within the tolerance that its table states,
otherwise "differs" with the reason, in whichever direction, since the same method on other plants deserves neither
praise nor blame. A row of *our own* is `improved` when it needs less than the paper's by more than the tolerance:
"better". Shares of operations are `counted`: "reproduced" when all that chance leaves possible lies within a tolerance
of the paper's share, "differs" when the paper's share is not among it, and "too few to tell" otherwise; so it is too
where the standard error of a figure is known and two of it reach from ours to the paper's.

The testbed was frozen to stand where the paper's plants stood. The settings "tuned" were chosen with the paper's
figures in sight: what is near those figures there is "near, as tuned", and not reproduced. Under any other settings
nothing is said of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from ascertain.pipeline.simulated_runs import binomial_limits
from ascertain_paper.testbed.settings import Settings, load_settings

REPRODUCED, BETTER, TOO_FEW, ELSEWHERE = "reproduced", "better", "too few to tell", "another testbed"
NEAR = "near, as tuned"
"""In place of REPRODUCED, where the settings were fitted to what is compared."""
TOLERANCE = 0.05
"""Of the paper's figure, unless a table states another."""
WITHIN = f"Within {100 * TOLERANCE:.0f} % of the paper's figure is reproduced."
SHARE_TOLERANCE = 0.005
"""Of all operations."""
CHANCE = 0.025
"""The probability with which chance exceeds either limit of a share."""


@final
@dataclass(frozen=True)
class Comparison:
    """The verdicts of one study."""

    comparable: bool
    """Whether the study was made on a testbed that stands for the paper's."""
    tuned: bool = False
    """Whether that one was fitted to the paper's figures."""

    @property
    def within(self) -> str:
        """What is said of a figure that is the paper's within the tolerance."""
        return NEAR if self.tuned else REPRODUCED

    def replicated(
        self, paper: float, here: float, why: str, tolerance: float = TOLERANCE, error: float | None = None
    ) -> str:
        """The paper's own method, on our plants; `error` is the standard error of our figure, where it is known."""
        if not self.comparable:
            return ELSEWHERE
        apart = abs(here - paper)
        if apart <= tolerance * abs(paper):
            return self.within
        return TOO_FEW if error is not None and apart <= 2 * error else f"differs: {why}"

    def improved(self, paper: float, here: float, why: str, tolerance: float = TOLERANCE) -> str:
        """A method of ours, beside the paper's figure; less is better."""
        if self.comparable and paper - here > tolerance * abs(paper):
            return BETTER
        return self.replicated(paper, here, why, tolerance)

    def counted(self, paper: tuple[int, int], here: tuple[int, int], why: str, *, ours: bool = False) -> str:
        """A number of operations, and of how many, by the paper's own method; or by ours, and then more is better."""
        if not self.comparable:
            return ELSEWHERE
        if not here[1]:
            return TOO_FEW
        share, (low, high) = paper[0] / paper[1], binomial_limits(*here, CHANCE)
        if max(share - low, high - share) <= SHARE_TOLERANCE:
            return self.within
        if low <= share <= high:
            return TOO_FEW
        return BETTER if ours and share < low else f"differs: {why}"


def compare_under(settings: Settings) -> Comparison:
    """The verdicts that a study under these settings may give."""
    tuned = settings.hash == load_settings("tuned").hash
    return Comparison(tuned or settings.hash == load_settings("testbed").hash, tuned)
