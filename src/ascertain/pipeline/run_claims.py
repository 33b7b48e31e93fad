"""What the certificate of a run claims: the answer, by evidence or by a policy that was followed, and conformance."""

from __future__ import annotations

from collections.abc import Sequence

from ascertain.certificate.claims.followed import followed_claim
from ascertain.certificate.claims.none_of_these import none_of_these_claim, with_plant
from ascertain.certificate.claims.run import run_claim
from ascertain.errors import LimitError
from ascertain.live.session import Run
from ascertain.observer.records import Record, run_header
from ascertain.observer.witness import LOST
from ascertain.pipeline import Tell
from ascertain.pipeline.conform import Conformed
from ascertain.pipeline.control import Control, prove_control
from ascertain.policy.verdict import Abstained, Certified, NoneOfThese


def list_claims(
    run: Run, records: Sequence[Record], control: Control | None, conformed: Conformed | None, note: Tell
) -> tuple[Record, ...]:
    """What an answer and its conformance claim; where there is nothing to certify, `note` hears why."""
    tested = () if conformed is None else (conformed.claim,)
    if conformed is not None and not isinstance(conformed.verdict, Certified):
        # That it is none of these contradicts the answer, which was right only if it is one of them.
        found = [claim for claim in tested if claim is not None]
    else:
        try:
            found = [claim for claim in (_claim(run, records, control), *tested) if claim is not None]
        except LimitError as reason:
            note(f"no certificate is written: {reason}")
            return ()
    if not found:
        note("no certificate is written: only an answer is certified")
    return tuple(found)


def _claim(run: Run, records: Sequence[Record], control: Control | None) -> Record | None:
    """What an answer claims; None without one, and LimitError where it cannot be certified."""
    question, acceptance = run.observer.settings.question, run.observer.acceptance
    if run.verdict is None or isinstance(run.verdict, Abstained):
        return None
    if isinstance(run.verdict, NoneOfThese):
        witness = run.verdict.witness
        lost = any(reading == LOST for _, reading in witness)
        if question.model.listed is None or question.model.deterministic is None or lost:
            raise LimitError("what shows that it is none of these needs listed states and every reading")
        header = run_header(records)
        if sum(record["record"] == "plant" for record in records) > 1:
            raise LimitError("what shows that it is none of these needs a run without a fault of the plant")
        return with_plant(none_of_these_claim(question, witness), header)
    if control is None:
        return run_claim(question, acceptance, records)
    return followed_claim(question, prove_control(control), run.observer.transcript, records)
