"""The tables and the figure of the controllers' study, beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ascertain.report.record import Figure, Series
from ascertain.report.tables import Cell, Table
from ascertain_paper.campaign.conditions import Conditions
from ascertain_paper.studies import paper
from ascertain_paper.studies.comparison import WITHIN, Comparison, compare_under
from ascertain_paper.studies.controller.differences import (
    BESIDE,
    EAGER,
    LAST,
    STAGED,
    Results,
    Rows,
    account,
    find_alarms,
    list_choices,
    printed_saving,
    saving,
    split,
    tell_findings,
    why_banks,
    why_reads,
    why_switch,
)
from ascertain_paper.studies.controller.measure import AT_RISK, LIKE, OURS, control_operations
from ascertain_paper.studies.controller.switching import switching_table
from ascertain_paper.studies.uncertainty import mean
from ascertain_paper.study import Study
from ascertain_paper.testbed.settings import Settings


def study(conditions: Conditions) -> Study:
    """The controllers' study; its quick form is the full one."""
    results = control_operations(conditions)
    return summarise_controllers(conditions.settings, results)


def summarise_controllers(settings: Settings, results: Results) -> Study:
    """The tables, the figure and the findings of the study."""
    rows, says = tuple(_row(name, results) for name in _names(results)), compare_under(settings)
    watched = [result["switching"] for result in results if result["active"]]
    findings = tell_findings(rows, results, says)
    return Study(
        name="controller",
        title="Closed-loop control: reads against computation",
        quick=False,
        question="How many readings, and how much computation, does each controller need on the same operations?",
        answer=" ".join(findings[:2]),
        rows=rows,
        tables=(
            _table(rows, results, says),
            _savings_table(results, says),
            _computation_table(rows, says),
            _strata_table(results, says),
            _trigger_table(results, says),
            *([switching_table(watched)] if watched else []),
        ),
        figures=(_figure(rows),),
        findings=findings,
        alarms=find_alarms(rows, results, comparable=says.comparable),
        choices=list_choices(settings, rows, results),
    )


def _names(results: Results) -> list[str]:
    """The controllers that were run, the paper's first; a store that is resumed gives them in another order."""
    return [name for name in BESIDE if name in results[0]["runs"]]


def _row(name: str, results: Results) -> dict[str, Any]:
    runs = [result["runs"][name] for result in results]
    outcomes = [run["outcome"] for run in runs]
    means = ("model_steps", "compile_steps", "evaluations", "world_steps")
    return {
        "policy": name,
        "mean_reads": str(mean([run["reads"] for run in runs])),
        **{key: str(mean([run[key] for run in runs])) for key in means},
        "compilations": sum(run["compilations"] for run in runs),
        "correct": outcomes.count("correct"),
        "wrong": outcomes.count("wrong"),
        "abstained": outcomes.count("abstained"),
    }


def _is_ours(name: str) -> bool:
    return name in {controller.name for controller in OURS}


def _table(rows: Rows, results: Results, says: Comparison) -> Table:
    body: list[tuple[Cell, ...]] = []
    for row in rows:
        name, theirs = row["policy"], paper.CONTROLLER[BESIDE[row["policy"]]]
        reads = float(Fraction(row["mean_reads"]))
        judge = says.improved if _is_ours(row["policy"]) else says.replicated
        body.append(
            (
                name,
                reads,
                theirs.mean_reads,
                judge(theirs.mean_reads, reads, why_reads(name, results)),
                float(Fraction(row["model_steps"])) / 1e6,
                theirs.model_steps,
                row["compilations"],
                theirs.compilations,
                says.replicated(theirs.compilations, row["compilations"], why_banks(name, results)),
                f"{row['correct']}/{len(results)}",
            )
        )
    return Table(
        "controller",
        f"Controllers on {len(results)} operations, beside the paper's",
        ("policy", "reads", "paper", "reads are", "steps (M)", "paper", "banks", "paper", "banks are", "correct"),
        tuple(body),
        f"Means over operations; banks are compilations. {WITHIN} The first rows are the paper's: equal weights, "
        f"enumeration, all shells; '{AT_RISK.name}' rejects the nominal at the risk of its stage, not at 1/1000. Ours, "
        "below them, have our weights and the merging compiler, and stand beside the paper's of the same name, those "
        f"that it does not have beside its {LIKE}. Steps are judged in a table of their own; reasons stand with their "
        "figures among the findings.",
    )


def _savings_table(results: Results, says: Comparison) -> Table:
    """The paper's controllers against its eager: what staging and switching save, whatever the plants take."""
    body: list[tuple[Cell, ...]] = []
    for name in _names(results):
        if name == EAGER or _is_ours(name):
            continue
        (here, error), theirs = saving(name, results), printed_saving(BESIDE[name])
        body.append((name, here, error, theirs, says.replicated(theirs, here, "other plants", error=error)))
    return Table(
        "savings",
        "Reads against eager's, in per cent",
        ("policy", "change", "±", "paper", "it is"),
        tuple(body),
        f"With equal weights, on the same operations, with the standard error over operations. {WITHIN}",
    )


def _computation_table(rows: Rows, says: Comparison) -> Table:
    """Steps in the paper's unit, as far as it can be guessed: a path that is enumerated is one step."""
    body: list[tuple[Cell, ...]] = []
    for row in rows:
        theirs = paper.CONTROLLER[BESIDE[row["policy"]]].model_steps
        every, compiling = Fraction(row["model_steps"]), Fraction(row["compile_steps"])
        counted = compiling if _is_ours(row["policy"]) else Fraction(row["evaluations"])
        together = float(counted + every - compiling) / 1e6
        judge = says.improved if _is_ours(row["policy"]) else says.replicated
        verdict = judge(theirs, together, "the paper does not say what it counts")
        body.append((row["policy"], float(counted) / 1e6, float(every - compiling) / 1e6, together, theirs, verdict))
    return Table(
        "computation",
        "Computation, when a path that is enumerated counts as one step (millions)",
        ("policy", "compiling", "propagation, verification", "together", "paper", "together is"),
        tuple(body),
        f"Means over operations. {WITHIN} Enumeration is counted here as the paper counts evaluations, by paths; "
        "what the merging compiler does is counted in full, every candidate through every command.",
    )


def _strata_table(results: Results, says: Comparison) -> Table:
    body: list[tuple[Cell, ...]] = []
    for outcome, chosen in split(results).items():
        for name in (STAGED, AT_RISK.name, LAST):
            if name not in chosen[0]["runs"]:
                continue
            here, (_, reads, compilations) = account(name, chosen), paper.STRATA[outcome, BESIDE[name]]
            why = why_reads(name, chosen)
            body.append(
                (
                    f"{outcome} ({here.number})",
                    name,
                    here.reads,
                    here.error,
                    reads,
                    says.replicated(reads, here.reads, why),
                    here.until,
                    here.after,
                    here.compilations,
                    compilations,
                    says.replicated(compilations, here.compilations, why_banks(name, chosen)),
                )
            )
    return Table(
        "strata",
        "Active and inactive operations",
        (
            "outcome",
            "policy",
            "reads",
            "±",
            "paper",
            "reads are",
            "before the switch",
            "after it",
            "banks",
            "paper",
            "banks are",
        ),
        tuple(body),
        f"Mean reads, with the standard error of the mean. {WITHIN} Readings before the switch are not scored again.",
    )


def _trigger_table(results: Results, says: Comparison) -> Table:
    body: list[tuple[Cell, ...]] = []
    active = split(results).get("active", ())
    for name in _names(results):
        here = account(name, active) if active else None
        if here is None or here.switch is None:
            continue
        theirs = None if _is_ours(name) else paper.TRIGGER_MEDIAN.get(BESIDE[name])
        verdict = None if theirs is None else says.replicated(theirs, here.switch, why_switch(results))
        body.append((name, here.switch, theirs, verdict, here.compilations))
    return Table(
        "trigger",
        "Reads before the fallback, active operations, median",
        ("policy", "median reads", "paper", "they are", "fallbacks"),
        tuple(body),
        WITHIN,
    )


def _figure(rows: Rows) -> Figure:
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
    mine = [row for row in rows if _is_ours(row["policy"])]
    same = [row for row in rows if not _is_ours(row["policy"])]
    return Figure(
        "controller",
        "Reads against computation",
        "mean model steps",
        "mean reads",
        tuple(s for s in (series("the paper's policies here", same), series("ours", mine), theirs) if s.x),
        log_x=True,
        note="Enumeration is charged every step of every path here, which the paper's count does not.",
    )
