"""What the result of a search claims, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ascertain.certificate.claims.achieves import achieves_claim, achieves_expected_claim
from ascertain.certificate.claims.lower import lower_claim
from ascertain.certificate.claims.lower_expected import lower_expected_claim
from ascertain.certificate.claims.shares import shares_claim
from ascertain.search.solution import MeanProof, Proof, SharesProof, Solution, Solved, Unsolvable


def solution_claims(solution: Solution, weights: Sequence[Fraction]) -> list[dict[str, Any]]:
    """A claim for each side that the search has reached: the policy, and the lower bound or the impossibility.

    `weights`, one for each hypothesis, matter for an expected cost only.
    """
    if isinstance(solution, Unsolvable):
        return [_lower(solution.witness)]
    upper = solution.cost if isinstance(solution, Solved) else solution.upper
    claims: list[dict[str, Any]] = []
    policy = solution.policy
    if upper is not None and policy is not None:
        worst = solution.objective == "worst"
        claims.append(achieves_claim(upper, policy) if worst else achieves_expected_claim(upper, weights, policy))
    if solution.proof is not None:
        claims.append(_lower(solution.proof))
    return claims


def _lower(proof: Proof | MeanProof | SharesProof) -> dict[str, Any]:
    if isinstance(proof, MeanProof):
        return lower_expected_claim(proof)
    if isinstance(proof, SharesProof):
        return shares_claim(proof)
    return lower_claim(proof.bound, proof.rows, proof.root, proof.block)
