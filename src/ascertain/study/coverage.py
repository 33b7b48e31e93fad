"""The coverage of calibration by simulation: calibrate on blocks, draw one more, see whether it is covered, many times.

Throughout: every repeat draws m + 1 blocks afresh, a rank for every stratum by the stratum's law, and a block's rank is
the largest. Laws are over few ranks, so that ties abound. With a `shift` the blocks of a repeat are exchangeable but
not independent: all ranks of a repeat are moved up together by 0 or by `shift`, as on a day on which everything is
harder to explain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import final

import numpy as np
from scipy.special import bdtr, bdtrc

from ascertain.errors import TaskError
from ascertain.instances.draws import draw_words
from ascertain.types import LongArray

BATCH = 256
"""Repeats that are drawn together. Draws are named by batch, so this is part of the definition, not a knob."""


@final
@dataclass(frozen=True)
class CoverageStudy:
    """How many of the repeats were covered, how many had a tie for the last place, and what the theorem promises."""

    covered: int
    tied: int
    repeats: int
    promised: Fraction

    def is_plausible(self, probability: Fraction, tail: float) -> bool:
        """Whether, at that coverage, neither so few nor so many would be covered with a probability below `tail`."""
        few = float(bdtr(self.covered, self.repeats, float(probability)))
        many = float(bdtrc(self.covered - 1, self.repeats, float(probability)))
        return min(few, many) >= tail

    def is_enough(self, tail: float) -> bool:
        """Whether, at the coverage that is promised, so few would not be covered with a probability below `tail`."""
        return float(bdtr(self.covered, self.repeats, float(self.promised))) >= tail


def simulate_coverage(
    laws: Sequence[Sequence[Fraction]], blocks: int, *, place: int = 1, shift: int = 0, repeats: int = 10_000, seed: int
) -> CoverageStudy:
    """Repeat calibration on `blocks` blocks and one more; `laws[s][k]` is the probability of rank k in stratum s."""
    if not laws or any(not law or min(law) < 0 or sum(law) != 1 for law in laws):
        raise TaskError("every stratum needs a law of ranks: probabilities that are not negative and sum to 1")
    if not 1 <= place <= blocks or repeats < 1 or shift < 0:
        raise TaskError(f"place {place} of {blocks} blocks, {repeats} repeats, shift {shift} cannot be simulated")
    covered = tied = 0
    for batch in range(-(-repeats // BATCH)):
        size = min(BATCH, repeats - batch * BATCH)
        ranks = _draw_ranks(laws, (BATCH, blocks + 1), f"coverage, seed {seed}, batch {batch}", shift)[:size]
        chosen = np.sort(ranks[:, :blocks], axis=1)[:, blocks - place]
        covered += int(np.count_nonzero(ranks[:, blocks] <= chosen))
        tied += int(np.count_nonzero(ranks[:, blocks] == chosen))
    return CoverageStudy(covered, tied, repeats, Fraction(blocks + 1 - place, blocks + 1))


def _draw_ranks(laws: Sequence[Sequence[Fraction]], shape: tuple[int, int], name: str, shift: int) -> LongArray:
    """The ranks of blocks, a repeat in each row."""
    largest = np.zeros(shape, dtype=np.int64)
    for stratum, law in enumerate(laws):
        # Of 2^32 equally likely words, those below `ends[k]` give rank k or less: exact to within 2^-32.
        ends = np.array([int(total * 2**32) for total in accumulate(law)], dtype=np.int64)
        words = draw_words(f"{name}, stratum {stratum}", shape)
        np.maximum(largest, np.searchsorted(ends, words, side="right"), out=largest)
    moved = draw_words(f"{name}, shift", (shape[0], 1)) & 1
    return largest + shift * moved
