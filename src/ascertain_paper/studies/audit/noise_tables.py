"""Where the guarantee ends: the table and the figure of observers that were told the wrong noise."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ascertain.report.record import Cell, Figure, Series, Table
from ascertain_paper.studies.audit.noise import risk_at
from ascertain_paper.studies.audit.parts import DELTA, Part, Results
from ascertain_paper.studies.audit.sampling import pool_audits, read_audit
from ascertain_paper.studies.uncertainty import mean
from ascertain_paper.testbed.settings import Settings


def noise_part(frozen: Settings, sampled: Results, observed: Results) -> Part:
    """A sensor that is not as declared: what the rule guarantees then, what was measured, what observers did."""
    declared, alpha = frozen.stream_flip, frozen.staged_risk
    body: list[tuple[Cell, ...]] = []
    rows: list[dict[str, Any]] = []
    points: list[tuple[float, float, float]] = []
    alarms: list[str] = []
    for actual in dict.fromkeys(result["actual"] for result in sampled):
        risk = risk_at(declared, Fraction(actual), alpha)
        pooled = pool_audits([read_audit(result, risk) for result in sampled if result["actual"] == actual])
        runs = [result["runs"][actual] for result in observed]
        outcomes = [run["outcome"] for run in runs]
        inactive = [r["runs"][actual]["compilations"] for r in observed if not r["active"]]
        reads = float(mean([run["reads"] for run in runs]))
        limit = pooled.upper_limit(DELTA)
        holds = risk <= alpha
        body.append(
            (actual, pooled.estimate / float(alpha), limit / float(alpha), float(risk / alpha),
             "holds" if holds else "does NOT hold", reads, f"{sum(inactive)}/{len(inactive)}",
             outcomes.count("correct"), outcomes.count("abstained"), outcomes.count("wrong"))
        )  # fmt: skip
        rows.append({"question": "wrong noise", "actual": actual, "declared": str(declared), "risk": str(risk),
                     "estimate": pooled.estimate, "operations": len(runs),
                     "wrong": outcomes.count("wrong")})  # fmt: skip
        points.append((float(Fraction(actual)), pooled.estimate, float(risk)))
        if Fraction(actual) <= declared and (pooled.unearned or outcomes.count("wrong")):
            alarms.append(f"a sensor of {actual}, no worse than declared, gave answers that were not earned")
    table = Table(
        "noise",
        f"When the sensor is not as declared (flip {declared})",
        ("actual flip", "estimate / alpha", "limit / alpha", "risk / alpha", "guarantee", "mean reads",
         "compiled in vain", "correct", "abstained", "wrong"),
        tuple(body),
        "Risk: what the rule guarantees under the actual flip, with the nominal as the only candidate; estimates are "
        "for the hardest truths, limits for their mean. Reads and outcomes: readwise 100 on operations, half of them "
        "active.",
    )  # fmt: skip
    return table, (_noise_figure(points, alpha),), rows, [_noise_finding(frozen, observed, points)], alarms


def _noise_finding(frozen: Settings, observed: Results, points: Sequence[tuple[float, float, float]]) -> str:
    alpha, (flip, _, risk) = float(frozen.staged_risk), max(points)
    kept = max((flip for flip, _, risk in points if risk <= alpha), default=None)
    until = "none of the sensors tried" if kept is None else f"sensors up to a flip of {_ratio(kept)}"
    wrong = sum(run["outcome"] == "wrong" for result in observed for run in result["runs"].values())
    return (
        f"The guarantee rests on the declared noise, {frozen.stream_flip}, and ends beyond it: of those tried, "
        f"{until} keep it. At {_ratio(flip)} the risk is {risk:.1e}, {risk / alpha:,.0f} times what was to be spent; "
        f"{wrong} of the runs counted were wrong. Declare the worst sensor that you would use."
    )


def _ratio(flip: float) -> Fraction:
    return Fraction(flip).limit_denominator(1000)


def _noise_figure(points: Sequence[tuple[float, float, float]], alpha: Fraction) -> Figure:
    flips = tuple(flip for flip, _, _ in points)
    return Figure(
        "noise",
        "Where the guarantee ends: the risk of an answer under another noise than declared",
        "actual flip probability",
        "probability of a wrong answer",
        (
            Series("measured, hardest truths", flips, tuple(estimate for _, estimate, _ in points)),
            Series("guaranteed under the actual noise", flips, tuple(risk for _, _, risk in points), mark="line"),
            Series("alpha", flips, (float(alpha),) * len(flips), mark="line"),
        ),
        log_x=True,
        log_y=True,
    )
