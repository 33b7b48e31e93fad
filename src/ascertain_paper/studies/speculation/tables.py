"""The tables and the figure of speculation, beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from ascertain.report.record import Figure, Series
from ascertain.report.tables import Cell, Table
from ascertain_paper.studies import paper
from ascertain_paper.studies.comparison import compare_under
from ascertain_paper.studies.speculation.comparison import CHOICES, READ_MS, advantage, advantage_error, beside_table
from ascertain_paper.studies.speculation.real_time import earnest_table, find_strays, tell_earnest
from ascertain_paper.studies.speculation.timeline import (
    STRATEGIES,
    Moment,
    Spent,
    Strategy,
    Timed,
    Trace,
    find_crossing,
    spend_all,
)
from ascertain_paper.study import Study
from ascertain_paper.testbed.settings import Settings

Results: TypeAlias = Sequence[Mapping[str, Any]]
BACKGROUND: tuple[Strategy, ...] = ("full background", "gated background")


def summarise_speculation(settings: Settings, results: Results, earnest: Results, *, quick: bool) -> Study:
    """The tables, the figure and the findings of the study."""
    compilers: list[str] = list(results[0]["compile_us"])
    timed = {compiler: [time_operation(result, compiler) for result in results] for compiler in compilers}
    rows = tuple(row for compiler in compilers for ms in READ_MS for row in _rows(compiler, timed[compiler], ms))
    extra = extra_reads(results)
    crossings: dict[str, dict[Strategy, Fraction | None]] = {
        compiler: {strategy: find_crossing(timed[compiler], strategy, "readwise") for strategy in BACKGROUND}
        for compiler in compilers
    }
    return Study(
        name="speculation",
        title="Compiling in the background",
        quick=quick,
        question="Is it worth compiling the bank in the background, before the nominal is rejected?",
        rows=rows,
        tables=(
            _table(rows, len(results)),
            beside_table(
                rows, timed["exhaustive"], crossings["exhaustive"]["full background"], compare_under(settings)
            ),
            _crossing_table(crossings),
            earnest_table(timed["exhaustive"], earnest),
        ),
        figures=(_figure(timed),),
        findings=(*_findings(rows, crossings, extra), *tell_earnest(timed["exhaustive"], earnest, len(results))),
        alarms=_alarms(results, earnest),
        choices=CHOICES,
        facts={
            "operations": len(results),
            "active": sum(bool(result["active"]) for result in results),
            "extra_reads": extra,
            "crossing_us": {
                compiler: {name: None if at is None else str(at) for name, at in found.items()}
                for compiler, found in crossings.items()
            },
            "earnest": [dict(run) for run in earnest],
        },
    )


def time_operation(result: Mapping[str, Any], compiler: str) -> Timed:
    """The measurements of one operation with one of the compilers."""
    runs = result["runs"]
    return Timed(
        staged=_trace(runs["staged"]),
        gate=_moment(result["gate"]),
        readwise=_trace(runs["readwise"]),
        compile_us=result["compile_us"][compiler],
    )


def _trace(run: Mapping[str, Any]) -> Trace:
    return Trace(_moment(run["wanted"]), Moment(*run["end"]))


def _moment(pair: Sequence[int] | None) -> Moment | None:
    return None if pair is None else Moment(*pair)


def extra_reads(results: Results) -> int:
    """Reads of the nominal verifier that readwise switching does without."""
    return sum(result["runs"]["staged"]["end"][0] - result["runs"]["readwise"]["end"][0] for result in results)


def _rows(compiler: str, timed: Sequence[Timed], read_ms: int) -> list[dict[str, Any]]:
    read_us = Fraction(1000 * read_ms)
    spent: dict[str, Spent] = {strategy: spend_all(strategy, timed, read_us) for strategy in STRATEGIES}
    base = spent["readwise"].compiling
    return [
        {
            "compiler": compiler,
            "read_ms": read_ms,
            "strategy": strategy,
            "reads": sum((t.readwise if strategy == "readwise" else t.staged).end.reads for t in timed),
            "wall_us": int(spent[strategy].wall),
            "compile_us": int(spent[strategy].compiling),
            "advantage_percent": str(advantage(strategy, timed, read_us)),
            "advantage_error": advantage_error(strategy, timed, read_us),
            "compile_ratio": str(spent[strategy].compiling / base) if base else None,
        }
        for strategy in STRATEGIES
    ]


def _table(rows: Sequence[Mapping[str, Any]], number: int) -> Table:
    body: list[tuple[Cell, ...]] = [
        (
            row["compiler"],
            row["read_ms"],
            row["strategy"],
            row["reads"],
            row["wall_us"] / 1e6,
            float(Fraction(row["advantage_percent"])),
            row["advantage_error"],
            row["compile_us"] / 1e6,
            None if row["compile_ratio"] is None else Fraction(row["compile_ratio"]),
        )
        for row in rows
    ]
    return Table(
        "speculation",
        f"Four strategies on {number} operations, on a composed clock",
        (
            "compiler",
            "ms a read",
            "strategy",
            "reads",
            "wall clock (s)",
            "less than readwise, %",
            "±",
            "compile CPU (s)",
            "times readwise",
        ),
        tuple(body),
        "Measured is the processor time of every decision and, in a process of its own, of every compilation; reads "
        "are taken to last as long as the column says, and the clock that puts these together is simulated. The "
        "error is the standard error over operations; that of the clock is told by the runs in earnest below.",
    )


def _crossing_table(crossings: Mapping[str, Mapping[Strategy, Fraction | None]]) -> Table:
    body: list[tuple[Cell, ...]] = [
        (compiler, strategy, "never" if at is None else float(at) / 1000)
        for compiler, found in crossings.items()
        for strategy, at in found.items()
    ]
    return Table(
        "crossing",
        "From how many milliseconds a read on readwise switching is the faster",
        ("compiler", "strategy", "ms a read"),
        tuple(body),
    )


def _figure(timed: Mapping[str, Sequence[Timed]]) -> Figure:
    """The advantage over readwise switching against the time of a read."""
    grid = [Fraction(1000 * 2**k, 8) for k in range(14)]
    series = [
        Series(
            f"{strategy}, {compiler}",
            tuple(float(read_us) / 1000 for read_us in grid),
            tuple(float(advantage(strategy, operations, read_us)) for read_us in grid),
            mark="line",
        )
        for compiler, operations in timed.items()
        for strategy in BACKGROUND
    ]
    theirs = Series(
        "the paper, full background",
        tuple(float(ms) for ms in paper.SPECULATION),
        tuple(gain for gain, _ in paper.SPECULATION.values()),
    )
    return Figure(
        "speculation",
        "Wall clock saved by compiling in the background",
        "milliseconds a read",
        "per cent less than readwise",
        (*series, theirs),
        log_x=True,
        note="Below zero readwise switching is the faster.",
    )


def _findings(
    rows: Sequence[Mapping[str, Any]], crossings: Mapping[str, Mapping[Strategy, Fraction | None]], extra: int
) -> tuple[str, ...]:
    found: list[str] = []
    for compiler, by_strategy in crossings.items():
        at = by_strategy["full background"]
        chosen = [row for row in rows if (row["compiler"], row["strategy"]) == (compiler, "full background")]
        listed = ", ".join(_tell_gain(row) for row in chosen)
        where = "never catches up" if at is None else f"is the faster from {float(at) / 1000:.2f} ms a read on"
        found.append(f"With the {compiler} compiler full speculation saves {listed}; readwise switching {where}.")
    found.append(f"Going on with the nominal verifier behind an open gate takes {extra} reads more than switching.")
    return tuple(found)


def _tell_gain(row: Mapping[str, Any]) -> str:
    error = "" if row["advantage_error"] is None else f" ± {row['advantage_error']:.2f}"
    return f"{float(Fraction(row['advantage_percent'])):+.2f}{error} % at {row['read_ms']} ms"


def _alarms(results: Results, earnest: Results) -> tuple[str, ...]:
    alarms: list[str] = []
    for name in ("staged", "readwise"):
        wrong = sum(result["runs"][name]["outcome"] == "wrong" for result in results)
        if wrong:
            alarms.append(f"{name}: {wrong} WRONG answers")
    unequal = sum(not result["equal"] for result in results)
    if unequal:
        alarms.append(f"the compilers give different banks on {unequal} operations")
    alarms += find_strays(results, earnest)
    return tuple(alarms)
