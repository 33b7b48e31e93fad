"""What many simulated runs show: their costs, and how often they were wrong or abstained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, final


def binomial_limits(number: int, of: int, delta: float) -> tuple[float, float]:
    """Clopper and Pearson's limits of a probability, each exceeded with probability at most delta, whatever it is."""
    from scipy.special import betaincinv  # loading it takes longer than most simulations

    low = 0.0 if number == 0 else float(betaincinv(number, of - number + 1, delta))
    high = 1.0 if number == of else float(betaincinv(number + 1, of - number, 1 - delta))
    return low, high


@final
@dataclass(frozen=True)
class Rate:
    """How often something happened in many runs."""

    count: int
    runs: int

    @property
    def interval(self) -> tuple[float, float]:
        """At least 95 % of such intervals hold the true probability."""
        return binomial_limits(self.count, self.runs, 0.025)

    def facts(self) -> dict[str, Any]:
        """As plain data."""
        return {"count": self.count, "rate": self.count / self.runs, "interval": list(self.interval)}


@final
@dataclass(frozen=True)
class SimulatedRuns:
    """What a policy does in many runs, each on a plant whose truth was drawn from the hypotheses."""

    costs: Mapping[Fraction, int]
    """How many runs took each cost, ascending."""
    wrong: Rate
    abstained: Rate
    truths: str = "drawn from the hypotheses"
    """Where each run began."""

    @property
    def num_runs(self) -> int:
        """How many runs there were."""
        return self.wrong.runs

    @property
    def mean_cost(self) -> Fraction:
        """Of all runs."""
        return sum((cost * n for cost, n in self.costs.items()), Fraction(0)) / self.num_runs

    @property
    def standard_error(self) -> float:
        """Of the mean cost; the true mean is within 1.96 of these in about 95 % of such simulations."""
        spread = sum((cost - self.mean_cost) ** 2 * n for cost, n in self.costs.items())
        return sqrt(spread / max(1, self.num_runs - 1) / self.num_runs)

    def histogram(self, bars: int) -> list[tuple[Fraction, Fraction, int]]:
        """How many runs cost from so much to so much: every cost by itself, or in so many ranges of equal width."""
        if len(self.costs) <= bars:
            return [(cost, cost, n) for cost, n in self.costs.items()]
        low, high = min(self.costs), max(self.costs)
        counts = [0] * bars
        for cost, n in self.costs.items():
            counts[min(bars - 1, int((cost - low) / (high - low) * bars))] += n
        edges = [low + (high - low) * i / bars for i in range(bars + 1)]
        return [(edges[i], edges[i + 1], n) for i, n in enumerate(counts)]

    def facts(self) -> dict[str, Any]:
        """The runs as plain data, which is what `simulate --runs --json` prints."""
        return {
            "runs": self.num_runs,
            "mean_cost": str(self.mean_cost),
            "standard_error": self.standard_error,
            "wrong": self.wrong.facts(),
            "abstained": self.abstained.facts(),
            "costs": [[str(cost), n] for cost, n in self.costs.items()],
        }
