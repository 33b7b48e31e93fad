"""The tables and the figure of the controllers' study, beside the paper's."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from statistics import median
from typing import Any

from ascertain.study import paper
from ascertain.study.conditions import Conditions
from ascertain.study.controller import OURS, control_operations
from ascertain.study.record import Cell, Choice, Figure, Series, Study, Table, compare, mean


def study(conditions: Conditions) -> Study:
    """The controllers' study; its quick form is the full one."""
    began = time.monotonic()
    results = control_operations(conditions)
    return summarise_controllers(conditions.settings.hash, results, time.monotonic() - began)


def summarise_controllers(settings_hash: str, results: Sequence[Mapping[str, Any]], seconds: float) -> Study:
    """The tables, the figure and the findings of the study."""
    names = list(results[0]["runs"])
    rows = tuple(_row(name, results) for name in names)
    wrong = [f"{row['policy']}: {row['wrong']} WRONG answers" for row in rows if row["wrong"]]
    unequal = sum(not result["map_equal"] for result in results)
    alarms = [*wrong, *([f"the compilers disagree on {unequal} operations"] if unequal else [])]
    everywhere = all(row["correct"] == len(results) for row in rows)
    return Study(
        name="controller",
        title="Closed-loop control: reads against computation",
        settings_hash=settings_hash,
        quick=False,
        seconds=seconds,
        rows=rows,
        tables=(_table(rows, len(results)), _strata_table(results), _trigger_table(results)),
        figures=(_figure(rows),),
        findings=(
            f"All {len(rows)} controllers answer {'all' if everywhere else 'not all'} {len(results)} operations "
            f"correctly; {sum(row['wrong'] for row in rows)} answers are wrong.",
            *_gains(rows),
        ),
        alarms=tuple(alarms),
        choices=CHOICES,
    )


CHOICES = (
    Choice(
        "What a model step is",
        "one candidate through one command, in the compiler as in the verifier",
        "enumeration is charged 302 million steps an operation; the paper's 8.6 million must share what paths share",
    ),
    Choice(
        "When readwise switching happens",
        "when an e-process against the nominal exceeds 1 + lambda, after a reading",
        "a true nominal is left with probability at most 1/(1 + lambda); the paper's 16 of 52 at lambda = 10 is more",
    ),
    Choice(
        "What is certified",
        "the state, against all others of the 2^24, listed in the bank or not",
        "more readings than against the bank alone, and safety that does not rest on the bank",
    ),
    Choice(
        "The plants", "two of our own, drawn from published seeds", "reads and candidates agree in scale, not in digits"
    ),
)


def _row(name: str, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    runs = [result["runs"][name] for result in results]
    outcomes = [run["outcome"] for run in runs]
    return {
        "policy": name,
        "mean_reads": str(mean([run["reads"] for run in runs])),
        "model_steps": str(mean([run["model_steps"] for run in runs])),
        "evaluations": str(mean([run["evaluations"] for run in runs])),
        "world_steps": str(mean([run["world_steps"] for run in runs])),
        "compilations": sum(run["compilations"] for run in runs),
        "correct": outcomes.count("correct"),
        "wrong": outcomes.count("wrong"),
        "abstained": outcomes.count("abstained"),
    }


def _table(rows: Sequence[Mapping[str, Any]], number: int) -> Table:
    body: list[tuple[Cell, ...]] = []
    for row in rows:
        reads, steps = float(Fraction(row["mean_reads"])), float(Fraction(row["model_steps"])) / 1e6
        theirs = paper.CONTROLLER.get(row["policy"])
        beside = (
            (None, None, None, "ours")
            if theirs is None
            else (
                theirs.mean_reads,
                theirs.model_steps,
                theirs.compilations,
                _beside(theirs.mean_reads, reads),
            )
        )
        correct = f"{row['correct']}/{number}"
        body.append(
            (row["policy"], reads, beside[0], steps, beside[1], row["compilations"], beside[2], correct, beside[3])
        )
    return Table(
        "controller",
        f"Controllers on {number} operations, beside the paper's",
        ("policy", "reads", "paper", "steps (M)", "paper", "banks", "paper", "correct", "reads are"),
        tuple(body),
        "Means over operations; banks are compilations. Reads within 5 % count as reproduced. Model steps are counted "
        "differently: see the choices. Open world: answers here have beaten all 2^24 states, not the bank's alone. "
        "Rows that begin with merging or separating use the merging compiler.",
    )


def _strata_table(results: Sequence[Mapping[str, Any]]) -> Table:
    body: list[tuple[Cell, ...]] = []
    for active in (True, False):
        chosen = [result for result in results if result["active"] == active]
        for name in ("staged", "readwise 1000"):
            if not chosen or name not in chosen[0]["runs"]:
                continue
            runs = [result["runs"][name] for result in chosen]
            episodes, reads, compilations = paper.STRATA["active" if active else "inactive", name]
            here = float(mean([run["reads"] for run in runs]))
            body.append(
                (
                    "active" if active else "inactive",
                    name,
                    len(chosen),
                    episodes,
                    here,
                    reads,
                    sum(run["compilations"] for run in runs),
                    compilations,
                    _beside(reads, here),
                )
            )
    return Table(
        "strata",
        "Active and inactive operations",
        ("outcome", "policy", "number", "paper", "reads", "paper", "banks", "paper", "reads are"),
        tuple(body),
    )


def _trigger_table(results: Sequence[Mapping[str, Any]]) -> Table:
    body: list[tuple[Cell, ...]] = []
    for name in results[0]["runs"]:
        after = [result["runs"][name]["fallback_after"] for result in results if result["active"]]
        known = [reads for reads in after if reads is not None]
        if name != "eager" and known:
            body.append((name, float(median(known)), paper.TRIGGER_MEDIAN.get(name), len(known)))
    return Table(
        "trigger",
        "Reads before the fallback, active operations, median",
        ("policy", "median reads", "paper", "fallbacks"),
        tuple(body),
    )


def _beside(paper_reads: float, here: float) -> str:
    """The verdict on a number of reads, and the reason where it differs."""
    verdict = compare(paper_reads, here, tolerance=0.05)
    return "differs: open world" if verdict == "differs" else verdict


def _figure(rows: Sequence[Mapping[str, Any]]) -> Figure:
    def series(name: str, chosen: Sequence[Mapping[str, Any]]) -> Series:
        return Series(
            name,
            tuple(float(Fraction(row["model_steps"])) for row in chosen),
            tuple(float(Fraction(row["mean_reads"])) for row in chosen),
            tuple(str(row["policy"]) for row in chosen),
        )

    theirs = Series(
        "the paper",
        tuple(1e6 * row.model_steps for row in paper.CONTROLLER.values()),
        tuple(row.mean_reads for row in paper.CONTROLLER.values()),
        tuple(paper.CONTROLLER),
    )
    mine = [row for row in rows if row["policy"] not in paper.CONTROLLER]
    same = [row for row in rows if row["policy"] in paper.CONTROLLER]
    return Figure(
        "controller",
        "Reads against computation",
        "mean model steps",
        "mean reads",
        tuple(s for s in (series("the paper's policies here", same), series("ours", mine), theirs) if s.x),
        log_x=True,
    )


def _gains(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    by_name = {row["policy"]: row for row in rows}
    best = by_name.get(OURS[-1].name)
    staged = by_name.get("staged")
    if best is None or staged is None:
        return ()
    reads = Fraction(best["mean_reads"]) / Fraction(staged["mean_reads"])
    steps = Fraction(staged["model_steps"]) / Fraction(best["model_steps"])
    return (
        f"Reuse with separating probes and the merging compiler reads {100 * (1 - float(reads)):.1f} % less than "
        f"staging and computes {float(steps):,.0f} times less.",
    )
