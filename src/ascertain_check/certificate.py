"""The certificate: which task it belongs to, and a list of claims, each of which is checked by the file of its name.

To teach the checker a new claim, write its file and name its function in `CLAIMS`: the function takes the task and the
claim, raises Refuted or Malformed, or returns the sentence that it has proved. Only `run` is also about Boolean plants
whose states are not listed, and about hidden models.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ascertain_check.achieves import check_achieves, check_achieves_expected
from ascertain_check.hidden_task import HiddenTask
from ascertain_check.information import check_information
from ascertain_check.lower import check_lower
from ascertain_check.obstruction import check_obstruction
from ascertain_check.plant_task import PlantTask
from ascertain_check.program import check_program
from ascertain_check.question import Question, read_question
from ascertain_check.quotient import check_quotient
from ascertain_check.reading import Object, quote, read_json, read_list, read_map, read_object, read_text
from ascertain_check.risk import check_within_risk
from ascertain_check.run import TRUSTED, check_run
from ascertain_check.task import Task, read_header
from ascertain_check.verdicts import Malformed, Refuted, Verdict, malformed, refuted, verified

CLAIMS: dict[str, Callable[[Task, Object], str]] = {
    "achieves": check_achieves,
    "achieves-expected": check_achieves_expected,
    "information": check_information,
    "lower": check_lower,
    "obstruction": check_obstruction,
    "program": check_program,
    "quotient": check_quotient,
    "within-risk": check_within_risk,
}


def check(task_text: bytes, certificate_text: bytes) -> Verdict:
    """What the certificate proves about the task; the first fault found decides."""
    try:
        return verified(prove_claims(task_text, certificate_text))
    except Refuted as reason:
        return refuted(str(reason))
    except Malformed as reason:
        return malformed(str(reason))


def prove_claims(task_text: bytes, certificate_text: bytes) -> tuple[str, ...]:
    """One sentence for every claim, all of them proved, and one for what had to be trusted."""
    task = read_question(read_json(task_text, "the task"))
    claims = read_claims(task, certificate_text)
    proved = [prove_claim(task, claim) for claim in claims]
    return (*proved, *([TRUSTED] if any(claim["claim"] == "run" for claim in claims) else []))


def prove_claim(task: Question, claim: Object) -> str:
    name = read_text(claim["claim"], "claim")
    if name == "run":
        return check_run(task, claim)
    if isinstance(task, PlantTask):
        raise Refuted(f"the claim {name!a} is about models whose states are listed; this task has a Boolean plant")
    if isinstance(task, HiddenTask):
        raise Refuted(f"the claim {name!a} is about models whose transitions are certain; this task has a hidden one")
    return CLAIMS[name](task, claim)


def read_claims(task: Question, text: bytes) -> list[Object]:
    """The claims, each of a kind that is known, of a certificate that belongs to this task."""
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
    for claim in claims:
        name = read_text(claim.get("claim"), "claim")
        if name != "run" and name not in CLAIMS:
            raise Malformed(f"the claim {quote(name)} is not known to this checker")
    if digest != task.sha256:
        raise Refuted("the certificate belongs to another task")
    return claims
