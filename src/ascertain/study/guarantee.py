"""The audit of the guarantee: what the paper could not measure. Five questions, each with the limit that it must keep.

1. How often is an answer wrong, for the truths that are hardest to tell apart, at the real alpha?
2. What happens when the bank does not hold the truth?
3. How often is the bank compiled although the nominal is true?
4. How often does a calibrated number of shells hold the truth of the next block?
5. What remains of the guarantee when the sensor is not as it was declared?
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from ascertain.study.conditions import Conditions
from ascertain.study.coverage import CoverageStudy, simulate_coverage
from ascertain.study.guarantee_compiling import count_vain
from ascertain.study.guarantee_noise import ACTUAL, observe_noises
from ascertain.study.guarantee_removed import audit_blocks
from ascertain.study.guarantee_sampling import FALLBACK, NOMINAL, sample_noise, sample_stages
from ascertain.study.guarantee_tables import CHOICES, Found, summarise
from ascertain.study.record import Study

THRESHOLDS = (0, 10, 100, 1000)
SEED = 1


@final
@dataclass(frozen=True)
class Sizes:
    """How much is done of everything."""

    stages: Mapping[str, tuple[int, int, int]]
    """For each stage: banks of each plant, truths of each bank, runs of each truth."""
    blocks: int
    streams: int
    repeats: int
    group: int
    """Blocks that are taken together to see whether calibration on all but the last covers the last."""
    noise_operations: int
    noise_runs: tuple[int, int]
    """For each actual noise: truths of each plant, runs of each truth."""


QUICK = Sizes({NOMINAL: (1, 2, 12), FALLBACK: (1, 1, 6)}, 10, 20_000, 2_000, 5, 4, (1, 2))
FULL = Sizes({NOMINAL: (12, 4, 10), FALLBACK: (6, 2, 20)}, 1_000, 200_000, 10_000, 10, 240, (4, 25))


def study(conditions: Conditions) -> Study:
    """The audit; its quick form does a few hundred operations, the full one 20,000."""
    return audit_guarantee(conditions, QUICK if conditions.quick else FULL)


def audit_guarantee(conditions: Conditions, sizes: Sizes) -> Study:
    """All five questions, at the sizes given."""
    began, frozen = time.monotonic(), conditions.settings
    removed = audit_blocks(conditions, sizes.blocks)
    ranks = [result["rank"] for result in removed]
    strata = len(frozen.strata)
    found = Found(
        settings=frozen,
        sampled=sample_stages(conditions, sizes.stages),
        removed=removed,
        vain=count_vain(
            f"{frozen.hash}, audit, vain", frozen.stream_flip, frozen.stream_length, THRESHOLDS, sizes.streams
        ),
        coverage=cover(ranks, strata, sizes),
        noise_sampled=sample_noise(conditions, ACTUAL, *sizes.noise_runs),
        noise_observed=observe_noises(conditions, ACTUAL, sizes.noise_operations),
    )
    tables, figures, rows, findings, alarms = summarise(found)
    return Study(
        name="audit",
        title="The guarantee, audited",
        settings_hash=frozen.hash,
        quick=conditions.quick,
        seconds=time.monotonic() - began,
        rows=rows,
        tables=tables,
        figures=figures,
        findings=findings,
        alarms=alarms,
        choices=CHOICES,
    )


def cover(ranks: Sequence[int | None], strata: int, sizes: Sizes) -> list[tuple[str, CoverageStudy]]:
    """Coverage on the blocks that were compiled, and by simulation from the law of the ranks that they showed."""
    blocks = [list(ranks[low : low + strata]) for low in range(0, len(ranks), strata)]
    results = [(f"blocks of the testbed, {sizes.group} at a time", cover_blocks(blocks, sizes.group))]
    laws = [rank_law([block[s] for block in blocks]) for s in range(strata)]
    for name, m, shift in (
        ("simulated from their ranks", 100, 0),
        ("simulated from their ranks", 9, 0),
        ("simulated, whole days harder than others", 100, 2),
    ):
        results.append((name, simulate_coverage(laws, m, shift=shift, repeats=sizes.repeats, seed=SEED)))
    return results


def cover_blocks(blocks: Sequence[Sequence[int | None]], group: int) -> CoverageStudy:
    """Groups of blocks one after the other: calibrate on all but the last, see whether the last is covered.

    A truth that no number of shells holds has infinite rank: as a last block it is not covered, unless an earlier one
    was infinite too and the calibrated number is.
    """
    infinite = 1 << 30
    largest = [max(infinite if rank is None else rank for rank in block) for block in blocks]
    covered = tied = repeats = 0
    for low in range(0, len(largest) - group + 1, group):
        *past, last = largest[low : low + group]
        covered += last <= max(past)
        tied += last == max(past)
        repeats += 1
    return CoverageStudy(covered, tied, repeats, Fraction(group - 1, group))


def rank_law(ranks: Sequence[int | None]) -> list[Fraction]:
    """The share of each rank; infinity comes after the largest."""
    most = max((rank for rank in ranks if rank is not None), default=-1)
    places = [most + 1 if rank is None else rank for rank in ranks]
    return [Fraction(places.count(k), len(places)) for k in range(max(places) + 1)]
