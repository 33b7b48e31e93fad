"""Run certificates by hand, and whether a run has earned its answer.

Nothing here looks at `ascertain_check`, nor at the observer: a case is whatever someone may claim, true or false. The
second checker, `run_checker.py`, says which it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any

from ascertain.evidence.evidence import Step
from ascertain.task.canonical import task_data
from ascertain.task.plant_task import PlantTask
from ascertain.task.question import AbstractQuestion
from ascertain.task.task import Task
from tests.reference.run_checker import holds

Weights = tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class Case:
    """What is claimed of a run."""

    question: AbstractQuestion
    label: str
    steps: tuple[Step, ...]
    bank: Weights | None
    """None: every state of a Boolean plant, evenly, as the words "all states" say."""
    policy: str = "readwise"
    nominal: int | None = 0
    switched: int | None = None
    alpha: Fraction = Fraction(1, 10)
    nominal_share: Fraction = Fraction(1, 2)
    max_doubts: int = 4
    ran: Fraction = Fraction(1, 2)
    committed: str | None = "by hand"
    """The kind of bank that the commitment names; None: that there is none."""
    threshold: Fraction = Fraction(10**9)
    rejection: Fraction = Fraction(1, 10**9)
    placed: bool = True
    """Whether the nominal stage has a budget that ends where the bank is compiled; else the trigger has to say so."""
    more: tuple[tuple[str, Any], ...] = ()
    """Other settings."""

    @property
    def shares(self) -> dict[str, Fraction]:
        if self.policy in ("eager", "reuse", "incremental"):
            return {"fallback" if self.policy == "eager" else "mixture": self.alpha}
        return {"nominal": self.alpha * self.nominal_share, "fallback": self.alpha * (1 - self.nominal_share)}

    @property
    def share(self) -> str:
        if self.policy in ("eager", "reuse", "incremental"):
            return next(iter(self.shares))
        return "nominal" if self.switched is None else "fallback"

    @property
    def scored_from(self) -> int:
        return self.switched or 0 if self.policy in ("staged", "readwise") else 0


# Claims as plain data.


def canonical(data: object) -> bytes:
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def head_of(records: list[dict[str, Any]]) -> str:
    head = "0" * 64
    for record in records:
        head = sha256(head.encode() + b"\n" + canonical(record)).hexdigest()
    return head


def records_of(case: Case) -> list[dict[str, Any]]:
    task = sha256(canonical(task_data(case.question))).hexdigest()
    settings: dict[str, Any] = {
        "format": "ascertain-observer",
        "version": 1,
        "task": task,
        "policy": case.policy,
        "nominal": case.nominal,
        "alpha": str(case.alpha),
        "nominal_share": str(case.nominal_share),
        "doubts": [case.max_doubts, str(case.ran)],
        "threshold": str(case.threshold),
        "rejection": str(case.rejection),
        "budget": 600,
        "limits": [],
        "probing": "by hand",
    }
    if case.placed and case.switched is not None and case.policy != "eager":
        settings["nominal_budget"] = case.switched
    settings |= dict(case.more)
    records: list[dict[str, Any]] = [
        {
            "record": "commitment",
            "format": "ascertain-journal",
            "version": 1,
            "task_sha256": task,
            "settings": settings,
            "bank": None if case.committed is None else {"kind": case.committed},
            "made_by": "a test",
        }
    ]
    bank = sha256(canonical(bank_of(case))).hexdigest()
    for i in range(len(case.steps) + 1):
        if case.switched == i:
            stage = {"record": "stage", "stage": "fallback", "after": i, "why": "trigger", "bank_sha256": bank}
            records.append(stage)
        for step in case.steps[i : i + 1]:
            records.append({"record": "intent", "action": step.action})
            kind = {"record": "reading", "reading": step.reading} if step.certain else {"record": "doubt"}
            records.append(kind | {"action": step.action})
    return [*records, {"record": "verdict", "verdict": "certified", "label": case.label, "reason": None}]


def bank_of(case: Case) -> list[list[Any]] | str:
    return "all states" if case.bank is None else [[state, str(w)] for state, w in case.bank]


def claim_of(case: Case) -> dict[str, Any]:
    records = records_of(case)
    return {
        "claim": "run",
        "label": case.label,
        "shares": {name: str(amount) for name, amount in case.shares.items()},
        "share": case.share,
        "bank": bank_of(case),
        "scored_from": case.scored_from,
        "transcript": [[step.action, step.reading, step.certain] for step in case.steps],
        "records": records,
        "head": head_of(records),
    }


def texts_of(question: AbstractQuestion, claim: dict[str, Any]) -> tuple[bytes, bytes]:
    """The task and the certificate as files."""
    task = canonical(task_data(question))
    head = {"format": "ascertain-certificate", "version": 1, "made_by": "a test"}
    return task, canonical(head | {"task_sha256": sha256(task).hexdigest(), "claims": [claim]})


def rechained(claim: dict[str, Any]) -> dict[str, Any]:
    """The claim with the head that its records have."""
    return claim | {"head": head_of(claim["records"])}


# Whether it is earned.


def is_earned(case: Case) -> bool:
    """Whether what is claimed follows from the task, the commitment and the readings."""
    if case.bank is not None and min((w for _, w in case.bank), default=0) <= 0:
        return False
    return holds(json.loads(canonical(task_data(case.question))), claim_of(case))


def hypotheses_of(question: AbstractQuestion) -> Iterator[tuple[int, str]]:
    """States with their labels."""
    if isinstance(question, PlantTask):
        for state in range(question.model.num_states) if question.states is None else question.states:
            yield state, question.label_of(state)
    else:
        assert isinstance(question, Task)
        for state, label in zip(question.state.tolist(), question.label.tolist(), strict=True):
            yield state, question.labels[label]


def label_now(question: AbstractQuestion, label: str, state: int) -> str:
    """The right answer for a hypothesis that had this label and is now in that state."""
    if question.about == "start":
        return label
    if isinstance(question, PlantTask):
        return question.label_of(state)
    assert isinstance(question, Task) and question.state_label is not None
    return question.labels[int(question.state_label[state])]
