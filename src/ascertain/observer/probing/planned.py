"""Probing by plan: the cheapest experiment that the solver finds, followed as long as what is read was foreseen.

Cheapest in the worst case (`planned`), or in the mean over hypotheses that are equally likely (`planned-mean`).

On a machine without noise a rival is beaten when it is contradicted, so the policy that settles the question at the
least worst cost is also the best way to probe. Once a reading is missing, an action is in doubt, or another action was
done than the plan asked for, the plan is lost, and the separating rule goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any, final
from weakref import finalize

from ascertain.evidence.evidence import Step
from ascertain.evidence.kinds import make_separating
from ascertain.evidence.probing import AbstractRule
from ascertain.evidence.worlds import AbstractWorld
from ascertain.interruption import look_up, seconds_left
from ascertain.observer.probing import ProbingRule
from ascertain.policy.automaton import Automaton
from ascertain.policy.policy import Ask
from ascertain.search.exact import solve
from ascertain.search.solution import Objective, Unsolvable
from ascertain.task.task import Task
from ascertain.types import Action

MAX_HYPOTHESES = 1000
"""With more than these the solver seldom ends within its memory, and looking for a plan would only delay the run."""
MAX_BYTES = 100_000_000
"""How large the solver's tables may get: a limit that gives the same plan on every machine, unlike one of time."""


@final
class PlannedProbing(AbstractRule):
    """The solver's policy for a question, if it has one; looked for when it is first asked."""

    def __init__(self, question: Task, objective: Objective = "worst") -> None:
        self._policy = _find_plan(question, objective)
        self._otherwise = make_separating(question)

    def ask(self, steps: Sequence[Step]) -> Action | None:
        if self._policy is None:
            return None
        memory = self._policy.start()
        for step in steps:
            decision = self._policy.decide(memory)
            if step.reading is None or decision != Ask(step.action):
                return None
            memory = self._policy.next(memory, step.reading)
        decision = self._policy.decide(memory)
        return decision.action if isinstance(decision, Ask) else None

    def choose(self, world: AbstractWorld, allowed: Sequence[Action] | None = None) -> Action:
        return self._otherwise.choose(world, allowed)


def _find_plan(question: Task, objective: Objective) -> Automaton | None:
    """The plan of a question, if there is one; runs that are made at once, or one after the other, share it."""
    if question.num_hypotheses > MAX_HYPOTHESES:
        return None
    tables = [question.state, question.label, *([] if question.state_label is None else [question.state_label])]
    contents = tuple(table.tobytes() for table in tables)
    key = (objective, contents, question.about, question.cost, question.actions)
    with _LOCK:
        model = question.model
        if id(model) not in _PLANS:
            _PLANS[id(model)] = {}
            finalize(model, _PLANS.pop, id(model))
        kept = _PLANS[id(model)]
        if key not in kept:
            look_up()
            limit = seconds_left()
            found = solve(question, objective=objective, memory_limit=MAX_BYTES, time_limit=limit, prove="never")
            look_up()  # a plan that time has cut short is followed by nobody, so that plans do not depend on clocks
            kept[key] = None if isinstance(found, Unsolvable) else found.policy
        return kept[key]


_PLANS: dict[int, dict[Any, Automaton | None]] = {}
"""By model, as long as that is there, and by what else a plan depends on: many runs of one question have one plan."""
_LOCK = Lock()

PLANNED = ProbingRule(
    "planned",
    "the cheapest experiment that the solver finds",
    PlannedProbing,
    serves=lambda question: question.model.is_exact,
    audience="machines without noise whose states are listed",
)
PLANNED_MEAN = replace(
    PLANNED,
    name="planned-mean",
    help="the experiment of the least mean cost that the solver finds",
    make=partial(PlannedProbing, objective="expected"),
)
