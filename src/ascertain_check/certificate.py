"""The certificate: which task it belongs to, and a list of claims, each of which is checked by the file of its name.

The claims that are known stand in `claims/`, one file each; `claim.py` says how to add one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ascertain_check.claims import CLAIMS
from ascertain_check.question import Question, read_question
from ascertain_check.reading import Object, quote, read_json, read_list, read_map, read_object, read_text
from ascertain_check.required import read_requirement
from ascertain_check.task import read_header
from ascertain_check.verdicts import (
    Malformed,
    Refuted,
    Undecided,
    Verdict,
    insufficient,
    malformed,
    refuted,
    undecided,
    verified,
)
from ascertain_check.work import limit, spend


def check(task_text: bytes, certificate_text: bytes, require: Sequence[str] = (), budget: int | None = None) -> Verdict:
    """What the certificate proves about the task; the first fault found decides.

    `require` lists what it must say, as required.py reads it. More than `budget` steps of work are not done, and the
    verdict is then UNDECIDED; None: however long it takes.
    """
    try:
        with limit(budget):
            return prove_claims(task_text, certificate_text, require)
    except Refuted as reason:
        return refuted(str(reason))
    except Malformed as reason:
        return malformed(str(reason))
    except Undecided as reason:
        return undecided(str(reason))


def prove_claims(task_text: bytes, certificate_text: bytes, require: Sequence[str]) -> Verdict:
    """VERIFIED with one sentence for every claim, all of them proved, and with what had to be trusted."""
    wanted = {text: read_requirement(text) for text in require}
    task = read_question(read_json(task_text, "the task"))
    pairs = read_claims(task, certificate_text)
    proved = tuple(prove(task, name, claim, len(task_text)) for name, claim in pairs)
    trusted = dict.fromkeys(sentence for name, _ in pairs for sentence in CLAIMS[name].trusted)
    unsaid = [text for text, is_said in wanted.items() if not is_said(task, [claim for _, claim in pairs])]
    verdict = verified(proved, tuple(trusted))
    return insufficient(verdict, ", ".join(quote(text) for text in unsaid)) if unsaid else verdict


def prove(task: Question, name: str, claim: Object, num_bytes: int) -> str:
    """The sentence that one claim proves. However short it is, it may ask to look through the whole task."""
    spend(num_bytes >> 1)
    return CLAIMS[name].prove(task, claim)


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
