"""Calibration: how many shells to keep, and how often that many are enough, from operations whose truth is known.

A *block* holds one operation of every stratum, and its rank M is the largest rank of a true endpoint in it: keeping M
shells (and the nominal) covers the block whole. Let M_1, ..., M_m be the ranks of the calibration blocks, M_(m+1) that
of the next block, and J the r-th largest of the first m. If the m + 1 blocks are *exchangeable*, all orders of them
equally likely, then

    Pr(M_(m+1) <= J) >= (m + 1 - r) / (m + 1),        for r = 1, the largest of all:  m / (m + 1).

*Proof.* Call block i *high* if fewer than r of the others have a rank of M_i or more. M_(m+1) > J says that block
m + 1 is high. At most r blocks are: take the least rank among the high ones; the other high blocks all have that rank
or more, so they are fewer than r. By exchangeability each block is high with the same probability, at most r/(m + 1).
Ties only help: equal ranks count against being high. ∎

Ranks are integers, or infinite where the truth is not among the candidates at all. Infinity is a rank like another in
the proof, but keeping infinitely many shells covers nothing: if J is infinite the calibration says that no number of
shells will do, and promises nothing (coverage 0). What holds over calibration and next block together is then: with
probability at least (m + 1 - r)/(m + 1) the next block is covered, or it was said that it may not be.

*Per stratum* the same is done with the ranks of one stratum instead of those of blocks: a number of shells of its own
for every stratum, and its own rational. It covers the next operation of that stratum, not whole blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from ascertain.bank.shells import Rank
from ascertain.errors import TaskError


@final
@dataclass(frozen=True)
class Calibrated:
    """Keep `shells` shells: what comes next is then covered with probability at least `coverage`.

    `shells` is None, and the coverage 0, when no number of shells would do.
    """

    shells: Rank
    coverage: Fraction
    num_ranks: int
    """On how many ranks this rests: m."""
    place: int
    """The rank that was taken, counted from the largest: r."""

    def covers(self, rank: Rank) -> bool:
        """Whether the shells kept hold a truth, or a block whole, of that rank; infinity covers nothing."""
        return self.shells is not None and rank is not None and rank <= self.shells


def largest_rank(ranks: Iterable[Rank]) -> Rank:
    """The largest of some ranks: what it takes to cover all of them; 0 when there are none."""
    return max(ranks, key=_order, default=0)


def calibrate_ranks(ranks: Sequence[Rank], place: int = 1) -> Calibrated:
    """How many shells to keep, from the ranks of exchangeable blocks or of operations of one stratum."""
    if not 1 <= place <= len(ranks):
        raise TaskError(f"the rank in place {place} of {len(ranks)} cannot be taken; places are 1 to {len(ranks)}")
    if any(rank is not None and rank < 0 for rank in ranks):
        raise TaskError("a rank is negative; ranks are 0 for the nominal, then 1, 2, ..., or None for infinity")
    shells = sorted(ranks, key=_order, reverse=True)[place - 1]
    m = len(ranks)
    coverage = Fraction(0) if shells is None else Fraction(m + 1 - place, m + 1)
    return Calibrated(shells, coverage, m, place)


def calibrate_blocks(ranks: Sequence[Sequence[Rank]], place: int = 1) -> Calibrated:
    """How many shells cover the next block whole; `ranks[i][s]` is the rank in block i and stratum s."""
    _check_shape(ranks)
    return calibrate_ranks([largest_rank(row) for row in ranks], place)


def calibrate_strata(ranks: Sequence[Sequence[Rank]], place: int = 1) -> tuple[Calibrated, ...]:
    """For every stratum by itself how many shells cover its next operation."""
    _check_shape(ranks)
    return tuple(calibrate_ranks(column, place) for column in zip(*ranks, strict=True))


def _check_shape(ranks: Sequence[Sequence[Rank]]) -> None:
    if not ranks or not ranks[0] or len({len(row) for row in ranks}) > 1:
        raise TaskError("calibration needs at least one block, and in every block one operation of each stratum")


def _order(rank: Rank) -> tuple[bool, int]:
    """Infinity after every number."""
    return rank is None, rank or 0
