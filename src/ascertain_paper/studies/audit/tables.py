"""The audit put together: tables, figures, findings and alarms of all questions, and the choices behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from ascertain.report.record import Figure
from ascertain.report.tables import Table, show_ratio
from ascertain_paper.studies.audit.bounded_noise import bounded_part
from ascertain_paper.studies.audit.compiling import Vain
from ascertain_paper.studies.audit.coverage import CoverageStudy
from ascertain_paper.studies.audit.noise import ACTUAL
from ascertain_paper.studies.audit.noise_tables import noise_part
from ascertain_paper.studies.audit.parts import Results
from ascertain_paper.studies.audit.rate_tables import coverage_part, vain_part
from ascertain_paper.studies.audit.removed_tables import removed_part
from ascertain_paper.studies.audit.sampling import FALLBACK, NOMINAL, SHELLS, WHOLE
from ascertain_paper.studies.audit.sampling_tables import sampling_part
from ascertain_paper.study import OpenChoice
from ascertain_paper.testbed.settings import Settings


@final
@dataclass(frozen=True, kw_only=True)
class Found:
    """What the five questions gave."""

    settings: Settings
    sampled: Results
    removed: Results
    vain: Sequence[Vain]
    watched: Results
    coverage: Sequence[tuple[str, CoverageStudy]]
    noise_sampled: Results
    noise_observed: Results


def summarise(
    found: Found,
) -> tuple[tuple[Table, ...], tuple[Figure, ...], tuple[dict[str, Any], ...], tuple[str, ...], tuple[str, ...]]:
    """Tables, figures, rows, findings and alarms of all questions."""
    parts = [
        sampling_part(found.settings, found.sampled),
        removed_part(found.settings, found.removed),
        vain_part(found.vain, found.watched),
        coverage_part(found.coverage),
        noise_part(found.settings, found.noise_sampled, found.noise_observed),
        bounded_part(found.settings, ACTUAL),
    ]
    return (
        tuple(part[0] for part in parts),
        tuple(figure for part in parts for figure in part[1]),
        tuple(row for part in parts for row in part[2]),
        tuple(sentence for part in parts for sentence in part[3]),
        tuple(alarm for part in parts for alarm in part[4]),
    )


def answer_audit(rows: Results, alarms: Sequence[str]) -> str:
    """What came out, in two sentences."""
    if alarms:
        return f"Not everything that was promised is kept: {len(alarms)} alarms."
    shares = {
        row["stage"]: row["estimate"] / float(Fraction(row["alpha"]))
        for row in rows
        if row["question"] == "false acceptance"
    }
    return (
        f"For the hardest truths the measured risk is {shares[NOMINAL]:.2f} of alpha in the nominal stage and "
        f"{shares[WHOLE]:.2f} of alpha for the whole of {WHOLE}. No limit was found broken while the sensor is as "
        "declared; with a worse sensor nothing is guaranteed."
    )


def list_choices(found: Found) -> tuple[OpenChoice, ...]:
    """What the audit settles by itself, and what that does to its figures."""
    frozen = found.settings
    sizes = sorted(each["candidates"] for each in found.sampled if each["stage"] != NOMINAL)
    audited = sum(each["stage"] == FALLBACK for each in found.sampled)
    return (
        OpenChoice(
            f"How a wrong answer at {show_ratio(frozen.staged_risk)} is met",
            "importance sampling: read from what would be answered, weigh by the likelihood ratio, recomputed exactly",
            "nearly every run ends in a wrong answer and counts for at most alpha; counting would take "
            f"{float(1 / frozen.staged_risk):,.0f} runs for each wrong answer",
        ),
        OpenChoice(
            "Which truths",
            "those left last when the nominal, or the heaviest candidate, is read without noise",
            "the largest risk that we know how to provoke; for most truths it is smaller by orders of magnitude",
        ),
        OpenChoice(
            "Which banks a fallback is audited with",
            f"the first {SHELLS} shells of active operations, as many as they hold: {sizes[0]} to {sizes[-1]} "
            f"candidates; {audited} truths for the fallback alone",
            "the proof holds for every bank; the estimates are for these, and depend on how a bank's weights fall "
            "beside powers of the odds",
        ),
        OpenChoice(
            f"How {len(found.removed):,} operations are checked against all 2^{frozen.num_bits} states",
            "a wrong answer needs the truth to be beaten, so the evidence against the truth alone is followed to the "
            "end; observers themselves are run on one operation of each block, with separating probes on fewer",
            "on the fixed schedule stricter than stopping at the answer; of separating probes only runs can tell",
        ),
        OpenChoice(
            "Compilations in vain",
            "true nominals are read to the end of the stream, not to the answer",
            "no fewer than an observer compiles, and still below the promise",
        ),
        OpenChoice(
            "How blocks may depend on each other",
            "exactly one of m + 1 is hard; or any number is, all numbers alike; at places drawn at random",
            "the first attains m/(m + 1) exactly, where ties bring independent blocks far above it",
        ),
    )
