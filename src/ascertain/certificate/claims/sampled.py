"""The claim that the words of a sample agreed with the specification, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ascertain.certificate.observed import observed_data
from ascertain.conformance.sample import STOP, Sample
from ascertain.types import Action


def sampled_claim(
    sample: Sample, hypothesis: int, reset: Action, steps: Sequence[tuple[str, str]], first: int
) -> dict[str, Any]:
    """`first` is the number of the run, from 0, that is the first word of the sample."""
    return {
        "claim": "sampled",
        **observed_data(sample.spec, hypothesis, reset, steps),
        "seed": sample.seed,
        "stop": STOP,
        "words": len(sample.words),
        "first": first,
        "confidence": str(sample.confidence),
        "bound": str(sample.bound),
    }
