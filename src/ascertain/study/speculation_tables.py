"""The tables and the figure of speculation, beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from ascertain.study import paper
from ascertain.study.record import Cell, Choice, Figure, Series, Study, Table, compare
from ascertain.study.speculation_check import compare_clocks, earnest_table, find_strays
from ascertain.study.speculation_timeline import (
    STRATEGIES,
    Moment,
    Spent,
    Strategy,
    Timed,
    Trace,
    find_crossing,
    spend_all,
)

Results: TypeAlias = Sequence[Mapping[str, Any]]
READ_MS = (1, 10, 100)
BACKGROUND: tuple[Strategy, ...] = ("full background", "gated background")
CHOICES = (
    Choice(
        "What is measured and what is simulated",
        "processor time of every decision and compilation is measured; the clock that composes them is simulated",
        "a busy machine does not distort them; the time that messages between processes take is left out",
    ),
    Choice(
        "When the gate opens",
        "when the trigger exceeds 1 + lambda with lambda = 100, as in readwise switching",
        "formal rejection comes at 1000, so that the gate is ahead of it by a few reads",
    ),
    Choice(
        "What happens to a compilation that is not needed",
        "it is stopped when the run ends, and charged what it took until then",
        "at 1 ms a read full speculation is charged less than whole compilations; at 100 ms it is charged all of them",
    ),
    Choice(
        "How long compiling and deciding take",
        "what this program takes; decisions filter all states of the plant",
        "the advantage at 1 ms and the crossing scale with the time of a compilation and differ from the paper's",
    ),
)


def summarise_speculation(
    settings_hash: str, results: Results, earnest: Results, *, quick: bool, seconds: float
) -> Study:
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
        settings_hash=settings_hash,
        quick=quick,
        seconds=seconds,
        rows=rows,
        tables=(
            _table(rows, len(results)),
            _crossing_table(crossings, extra, results),
            earnest_table(timed["exhaustive"], earnest),
        ),
        figures=(_figure(timed),),
        findings=_findings(rows, crossings, extra, earnest, timed["exhaustive"]),
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


def advantage(strategy: Strategy, timed: Sequence[Timed], read_us: Fraction) -> Fraction:
    """How much less wall clock than readwise switching takes, in per cent."""
    base = spend_all("readwise", timed, read_us).wall
    return 100 * (base - spend_all(strategy, timed, read_us).wall) / base


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
            "compile_ratio": str(spent[strategy].compiling / base) if base else None,
        }
        for strategy in STRATEGIES
    ]


def _table(rows: Sequence[Mapping[str, Any]], number: int) -> Table:
    body: list[tuple[Cell, ...]] = []
    for row in rows:
        gain = Fraction(row["advantage_percent"])
        ratio = None if row["compile_ratio"] is None else Fraction(row["compile_ratio"])
        beside = row["compiler"] == "exhaustive" and row["strategy"] == "full background"
        theirs = paper.SPECULATION.get(row["read_ms"], (None, None)) if beside else (None, None)
        body.append(
            (
                row["compiler"],
                row["read_ms"],
                row["strategy"],
                row["reads"],
                row["wall_us"] / 1e6,
                float(gain),
                theirs[0],
                row["compile_us"] / 1e6,
                ratio,
                theirs[1],
                _judge(row["read_ms"], gain, theirs[0]) if beside else None,
            )
        )
    return Table(
        "speculation",
        f"Four strategies on {number} operations",
        (
            "compiler",
            "ms a read",
            "strategy",
            "reads",
            "wall clock (s)",
            "less than readwise, %",
            "paper",
            "compile CPU (s)",
            "times readwise",
            "paper",
            "advantage",
        ),
        tuple(body),
        "Times of decisions and compilations are measured, the clock is simulated. At 100 ms a read the paper finds "
        "readwise switching faster and prints no figure.",
    )


def _judge(read_ms: int, gain: Fraction, printed: float | None) -> str:
    """Beside the paper: who is faster is what can be reproduced, the size of it is the machine's."""
    if printed is None:
        return "reproduced" if gain < 0 else f"differs: at {read_ms} ms compiling still outweighs the reads saved"
    if compare(printed, float(gain), tolerance=0.25) == "reproduced":
        return "reproduced"
    return "differs in size, not in sign" if gain > 0 else "differs: readwise is the faster here"


def _crossing_table(crossings: Mapping[str, Mapping[Strategy, Fraction | None]], extra: int, results: Results) -> Table:
    body: list[tuple[Cell, ...]] = []
    for compiler, found in crossings.items():
        for strategy, at in found.items():
            printed = paper.CROSSING_MS if (compiler, strategy) == ("exhaustive", "full background") else None
            here = "never" if at is None else float(at) / 1000
            verdict = None
            if printed is not None:
                near = at is not None and compare(printed, float(at) / 1000, tolerance=0.25) == "reproduced"
                verdict = "reproduced" if near else "differs: the time of a compilation is the machine's"
            body.append((f"{strategy} and readwise cross, ms a read, {compiler}", here, printed, verdict))
    judged = compare(paper.EXTRA_READS * len(results) / 72, extra, tolerance=0.25)
    judged = "differs: another trigger" if judged == "differs" else judged
    body.append(("extra reads of the nominal verifier behind an open gate", extra, paper.EXTRA_READS, judged))
    return Table(
        "crossing",
        "Where readwise switching becomes the faster, and the reads that it saves",
        ("what", "here", "paper", "beside the paper"),
        tuple(body),
        f"Here on {len(results)} operations, in the paper on 72; extra reads are judged in proportion.",
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
    rows: Sequence[Mapping[str, Any]],
    crossings: Mapping[str, Mapping[Strategy, Fraction | None]],
    extra: int,
    earnest: Results,
    timed: Sequence[Timed],
) -> tuple[str, ...]:
    found: list[str] = []
    for compiler, by_strategy in crossings.items():
        at = by_strategy["full background"]
        gains = [
            float(Fraction(row["advantage_percent"]))
            for row in rows
            if (row["compiler"], row["strategy"]) == (compiler, "full background")
        ]
        where = "never catches up" if at is None else f"is the faster from {float(at) / 1000:.2f} ms a read on"
        listed = ", ".join(f"{gain:+.2f} % at {ms} ms" for ms, gain in zip(READ_MS, gains, strict=True))
        found.append(f"With the {compiler} compiler full speculation saves {listed}; readwise switching {where}.")
    found.append(f"Going on with the nominal verifier behind an open gate takes {extra} reads more than switching.")
    if earnest:
        ratios = compare_clocks(timed, earnest)
        found.append(
            f"In earnest {len(earnest)} runs took {min(ratios):.2f} to {max(ratios):.2f} times the composed wall clock."
        )
    return tuple(found)


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
