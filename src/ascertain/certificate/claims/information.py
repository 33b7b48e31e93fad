"""The claim that a pair of hypotheses bounds the cost by what it owes, as plain data; the checker recomputes it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ascertain.bounds.information import PairwiseBound
from ascertain.errors import CertificateError
from ascertain.task.canonical import fraction_text


def information_claim(bound: PairwiseBound, alpha: Fraction, beta: Fraction) -> dict[str, Any]:
    """No policy with these risks, those of the bound, has a worst expected cost below the bound's value."""
    if bound.pair is None:
        raise CertificateError("no pair of hypotheses bounds the cost, so there is nothing to certify")
    return {
        "claim": "information",
        "alpha": str(Fraction(alpha)),
        "beta": str(Fraction(beta)),
        "cost": fraction_text(bound.value),
        "pair": list(bound.pair),
    }
