"""Where the guarantee ends: the table and the figure of observers that were told the wrong noise.

Three things are shown, and they are not the same. *Guaranteed* is alpha, for a sensor that is no worse than declared;
beyond that nothing is. The *bound* is computed: under the actual noise g a given truth is beaten with probability at
most (g/(1-g))^m (`noise.risk_at`). *Measured* is the audit's estimate for the hardest truths, with limits. With one
candidate and a symmetric flip the evidence moves by whole factors, so that it never exceeds its threshold when it
reaches it: every wrong answer then weighs exactly the bound, and the estimate is the bound times the share of provoked
runs that end in a wrong answer. It equals the bound when all of them do. That is a result, the bound is attained, and
how well it is supported depends on the number of runs; so both numbers of runs are shown, and the limits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from ascertain.report.record import Figure, Series
from ascertain.report.tables import Cell, Table
from ascertain_paper.importance_sampling import Audit
from ascertain_paper.studies.audit.noise import risk_at
from ascertain_paper.studies.audit.parts import DELTA, Part, Results
from ascertain_paper.studies.audit.sampling import pool_audits, read_audit
from ascertain_paper.studies.uncertainty import mean
from ascertain_paper.testbed.settings import Settings


@final
@dataclass(frozen=True)
class Point:
    """One actual noise: what was measured, between which limits, and the bound that is computed for it."""

    flip: Fraction
    measured: float
    limits: tuple[float, float]
    bound: Fraction


def noise_part(frozen: Settings, sampled: Results, observed: Results) -> Part:
    """A sensor that is not as declared: what the rule guarantees then, what was measured, what observers did."""
    declared, alpha = frozen.stream_flip, frozen.staged_risk
    body: list[tuple[Cell, ...]] = []
    rows: list[dict[str, Any]] = []
    points: list[Point] = []
    alarms: list[str] = []
    for actual in dict.fromkeys(result["actual"] for result in sampled):
        risk = risk_at(declared, Fraction(actual), alpha)
        pooled = pool_audits([read_audit(result, risk) for result in sampled if result["actual"] == actual])
        runs = [result["runs"][actual] for result in observed]
        outcomes = [run["outcome"] for run in runs]
        inactive = [r["runs"][actual]["compilations"] for r in observed if not r["active"]]
        reads = float(mean([run["reads"] for run in runs]))
        point = Point(Fraction(actual), pooled.estimate, _limits(pooled), risk)
        points.append(point)
        low, high = (limit / float(alpha) for limit in point.limits)
        body.append(
            (actual, f"{pooled.num_wrong}/{pooled.num_runs}", pooled.estimate / float(alpha), low, high,
             float(risk / alpha), "holds" if risk <= alpha else "does NOT hold", reads,
             f"{sum(inactive)}/{len(inactive)}", outcomes.count("correct"), outcomes.count("abstained"),
             outcomes.count("wrong"))
        )  # fmt: skip
        rows.append({"question": "wrong noise", "actual": actual, "declared": str(declared), "risk": str(risk),
                     "estimate": pooled.estimate, "limits": None if pooled.unearned else list(point.limits),
                     "provoked": pooled.num_runs, "provoked_wrong": pooled.num_wrong, "operations": len(runs),
                     "wrong": outcomes.count("wrong")})  # fmt: skip
        if pooled.unearned:
            alarms.append(f"a sensor of {actual}: {pooled.unearned} wrong answers weigh more than the bound allows")
        if Fraction(actual) <= declared and outcomes.count("wrong"):
            alarms.append(f"a sensor of {actual}, no worse than declared, gave answers that were not earned")
    table = Table(
        "noise",
        f"When the sensor is not as declared (flip {declared})",
        ("actual flip", "wrong when provoked", "measured / alpha", "at least", "at most", "bound / alpha",
         "guarantee", "mean reads", "compiled in vain", "correct", "abstained", "wrong"),
        tuple(body),
        "Measured: the probability of a wrong answer for the hardest truths, by importance sampling, with Hoeffding's "
        f"limits for their mean at confidence {1 - DELTA}. Bound: computed for the actual flip, with the nominal as "
        "the only candidate. A wrong answer weighs exactly the bound here, so that the measured value is the bound "
        "times the share of provoked runs that ended wrong: the two are equal where all of them did, and the bound is "
        "then attained. Reads and outcomes: readwise 100 on operations, half of them active.",
    )  # fmt: skip
    return table, (_noise_figure(points, declared, alpha),), rows, [_noise_finding(frozen, observed, points)], alarms


def _limits(pooled: Audit) -> tuple[float, float]:
    """Between which the mean of the truths' probabilities of a wrong answer lies, at confidence 1 - DELTA.

    Hoeffding's inequality is the same on either side, and terms lie in [0, alpha], which no mean of them leaves.
    """
    high = pooled.upper_limit(DELTA / 2)
    if pooled.unearned:  # a term above alpha: there is no limit to report
        return 0.0, high
    return max(0.0, 2 * pooled.estimate - high), min(float(pooled.alpha), high)


def _noise_finding(frozen: Settings, observed: Results, points: Sequence[Point]) -> str:
    alpha, worst = frozen.staged_risk, max(points, key=lambda point: point.flip)
    kept = max((point.flip for point in points if point.bound <= alpha), default=None)
    until = "none of the sensors tried" if kept is None else f"sensors up to a flip of {kept}"
    wrong = sum(run["outcome"] == "wrong" for result in observed for run in result["runs"].values())
    return (
        f"The guarantee rests on the declared noise, {frozen.stream_flip}, and ends beyond it: of those tried, "
        f"{until} keep it. At {worst.flip} the risk is up to {float(worst.bound):.1e}, "
        f"{float(worst.bound / alpha):,.0f} times what was to be spent, and {worst.measured:.1e} was measured for the "
        f"hardest truths; {wrong} of the runs counted were wrong. Declare the worst sensor that you would use."
    )


def _noise_figure(points: Sequence[Point], declared: Fraction, alpha: Fraction) -> Figure:
    """Measured with its limits, the bound as a curve, and alpha as far as it is guaranteed: up to `declared`."""
    flips = tuple(float(point.flip) for point in points)
    kept = (min((*flips, float(declared))), float(declared))
    drawable = all(math.isfinite(limit) for point in points for limit in point.limits)
    return Figure(
        "noise",
        "Where the guarantee ends: the risk of an answer under another noise than declared",
        "actual flip probability",
        "probability of a wrong answer",
        (
            Series(
                "measured, hardest truths",
                flips,
                tuple(point.measured for point in points),
                tuple(str(point.flip) for point in points),
                limits=tuple(point.limits for point in points) if drawable else (),
            ),
            Series("bound under the actual noise", flips, tuple(float(point.bound) for point in points), mark="line"),
            Series(f"guaranteed: alpha, up to flip {declared}", kept, (float(alpha),) * 2, mark="line"),
        ),
        log_x=True,
        log_y=True,
        note=f"Points carry the actual flip, and bars their limits at confidence {1 - DELTA}. No point can be above "
        "the bound; the hardest truths are on it or a little below. Beyond the declared flip nothing is guaranteed.",
    )
