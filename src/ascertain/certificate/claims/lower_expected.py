"""The claim that no policy settles the question at a lower mean cost, as plain data."""

from __future__ import annotations

from typing import Any

from ascertain.search.solution import MeanProof, MeanRow
from ascertain.task.canonical import fraction_text


def lower_expected_claim(proof: MeanProof) -> dict[str, Any]:
    """No policy has a lower mean cost than the proof says, under its weights."""
    return {
        "claim": "lower-expected",
        "cost": str(proof.bound),
        "weights": [str(w) for w in proof.weights],
        "parts": [[number, str(t)] for number, t in proof.parts],
        "rows": [row_data(row) for row in proof.rows],
        "block": [int(c) for c in proof.block],
    }


def row_data(row: MeanRow) -> dict[str, Any]:
    """One row of the proof."""
    return {
        "set": [[int(k), int(s), str(w)] for k, s, w in row.members],
        "bound": fraction_text(row.bound),
        "moves": {str(a): [[int(y), number, str(t)] for y, number, t in parts] for a, parts in row.moves.items()},
    }
