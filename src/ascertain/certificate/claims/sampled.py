"""The claim that the words of a sample agreed with the specification, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ascertain.certificate.observed import observed_data
from ascertain.conformance.plan import SamplePlan
from ascertain.conformance.sample import STOP
from ascertain.types import Action


def sampled_claim(
    plan: SamplePlan, hypothesis: int, reset: Action, steps: Sequence[tuple[str, str]], first: int
) -> dict[str, Any]:
    """`first` is the number of the run, from 0, that is the first word of the sample."""
    return {
        "claim": "sampled",
        **observed_data(plan.spec, hypothesis, reset, steps),
        "seed": plan.seed,
        "stop": STOP,
        "words": plan.num_words,
        "first": first,
        "confidence": str(plan.confidence),
        "bound": str(plan.bound),
    }
