"""From a problem file to an observer's settings, and to what compiles its bank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from ascertain.bank.operation import Operation
from ascertain.errors import TaskError, did_you_mean
from ascertain.evidence.evidence import Doubts
from ascertain.observer.banks import HypothesesBank, OperationBank
from ascertain.observer.probing import default_probing
from ascertain.observer.settings import ObserverSettings, PolicyName
from ascertain.problem.operation import pose_operation
from ascertain.problem.problem import Problem
from ascertain.problem.truth import end_of_run
from ascertain.rational import rational_field
from ascertain.task.bank import Bank
from ascertain.task.question import AbstractQuestion
from ascertain.types import Action, State

MakeBank: TypeAlias = Callable[[], Bank]
"""Compiles a bank when it is wanted."""
MAX_EVEN_BITS = 16
"""The largest plant all of whose states are taken as candidates, evenly, when the problem says nothing better."""


def pose_observer(
    problem: Problem,
    *,
    policy: PolicyName | None = None,
    alpha: Fraction | int | str | None = None,
    probing: str | None = None,
    budget: int | None = None,
    threshold: Fraction | int | str | None = None,
    against: str | None = None,
) -> tuple[ObserverSettings, MakeBank | None]:
    """The settings of a problem's observer and what compiles its bank; what is given here goes before the file.

    A question at another alpha is another question: the settings' question has the alpha that is used. Without a
    nominal, in the file or from an operation, the policy is eager unless another one is asked for here. `against`
    names a second compiler whose map is to be compared with the first one's.
    """
    section, question = problem.observe, problem.question
    if alpha is not None:
        question = replace(question, alpha=rational_field(alpha, "alpha", TaskError))
    operation = None if problem.operation is None else pose_operation(problem)
    nominal = _nominal(problem, question, operation)
    make_bank = _make_bank(problem, question, operation, against)
    if nominal is None and make_bank is None:
        raise TaskError(
            f"{problem.path}: the plant has {len(question.model.bits)} bits, too many to take every state for a "
            "candidate; name a nominal in [observe], or describe an [operation]"
        )
    settings = ObserverSettings(
        question=question,
        alpha=question.alpha,
        nominal=nominal,
        policy=policy or ("eager" if nominal is None else section.policy),
        threshold=section.threshold if threshold is None else rational_field(threshold, "threshold", TaskError),
        budget=section.budget if budget is None else budget,
        nominal_share=section.nominal_share,
        rejection=section.rejection,
        doubts=Doubts(section.doublings),
        probing=probing or section.probing or default_probing(question),
        limits=_limits(problem, question),
    )
    if make_bank is None and settings.policy in {"eager", "reuse"}:
        raise TaskError(
            f"{problem.path}: the policy {settings.policy!r} needs a bank, and the problem has none; describe an "
            "[operation], list the hypotheses, or use the policy readwise"
        )
    return settings, make_bank


def _nominal(problem: Problem, question: AbstractQuestion, operation: Operation | None) -> State | None:
    if problem.observe.nominal is not None:
        name, where = problem.observe.nominal, f"{problem.path}: [observe] nominal"
        return question.candidate_named(name, where)
    return None if operation is None else end_of_run(operation, (), trust=False)


def _make_bank(
    problem: Problem, question: AbstractQuestion, operation: Operation | None, against: str | None
) -> MakeBank | None:
    if operation is not None:
        return OperationBank(operation, problem.observe.compiler, problem.observe.shells, against=against)
    states = question.candidates
    if states is None and len(question.model.bits) <= MAX_EVEN_BITS:
        states = range(question.num_candidates)
    return None if states is None else HypothesesBank(states)


def _limits(problem: Problem, question: AbstractQuestion) -> dict[Action, int]:
    names = question.model.actions
    limits = problem.observe.limits or {}
    for name in limits:
        if name not in names:
            hint = did_you_mean(name, names)
            raise TaskError(f"{problem.path}: [observe] limits: {name!r} is not an action of the question{hint}")
    index = {name: a for a, name in enumerate(names)}
    return {index[name]: limit for name, limit in limits.items() if index[name] in question.actions}
