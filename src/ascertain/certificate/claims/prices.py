"""The claim that no policy within stated risks costs less, as plain data: prices and rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ascertain.planning.price_rows import PriceProof, PriceRow
from ascertain.quotients.quotient import Quotient


def prices_claim(
    quotient: Quotient, alpha: Fraction, beta: Fraction, cost: Fraction, proof: PriceProof
) -> dict[str, Any]:
    """What a proof for the quotient says of the task itself, whose rows are about classes of states."""
    return {
        "claim": "prices",
        "alpha": str(alpha),
        "beta": str(beta),
        "cost": str(cost),
        "proof": proof_data(quotient, proof),
        "row": proof.number.get(0),
        "block": quotient.block.tolist(),
    }


def proof_data(quotient: Quotient, proof: PriceProof) -> dict[str, Any]:
    """Prices, what each hypothesis of the task counts for, and rows.

    One hypothesis of the task stands for each of the quotient. The others need not count.
    """
    start: list[list[Any] | None] = [None] * quotient.task.num_hypotheses
    for k, (j, m) in enumerate(proof.start):
        start[int(quotient.members_of(k)[0])] = [j, str(m)]
    return {
        "prices": [[label, *map(str, price)] for label, *price in proof.prices],
        "start": start,
        "rows": [row_data(row) for row in proof.rows],
    }


def row_data(row: PriceRow) -> dict[str, Any]:
    """One row of the proof."""
    return {
        "members": [[j, c, str(x)] for j, c, x in row.members],
        "bound": str(row.bound),
        "moves": {str(a): {str(y): i for y, i in named.items()} for a, named in row.moves.items()},
    }
