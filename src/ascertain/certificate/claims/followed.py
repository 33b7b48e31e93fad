"""The claim that a run followed a policy whose risk was proved beforehand, as plain data: that proof, and the records.

Only answers are certified: an abstention says nothing about the plant that anyone would have to believe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ascertain.certificate.claims.run import transcript_data
from ascertain.errors import CertificateError
from ascertain.evidence.evidence import Step
from ascertain.observer.records import hash_records
from ascertain.task.canonical import canonical_bytes, task_hash
from ascertain.task.question import AbstractQuestion


def followed_claim(
    question: AbstractQuestion,
    risk: Mapping[str, Any],
    transcript: Sequence[Step],
    records: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """The claim of a run that ended with an answer; `risk` is the claim that its policy stays within risk.

    `records` are all of its journal's, the commitment first.
    """
    if not records or records[0].get("record") != "commitment" or records[-1].get("verdict") != "certified":
        raise CertificateError("the records of the run must begin with its commitment and end with an answer")
    if records[0]["task_sha256"] != task_hash(question):
        raise CertificateError("the records were committed to another question than the one to be certified")
    if canonical_bytes(records[0]["settings"]["controller"]) != canonical_bytes(risk["policy"]):
        raise CertificateError("the records were committed to another policy than the one whose risk is proved")
    return {
        "claim": "followed",
        "label": records[-1]["label"],
        "risk": dict(risk),
        "transcript": transcript_data(transcript),
        "records": [dict(record) for record in records],
        "head": hash_records(records),
    }
