"""The compilers' part of the large benchmark: who agrees with whom, and what each takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from statistics import median
from typing import Any

from ascertain.report.tables import Cell, Table
from ascertain_paper.studies import paper
from ascertain_paper.studies.comparison import TOO_FEW, WITHIN, Comparison

DIRECT_PAPER, DIRECT_MERGING = "direct-unmerged", "direct"
DIRECT = (DIRECT_PAPER, DIRECT_MERGING)
"""The direct compiler as the paper has it, and ours, which merges partial paths that have the same future."""
COMPILERS = ("exhaustive", *DIRECT, "merging")
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
        "early_proofs": len(proved) if name in DIRECT else None,
        "early_evaluations": sum(each["evaluations"] for each in proved),
        "median_seconds": median(result["microseconds"][name] for result in done) / 1e6 if done else None,
    }


def compiler_table(compilers: Sequence[Mapping[str, Any]], says: Comparison) -> Table:
    """Exactness and effort, a compiler a row."""
    body: list[tuple[Cell, ...]] = []
    printed = {
        "exhaustive": paper.EVALUATIONS["exhaustive"],
        DIRECT_PAPER: paper.EVALUATIONS["direct"],
        "merging": paper.EVALUATIONS["exhaustive"],
    }
    for row in compilers:
        number, name = row["operations"], row["compiler"]
        per, steps = (Fraction(row[key], number) if number else None for key in ("evaluations", "model_steps"))
        equal = None if row["equal"] is None else f"{row['equal']:,}/{number:,}"
        theirs, verdict = None, None
        if name in printed and per is not None:
            judge = says.improved if name == "merging" else says.replicated
            theirs = Fraction(printed[name], paper.OPERATIONS)
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
        f"compilers on the first eight shells. {WITHIN} '{DIRECT_PAPER}' is the paper's direct compiler; "
        f"'{DIRECT_MERGING}' is ours, which merges equal partial paths, and stands beside nothing of the paper's. "
        "Merging stands beside the paper's enumeration.",
    )


def direct_table(
    results: Sequence[Mapping[str, Any]], compilers: Sequence[Mapping[str, Any]], says: Comparison
) -> Table:
    """What the direct compilers prove early and save against enumeration: the paper's beside its figures, and ours."""
    whole, mine = (_account(name, results, compilers) for name in DIRECT)
    number = whole["operations"]
    theirs = 100 * (paper.EVALUATIONS["direct"] / paper.EVALUATIONS["exhaustive"] - 1)

    def judge(printed: float, here: float | None) -> str:
        few = here is None or number < MANY
        return TOO_FEW if says.comparable and few else says.replicated(printed, here or 0.0, "other plants")

    probes, unproved = paper.PROBES
    body: list[tuple[Cell, ...]] = [
        (
            "the first eight shells of enumeration",
            f"{whole['equal']:,}/{number:,}",
            f"{paper.OPERATIONS:,}/{paper.OPERATIONS:,}",
            says.counted((paper.OPERATIONS, paper.OPERATIONS), (whole["equal"], number), "the maps are not equal"),
            f"{mine['equal']:,}/{mine['operations']:,}",
        ),
        (
            "early proofs",
            f"{whole['early_proofs']:,}/{number:,}",
            f"{paper.EARLY_PROOFS}/{paper.OPERATIONS:,}",
            says.counted((paper.EARLY_PROOFS, paper.OPERATIONS), (whole["early_proofs"], number), "other plants"),
            f"{mine['early_proofs']:,}/{mine['operations']:,}",
        ),
        ("evaluations against enumeration, %", whole["saved"], theirs, judge(theirs, whole["saved"]), mine["saved"]),
        (
            "the same where it proved early, %",
            whole["early"],
            paper.EARLY_SAVING,
            judge(paper.EARLY_SAVING, whole["early"]),
            mine["early"],
        ),
        (
            "evaluations of a probe that proved nothing",
            whole["probe"],
            Fraction(probes, unproved),
            None if whole["probe"] is None else judge(probes / unproved, float(whole["probe"])),
            mine["probe"],
        ),
    ]
    return Table(
        "direct",
        "The direct compiler, the paper's and ours",
        ("what", "without merging", "paper", "it is", "with merging (ours)"),
        tuple(body),
        "Both have the paper's bound, probe and fallback. Ours also merges equal partial paths, which the paper's does "
        f"not: it is another compiler, and is not judged by the paper's figures. {WITHIN} The paper's own figures do "
        f"not add up: {paper.EARLY_PROOFS} early proofs and {unproved} probes that fail are not {paper.OPERATIONS:,} "
        "operations.",
    )


def _account(name: str, results: Sequence[Mapping[str, Any]], compilers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A direct compiler's row, and its changes against enumeration in per cent: on all, and where it proved early."""
    row = next(row for row in compilers if row["compiler"] == name)
    done = [result["compilers"] for result in results if name in result["compilers"]]
    proved = [work["exhaustive"]["evaluations"] for work in done if work[name]["early_proof"]]
    failed = [work[name]["probe_evaluations"] for work in done if not work[name]["early_proof"]]
    return {
        **row,
        "saved": _change(row["enumerated"], row["evaluations"]),
        "early": _change(sum(proved), row["early_evaluations"]),
        "probe": Fraction(sum(failed), len(failed)) if failed else None,
    }


def _change(before: int, after: int) -> float | None:
    return 100 * (after / before - 1) if before else None


def tell_compilers(compilers: Sequence[Mapping[str, Any]], number: int) -> list[str]:
    """What was found of merging and of the direct compilers."""
    by_name = {row["compiler"]: row for row in compilers}
    merging = by_name["merging"]
    if name_unequal(compilers):
        found = ["The compilers do not agree."]
    else:
        fewer = merging["enumerated"] / max(1, merging["evaluations"])
        found = [
            f"Merging gives the map of enumeration on all {number} operations with {fewer:,.0f} times fewer "
            "evaluations."
        ]
    for name, called in ((DIRECT_PAPER, "The paper's direct compiler"), (DIRECT_MERGING, "Ours, which merges")):
        row = by_name[name]
        if row["operations"]:
            part = "all" if row["operations"] == number else "the first"
            found.append(
                f"{called}, on {part} {row['operations']} operations, proves {row['early_proofs']} early and evaluates "
                f"{_change(row['enumerated'], row['evaluations']):+.2f} % against enumeration."
            )
    return found


def name_unequal(compilers: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence for each compiler that gave another map than merging."""
    return [
        f"{row['compiler']} and merging give different maps on {row['operations'] - row['equal']} operations"
        for row in compilers
        if row["equal"] is not None and row["equal"] < row["operations"]
    ]
