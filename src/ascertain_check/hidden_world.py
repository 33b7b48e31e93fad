"""The evidence of a run against every hypothesis about a hidden model.

A hypothesis begins with its belief, whose probabilities are its *weights*. A step leads the weight of a state to where
the action may lead from there, times the probability of that together with what was read, or whatever was read if the
reading is missing. The total of the weights is then L, the likelihood of all readings so far, and the rest is as in
`evidence.py`: the candidates of the bank are hypotheses, and a hypothesis is beaten once L <= alpha * S, where S is the
sum over candidates of their share of the bank times their likelihood. Readings are always scored from the first step
on: where the plant is now depends on all of them.

An action that may not have run makes two cases of every hypothesis; in one the weights stay as they are.

In integers: all beliefs are written over one denominator, and an action multiplies that by the common denominator of
its laws, whoever is followed and whether it ran or not. So the denominator is the same for all and falls out.

An action may be done only if every state with a weight, of every hypothesis that is not beaten, allows it. A candidate
that was beaten loses the weight of states that do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ascertain_check.evidence import Stage, Step, check_effort, common_denominator, need_answer, need_list
from ascertain_check.hidden_task import HiddenTask, JointLaw
from ascertain_check.verdicts import Malformed, Refuted
from ascertain_check.work import KEEP, spend

Weights: TypeAlias = dict[int, int]
"""By state, what it weighs, over the denominator that is common to all."""
Ends: TypeAlias = dict[int | None, list[tuple[int, int]]]
"""By reading, and under None whatever is read: where an action leads from a state, with the scaled probabilities."""


@dataclass(frozen=True)
class Case:
    """A hypothesis in one case of the doubted actions; `share` is its part of the bank, 0 if it is no candidate."""

    hypothesis: int
    weights: Weights
    share: int
    beaten: bool

    @property
    def likelihood(self) -> int:
        return sum(self.weights.values())


def check_hidden(task: HiddenTask, label: str, stage: Stage, steps: list[Step]) -> None:
    """Refuted unless this is the answer that the evidence allows."""
    if label not in task.labels:
        raise Malformed("the label is not one of the task's")
    laws = Laws(task)
    check_effort(task.num_hypotheses * max(laws.num_entries), stage, steps, max(laws.scale))
    bank = need_list(stage)
    den = common_denominator((w for _, w in bank), "the weights of the bank")
    cases = begin(task, {h: int(w * den) for h, w in bank})
    for step in steps:
        for case in cases:
            laws.check_allowed(case, step.action)
        cases = [after for case in cases for after in lead(laws, case, step, stage)]
        den *= 1 if step.certain else stage.ran.denominator
        total = sum(case.share * case.likelihood for case in cases)
        if total == 0:
            raise Refuted("no candidate of the bank explains the readings")
        factor, limit = den * stage.alpha.denominator, stage.alpha.numerator * total
        cases = [mark(case, case.likelihood * factor <= limit) for case in cases]
    k = task.labels.index(label)
    left = [case.hypothesis for case in cases if not case.beaten]
    rivals = [h for h in left if task.label[h] != k]
    need_answer(f"hypothesis {rivals[0]}" if rivals else None, bool(left))


def begin(task: HiddenTask, share: dict[int, int]) -> list[Case]:
    """Every hypothesis before the first step."""
    whole = common_denominator((p for belief in task.beliefs for _, p in belief), "the beliefs")
    return [
        Case(h, {s: int(p * whole) for s, p in belief}, share.get(h, 0), False) for h, belief in enumerate(task.beliefs)
    ]


def mark(case: Case, beats: bool) -> Case:
    """The case, beaten from now on if it is beaten now."""
    return Case(case.hypothesis, case.weights, case.share, case.beaten or beats)


def lead(laws: Laws, case: Case, step: Step, stage: Stage) -> Iterator[Case]:
    """What becomes of a case at a step: one case, or two if the action may not have run."""
    ran, share = stage.ran, case.share
    if not step.certain:
        stayed = {s: w * laws.scale[step.action] for s, w in case.weights.items()}
        yield Case(case.hypothesis, stayed, share * (ran.denominator - ran.numerator), case.beaten)
        share *= ran.numerator
    yield Case(case.hypothesis, laws.move(case.weights, step.action, step.reading), share, case.beaten)


class Laws:
    """The joint laws in integers: `scale[a]` times the probabilities, for every action a."""

    def __init__(self, task: HiddenTask) -> None:
        self.task = task
        columns = [[row[a] for row in task.law] for a in range(task.num_actions)]
        self.num_entries = [sum(0 if k is None else len(task.laws[k]) for k in column) for column in columns]
        self.scale: list[int] = []
        self.ends: list[list[Ends]] = []
        for column in columns:
            laws: dict[int | None, JointLaw] = {k: () if k is None else task.laws[k] for k in column}
            entries = [p for law in laws.values() for _, _, p in law]
            spend(KEEP * len(entries))
            scale = common_denominator(entries, "the laws")
            ends = {k: tabulate(law, scale) for k, law in laws.items()}
            self.scale.append(scale)
            self.ends.append([ends[k] for k in column])

    def check_allowed(self, case: Case, a: int) -> None:
        for s in case.weights:
            if not case.beaten and self.task.law[s][a] is None:
                raise Refuted(
                    f"action {a} was done while hypothesis {case.hypothesis}, not beaten, may be in state {s}, which "
                    "forbids it"
                )

    def move(self, weights: Weights, a: int, reading: int | None) -> Weights:
        """Where the weights are after the action."""
        after: Weights = {}
        for s, w in weights.items():
            for t, n in self.ends[a][s].get(reading, ()):
                after[t] = after.get(t, 0) + w * n
        return after


def tabulate(law: JointLaw, scale: int) -> Ends:
    ends: Ends = {}
    for t, y, p in law:
        for reading in (y, None):
            ends.setdefault(reading, []).append((t, int(p * scale)))
    return ends
