"""The claim that no machine of a fault domain but the specification shows what was observed, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ascertain.certificate.observed import observed_data
from ascertain.conformance.suite import Suite
from ascertain.types import Action


def conforms_claim(suite: Suite, hypothesis: int, reset: Action, steps: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """`steps` holds the suite and what was observed before it, from where a reset leads on."""
    return {"claim": "conforms", **observed_data(suite.spec, hypothesis, reset, steps), "extra": suite.extra}
