"""The tables, figures and findings of the audit: each rate beside the limit that it must keep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from ascertain.instances.settings import Settings
from ascertain.study.coverage import CoverageStudy
from ascertain.study.guarantee_compiling import Vain, binomial_limits
from ascertain.study.guarantee_noise_tables import Part, Results, noise_part
from ascertain.study.guarantee_removed import STAGES
from ascertain.study.guarantee_sampling import DELTA, FALLBACK, NOMINAL, pool_audits
from ascertain.study.record import Cell, Choice, Figure, Series, Table

TAIL = 1e-6
"""A rate is an alarm when, at the limit, what was counted has a probability below this."""
LEVELS = tuple(10 ** (k / 10) for k in range(41))
"""Evidence, as e-values, at which shares are compared with Ville's limit."""
ENOUGH = 5

CHOICES = (
    Choice(
        "How a wrong answer at 1/4,000,000 is met",
        "importance sampling: read from what would be answered, weigh by the likelihood ratio, recomputed in rationals",
        "every run ends in a wrong answer and counts for at most alpha; counting would take billions of runs",
    ),
    Choice(
        "Which truths",
        "those left last when the nominal, or the heaviest candidate, is read without noise",
        "the largest risk that we know how to provoke; for most truths it is smaller by orders of magnitude",
    ),
    Choice(
        "How 20,000 operations are checked against all 2^24 states",
        "a wrong answer needs the truth to be beaten, so the evidence against the truth alone is followed to the end",
        "stricter than stopping at the answer; one operation of each block is run on the open world besides",
    ),
    Choice(
        "Compilations in vain",
        "true nominals are read to the end of the stream, not to the answer",
        "no fewer than an observer compiles, and still below the promise",
    ),
)


@final
@dataclass(frozen=True, kw_only=True)
class Found:
    """What the five questions gave."""

    settings: Settings
    sampled: Results
    removed: Results
    vain: Sequence[Vain]
    coverage: Sequence[tuple[str, CoverageStudy]]
    noise_sampled: Results
    noise_observed: Results


def summarise(
    found: Found,
) -> tuple[tuple[Table, ...], tuple[Figure, ...], tuple[dict[str, Any], ...], tuple[str, ...], tuple[str, ...]]:
    """Tables, figures, rows, findings and alarms of all questions."""
    parts = [
        sampling_part(found),
        removed_part(found),
        vain_part(found.vain),
        coverage_part(found.coverage),
        noise_part(found.settings, found.noise_sampled, found.noise_observed),
    ]
    return (
        tuple(part[0] for part in parts),
        tuple(figure for part in parts for figure in part[1]),
        tuple(row for part in parts for row in part[2]),
        tuple(sentence for part in parts for sentence in part[3]),
        tuple(alarm for part in parts for alarm in part[4]),
    )


def sampling_part(found: Found) -> Part:
    """1: false acceptance at the real alpha."""
    alpha = found.settings.staged_risk
    body: list[tuple[Cell, ...]] = []
    rows: list[dict[str, Any]] = []
    alarms: list[str] = []
    for stage in (NOMINAL, FALLBACK):
        results = [result for result in found.sampled if result["stage"] == stage]
        pooled = pool_audits(results, alpha)
        limit = pooled.upper_limit(DELTA)
        shares = (pooled.estimate / float(alpha), limit / float(alpha), float(pooled.largest / alpha))
        body.append((stage, len(results), pooled.num_runs, pooled.num_wrong, *shares, _kept(pooled.unearned == 0)))
        rows.append({"question": "false acceptance", "stage": stage, "runs": pooled.num_runs, "alpha": str(alpha),
                     "estimate": pooled.estimate, "limit": None if math.isinf(limit) else limit,
                     "unearned": pooled.unearned})  # fmt: skip
        if pooled.unearned:
            alarms.append(f"{pooled.unearned} answers of the {stage} stage were not earned by the evidence")
    table = Table(
        "false-acceptance",
        f"False acceptance at alpha = 1/{alpha.denominator:,}, for the hardest truths",
        (
            "stage",
            "truths",
            "runs",
            "wrong when provoked",
            "estimate / alpha",
            "limit / alpha",
            "largest / alpha",
            "kept",
        ),
        tuple(body),
        f"By importance sampling, the truths taken together; the limit holds with confidence {1 - DELTA} "
        "(Hoeffding). No term may exceed alpha.",
    )
    nominal = next(row for row in rows if row["stage"] == NOMINAL)
    finding = (
        f"For the hardest truths the nominal stage is wrong with probability {nominal['estimate']:.2e}, "
        f"{nominal['estimate'] / float(alpha):.2f} of what it may spend; every answer had the evidence that it needs."
    )
    return table, (), rows, [finding] if not alarms else [], alarms


def removed_part(found: Found) -> Part:
    """2: the truth removed from the bank."""
    frozen, number = found.settings, len(found.removed)
    risks = dict(zip(STAGES, (frozen.eager_risk, frozen.staged_risk, frozen.staged_risk), strict=True))
    body: list[tuple[Cell, ...]] = []
    alarms: list[str] = []
    for stage, alpha in risks.items():
        met = [result["stages"][stage] for result in found.removed if stage in result["stages"]]
        beaten = sum(x["beaten"] for x in met)
        largest = max((x["micronats"] for x in met), default=0) / 1e6
        body.append((stage, len(met), beaten, largest, -math.log(alpha), _kept(beaten == 0)))
        if beaten:
            alarms.append(f"{beaten} truths that the bank does not list were beaten ({stage}): answers may be WRONG")
    alarms += _ville_alarms(found.removed)
    played = [result["played"] for result in found.removed if result["played"] is not None]
    outcomes = [run["outcome"] for run in played]
    counts = {word: outcomes.count(word) for word in ("correct", "wrong", "abstained")}
    if counts["wrong"]:
        alarms.append(f"{counts['wrong']} WRONG answers on the open world without the truth in the bank")
    note = (
        f"The evidence against the truth along all {frozen.stream_length} readings. {len(played)} of the operations "
        f"were run on the open world as well: {counts['correct']} correct, {counts['abstained']} abstained, "
        f"{counts['wrong']} wrong."
    )
    table = Table(
        "removed",
        f"{number:,} operations whose bank does not list the truth",
        ("stage", "operations", "truth beaten", "largest evidence (nats)", "needed (nats)", "kept"),
        tuple(body),
        note,
    )
    row = {"question": "truth removed", "operations": number, "beaten": sum(int(str(line[2])) for line in body),
           "played": len(played), **counts}  # fmt: skip
    finding = (
        f"With the truth removed from the bank, {'no answer' if not alarms else 'NOT EVERY answer'} on {number:,} "
        f"operations could {'have been wrong' if not alarms else 'be right'}, whenever one stops."
    )
    return table, (_ville_figure(found.removed),), [row], [finding], alarms


def _reached(removed: Results, stage: str) -> tuple[list[int], int]:
    """How many operations' largest evidence reached each of the levels, and of how many."""
    met = [result["stages"][stage]["micronats"] / 1e6 for result in removed if stage in result["stages"]]
    return [sum(nats >= math.log(x) for nats in met) for x in LEVELS], len(met)


def _ville_alarms(removed: Results) -> list[str]:
    """Levels that were reached more often than 1/x, and not by chance."""
    alarms: list[str] = []
    for stage in STAGES:
        counts, number = _reached(removed, stage)
        for x, count in zip(LEVELS, counts, strict=True):
            # Evidence is kept rounded up, so that a level may be reached by a millionth of a nat that was not there.
            if number and binomial_limits(count, number, TAIL)[0] > (1 + 1e-5) / x:
                alarms.append(f"evidence against the truth reached {x:.3g} on {count} of {number} operations ({stage})")
    return alarms


def _ville_figure(removed: Results) -> Figure:
    """The share of operations whose largest evidence against the truth reached x, beside 1/x."""
    series: list[Series] = []
    for stage in STAGES:
        counts, number = _reached(removed, stage)
        points = [(x, count / number) for x, count in zip(LEVELS, counts, strict=True) if count >= ENOUGH]
        if points:
            series.append(Series(stage, tuple(x for x, _ in points), tuple(y for _, y in points), mark="line"))
    promised = Series("1/x: Ville's limit", LEVELS, tuple(1 / x for x in LEVELS), mark="line")
    return Figure(
        "ville",
        "How far the evidence against a truth ever gets, when the bank does not list it",
        "evidence x, as an e-value",
        "share of operations that ever reach x",
        (*series, promised),
        log_x=True,
        log_y=True,
        note=f"Lines end where fewer than {ENOUGH} operations are left. But for chance they stay below 1/x, whatever x "
        "is; the observer acts on x = 1/alpha alone, far to the right.",
    )


def vain_part(vain: Sequence[Vain]) -> Part:
    """3: compilations under a true nominal."""
    body: list[tuple[Cell, ...]] = []
    rows: list[dict[str, Any]] = []
    alarms: list[str] = []
    for each in vain:
        low, high = binomial_limits(each.compiled, each.streams, float(DELTA))
        surely, _ = binomial_limits(each.compiled, each.streams, TAIL)
        kept = surely <= each.promised and each.computed <= each.promised
        share = each.compiled / each.streams
        body.append((f"{each.threshold}", each.streams, each.compiled, share, low, high, each.computed,
                     float(each.promised), _kept(kept)))  # fmt: skip
        rows.append({"question": "compilations in vain", "threshold": each.threshold, "streams": each.streams,
                     "compiled": each.compiled, "computed": each.computed, "promised": str(each.promised)})  # fmt: skip
        if not kept:
            alarms.append(f"true nominals are left too often at lambda = {each.threshold}: {share:.4f}")
    table = Table(
        "vain",
        "Compilations although the nominal is true",
        ("lambda", "streams", "compiled", "share", "at least", "at most", "computed", "1/(1 + lambda)", "kept"),
        tuple(body),
        f"Limits of the binomial law, exact, at confidence {1 - DELTA} each; computed: from the law of the number of "
        "flips.",
    )
    chosen = next((each for each in vain if each.threshold == 100), vain[-1])
    finding = (
        f"At lambda = {chosen.threshold} the bank is compiled in vain on {100 * chosen.computed:.2f} % of true "
        f"nominals; {100 * float(chosen.promised):.2f} % are allowed."
    )
    return table, (), rows, [finding] if not alarms else [], alarms


def coverage_part(coverage: Sequence[tuple[str, CoverageStudy]]) -> Part:
    """4: the next block after calibration."""
    body: list[tuple[Cell, ...]] = []
    rows: list[dict[str, Any]] = []
    alarms: list[str] = []
    for name, each in coverage:
        kept, share = each.is_enough(TAIL), each.covered / each.repeats
        body.append((name, each.repeats, each.covered, share, float(each.promised), each.tied, _kept(kept)))
        rows.append({"question": "coverage", "blocks": name, "repeats": each.repeats, "covered": each.covered,
                     "promised": str(each.promised)})  # fmt: skip
        if not kept:
            alarms.append(f"coverage {share:.4f} is below the {each.promised} that calibration promises ({name})")
    table = Table(
        "coverage",
        "Whether the calibrated shells hold the next block's truths",
        ("blocks", "repeats", "covered", "share", "m/(m + 1)", "tied for the last place", "kept"),
        tuple(body),
        "Ties count as covered, so that the share may exceed the promise by as many as there are.",
    )
    name, last = coverage[-1]
    finding = f"Calibration covers {last.covered / last.repeats:.4f} of blocks ({name}); {last.promised} is promised."
    return table, (), rows, [finding] if not alarms else [], alarms


def _kept(holds: bool) -> str:
    return "kept" if holds else "VIOLATED"
