"""From a problem file to an observer's settings, and to what compiles its bank."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ascertain.bank.calibration_file import Calibration, hash_declarations, read_calibration
from ascertain.bank.operation import Operation
from ascertain.bank.shells import KeptShells
from ascertain.bank.weights import DEFAULT, WEIGHTINGS
from ascertain.errors import TaskError, find_name
from ascertain.evidence.evidence import Doubts
from ascertain.evidence.misfit import MISFIT
from ascertain.observer.banks import MakeBank, OperationBank, list_hypotheses, spread_evenly
from ascertain.observer.pricing import SHARES, THRESHOLDS, PolicyChoice, choose_policy
from ascertain.observer.probing import default_probing
from ascertain.observer.settings import POLICIES, ObserverSettings, PolicyName
from ascertain.problem.operation import pose_operation
from ascertain.problem.problem import Problem, as_problem
from ascertain.problem.truth import end_of_run
from ascertain.rational import rational_field
from ascertain.task.question import AbstractQuestion
from ascertain.types import Action, Reading, State


def pose_observer(
    problem: Problem | AbstractQuestion,
    *,
    nominal: str | None = None,
    operation: Operation | None = None,
    policy: PolicyName | None = None,
    alpha: Fraction | int | str | None = None,
    misfit: Fraction | int | str | None = None,
    probing: str | None = None,
    budget: int | None = None,
    threshold: Fraction | int | str | None = None,
    shells: int | Calibration | None = None,
    against: str | None = None,
) -> tuple[ObserverSettings, MakeBank | None]:
    """The settings of a problem's observer and what compiles its bank; what is given here goes before the file.

    `nominal` names what the plant should be in, `operation` is what went before. Without either, here or in the file,
    all hypotheses are candidates, evenly, and the policy is eager. A question at another alpha is another question:
    the settings' question has the alpha that is used. `shells` is how many shells of the bank are kept, or a
    calibration that says so; without either, here or in the file, all of them are. `against` names a second compiler
    whose map is to be compared with the first one's.
    """
    problem = as_problem(problem)
    section, question = problem.observe, problem.question
    if alpha is not None:
        question = replace(question, alpha=rational_field(alpha, "alpha", TaskError))
    if operation is None and problem.operation is not None:
        operation = pose_operation(problem)
    expected = _nominal(problem, nominal, question, operation)
    settings = ObserverSettings(
        question=question,
        alpha=question.alpha,
        nominal=expected,
        policy=policy or ("eager" if expected is None else section.policy or POLICIES[0]),
        threshold=_first(threshold, section.threshold, ObserverSettings.threshold),
        budget=section.budget if budget is None else budget,
        nominal_budget=section.nominal_budget,
        nominal_share=section.nominal_share or ObserverSettings.nominal_share,
        rejection=section.rejection,
        misfit=_misfit(problem, question, misfit),
        silence=_silence(problem, question),
        doubts=Doubts(section.doublings),
        losses=section.losses,
        probing=probing or section.probing or default_probing(question),
        limits=find_limits(problem, question),
    )
    kept = _keep_shells(problem, operation, shells)
    make_bank = _make_bank(problem, question, operation, kept, against, settings.policy == "incremental")
    if make_bank is None and settings.policy == "eager":
        make_bank = spread_evenly(question)
    if make_bank is None and settings.mixes:
        raise TaskError(
            f"{problem.path}: the policy {settings.policy!r} needs a bank, and the problem has none; describe an "
            "operation, or list the hypotheses, or leave the policy out: the nominal then does without"
        )
    return settings, make_bank


def price_policies(
    problem: Problem, settings: ObserverSettings, make_bank: MakeBank | None
) -> tuple[ObserverSettings, MakeBank | None, PolicyChoice | None]:
    """The same with the policy that is expected to cost least, and why it is; as they were, and None, where the problem
    names a policy, does not price computation, or has no bank that would have to be compiled."""
    section = problem.observe
    if section.policy is not None or not problem.prices or not isinstance(make_bank, OperationBank):
        return settings, make_bank, None
    choice = choose_policy(
        settings,
        make_bank.operation,
        problem.prices,
        compiler=section.compiler,
        probability=section.nominal_probability,
        thresholds=THRESHOLDS if section.threshold is None else (section.threshold,),
        shares=SHARES if section.nominal_share is None else (section.nominal_share,),
    )
    if choice is None:
        return settings, make_bank, None
    best = choice.best
    settings = replace(settings, policy=best.policy, threshold=best.threshold, nominal_share=best.nominal_share)
    return settings, make_bank.with_parts(best.policy == "incremental"), choice


def _first(given: Fraction | int | str | None, said: Fraction | None, default: Fraction) -> Fraction:
    if given is not None:
        return rational_field(given, "threshold", TaskError)
    return default if said is None else said


def _nominal(
    problem: Problem, given: str | None, question: AbstractQuestion, operation: Operation | None
) -> State | None:
    name = problem.observe.nominal if given is None else given
    if name is not None:
        return question.candidate_named(name, "nominal" if given else f"{problem.path}: [observe] nominal")
    return None if operation is None else end_of_run(operation, (), trust=False)


def _misfit(problem: Problem, question: AbstractQuestion, given: Fraction | int | str | None) -> Fraction:
    """gamma as given, as the file says, or the default; without noise, 0: there the readings themselves contradict."""
    if not question.model.is_noisy:
        return Fraction(0)
    if given is not None:
        return rational_field(given, "misfit", TaskError)
    return MISFIT if problem.misfit is None else problem.misfit


def _silence(problem: Problem, question: AbstractQuestion) -> Reading | None:
    """The reading that is no evidence, where the file says that silence is none."""
    if problem.observe.silence == "evidence":
        return None
    where = f"{problem.path}: [noise] reads, the reading that stands for no answer"
    return find_name(problem.silence, question.model.readings, where, "a reading of the model", TaskError)


def _make_bank(
    problem: Problem,
    question: AbstractQuestion,
    operation: Operation | None,
    kept: int | KeptShells | None,
    against: str | None,
    in_parts: bool,
) -> MakeBank | None:
    if operation is not None:
        weighting = DEFAULT if problem.operation is None else WEIGHTINGS[problem.operation.weighting]
        compiler = problem.observe.compiler
        if in_parts and weighting is not DEFAULT:
            raise TaskError(
                f"{problem.path}: [operation] weights is not for the policy 'incremental', whose shells have weights "
                "by their number; leave it out, or take another policy"
            )
        return OperationBank(operation, compiler, kept, weighting=weighting, against=against, in_parts=in_parts)
    return list_hypotheses(question)


def _keep_shells(
    problem: Problem, operation: Operation | None, given: int | Calibration | None
) -> int | KeptShells | None:
    """How many shells the bank keeps: as given, as the file says, or all."""
    section = problem.observe
    if operation is None:
        if given is not None:
            raise TaskError(f"{problem.path}: without an operation there are no shells to keep; leave the number out")
        return None
    declared = problem.operation
    if given is None and declared is not None and declared.calibration is not None:
        if section.shells is not None:
            raise TaskError(
                f"{problem.path}: [observe] shells and [operation] calibration both say how many shells are kept; "
                "leave one of them out"
            )
        given = read_calibration(declared.calibration)
    if isinstance(given, Calibration):
        given.require_settings(hash_declarations([[operation] * len(given.strata)]))
        return given.kept_for(None if declared is None else declared.group)
    if given is not None and given < 1:
        raise TaskError(f"shells is {given}; at least one must be kept")
    return section.shells if given is None else given


def find_limits(problem: Problem, question: AbstractQuestion) -> dict[Action, int]:
    """How often each action may be used, by [observe] limits."""
    names, where = question.model.actions, f"{problem.path}: [observe] limits"
    limits = problem.observe.limits or {}
    known = {find_name(name, names, where, "an action of the question", TaskError): n for name, n in limits.items()}
    return {action: limit for action, limit in known.items() if action in question.actions}
