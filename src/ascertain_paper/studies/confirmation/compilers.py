"""The compilers' part of the large benchmark: who agrees with whom, and what each takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from statistics import median
from typing import Any

from ascertain_paper.report.tables import Cell, Table
from ascertain_paper.studies import paper
from ascertain_paper.studies.comparison import TOO_FEW, WITHIN, Comparison

COMPILERS = ("exhaustive", "direct", "merging")
MANY = 30
"""What the direct compiler takes is judged from so many operations on."""


def compiler_row(name: str, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The totals of one compiler over the operations that it compiled."""
    done = [result for result in results if name in result["compilers"]]
    work = [result["compilers"][name] for result in done]
    proved = [each for each in work if each.get("early_proof", False)]
    return {
        "compiler": name,
        "operations": len(work),
        "equal": sum(bool(each["equal"]) for each in work) if name != "merging" else None,
        "evaluations": sum(each["evaluations"] for each in work),
        "enumerated": sum(result["compilers"]["exhaustive"]["evaluations"] for result in done),
        "model_steps": sum(each["model_steps"] for each in work),
        "early_proofs": len(proved) if name == "direct" else None,
        "early_evaluations": sum(each["evaluations"] for each in proved),
        "median_seconds": median(result["microseconds"][name] for result in done) / 1e6 if done else None,
    }


def compiler_table(compilers: Sequence[Mapping[str, Any]], says: Comparison) -> Table:
    """Exactness and effort, a compiler a row."""
    body: list[tuple[Cell, ...]] = []
    enumerated = Fraction(paper.EVALUATIONS["exhaustive"], paper.OPERATIONS)
    for row in compilers:
        number, name = row["operations"], row["compiler"]
        per, steps = (Fraction(row[key], number) if number else None for key in ("evaluations", "model_steps"))
        equal = None if row["equal"] is None else f"{row['equal']:,}/{number:,}"
        theirs, verdict = None, None
        if name != "direct" and per is not None:
            judge, theirs = says.improved if name == "merging" else says.replicated, enumerated
            verdict = judge(float(theirs), float(per), "another number of paths")
        body.append((name, number, equal, per, theirs, verdict, steps, row["median_seconds"]))
    return Table(
        "compilers",
        "The compilers on the same operations",
        (
            "compiler",
            "operations",
            "same map as merging",
            "evaluations",
            "paper",
            "they are",
            "model steps",
            "CPU seconds, median",
        ),
        tuple(body),
        "Evaluations and steps of an operation, in the mean. Enumeration is compared on the whole map, the direct "
        f"compiler on the first eight shells. {WITHIN} Merging stands beside the paper's enumeration.",
    )


def direct_table(
    results: Sequence[Mapping[str, Any]], compilers: Sequence[Mapping[str, Any]], says: Comparison
) -> Table:
    """The direct compiler: what it proves early, and what that saves against enumeration, beside the paper's."""
    row = next(row for row in compilers if row["compiler"] == "direct")
    number, proofs = row["operations"], row["early_proofs"]
    work = [result["compilers"]["direct"] for result in results if "direct" in result["compilers"]]
    failed = [each["probe_evaluations"] for each in work if not each["early_proof"]]
    saved = _change(row["enumerated"], row["evaluations"])
    early = _change(_paths(results), row["early_evaluations"])
    theirs = 100 * (paper.EVALUATIONS["direct"] / paper.EVALUATIONS["exhaustive"] - 1)

    def judge(printed: float, here: float | None) -> str:
        few = here is None or number < MANY
        return TOO_FEW if says.comparable and few else says.improved(printed, here or 0.0, "other plants")

    probes, unproved = paper.PROBES
    body: list[tuple[Cell, ...]] = [
        (
            "the first eight shells of enumeration",
            f"{row['equal']:,}/{number:,}",
            f"{paper.OPERATIONS:,}/{paper.OPERATIONS:,}",
            says.counted((paper.OPERATIONS, paper.OPERATIONS), (row["equal"], number), "the maps are not equal"),
        ),
        (
            "early proofs",
            f"{proofs:,}/{number:,}",
            f"{paper.EARLY_PROOFS}/{paper.OPERATIONS:,}",
            says.counted((paper.EARLY_PROOFS, paper.OPERATIONS), (proofs, number), "other plants", ours=True),
        ),
        ("evaluations against enumeration, %", saved, theirs, judge(theirs, saved)),
        ("the same where it proved early, %", early, paper.EARLY_SAVING, judge(paper.EARLY_SAVING, early)),
        (
            "evaluations of a probe that proved nothing",
            Fraction(sum(failed), len(failed)) if failed else None,
            Fraction(probes, unproved),
            says.replicated(probes / unproved, sum(failed) / len(failed), "another budget") if failed else None,
        ),
    ]
    return Table(
        "direct",
        "The direct compiler",
        ("what", "here", "paper", "it is"),
        tuple(body),
        "It has the paper's bound, probe and fallback, and besides merges equal partial paths: what that proves and "
        f"saves is ours. {WITHIN} The paper's own figures do not add up: {paper.EARLY_PROOFS} early proofs and "
        f"{unproved} probes that fail are not {paper.OPERATIONS:,} operations.",
    )


def _change(before: int, after: int) -> float | None:
    return 100 * (after / before - 1) if before else None


def _paths(results: Sequence[Mapping[str, Any]]) -> int:
    """What enumeration takes on the operations that the direct compiler proved early."""
    return sum(
        result["compilers"]["exhaustive"]["evaluations"]
        for result in results
        if result["compilers"].get("direct", {}).get("early_proof", False)
    )


def tell_compilers(compilers: Sequence[Mapping[str, Any]], number: int, *, exhaustive: bool) -> list[str]:
    """What was found of merging and of the direct compiler."""
    _, direct, merging = compilers
    if name_unequal(compilers):
        found = ["The compilers do not agree."]
    else:
        fewer = merging["enumerated"] / max(1, merging["evaluations"])
        found = [
            f"Merging gives the map of enumeration on all {number} operations with {fewer:,.0f} times fewer "
            "evaluations."
        ]
    if direct["operations"]:
        part = "all" if exhaustive else "the first"
        found.append(
            f"The direct compiler, on {part} {direct['operations']} operations, proves {direct['early_proofs']} early "
            f"and evaluates {_change(direct['enumerated'], direct['evaluations']):+.2f} % against enumeration."
        )
    return found


def name_unequal(compilers: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence for each compiler that gave another map than merging."""
    return [
        f"{row['compiler']} and merging give different maps on {row['operations'] - row['equal']} operations"
        for row in compilers
        if row["equal"] is not None and row["equal"] < row["operations"]
    ]
