"""Conditional calibration: a number of shells for what is known before an operation is looked at.

*By group.* A group is something known beforehand: which plant, which family of operations, how long they are. Given the
groups, operations of one group are exchangeable among themselves, so that the theorem of `calibrate.py` holds in each
group with its own ranks: m of them promise m/(m + 1) there, and not only over all groups together.

*Weighted.* Where the next operation comes from another mixture than those that were calibrated on, let w(x) be how many
times more often operations of kind x come now than then, up to a common factor. With ranks M_1, ..., M_m of weights
w_1, ..., w_m, a weight w for the next one, and a share delta to be missed, fixed beforehand, J is the least number with

    sum of w_i over M_i <= J   >=   (1 - delta) (w_1 + ... + w_m + w).

Then Pr(M_(m+1) <= J) >= 1 - delta.

*Proof* (Tibshirani, Foygel Barber, Candes and Ramdas, 2019). Given which m + 1 ranks and weights there are, and not in
which order, the next one is the i-th of them with probability p_i = w_i over the sum of all. Let Q be the least number
with sum of p_i over M_i <= Q at least 1 - delta, all m + 1 of them counted: M_(m+1) <= Q with probability at least
1 - delta. J counts the same without the next one, as if its rank were infinite, so that Q <= J. ∎

With equal weights and delta = r/(m + 1) this is the r-th largest rank. All numbers are exact rationals.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, final

from ascertain.bank.calibrate import Calibrated, calibrate_ranks
from ascertain.bank.shells import Rank
from ascertain.errors import TaskError

Group = TypeVar("Group", bound=Hashable)


@final
@dataclass(frozen=True)
class WeightedRank:
    """The rank of a true endpoint, and how many times more often such operations come now than when it was found."""

    rank: Rank
    weight: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", Fraction(self.weight))
        if self.weight < 0 or (self.rank is not None and self.rank < 0):
            raise TaskError(f"rank {self.rank} with weight {self.weight}: neither may be negative")


def calibrate_groups(ranks: Iterable[tuple[Group, Rank]], place: int = 1) -> dict[Group, Calibrated]:
    """For every group by itself how many shells cover its next operation or block; groups as they first occur.

    `ranks` are pairs of a group, known before the operation is looked at, and the rank that was found. A group of fewer
    than `place` ranks promises nothing: its shells are None.
    """
    found: dict[Group, list[Rank]] = {}
    for group, rank in ranks:
        found.setdefault(group, []).append(rank)
    return {
        group: calibrate_ranks(own, place) if len(own) >= place else Calibrated(None, Fraction(0), len(own), place)
        for group, own in found.items()
    }


def calibrate_weighted(
    ranks: Sequence[WeightedRank], miss: Fraction | int | str, weight: Fraction | int | str = 1
) -> Calibrated:
    """How many shells cover the next operation, whose weight is given, with probability at least 1 - miss.

    `shells` is None, and the coverage 0, where these ranks promise that for no number of shells.
    """
    missed, own = Fraction(miss), Fraction(weight)
    if not 0 < missed < 1 or own < 0:
        raise TaskError(f"a share of {missed} to be missed, weight {own}: inside (0, 1), and at least 0, are needed")
    needed = (1 - missed) * (sum((r.weight for r in ranks), Fraction(0)) + own)
    if needed == 0:
        raise TaskError("all weights are 0, so that nothing like the next operation was calibrated on")
    # Counted from the largest, as `Calibrated` has it: the ranks beyond J, and the first of those that are J.
    reached, place = Fraction(0), len(ranks) + 1
    for entry in sorted((r for r in ranks if r.rank is not None), key=lambda r: r.rank or 0):
        reached, place = reached + entry.weight, place - 1
        if reached >= needed:
            return Calibrated(entry.rank, 1 - missed, len(ranks), place)
    return Calibrated(None, Fraction(0), len(ranks), max(place - 1, 1))
