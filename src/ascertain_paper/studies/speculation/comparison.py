"""Full speculation against readwise switching, figure by figure beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from statistics import fmean, median
from typing import Any

from ascertain.report.tables import Cell, Table
from ascertain_paper.studies import paper
from ascertain_paper.studies.comparison import ELSEWHERE, REPRODUCED, TOO_FEW, Comparison
from ascertain_paper.studies.speculation.timeline import Strategy, Timed, spend, spend_all
from ascertain_paper.studies.uncertainty import error_of_mean, error_of_ratio
from ascertain_paper.study import OpenChoice

READ_MS = (1, 10, 100)
TOLERANCE = 0.25
STREAMS = 72
"""Of the paper."""
MANY = 30
CHOICES = (
    OpenChoice(
        "What is measured and what is simulated",
        "processor time of every decision and compilation is measured; how long reads last is supposed, and the clock "
        "that composes them is simulated; operations are run in earnest besides",
        "a busy machine does not distort the comparison; messages between processes and waking up are left out, and "
        "the runs in earnest tell how much that is",
    ),
    OpenChoice(
        "When the gate opens",
        "when the trigger exceeds 1 + lambda with lambda = 100, as in readwise switching",
        "formal rejection comes at 1000, so that the gate is ahead of it by a few reads",
    ),
    OpenChoice(
        "What happens to a compilation that is not needed",
        "it is stopped when the run ends, and charged what it took until then",
        "at 1 ms a read full speculation is charged less than whole compilations; at 100 ms it is charged all of them",
    ),
    OpenChoice(
        "How long compiling and deciding take",
        "what this program takes; decisions filter all states of the plant",
        "the advantage at 1 ms and the crossing scale with the time of a compilation and differ from the paper's",
    ),
)


def advantage(strategy: Strategy, timed: Sequence[Timed], read_us: Fraction) -> Fraction:
    """How much less wall clock than readwise switching takes, in per cent."""
    base = spend_all("readwise", timed, read_us).wall
    return 100 * (base - spend_all(strategy, timed, read_us).wall) / base


def advantage_error(strategy: Strategy, timed: Sequence[Timed], read_us: Fraction) -> float | None:
    """Its standard error over operations."""
    base = [float(spend("readwise", each, read_us).wall) for each in timed]
    saved = [b - float(spend(strategy, each, read_us).wall) for b, each in zip(base, timed, strict=True)]
    error = error_of_ratio(saved, base)
    return None if error is None else 100 * error


def compile_error(timed: Sequence[Timed], read_us: Fraction) -> float | None:
    """The standard error of how many times readwise's compile CPU full speculation takes."""
    full, base = (
        [float(spend(name, each, read_us).compiling) for each in timed] for name in ("full background", "readwise")
    )
    return error_of_ratio(full, base)


def beside_table(
    rows: Sequence[Mapping[str, Any]], timed: Sequence[Timed], crossing: Fraction | None, says: Comparison
) -> Table:
    """What the paper prints of full speculation, with the compiler that is the paper's."""
    chosen = {
        row["read_ms"]: row for row in rows if (row["compiler"], row["strategy"]) == ("exhaustive", "full background")
    }
    compiling = median(each.compile_us for each in timed) / 1000
    needed = sum(each.readwise.wanted is not None for each in timed)
    body: list[tuple[Cell, ...]] = []
    for ms, row in chosen.items():
        here, error = float(Fraction(row["advantage_percent"])), row["advantage_error"]
        printed = paper.SPECULATION.get(ms, (None, None))[0]
        share = 100 * needed * compiling * 1000 / float(spend_all("readwise", timed, Fraction(1000 * ms)).wall)
        what = f"wall clock less than readwise at {ms} ms a read, %"
        if printed is None:
            body.append((what, here, error, "below 0", _judge_sign(here, error, says)))
        else:
            why = f"compiling is {share:.0f} % of readwise's clock here"
            body.append((what, here, error, printed, says.replicated(printed, here, why, TOLERANCE, error)))
    for ms, (_, printed) in paper.SPECULATION.items():
        ratio, error = chosen[ms]["compile_ratio"], compile_error(timed, Fraction(1000 * ms))
        here = None if ratio is None else float(Fraction(ratio))
        why = f"{needed} of {len(timed)} operations need the bank"
        verdict = None if here is None else says.replicated(printed, here, why, TOLERANCE, error)
        body.append((f"compile CPU, times readwise's, at {ms} ms", here, error, printed, verdict))
    extra = [float(each.staged.end.reads - each.readwise.end.reads) for each in timed]
    more, error = STREAMS * fmean(extra), error_of_mean(extra)
    error = None if error is None else STREAMS * error
    verdict = says.replicated(paper.EXTRA_READS, more, "another trigger", TOLERANCE, error)
    body.append((f"extra reads behind an open gate, for {STREAMS} streams", more, error, paper.EXTRA_READS, verdict))
    at = None if crossing is None else float(crossing) / 1000
    verdict = says.replicated(paper.CROSSING_MS, at or 0.0, f"compiling takes {compiling:.0f} ms here", TOLERANCE)
    if says.comparable and len(timed) < MANY:
        verdict = TOO_FEW
    body.append(("they cross at, ms a read", "never" if at is None else at, None, paper.CROSSING_MS, verdict))
    return Table(
        "beside",
        "Full speculation with enumeration, beside the paper's",
        ("what", "here", "±", "paper", "it is"),
        tuple(body),
        f"Within {100 * TOLERANCE:.0f} % of the paper's figure is reproduced, and so is a sign where it prints no "
        f"figure; the error is the standard error over {len(timed)} operations; a crossing is judged from {MANY} "
        f"operations on. How long the paper's compiler takes, "
        "on which all of this depends, is not printed.",
    )


def _judge_sign(here: float, error: float | None, says: Comparison) -> str:
    """The paper says that readwise is the faster, and no figure."""
    if not says.comparable:
        return ELSEWHERE
    if error is None or abs(here) <= 2 * error:
        return TOO_FEW
    return REPRODUCED if here < 0 else "differs: compiling still outweighs the reads saved"
