"""The certificate: which task it belongs to, and a list of claims, each of which is checked by the file of its name.

The claims that are known stand in `claims/`, one file each; `claim.py` says how to add one.
"""

from __future__ import annotations

import re

from ascertain_check.claims import CLAIMS
from ascertain_check.question import Question, read_question
from ascertain_check.reading import Object, quote, read_json, read_list, read_map, read_object, read_text
from ascertain_check.task import read_header
from ascertain_check.verdicts import Malformed, Refuted, Verdict, malformed, refuted, verified


def check(task_text: bytes, certificate_text: bytes) -> Verdict:
    """What the certificate proves about the task; the first fault found decides."""
    try:
        return prove_claims(task_text, certificate_text)
    except Refuted as reason:
        return refuted(str(reason))
    except Malformed as reason:
        return malformed(str(reason))


def prove_claims(task_text: bytes, certificate_text: bytes) -> Verdict:
    """VERIFIED with one sentence for every claim, all of them proved, and with what had to be trusted."""
    task = read_question(read_json(task_text, "the task"))
    pairs = read_claims(task, certificate_text)
    proved = tuple(CLAIMS[name].prove(task, claim) for name, claim in pairs)
    trusted = dict.fromkeys(CLAIMS[name].trusted for name, _ in pairs)
    return verified(proved, tuple(sentence for sentence in trusted if sentence is not None))


def read_claims(task: Question, text: bytes) -> list[tuple[str, Object]]:
    """The claims, each with its name, which is known, of a certificate that belongs to this task."""
    data = read_object(
        read_json(text, "the certificate"),
        "format version made_by task_sha256 claims",
        "the certificate",
    )
    read_header(data, "ascertain-certificate", "the certificate")
    read_text(data["made_by"], "made_by")
    digest = read_text(data["task_sha256"], "task_sha256")
    if not re.fullmatch("[0-9a-f]{64}", digest):
        raise Malformed("task_sha256 must be 64 hexadecimal digits in lower case")
    claims = [read_map(claim, "a claim") for claim in read_list(data["claims"], "claims")]
    if not claims:
        raise Malformed("a certificate must claim something")
    pairs = [(read_name(claim), claim) for claim in claims]
    if digest != task.sha256:
        raise Refuted("the certificate belongs to another task")
    return pairs


def read_name(claim: Object) -> str:
    name = read_text(claim.get("claim"), "claim")
    if name not in CLAIMS:
        raise Malformed(f"the claim {quote(name)} is not known to this checker")
    return name
