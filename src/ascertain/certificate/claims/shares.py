"""The claim that shares of what the steps of a reference cost bound the cost of every policy, as plain data."""

from __future__ import annotations

from typing import Any

from ascertain.search.solution import SharesProof
from ascertain.task.canonical import fraction_text


def shares_claim(proof: SharesProof) -> dict[str, Any]:
    """No policy costs less than the bound of the proof; its states are classes of `block`."""
    reference: dict[str, Any] = {"reference": proof.reference}
    if proof.reference is None:
        reference = {"readings": list(proof.readings)} | ({"joint": list(proof.joint)} if proof.joint else {})
    return {
        "claim": "shares",
        "cost": fraction_text(proof.bound),
        "block": [int(c) for c in proof.block],
        **reference,
        "rivals": list(proof.rivals),
        "labels": [[r, a, k, fraction_text(share)] for r, a, k, share in proof.by_label],
        "states": [[r, a, z, fraction_text(share)] for r, a, z, share in proof.by_state],
        "potential": [[r, fraction_text(p)] for r, p in proof.potential],
    }
