"""The compilers' part of the large benchmark: who agrees with whom, and what each takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from statistics import median
from typing import Any

from ascertain.study import paper
from ascertain.study.record import Cell, Table

OPERATIONS = 2_000
"""Of the paper's benchmark."""
COMPILERS = ("exhaustive", "direct", "merging")


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


def compiler_table(compilers: Sequence[Mapping[str, Any]]) -> Table:
    """Exactness and effort, a compiler a row."""
    body: list[tuple[Cell, ...]] = []
    for row in compilers:
        number, name = row["operations"], row["compiler"]
        theirs = paper.EVALUATIONS.get(name)
        per = Fraction(row["evaluations"], number) if number else None
        steps = Fraction(row["model_steps"], number) if number else None
        equal = None if row["equal"] is None else f"{row['equal']}/{number}"
        printed = None if theirs is None else Fraction(theirs, OPERATIONS)
        body.append(
            (
                name,
                number,
                equal,
                row["early_proofs"],
                paper.EVALUATIONS["early proofs"] if name == "direct" else None,
                per,
                printed,
                steps,
                row["median_seconds"],
                "ours" if name == "merging" else _judge(row),
            )
        )
    return Table(
        "compilers",
        "The compilers on the same operations",
        (
            "compiler",
            "operations",
            "same map as merging",
            "early proofs",
            "paper",
            "evaluations an operation",
            "paper",
            "model steps an operation",
            "CPU seconds, median",
            "exactness",
        ),
        tuple(body),
        "Enumeration is compared on the whole map, the direct compiler on the first eight shells; early proofs of the "
        f"paper's are of {OPERATIONS:,} operations.",
    )


def _judge(row: Mapping[str, Any]) -> str:
    if not row["operations"]:
        return "not compared"
    return "reproduced" if row["equal"] == row["operations"] else "differs: the maps are not equal"


def name_unequal(compilers: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence for each compiler that gave another map than merging."""
    return [
        f"{row['compiler']} and merging give different maps on {row['operations'] - row['equal']} operations"
        for row in compilers
        if row["equal"] is not None and row["equal"] < row["operations"]
    ]
