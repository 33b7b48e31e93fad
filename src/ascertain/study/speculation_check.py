"""The check of speculation in earnest: what the real clock said, beside the composed one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from ascertain.study.chance import error_of_ratio
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
                run["wall_us"] / float(composed.wall),
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
            "clock, times composed",
        ),
        tuple(body),
        "The real clock includes whatever else the machine did, and messages between the processes.",
    )


def tell_earnest(timed: Sequence[Timed], earnest: Runs, number: int) -> list[str]:
    """How much longer the real clock takes, and whether it agrees on who is the faster."""
    if not earnest:
        return []
    composed = [float(_compose(timed, run).wall) for run in earnest]
    ratios = [run["wall_us"] / wall for run, wall in zip(earnest, composed, strict=True)]
    whole = sum(run["wall_us"] for run in earnest) / sum(composed)
    real, supposed = _gain(earnest, [run["wall_us"] for run in earnest]), _gain(earnest, composed)
    return [
        f"Of the {number} operations {len({run['number'] for run in earnest})} were run in earnest, by every strategy, "
        f"at {earnest[0]['read_ms']} ms a read: by the real clock they took {whole:.2f} times the composed time "
        f"({min(ratios):.2f} to {max(ratios):.2f}), and full speculation saved {real} against readwise, where the "
        f"composed clock says {supposed}."
    ]


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
