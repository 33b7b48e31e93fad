"""Speculation in earnest: what the real clock said, beside the composed one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from ascertain.report.tables import Cell, Table
from ascertain_paper.studies.speculation.timeline import Spent, Timed, spend
from ascertain_paper.studies.uncertainty import error_of_ratio

Runs: TypeAlias = Sequence[Mapping[str, Any]]


def earnest_table(timed: Sequence[Timed], earnest: Runs) -> Table:
    """Wall clock and processor time of each strategy at each speed of reading, measured and composed."""
    body: list[tuple[Cell, ...]] = []
    for read_ms, strategy in dict.fromkeys((run["read_ms"], run["strategy"]) for run in earnest):
        runs = [run for run in earnest if (run["read_ms"], run["strategy"]) == (read_ms, strategy)]
        composed = [_compose(timed, run) for run in runs]
        wall, supposed = _total(runs, "wall_us"), sum(float(each.wall) for each in composed)
        body.append(
            (
                read_ms,
                strategy,
                len(runs),
                _total(runs, "reads"),
                wall / 1e6,
                supposed / 1e6,
                wall / supposed,
                _total(runs, "compile_us") / 1e6,
                sum(float(each.compiling) for each in composed) / 1e6,
            )
        )
    return Table(
        "earnest",
        "In earnest: reads that sleep, a process that compiles, a real clock",
        (
            "ms a read",
            "strategy",
            "operations",
            "reads",
            "wall clock (s)",
            "composed",
            "times composed",
            "compile CPU (s)",
            "composed",
        ),
        tuple(body),
        "Totals over the operations. The real clock includes whatever else the machine did, and messages between the "
        "processes.",
    )


def tell_earnest(timed: Sequence[Timed], earnest: Runs, number: int) -> list[str]:
    """How much longer the real clock takes, and whether it agrees on who is the faster, at each speed of reading."""
    return [
        _tell_speed(timed, [run for run in earnest if run["read_ms"] == read_ms], number)
        for read_ms in _speeds(earnest)
    ]


def _tell_speed(timed: Sequence[Timed], runs: Runs, number: int) -> str:
    composed = [float(_compose(timed, run).wall) for run in runs]
    ratios = [run["wall_us"] / wall for run, wall in zip(runs, composed, strict=True)]
    real, supposed = _gain(runs, [run["wall_us"] for run in runs]), _gain(runs, composed)
    return (
        f"Of the {number} operations {len({run['number'] for run in runs})} were run in earnest, by every strategy, "
        f"at {runs[0]['read_ms']} ms a read: by the real clock they took {_total(runs, 'wall_us') / sum(composed):.2f} "
        f"times the composed time ({min(ratios):.2f} to {max(ratios):.2f}), and full speculation saved {real} against "
        f"readwise, where the composed clock says {supposed}."
    )


def _speeds(earnest: Runs) -> list[int]:
    return sorted({run["read_ms"] for run in earnest})


def _total(runs: Runs, what: str) -> int:
    return sum(run[what] for run in runs)


def _gain(earnest: Runs, walls: Sequence[float]) -> str:
    """What full speculation saves against readwise switching by these clocks, with its standard error."""
    base, full = (
        [wall for run, wall in zip(earnest, walls, strict=True) if run["strategy"] == strategy]
        for strategy in ("readwise", "full background")
    )
    saved = [b - f for b, f in zip(base, full, strict=False)]
    error = error_of_ratio(saved, base)
    return f"{100 * sum(saved) / sum(base):+.1f} %" + ("" if error is None else f" ± {100 * error:.1f}")


def find_strays(results: Runs, earnest: Runs) -> list[str]:
    """A sentence for each run in earnest that read or answered otherwise than it did when it was measured."""
    strays: list[str] = []
    for run in earnest:
        name = "readwise" if run["strategy"] == "readwise" else "staged"
        number: int = run["number"]
        measured = results[number]["runs"][name]
        if (run["reads"], run["outcome"]) != (measured["end"][0], measured["outcome"]):
            strays.append(f"operation {run['number']} in earnest, {run['strategy']}: another run than was measured")
    return strays


def _compose(timed: Sequence[Timed], run: Mapping[str, Any]) -> Spent:
    number: int = run["number"]
    return spend(run["strategy"], timed[number], Fraction(1000 * run["read_ms"]))
