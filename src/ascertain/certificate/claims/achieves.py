"""The claim that a policy settles the question at a stated cost, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ascertain.errors import CertificateError
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.policy.plain import numbered_data


def achieves_claim(cost: Fraction, policy: Automaton) -> dict[str, Any]:
    """The policy answers every hypothesis right, at this cost at most."""
    return {"claim": "achieves", "cost": str(cost), "policy": policy_data(policy)}


def achieves_expected_claim(cost: Fraction, weights: Sequence[Fraction], policy: Automaton) -> dict[str, Any]:
    """The policy answers every hypothesis right, at this mean cost at most; `weights[h]` is the weight of h."""
    return {
        "claim": "achieves-expected",
        "cost": str(cost),
        "weights": [str(w) for w in weights],
        "policy": policy_data(policy),
    }


def policy_data(policy: Automaton) -> dict[str, Any]:
    """The nodes of a policy, the root first."""
    for v in range(policy.size):
        if policy.action[v] == policy.label[v] == NOWHERE:
            raise CertificateError(f"policy node {v} abstains; only a policy that always answers can be certified")
    return numbered_data(policy)
