"""Random adaptive policies under noise: whether they obey what the theory says of every policy.

For each policy, exactly or with logarithms rounded outward:

- *chain rule*: the divergence of stopped transcripts is the sum over visits (`chain_rule.py`);
- *events*: it is at least the divergence of every binary event about how the policy ends, for every two hypotheses;
- *explicit bound*: with alpha and beta the policy's own risks, exactly evaluated, if 2 alpha + beta < 1 then it is at
  least d(1 - alpha - beta || alpha) for every two hypotheses of different labels, and the policy costs no less than the
  pairwise and the program bound at these risks;
- *quotient*: on the quotient the policy errs, abstains, costs and diverges exactly as on the task, and the pairwise
  bound is the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, final

from ascertain.bounds.divergence import Interval, required_divergence
from ascertain.bounds.information import bound_by_information
from ascertain.bounds.program import bound_by_program
from ascertain.policy.automaton import Automaton
from ascertain.policy.evaluate import Evaluation, evaluate
from ascertain.quotients.quotient import Quotient, take_quotient
from ascertain.task.task import Task
from ascertain_paper.studies.invariants.chain_rule import divergence_by_visits
from ascertain_paper.studies.invariants.draws import draw_question, draw_random_policy
from ascertain_paper.studies.invariants.transcripts import (
    Finding,
    Transcripts,
    chance,
    endings,
    gather,
    judge,
    judge_event,
    list_events,
)

NODES = 60
"""Of the joint graphs of the program bound: a bound on a graph that is cut is a bound."""


def check_policy(number: int) -> dict[str, Any]:
    """One policy of the study: a pure function of its number."""
    task = draw_question(number)
    return {"number": number, **examine(task, draw_random_policy(number, task), take_quotient(task))}


def examine(task: Task, policy: Automaton, quotient: Quotient) -> dict[str, Any]:
    """All that is found about one policy, as plain data."""
    examined = _Examination(task, policy, quotient)
    examined.compare_transcripts()
    if examined.is_constrained:
        examined.compare_cost()
    examined.compare_quotient()
    value = examined.value
    return {
        "alpha": str(value.alpha),
        "beta": str(value.beta),
        "cost": str(value.cost),
        "nonvacuous": examined.is_constrained,
        "shrunk": quotient.num_classes < task.model.num_states,
        "counts": dict(sorted(examined.counts.items())),
        "closest": examined.closest,
        "violations": examined.violations,
    }


@final
@dataclass
class _Examination:
    """One policy on one task, and what was counted and found on the way."""

    task: Task
    policy: Automaton
    quotient: Quotient
    violations: list[str] = field(default_factory=list[str])
    counts: Counter[str] = field(default_factory=Counter[str])
    closest: list[float] | None = None
    """The explicit bound where it is closest to the divergence: what is paid, and what is owed, in nats."""

    def __post_init__(self) -> None:
        self.value: Evaluation = evaluate(self.task, self.policy, exact=True)
        self.laws = [endings(self.task.model, self.policy, int(s)) for s in self.task.state]

    @property
    def is_constrained(self) -> bool:
        """Whether the policy's own risks are such that theory asks something of it."""
        return 2 * self.value.alpha + self.value.beta < 1

    def compare_transcripts(self) -> None:
        """Every two hypotheses, in both directions, on the task and on its quotient."""
        merged: list[int] = self.quotient.hypothesis_class.tolist()
        reduced = self.quotient.reduced
        for h, g in permutations(range(self.task.num_hypotheses), 2):
            s, t = int(self.task.state[h]), int(self.task.state[g])
            found = gather(self.task.model, self.policy, s, t)
            paid = found.divergence
            self._compare_visits(h, g, paid)
            for event in list_events(self.laws[h], self.laws[g]):
                finding = judge_event(found, paid, event, self.laws[h], self.laws[g])
                self._note("events", finding, f"the event {sorted(event)} diverges more than the transcripts", h, g)
            if self.is_constrained and self.task.label[h] != self.task.label[g]:
                self._compare_owed(h, g, found, paid)
            alike = gather(reduced.model, self.policy, int(reduced.state[merged[h]]), int(reduced.state[merged[g]]))
            self._note("quotient", "equal" if alike == found else "violated", "other transcripts on the quotient", h, g)

    def _compare_visits(self, h: int, g: int, paid: Interval | None) -> None:
        s, t = int(self.task.state[h]), int(self.task.state[g])
        visits = divergence_by_visits(self.task.model, self.policy, s, t)
        if paid is None or visits is None:
            agree = paid is visits
        else:
            agree = paid.low <= visits.high and visits.low <= paid.high
        self._note("chain rule", "equal" if agree else "violated", "transcripts and visits diverge differently", h, g)

    def _compare_owed(self, h: int, g: int, found: Transcripts, paid: Interval | None) -> None:
        """KL against d(1 - alpha - beta || alpha); they are equal if that is the divergence of answering h's label."""
        alpha, beta = self.value.alpha, self.value.beta
        required = required_divergence(alpha, beta)
        event = frozenset({int(self.task.label[h])})
        exactly = chance(self.laws[h], event) == 1 - alpha - beta and chance(self.laws[g], event) == alpha
        tight = exactly and judge_event(found, paid, event, self.laws[h], self.laws[g]) == "equal"
        self._note("explicit bound", judge(paid, required, tight), "less is paid than is owed", h, g)
        if paid is not None and required is not None:
            here = [float(paid.low), float(required.high)]
            if self.closest is None or here[0] * self.closest[1] < self.closest[0] * here[1]:
                self.closest = here

    def compare_cost(self) -> None:
        """The policy is valid at its own risks, so that no bound at these may exceed its cost."""
        alpha, beta, cost = self.value.alpha, self.value.beta, self.value.cost
        bounds = {
            "pairwise": bound_by_information(self.task, alpha, beta).value,
            "program": bound_by_program(self.task, alpha, beta, max_nodes=NODES).value,
        }
        assert cost is not None  # a walk down a tree ends
        for name, bound in bounds.items():
            held = bound is not None and bound <= cost
            finding: Finding = ("equal" if bound == cost else "above") if held else "violated"
            self._note(f"{name} bound", finding, f"the policy costs {cost} and the {name} bound is {bound}")

    def compare_quotient(self) -> None:
        """Risks and costs of every hypothesis and of its class, and the bound on both tasks."""
        reduced = self.quotient.reduced
        merged: list[int] = self.quotient.hypothesis_class.tolist()
        alike = evaluate(reduced, self.policy, exact=True)
        for h, c in enumerate(merged):
            here = self.value.wrong[h], self.value.abstain[h], self.value.costs[h]
            there = alike.wrong[c], alike.abstain[c], alike.costs[c]
            self._note("quotient", "equal" if here == there else "violated", "other risks or cost on the quotient", h)
        if self.is_constrained:
            risks = self.value.alpha, self.value.beta
            same = bound_by_information(self.task, *risks).value == bound_by_information(reduced, *risks).value
            self._note("quotient", "equal" if same else "violated", "another pairwise bound on the quotient")

    def _note(self, what: str, finding: Finding, sentence: str, *hypotheses: int) -> None:
        """Count a comparison, and say where it failed; what cannot be decided has not been shown to hold."""
        self.counts[what] += 1
        self.counts[f"{what}, equal"] += finding == "equal"
        if finding in ("violated", "undecided"):
            where = f" (hypotheses {', '.join(map(str, hypotheses))})" if hypotheses else ""
            self.violations.append(f"{what} {finding}: {sentence}{where}")
