"""The coverage of calibration by simulation: calibrate on blocks, draw one more, see whether it is covered, many times.

Throughout: every repeat draws m + 1 blocks afresh, a rank for every stratum by the stratum's law, and a block's rank is
the largest. Laws are over few ranks, so that ties abound.

*Blocks that are exchangeable but not independent.* Of the m + 1 blocks of a repeat, H are *hard*: all their ranks are
moved up beyond every rank that a block has otherwise, as on a day on which everything is harder to explain. H is drawn
first, by a law of its own, and the H places are drawn at random among the m + 1. A permutation of the blocks leaves
the joint law as it is, since ranks were independent and alike before, and every set of H places is as likely as every
other: the blocks are exchangeable. Independent they are not: whether one is hard tells about the others. With H = 1
always, a finite pool with one hard block drawn without replacement, the next block fails exactly when it is the hard
one: the bound m/(m + 1) is attained, whatever ties there are. With H uniform on 0 .. m + 1 (Polya's urn) hard blocks
come in swarms. With c_j the coverage of j independent blocks, c_0 = 0, and the largest rank taken as J,

    Pr(covered) = sum over h of Pr(H = h) ((m + 1 - h) + h c_(h-1)) / (m + 1),        c_m in place of the term h = 0:

a block that is not hard is covered by any hard one, and a hard one by the hard ones alone.

*Infinite ranks* belong to truths that no number of shells holds. A block of infinite rank is never covered. Where the
calibrated number itself is infinite the calibration *declines*: it says that no number will do, and promises nothing.
The theorem is about both together (`bank/calibrate.py`): covered, or declined, at least m/(m + 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import final

import numpy as np
from scipy.special import bdtr, bdtrc

from ascertain.bank.calibrate import calibrate_ranks, largest_rank
from ascertain.bank.shells import Rank
from ascertain.errors import TaskError
from ascertain.types import BoolArray, LongArray
from ascertain_paper.studies.audit.exact_coverage import exact_coverage, law_of_largest
from ascertain_paper.testbed.draws import draw_words

BATCH = 256
"""Repeats that are drawn together. Draws are named by batch, so this is part of the definition, not a knob."""
NONE_HARD = (Fraction(1),)
"""The law of H where no block is hard: independent blocks."""
ONE_HARD = (Fraction(0), Fraction(1))
_INFINITE = 1 << 40


@final
@dataclass(frozen=True)
class CoverageStudy:
    """How many of the repeats were covered, how many had a tie for the last place, and what the theorem promises."""

    covered: int
    tied: int
    repeats: int
    promised: Fraction
    declined: int = 0
    """Repeats whose calibration said that no number of shells will do."""
    computed: Fraction | None = None
    """The probability of covered or declined, where the law that was drawn from is known."""

    def is_plausible(self, probability: Fraction, tail: float) -> bool:
        """Whether, at that probability, neither so few nor so many would be kept with a probability below `tail`."""
        few = float(bdtr(self.kept, self.repeats, float(probability)))
        many = float(bdtrc(self.kept - 1, self.repeats, float(probability)))
        return min(few, many) >= tail

    def is_enough(self, tail: float) -> bool:
        """Whether, at what is promised, so few would not be kept with a probability below `tail`."""
        return float(bdtr(self.kept, self.repeats, float(self.promised))) >= tail

    @property
    def kept(self) -> int:
        """Repeats that are as the theorem says: covered, or declined."""
        return self.covered + self.declined


def swarm(blocks: int) -> tuple[Fraction, ...]:
    """The law of H by which any number of so many blocks and the next one is hard, all numbers alike: Polya's urn."""
    return (Fraction(1, blocks + 2),) * (blocks + 2)


def cover_blocks(blocks: Sequence[Sequence[Rank]], group: int) -> CoverageStudy:
    """Groups of blocks one after the other: calibrate on all but the last, see whether the last is covered."""
    largest = [largest_rank(block) for block in blocks]
    covered = tied = declined = repeats = 0
    for low in range(0, len(largest) - group + 1, group):
        *past, last = largest[low : low + group]
        calibrated = calibrate_ranks(past)
        covered += calibrated.covers(last)
        declined += calibrated.shells is None
        tied += last == calibrated.shells
        repeats += 1
    return CoverageStudy(covered, tied, repeats, Fraction(group - 1, group), declined)


def rank_laws(blocks: Sequence[Sequence[Rank]]) -> tuple[list[list[Fraction]], Rank]:
    """Of every stratum the share of each rank, and the rank that stands for infinity: one that no truth has.

    It is the same for all strata, beyond the finite ranks of all of them; None, when no rank is infinite.
    """
    most = max((rank for block in blocks for rank in block if rank is not None), default=0)
    infinite = most + 1 if any(rank is None for block in blocks for rank in block) else None
    laws: list[list[Fraction]] = []
    for ranks in zip(*blocks, strict=True):
        places = [most + 1 if rank is None else rank for rank in ranks]
        length = most + 1 if infinite is None else most + 2
        laws.append([Fraction(places.count(k), len(places)) for k in range(length)])
    return laws, infinite


def simulate_coverage(
    laws: Sequence[Sequence[Fraction]],
    blocks: int,
    *,
    place: int = 1,
    hard: Sequence[Fraction] = NONE_HARD,
    infinite: Rank = None,
    repeats: int = 10_000,
    seed: int,
) -> CoverageStudy:
    """Repeat calibration on `blocks` blocks and one more; `laws[s][k]` is the probability of rank k in stratum s.

    `hard[h]` is the probability that h blocks are hard; `infinite` is the rank that stands for infinity.
    """
    if not laws or any(not _is_law(law) for law in laws):
        raise TaskError("every stratum needs a law of ranks: probabilities that are not negative and sum to 1")
    if not _is_law(hard) or len(hard) > blocks + 2:
        raise TaskError(f"the number of hard blocks needs a law over 0 .. {blocks + 1}")
    if not 1 <= place <= blocks or repeats < 1:
        raise TaskError(f"place {place} of {blocks} blocks, {repeats} repeats cannot be simulated")
    covered = tied = declined = 0
    for batch in range(-(-repeats // BATCH)):
        size, name = min(BATCH, repeats - batch * BATCH), f"coverage, seed {seed}, batch {batch}"
        ranks = _draw_ranks(laws, (BATCH, blocks + 1), name, hard, infinite)[:size]
        chosen, last = np.sort(ranks[:, :blocks], axis=1)[:, blocks - place], ranks[:, blocks]
        covered += int(np.count_nonzero((last <= chosen) & (chosen < _INFINITE)))
        declined += int(np.count_nonzero(chosen >= _INFINITE))
        tied += int(np.count_nonzero(last == chosen))
    computed = None if place > 1 or (infinite is not None and len(hard) > 1) else compute_coverage(laws, blocks, hard)
    return CoverageStudy(covered, tied, repeats, Fraction(blocks + 1 - place, blocks + 1), declined, computed)


def compute_coverage(laws: Sequence[Sequence[Fraction]], blocks: int, hard: Sequence[Fraction]) -> Fraction:
    """The probability that the next block is covered by the largest rank: the formula above."""
    law = law_of_largest(laws)
    total = hard[0] * exact_coverage(law, blocks)
    for h, probability in enumerate(hard[1:], start=1):
        among = exact_coverage(law, h - 1) if h > 1 else Fraction(0)
        total += probability * (blocks + 1 - h + h * among) / (blocks + 1)
    return total


def _is_law(law: Sequence[Fraction]) -> bool:
    return bool(law) and min(law) >= 0 and sum(law) == 1


def _draw_ranks(
    laws: Sequence[Sequence[Fraction]], shape: tuple[int, int], name: str, hard: Sequence[Fraction], infinite: Rank
) -> LongArray:
    """The ranks of blocks, a repeat in each row."""
    largest = np.zeros(shape, dtype=np.int64)
    for stratum, law in enumerate(laws):
        np.maximum(largest, _draw_law(law, f"{name}, stratum {stratum}", shape), out=largest)
    moved = largest + max(len(law) for law in laws) * _place_hard(hard, shape, name)
    return moved if infinite is None else np.where(largest >= infinite, _INFINITE, moved)


def _draw_law(law: Sequence[Fraction], name: str, shape: tuple[int, ...]) -> LongArray:
    """Numbers of that law. Of 2^32 equally likely words, those below `ends[k]` give k or less: exact within 2^-32."""
    ends = np.array([int(total * 2**32) for total in accumulate(law)], dtype=np.int64)
    return np.searchsorted(ends, draw_words(name, shape), side="right")


def _place_hard(hard: Sequence[Fraction], shape: tuple[int, int], name: str) -> BoolArray:
    """Which blocks are hard: a number of them for each repeat, at places drawn at random."""
    number = _draw_law(hard, f"{name}, hard", (shape[0], 1))
    order = np.argsort(np.argsort(draw_words(f"{name}, places", shape), axis=1, kind="stable"), axis=1, kind="stable")
    return order < number
