"""Which policy a run follows: one from a file, one from its journal, one that is found first, or none, but evidence.

policy named, or chosen by default -> policy file, journal, or search -> its risk, proved -> settings of the observer
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from threading import Lock
from typing import Any, cast, final

from ascertain.certificate.claims.within_risk import tests_claim, within_risk_claim
from ascertain.errors import FileError, LimitError, TaskError
from ascertain.observer.controlled import FORMAT, ControllerSettings
from ascertain.pipeline import Tell, ignore
from ascertain.pipeline.bound import choose_question, round_decimals_up
from ascertain.pipeline.simulate import list_questions
from ascertain.planning.bounded_noise import bound_under_noise
from ascertain.planning.exported import Controller, as_table, export_policy, listed
from ascertain.planning.limits import DEFAULT_LIMITS
from ascertain.planning.minimax import GOOD_RATIO
from ascertain.planning.policy_file import CERTIFIED, is_path, read_policy
from ascertain.planning.policy_forms import parse_controller, policy_data
from ascertain.policy.automaton import PolicyTable
from ascertain.policy.plain import numbered_data
from ascertain.problem.observer import find_limits
from ascertain.problem.problem import Problem
from ascertain.problem.sections import ObserveSection
from ascertain.rational import rational_field
from ascertain.task.canonical import task_hash
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task

PLAN_TIME = 10.0
"""Seconds for finding it: a person waits that long without wondering, and most small questions are done by then."""
MAX_HYPOTHESES = 12
"""With more a search in that time seldom finds anything, so that by default none is made."""
NO_BETA = (
    "beta is 0: actions are chosen one by one; with [risk] beta a policy that keeps to both risks is looked for first"
)
"""Said where a policy would do and nobody has said how often there may be no answer."""


@final
@dataclass(frozen=True)
class Control:
    """The policy that a run follows."""

    controller: Controller
    settings: ControllerSettings

    def facts(self) -> dict[str, str]:
        """What is proved of the policy, rounded up where it is not simple."""
        names = ("wrong", "abstain", "cost")
        return {k: str(round_decimals_up(v)) for k, v in zip(names, self.settings.risk, strict=True)}

    @property
    def sentence(self) -> str:
        """What a person is told."""
        wrong, abstain, cost = (f"{float(x):.4g}" for x in self.settings.risk)
        return (
            f"following a certified policy: wrong with probability at most {wrong}, abstains with at most {abstain}, "
            f"expected cost at most {cost} under every hypothesis"
        )


def choose_control(
    problem: Problem,
    policy: str | Path | None,
    *,
    alpha: Fraction | int | str | None = None,
    budget: int | None = None,
    decided: bool = False,
    recorded: Mapping[str, Any] | None = None,
    seconds: float = PLAN_TIME,
    tell: Tell = ignore,
) -> Control | None:
    """The policy to follow; None where the run is to collect evidence.

    `policy` is a policy file, "certified", another name, or None: then one is looked for where the question is noisy,
    small and has both risks, and neither the file nor the caller (`decided`) says how to observe. `recorded` is the
    commitment of a journal that is resumed: what it follows is followed.
    """
    if seconds < 0:
        raise TaskError(f"--plan-time: {seconds} is negative; write a number of seconds")
    if alpha is not None:
        problem = _at_alpha(problem, rational_field(alpha, "alpha", TaskError))
    if recorded is not None:
        return _recorded(problem, recorded, policy)
    if policy is not None and is_path(policy):
        controller = read_policy(policy, list_questions(problem))
        try:
            return _control(problem, controller, budget)
        except TaskError as reason:
            raise TaskError(f"{policy}: {reason}") from None
    if policy == CERTIFIED:
        found = _find(problem, choose_question(problem), budget, seconds, tell)
        if found is None:
            raise TaskError(
                f"{problem.path}: no certified policy was found in {seconds:g} s; give it longer (--plan-time), or "
                "take another policy"
            )
        return found
    if policy is not None or decided or not _is_suitable(problem):
        return None
    if not problem.question.beta:
        tell(NO_BETA)
        return None
    found = _find(problem, listed(cast("Task", problem.question)), budget, seconds, tell)
    if found is None:
        tell(f"no certified policy was found in {seconds:g} s; collecting evidence instead")
    return found


@final
class SharedPlan:
    """What `choose_control` chooses for several runs of one problem, with the same options: once for each alpha."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._chosen: dict[str, Control | None] = {}

    def choose(self, problem: Problem, policy: str | Path | None, **words: Any) -> Control | None:
        """As `choose_control`; a run that is resumed follows what its journal says."""
        if words.get("recorded") is not None:
            return choose_control(problem, policy, **words)
        alpha = str(words.get("alpha"))
        with self._lock:
            if alpha not in self._chosen:
                self._chosen[alpha] = choose_control(problem, policy, **words)
            return self._chosen[alpha]


def _at_alpha(problem: Problem, alpha: Fraction) -> Problem:
    """The same problem at another alpha, which is another question."""
    question, other = replace(problem.question, alpha=alpha), problem.listed
    if other is problem.question:
        return replace(problem, question=question, listed=question)
    return replace(problem, question=question, listed=None if other is None else replace(other, alpha=alpha))


def _is_suitable(problem: Problem) -> bool:
    """Whether a policy would do by default: noise, a risk, few hypotheses, nothing said about observing."""
    question = problem.question
    small = question.model.listed is not None and question.num_hypotheses <= MAX_HYPOTHESES
    noisy = question.model.is_noisy and question.model.has_certain_transitions
    said = problem.bounds_flips or problem.operation is not None or problem.observe != ObserveSection()
    return small and noisy and not said and question.alpha > 0


def _find(
    problem: Problem, question: Task | PlantTask, budget: int | None, seconds: float, tell: Tell
) -> Control | None:
    """The best policy that is found in time and whose risk can be proved."""
    if question.model.is_noisy and not (question.alpha and question.beta):
        raise TaskError(
            f"{problem.path}: alpha is {question.alpha} and beta {question.beta}, and readings are noisy, so that no "
            "policy is that sure; set [risk] alpha and beta"
        )
    tell(f"looking for a certified policy for up to {seconds:g} s")
    limits = replace(DEFAULT_LIMITS, until=time.monotonic() + seconds, enough=GOOD_RATIO)
    found = bound_under_noise(question, limits)
    if found.stopped_by == "interrupt":
        raise KeyboardInterrupt
    for cost, policy, risk in found.policies:
        with suppress(LimitError):  # too large to be listed: the next one is dearer, and may be smaller
            return _control(problem, export_policy(question, policy), budget, (*risk, cost))
    return None


def _recorded(problem: Problem, first: Mapping[str, Any], policy: str | Path | None) -> Control | None:
    """What the journal was committed to; None where that is evidence."""
    settings: Any = first.get("settings")
    if not isinstance(settings, dict) or cast("dict[str, Any]", settings).get("format") != FORMAT:
        if policy is not None and (policy == CERTIFIED or is_path(policy)):
            raise FileError("the journal is of a run that collects evidence; resume it without --policy")
        return None
    if policy is not None and policy != CERTIFIED and not is_path(policy):
        raise FileError(f"the journal is of a run that follows a policy; resume it without --policy {policy}")
    known = cast("dict[str, Any]", settings)
    budget = known.get("budget")
    questions = {task_hash(question): question for question in list_questions(problem)}
    if known.get("task") not in questions:
        raise FileError("the journal belongs to another problem; resume it with the one it was begun with")
    controller = parse_controller(known.get("controller"), questions[known["task"]], "the journal's policy")
    return _control(problem, controller, budget if type(budget) is int else None)


def _control(
    problem: Problem,
    controller: Controller,
    budget: int | None,
    risk: tuple[Fraction, Fraction, Fraction] | None = None,
) -> Control:
    """The settings of a run that follows a policy; its risk is evaluated where it is not known."""
    question = controller.question
    problem.require_law()
    if not controller.is_product:
        # In the order in which a certificate lists them, without nodes that nothing leads to.
        controller = Controller(question, as_table(listed(question), controller.policy))
    settings = ControllerSettings(
        question=question,
        controller=controller.policy,
        data=policy_data(controller) if controller.is_product else numbered_data(controller.table()),
        label=controller.label,
        risk=risk or controller.risk(),
        budget=budget,
        limits=find_limits(problem, question),
    )
    return Control(controller, settings)


def prove_control(control: Control) -> dict[str, Any]:
    """The claim that the policy stays within risk, for certificates; LimitError where it is too large or leads back."""
    if control.controller.is_product:
        return tests_claim(control.settings.risk, control.settings.data)
    table = control.controller.table()
    # A table that never goes back is its own proof, if the numbers are exact: then it needs no list of values.
    ordered = not isinstance(table, PolicyTable)
    return within_risk_claim(listed(control.controller.question), table, exact=True if ordered else None)
