"""The truth removed from the bank: the table of the evidence that stood against it, and Ville's figure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ascertain.pipeline.simulated_runs import binomial_limits
from ascertain.report.record import Figure, Series
from ascertain.report.tables import Cell, Table
from ascertain_paper.studies.audit.parts import TAIL, Part, Results
from ascertain_paper.studies.audit.removed import SEPARATING, STAGES
from ascertain_paper.studies.audit.sampling import READWISE
from ascertain_paper.testbed.settings import Settings

LEVELS = tuple(10 ** (k / 10) for k in range(41))
"""Evidence, as e-values, at which shares are compared with Ville's limit."""
ENOUGH = 5


def removed_part(frozen: Settings, removed: Results) -> Part:
    """2: the truth removed from the bank."""
    risks = dict(zip(STAGES, (frozen.eager_risk, 2 * frozen.staged_risk, *[frozen.staged_risk] * 2), strict=True))
    body: list[tuple[Cell, ...]] = []
    alarms: list[str] = []
    for stage, alpha in risks.items():
        met = [result["stages"][stage] for result in removed if stage in result["stages"]]
        body.append(_line(f"{stage}, fixed schedule", met, alpha, "none possible"))
    for controller in (READWISE, *SEPARATING):
        runs = [result["played"][controller.name] for result in removed if controller.name in result["played"]]
        stage = "reuse" if controller.policy == "reuse" else "nominal"
        worst = [max(run["stages"].values(), key=lambda met: int(met["micronats"])) for run in runs]
        beaten = [any(met["beaten"] for met in run["stages"].values()) for run in runs]
        met = [{**each, "beaten": lost} for each, lost in zip(worst, beaten, strict=True)]
        wrong = _outcomes(runs)["wrong"]
        body.append(_line(f"{controller.name}, run", met, risks[stage], wrong))
        if wrong:
            alarms.append(f"{wrong} WRONG answers of {controller.name} without the truth in the bank")
    alarms += [
        f"{line[2]} truths that the bank does not list were beaten ({line[0]}): answers may be WRONG"
        for line in body
        if line[2]
    ]
    alarms += _ville_alarms(removed)
    table = Table(
        "removed",
        f"{len(removed):,} operations whose bank does not list the truth",
        ("observer", "operations", "truth beaten", "largest evidence (nats)", "needed (nats)", "wrong answers"),
        tuple(body),
        _note(frozen, removed),
    )
    return table, (_ville_figure(removed),), [_row(removed, body)], [_finding(removed)] if not alarms else [], alarms


def _line(name: str, met: Results, alpha: Fraction, wrong: Cell) -> tuple[Cell, ...]:
    beaten = sum(x["beaten"] for x in met)
    largest = max((x["micronats"] for x in met), default=0) / 1e6
    return (
        name,
        len(met),
        beaten,
        largest,
        -math.log(alpha),
        "POSSIBLE" if beaten and isinstance(wrong, str) else wrong,
    )


def _outcomes(runs: Results) -> dict[str, int]:
    outcomes = [run["outcome"] for run in runs]
    return {word: outcomes.count(word) for word in ("correct", "wrong", "abstained")}


def _played(removed: Results, *names: str) -> list[Mapping[str, Any]]:
    return [run for result in removed for name, run in result["played"].items() if name in names]


def _note(frozen: Settings, removed: Results) -> str:
    counts = _outcomes(_played(removed, READWISE.name, *(each.name for each in SEPARATING)))
    return (
        f"On the fixed schedule the evidence against the truth is followed along all {frozen.stream_length} readings, "
        "which settles every observer that uses it, whenever it stops: a wrong answer needs the truth to be beaten. "
        f"Observers were run on part of the operations, against all 2^{frozen.num_bits} states: {counts['correct']} "
        f"runs correct, {counts['abstained']} abstained, {counts['wrong']} wrong. With separating probes readings "
        "depend on the observer, so that only those runs speak for it."
    )


def _row(removed: Results, body: list[tuple[Cell, ...]]) -> dict[str, Any]:
    played = _played(removed, READWISE.name)
    separating = _played(removed, *(each.name for each in SEPARATING))
    return {
        "question": "truth removed",
        "operations": len(removed),
        "beaten": sum(int(str(line[2])) for line in body),
        "played": len(played),
        "separating": len(separating),
        **_outcomes([*played, *separating]),
    }


def _finding(removed: Results) -> str:
    separating = _played(removed, *(each.name for each in SEPARATING))
    probing = (
        f" With separating probes {len(separating)} runs were made; none was wrong, and no truth was beaten."
        if separating
        else " Separating probes were not run."
    )
    return (
        f"With the truth removed from the bank, on {len(removed):,} operations no answer on the fixed schedule could "
        "have been wrong, whenever one stops: not by eager, not by reuse, not in the nominal stage of staged or "
        f"readwise, not in the fallback of {READWISE.name}.{probing}"
    )


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
