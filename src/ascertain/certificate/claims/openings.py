"""The claim that no policy that draws nothing at random costs less, as plain data: cases, and rows at prices."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ascertain.certificate.claims.prices import proof_data
from ascertain.planning.controller import ABSTAIN
from ascertain.planning.opening_cases import OPEN, Case, Leaf, OpeningProof
from ascertain.quotients.quotient import Quotient


def openings_claim(quotient: Quotient, alpha: Fraction, beta: Fraction, proof: OpeningProof) -> dict[str, Any]:
    """What a proof for the quotient says of the task itself."""
    return {
        "claim": "openings",
        "alpha": str(alpha),
        "beta": str(beta),
        "cost": str(proof.lower),
        "proofs": [proof_data(quotient, one) for one in proof.proofs],
        "nodes": [_leaf_data(node, proof) if isinstance(node, Leaf) else _case_data(node) for node in proof.nodes],
        "block": quotient.block.tolist(),
    }


def _leaf_data(leaf: Leaf, proof: OpeningProof) -> dict[str, Any]:
    number = proof.proofs[leaf.proof].number
    left = [(t, one.node) for t, one in enumerate(leaf.histories) if one.decision == OPEN and one.node in number]
    return {"proof": leaf.proof, "rows": {str(t): number[v] for t, v in left}}


def _case_data(case: Case) -> dict[str, Any]:
    answers = {str(-1 - d): i for d, i in case.nodes.items() if ABSTAIN < d < 0}
    return {
        "history": case.history,
        "ask": {str(d): i for d, i in case.nodes.items() if d >= 0},
        "answer": answers,
        "abstain": case.nodes.get(ABSTAIN),
    }
