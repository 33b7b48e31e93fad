"""The check of speculation in earnest: what the real clock said, beside the composed one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from ascertain.study.record import Cell, Table
from ascertain.study.speculation_timeline import Spent, Timed, spend

Runs: TypeAlias = Sequence[Mapping[str, Any]]


def earnest_table(timed: Sequence[Timed], earnest: Runs) -> Table:
    """Wall clock and processor time of every run, measured and composed."""
    body: list[tuple[Cell, ...]] = []
    for run in earnest:
        composed = _compose(timed, run)
        body.append(
            (
                run["number"],
                run["strategy"],
                run["read_ms"],
                run["reads"],
                run["wall_us"] / 1e6,
                float(composed.wall) / 1e6,
                run["compile_us"] / 1e6,
                float(composed.compiling) / 1e6,
            )
        )
    return Table(
        "earnest",
        "A check in earnest: reads that sleep, a process that compiles, a real clock",
        (
            "operation",
            "strategy",
            "ms a read",
            "reads",
            "wall clock (s)",
            "composed",
            "compile CPU (s)",
            "composed",
        ),
        tuple(body),
        "The real clock includes whatever else the machine did, and messages between the processes.",
    )


def compare_clocks(timed: Sequence[Timed], earnest: Runs) -> list[float]:
    """How many times the composed wall clock each run took."""
    return [run["wall_us"] / float(_compose(timed, run).wall) for run in earnest]


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
