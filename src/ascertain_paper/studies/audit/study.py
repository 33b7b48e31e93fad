"""The audit of the guarantee: what the paper could not measure. Five questions, each with the limit that it must keep.

1. How often is an answer wrong, for the truths that are hardest to tell apart, at the real alpha?
2. What happens when the bank does not hold the truth?
3. How often is the bank compiled although the nominal is true?
4. How often does a calibrated number of shells hold the truth of the next block?
5. What remains of the guarantee when the sensor is not as it was declared?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from ascertain.bank.shells import Rank
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.studies.audit.compiling import count_vain, watch_triggers
from ascertain_paper.studies.audit.coverage import (
    NONE_HARD,
    ONE_HARD,
    CoverageStudy,
    cover_blocks,
    rank_laws,
    simulate_coverage,
    swarm,
)
from ascertain_paper.studies.audit.noise import ACTUAL, observe_noises, sample_noise
from ascertain_paper.studies.audit.removed import audit_blocks
from ascertain_paper.studies.audit.sampling import FALLBACK, NOMINAL, WHOLE, sample_stages
from ascertain_paper.studies.audit.tables import Found, answer_audit, list_choices, summarise
from ascertain_paper.study import Study

THRESHOLDS = (0, 10, 100, 1000)
SEED = 1


@final
@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How much is done of everything."""

    stages: Mapping[str, tuple[int, int, int]]
    """For each observer: banks of each plant, truths of each bank, runs of each truth."""
    blocks: int
    separating: int
    """Blocks of which an operation is run with separating probes too."""
    streams: int
    watched: int
    """Streams that the trigger and observers are run on: the first of all, and at each threshold the first to cross."""
    repeats: int
    group: int
    """Blocks that are taken together to see whether calibration on all but the last covers the last."""
    noise_operations: int
    noise_runs: tuple[int, int]
    """For each actual noise: truths of each plant, runs of each truth."""


QUICK = Sizes(
    stages={NOMINAL: (1, 2, 12), FALLBACK: (1, 1, 8), WHOLE: (1, 1, 2)},
    blocks=10,
    separating=1,
    streams=20_000,
    watched=1,
    repeats=2_000,
    group=5,
    noise_operations=4,
    noise_runs=(2, 3),
)
# In the full form runs suffice to show each of both stages' truths wrong at most alpha: with K truths, n runs of each
# and an estimate of p alpha the limit is (p + sqrt(log(K/delta) / 2n)) alpha. In the nominal stage p is at most 0.694
# (49^-4 / alpha), K = 24; in the fallback terms of up to 0.885 were met, K = 6.
FULL = Sizes(
    stages={NOMINAL: (6, 2, 64), FALLBACK: (3, 1, 360), WHOLE: (2, 1, 60)},
    blocks=1_000,
    separating=100,
    streams=200_000,
    watched=50,
    repeats=10_000,
    group=10,
    noise_operations=240,
    noise_runs=(4, 25),
)


def study(conditions: Conditions) -> Study:
    """The audit; its quick form does a few hundred operations, the full one 20,000."""
    return audit_guarantee(conditions, QUICK if conditions.quick else FULL)


def audit_guarantee(conditions: Conditions, sizes: Sizes) -> Study:
    """All five questions, at the sizes given."""
    frozen = conditions.settings
    removed = audit_blocks(conditions, sizes.blocks, sizes.separating)
    name = f"{frozen.hash}, audit, vain"
    vain = count_vain(name, frozen.stream_flip, frozen.stream_length, THRESHOLDS, sizes.streams)
    found = Found(
        settings=frozen,
        sampled=sample_stages(conditions, sizes.stages),
        removed=removed,
        vain=vain,
        watched=watch_triggers(conditions, name, vain, sizes.watched),
        coverage=cover([result["rank"] for result in removed], len(frozen.strata), sizes),
        noise_sampled=sample_noise(conditions, ACTUAL, *sizes.noise_runs),
        noise_observed=observe_noises(conditions, ACTUAL, sizes.noise_operations),
    )
    tables, figures, rows, findings, alarms = summarise(found)
    return Study(
        name="audit",
        title="The guarantee, audited",
        quick=conditions.quick,
        question="Are answers wrong as rarely as guaranteed, and does the guarantee end where its assumptions do?",
        answer=answer_audit(rows, alarms),
        rows=rows,
        tables=tables,
        figures=figures,
        findings=findings,
        alarms=alarms,
        choices=list_choices(found),
    )


def cover(ranks: Sequence[Rank], strata: int, sizes: Sizes) -> list[tuple[str, CoverageStudy]]:
    """Coverage on the blocks that were compiled, and by simulation from the law of the ranks that they showed."""
    blocks = [ranks[low : low + strata] for low in range(0, len(ranks), strata)]
    results = [(f"blocks of the testbed, {sizes.group} at a time", cover_blocks(blocks, sizes.group))]
    laws, infinite = rank_laws(blocks)
    for name, m, hard in (
        ("independent, by their ranks", 100, NONE_HARD),
        ("independent, by their ranks", 9, NONE_HARD),
        ("one of all hard", 100, ONE_HARD),
        ("hard ones in swarms", 9, swarm(9)),
    ):
        study = simulate_coverage(laws, m, hard=hard, infinite=infinite, repeats=sizes.repeats, seed=SEED)
        results.append((f"{name}, m = {m}", study))
    return results
