"""The claim that no policy settles the question for less than a stated cost, or at all, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ascertain.collecting import collecting_later
from ascertain.errors import CertificateError
from ascertain.search.solution import ProofRow
from ascertain.task.canonical import fraction_text
from ascertain.types import IntArray


@collecting_later()
def lower_claim(
    cost: Fraction | None, rows: Sequence[ProofRow], root: int | None, block: IntArray | None = None
) -> dict[str, Any]:
    """No policy costs less than `cost` (None: there is no policy); row `root` says so of the task.

    Given `block`, a stable partition of the states of the task, members of rows are pairs (label, class). A cost of
    0 needs no rows: then `root` is None.
    """
    if root is not None and not 0 <= root < len(rows):
        raise CertificateError(f"the proof names row {root}; its rows are 0 .. {len(rows) - 1}")
    claim: dict[str, Any] = {
        "claim": "lower",
        "cost": fraction_text(cost),
        "row": root,
        "rows": [row_data(row) for row in rows],
    }
    return claim if block is None else claim | {"block": [int(c) for c in block]}


def row_data(row: ProofRow) -> dict[str, Any]:
    """One row of the proof."""
    return {
        "set": [list(member) for member in row.members],
        "bound": fraction_text(row.bound),
        "moves": {str(a): list(move) for a, move in row.moves.items()},
    }
