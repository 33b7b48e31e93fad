"""The claim that a run has earned its answer, as plain data: the answer, what it was scored with, and the records.

Only answers are certified: an abstention says nothing about the plant that anyone would have to believe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ascertain.errors import CertificateError
from ascertain.evidence.evidence import Step
from ascertain.observer.records import bank_data, hash_records
from ascertain.observer.stages import FALLBACK, MIXTURE, NOMINAL, Acceptance
from ascertain.task.canonical import task_hash
from ascertain.task.question import AbstractQuestion


def run_claim(
    question: AbstractQuestion, acceptance: Acceptance | None, records: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The claim of a run that ended with an answer; `records` are all of its journal's, the commitment first.

    The question is the one that was committed to, at the alpha that was used.
    """
    if acceptance is None:
        raise CertificateError("the run has not ended with an answer; an abstention is not certified")
    if not records or records[0].get("record") != "commitment" or records[-1].get("label") != acceptance.label:
        raise CertificateError("the records of the run must begin with its commitment and end with its verdict")
    if records[0]["task_sha256"] != task_hash(question):
        raise CertificateError("the records were committed to another question than the one to be certified")
    return {
        "claim": "run",
        "label": acceptance.label,
        "shares": {name: str(amount) for name, amount in shares_of(records[0]["settings"]).items()},
        "share": acceptance.share,
        "bank": bank_data(acceptance.bank),
        "scored_from": acceptance.scored_from,
        "transcript": transcript_data(acceptance.transcript),
        "records": [dict(record) for record in records],
        "head": hash_records(records),
    }


def transcript_data(steps: Sequence[Step]) -> list[list[Any]]:
    """[action, reading or null, whether it is certain that the action ran] for every step."""
    return [[step.action, step.reading, step.certain] for step in steps]


def shares_of(settings: Mapping[str, Any]) -> dict[str, Fraction]:
    """The shares of alpha by name, from an observer's settings as plain data."""
    alpha = Fraction(settings["alpha"])
    if settings["policy"] == "eager":
        return {FALLBACK: alpha}
    if settings["policy"] in {"reuse", "incremental"}:
        return {MIXTURE: alpha}
    nominal = alpha * Fraction(settings["nominal_share"])
    return {NOMINAL: nominal, FALLBACK: alpha - nominal}
