"""Rates beside the limits that they must keep: compilations in vain, and the coverage of the next block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ascertain.pipeline.simulated_runs import binomial_limits
from ascertain.report.tables import Cell, Table
from ascertain_paper.studies.audit.compiling import Vain, disagrees
from ascertain_paper.studies.audit.coverage import CoverageStudy
from ascertain_paper.studies.audit.parts import DELTA, TAIL, Part, Results, judge

WORDS = (
    f"Shown: the binomial limit at confidence {1 - DELTA} keeps it. Not refuted: too few cases to show it, or right at "
    "the limit. What would have a probability below a millionth is an alarm."
)


def vain_part(vain: Sequence[Vain], watched: Results) -> Part:
    """3: compilations under a true nominal."""
    body: list[tuple[Cell, ...]] = []
    rows: list[dict[str, Any]] = []
    alarms: list[str] = []
    for each in vain:
        low, high = binomial_limits(each.compiled, each.streams, float(DELTA))
        surely = binomial_limits(each.compiled, each.streams, TAIL)
        refuted = surely[0] > each.promised or each.computed > each.promised
        share = each.compiled / each.streams
        body.append((f"{each.threshold}", each.streams, each.compiled, share, low, high, each.computed,
                     float(each.promised), judge(shown=high <= each.promised, refuted=refuted)))  # fmt: skip
        rows.append({"question": "compilations in vain", "threshold": each.threshold, "streams": each.streams,
                     "compiled": each.compiled, "computed": each.computed, "promised": str(each.promised)})  # fmt: skip
        if refuted:
            alarms.append(f"true nominals are left too often at lambda = {each.threshold}: {share:.4f}")
        if not surely[0] <= each.computed <= surely[1]:
            alarms.append(f"at lambda = {each.threshold} {share:.5f} are counted and {each.computed:.5f} computed")
    apart = sum(disagrees(each) for each in watched)
    if apart:
        alarms.append(f"on {apart} of {len(watched)} streams the trigger or an observer is not where the count has it")
    rows.append({"question": "compilations in vain, by trigger and observers", "streams": len(watched), "apart": apart})
    table = Table(
        "vain",
        "Compilations although the nominal is true",
        ("lambda", "streams", "compiled", "share", "at least", "at most", "computed", "1/(1 + lambda)", "at most that"),
        tuple(body),
        f"Counted from flips by the trigger's formula; on {len(watched)} of the streams, those that cross among them, "
        f"the trigger and readwise observers themselves were run, and {apart} disagreed. Computed: from the law of the "
        f"number of flips. {WORDS}",
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
        refuted, share = not each.is_enough(TAIL), each.kept / each.repeats
        low, _ = binomial_limits(each.kept, each.repeats, float(DELTA))
        computed = None if each.computed is None else float(each.computed)
        body.append((name, each.repeats, each.covered, each.declined, share, computed, float(each.promised),
                     each.tied, judge(shown=low >= each.promised, refuted=refuted)))  # fmt: skip
        rows.append({"question": "coverage", "blocks": name, "repeats": each.repeats, "covered": each.covered,
                     "declined": each.declined, "computed": computed, "promised": str(each.promised)})  # fmt: skip
        if refuted:
            alarms.append(f"coverage {share:.4f} is below the {each.promised} that calibration promises ({name})")
        if each.computed is not None and not each.is_plausible(each.computed, TAIL):
            alarms.append(f"coverage {share:.4f} is not the {computed:.4f} that is computed ({name})")
    table = Table(
        "coverage",
        "Whether the calibrated shells hold the next block's truths",
        ("blocks", "repeats", "covered", "declined", "share", "computed", "m/(m + 1)", "tied for the last place",
         "at least that"),
        tuple(body),
        "Ties count as covered, so that the share may exceed the promise by as many as there are; where just one block "
        f"is hard it cannot. Declined: calibration said that no number of shells will do. {WORDS}",
    )  # fmt: skip
    names = "; ".join(f"{each.kept / each.repeats:.4f}, {each.promised} promised ({name})" for name, each in coverage)
    return table, (), rows, [f"How often calibration covers the next block: {names}."] if not alarms else [], alarms
