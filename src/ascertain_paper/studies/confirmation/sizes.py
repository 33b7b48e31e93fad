"""What the first eight shells drop, by the size of the bank: large banks have more late shells, and lose more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from ascertain.report.tables import Cell, Table
from ascertain_paper.studies import paper
from ascertain_paper.studies.comparison import WITHIN, Comparison
from ascertain_paper.studies.uncertainty import error_of_ratio

Results: TypeAlias = Sequence[Mapping[str, Any]]
PARTS = 4
"""Quartiles: with 2,000 operations each has 500, with the 40 of the quick form 10."""
LARGE = 3_000
"""Candidates from which on a bank is as large as the paper's are, 3,760 in the mean."""


def size_table(results: Results, says: Comparison) -> Table:
    """Candidates kept, in quarters of the operations by the number of their candidates, and where that is large."""
    ordered = sorted(results, key=lambda result: _candidates(result, 0))
    cuts = [len(ordered) * k // PARTS for k in range(PARTS + 1)]
    groups = {f"quarter {k}": ordered[low:high] for k, (low, high) in enumerate(pairwise(cuts), start=1)}
    groups[f"more than {LARGE:,}"] = [result for result in ordered if _candidates(result, 0) > LARGE]
    groups["all"] = ordered
    theirs = paper.CONFIRMATION["candidate states"]
    printed = float(100 * (Fraction(theirs[1], theirs[0]) - 1))
    body: list[tuple[Cell, ...]] = []
    for name, chosen in groups.items():
        if not chosen:
            continue
        full, eight = ([_candidates(result, place) for result in chosen] for place in (0, 1))
        size, changed = Fraction(sum(full), len(chosen)), float(100 * (Fraction(sum(eight), sum(full)) - 1))
        error = error_of_ratio(eight, full)
        error = None if error is None else 100 * error
        why = f"banks of {float(size):,.0f}, not {theirs[0] / paper.OPERATIONS:,.0f}"
        verdict = says.replicated(printed, changed, why, error=error)
        body.append((name, len(chosen), max(full), size, changed, error, printed, verdict))
    return Table(
        "sizes",
        "Candidates that the first eight shells drop, by the size of the bank",
        ("banks", "operations", "at most", "mean", "change, %", "±", "paper, change, %", "the change is"),
        tuple(body),
        f"Operations in order of the candidates of their full banks. The paper's banks have "
        f"{theirs[0] / paper.OPERATIONS:,.0f} candidates in the mean. {WITHIN}",
    )


def _candidates(result: Mapping[str, Any], place: int) -> int:
    """Of the paper's full bank, or of its first eight shells."""
    return int(result["equal"][place]["candidates"])
