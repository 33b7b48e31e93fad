"""Run certificates by hand, and whether a run has earned its answer, by the definition and in fractions.

Nothing here looks at `ascertain_check`, nor at the observer: a case is whatever someone may claim, true or false. Every
hypothesis and every candidate is followed by itself, once for each case of the actions that may not have run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import product
from typing import Any

from ascertain.evidence.evidence import Step
from ascertain.model.abstract import AbstractDeterministic
from ascertain.task.canonical import task_data
from ascertain.task.plant_task import PlantTask
from ascertain.task.question import AbstractQuestion
from ascertain.task.task import Task
from ascertain.types import UNDEFINED

Weights = tuple[tuple[int, Fraction], ...]
Ran = tuple[bool, ...]
"""Of the doubted actions, in order, which ran."""


@dataclass(frozen=True)
class Case:
    """What is claimed of a run."""

    question: AbstractQuestion
    label: str
    steps: tuple[Step, ...]
    bank: Weights
    policy: str = "readwise"
    nominal: int | None = 0
    switched: int | None = None
    alpha: Fraction = Fraction(1, 10)
    nominal_share: Fraction = Fraction(1, 2)
    max_doubts: int = 4
    ran: Fraction = Fraction(1, 2)
    committed: str | None = "by hand"
    """The kind of bank that the commitment names; None: that there is none."""

    @property
    def shares(self) -> dict[str, Fraction]:
        if self.policy in ("eager", "reuse"):
            return {"fallback" if self.policy == "eager" else "mixture": self.alpha}
        return {"nominal": self.alpha * self.nominal_share, "fallback": self.alpha * (1 - self.nominal_share)}

    @property
    def share(self) -> str:
        if self.policy in ("eager", "reuse"):
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
    settings = {
        "policy": case.policy,
        "nominal": case.nominal,
        "alpha": str(case.alpha),
        "nominal_share": str(case.nominal_share),
        "doubts": [case.max_doubts, str(case.ran)],
    }
    records: list[dict[str, Any]] = [
        {
            "record": "commitment",
            "format": "ascertain-journal",
            "version": 1,
            "task_sha256": sha256(canonical(task_data(case.question))).hexdigest(),
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


def bank_of(case: Case) -> list[list[Any]]:
    return [[state, str(w)] for state, w in case.bank]


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
    weights = [w for _, w in case.bank]
    if not weights or min(weights) <= 0 or sum(weights) > 1 or case.alpha > case.question.alpha:
        return False
    if sum(not step.certain for step in case.steps) > case.max_doubts:
        return False
    return has_right_bank(case) and uses_what_may_be_used(case) and is_answered(case)


def has_right_bank(case: Case) -> bool:
    if case.policy == "eager":
        return case.switched == 0 and is_as_committed(case)
    if case.nominal is None:
        return False
    if case.switched is not None:
        return is_as_committed(case)
    return case.bank == ((case.nominal, case.nominal_share if case.policy == "reuse" else Fraction(1)),)


def is_as_committed(case: Case) -> bool:
    """Whether a bank that was compiled is one that the commitment allows."""
    kept = {case.nominal: case.nominal_share} if case.policy == "reuse" and case.nominal is not None else {}
    bank = dict(case.bank)
    if case.committed is None or any(bank.get(z, Fraction(0)) < w for z, w in kept.items()):
        return False
    if case.committed != "hypotheses":
        return True
    states = {state for state, _ in hypotheses_of(case.question)}
    rest = (1 - sum(kept.values(), Fraction(0))) / len(states)
    return bank == {z: rest + kept.get(z, Fraction(0)) for z in states}


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


def cases_of(steps: tuple[Step, ...]) -> list[Ran]:
    return list(product((True, False), repeat=sum(not step.certain for step in steps)))


def path_of(question: AbstractQuestion, state: int, steps: tuple[Step, ...], ran: Ran) -> list[int]:
    """Where a state goes, step by step; UNDEFINED from where it does not allow what is done."""
    assert isinstance(question.model, AbstractDeterministic)
    path, doubted = [state], iter(ran)
    for step in steps:
        state = path[-1]
        after = UNDEFINED if state == UNDEFINED else question.model.next_state(state, step.action)
        path.append(after if step.certain or next(doubted) or after == UNDEFINED else state)
    return path


def likelihoods(case: Case, path: list[int], scored_from: int) -> list[Fraction]:
    """The likelihood of the scored readings, before the first step and after each; zero once off the path."""
    model, found = case.question.model, [Fraction(1)]
    assert isinstance(model, AbstractDeterministic)
    for i, step in enumerate(case.steps):
        factor = Fraction(1)
        if path[i + 1] == UNDEFINED:
            factor = Fraction(0)
        elif step.reading is not None and i >= scored_from:
            factor = model.reading_law(path[i], step.action).get(step.reading, Fraction(0))
        found.append(found[-1] * factor)
    return found


def sums(case: Case, bank: Weights, scored_from: int) -> list[Fraction]:
    """The bank's sum, before the first step and after each."""
    total = [Fraction(0)] * (len(case.steps) + 1)
    for state, w in bank:
        for ran in cases_of(case.steps):
            share = w
            for yes in ran:
                share *= case.ran if yes else 1 - case.ran
            values = likelihoods(case, path_of(case.question, state, case.steps, ran), scored_from)
            total = [x + share * value for x, value in zip(total, values, strict=True)]
    return total


def beaten_at(values: list[Fraction], total: list[Fraction], alpha: Fraction) -> int | None:
    """The first time at which the evidence is large enough; None: never."""
    return next((t for t, (x, s) in enumerate(zip(values, total, strict=True)) if s > 0 and x <= alpha * s), None)


def followed(case: Case) -> Iterator[tuple[int, str, list[int], list[Fraction]]]:
    for state, label in hypotheses_of(case.question):
        for ran in cases_of(case.steps):
            path = path_of(case.question, state, case.steps, ran)
            yield state, label, path, likelihoods(case, path, case.scored_from)


def uses_what_may_be_used(case: Case) -> bool:
    question = case.question
    total, alpha = sums(case, case.bank, case.scored_from), case.shares[case.share]
    if isinstance(question, PlantTask):
        return all(step.action in question.actions for step in case.steps) and enters_nothing_unsafe(case, question)
    for _, _, path, values in followed(case):
        end = path.index(UNDEFINED) if UNDEFINED in path else None
        if end is not None:
            beaten = beaten_at(values[:end], total[:end], alpha)
            if beaten is None:
                return False
    return True


def enters_nothing_unsafe(case: Case, question: PlantTask) -> bool:
    """Whether no state that was not beaten then, in the stage of then, was led into one that must not be entered."""
    total = sums(case, case.bank, case.scored_from)
    assert case.nominal is not None or case.scored_from == 0
    before = sums(case, ((case.nominal or 0, Fraction(1)),), 0)
    for _, _, path, values in followed(case):
        early = likelihoods(case, path, 0)
        for i, step in enumerate(case.steps):
            entered = question.model.next_state(path[i], step.action)
            if entered in question.never and path[i] not in question.never:
                if i >= case.scored_from:
                    beaten = beaten_at(values[: i + 1], total[: i + 1], case.shares[case.share])
                else:
                    beaten = beaten_at(early[: i + 1], before[: i + 1], case.alpha * case.nominal_share)
                if beaten is None:
                    return False
    return True


def is_answered(case: Case) -> bool:
    total, alpha = sums(case, case.bank, case.scored_from), case.shares[case.share]
    if min(total) == 0:
        return False
    left = {
        label_now(case.question, label, path[-1])
        for _, label, path, values in followed(case)
        if beaten_at(values, total, alpha) is None
    }
    return left == {case.label}
