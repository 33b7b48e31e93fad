"""What `ascertain bounds` finds out about a question: both sides, the hardest pair, and what can be certified."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, final

from ascertain.bounds.divergence import round_value
from ascertain.bounds.information import bound_by_information
from ascertain.bounds.pairs import bound_by_pairs
from ascertain.bounds.program import bound_by_program
from ascertain.certificate.claims.information import information_claim
from ascertain.certificate.claims.obstruction import obstruction_claim
from ascertain.certificate.claims.program import program_claim
from ascertain.certificate.claims.within_risk import within_risk_claim
from ascertain.errors import CertificateError, LimitError, TaskError
from ascertain.pipeline.hardest import Hardest, explain_factors, explain_information, explain_pairs
from ascertain.pipeline.settle import settle
from ascertain.planning.factors import find_factors
from ascertain.planning.two_sided import TwoSidedBounds, bound_both_sides
from ascertain.policy.chain import follow
from ascertain.problem.problem import Problem
from ascertain.quotients.lift import lift_hypotheses
from ascertain.quotients.obstruction import Obstruction, find_obstruction
from ascertain.quotients.quotient import take_quotient
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task

MOST_PLACES = 20_000
"""A policy that may be at more places (memory, label, state) has too long a certificate."""

Values = Mapping[str, Fraction | None]


@final
@dataclass(frozen=True, eq=False)
class Bounds:
    """Lower <= complexity <= upper; None is infinity in `lower`, and in `upper` that no policy is known, or none is."""

    question: Task | PlantTask
    vacuous: bool = False
    obstruction: Obstruction | None = None
    lower: Values = field(default_factory=dict[str, Fraction | None])
    best: Fraction | None = None
    upper_by_method: Values = field(default_factory=dict[str, Fraction | None])
    upper: Fraction | None = None
    risk: tuple[Fraction, Fraction] | None = None
    hardest: Hardest | None = None
    policy: Any = None

    @property
    def is_infinite(self) -> bool:
        return self.best is None

    @property
    def ratio(self) -> Fraction | None:
        return self.upper / self.best if self.best and self.upper is not None else None

    def facts(self) -> dict[str, Any]:
        """As plain data; what is not simple is rounded to nine decimals, lower bounds down and the others up."""
        infinite = self.is_infinite
        return {
            "alpha": str(self.question.alpha),
            "beta": str(self.question.beta),
            "vacuous": self.vacuous,
            "obstructed": self.obstruction is not None,
            "lower": {
                k: "inf" if v is None else str(round_value(v)) for k, v in (*self.lower.items(), ("best", self.best))
            },
            "upper": "inf" if infinite else _text(self.upper),
            "upper_by_method": {k: _text(v) for k, v in self.upper_by_method.items()},
            "ratio": _text(self.ratio),
            "risk": None if self.risk is None else {"wrong": _text(self.risk[0]), "abstain": _text(self.risk[1])},
            "hardest": None if self.hardest is None else self.hardest.facts(),
        }


def round_up(value: Fraction) -> Fraction:
    """A simple fraction as it is, any other rounded up to nine decimals, not counting the zeros that it begins with."""
    if value.denominator <= 10**6:
        return value
    zeros = len(str(value.denominator // value.numerator)) if value < 1 else 0
    scale: int = 10 ** (9 + zeros)
    return Fraction(math.ceil(value * scale), scale)


def _text(value: Fraction | None) -> str | None:
    return None if value is None else str(round_up(value))


def choose_question(problem: Problem, alpha: Fraction | None, beta: Fraction | None) -> Task | PlantTask:
    """The question at these risks: through the factors of a plant where it has them, else with its states listed."""
    risks = {k: v for k, v in (("alpha", alpha), ("beta", beta)) if v is not None}
    question = problem.question
    if isinstance(question, PlantTask):
        try:
            factored = find_factors(question) is not None and question.model.flip > 0
        except LimitError:
            if problem.listed is None:
                raise
            factored = False
        if factored or problem.listed is None:
            return replace(question, **risks)
    return replace(problem.task, **risks)


def check_question(question: Task | PlantTask) -> None:
    """With noise both risks must be positive, unless they ask for nothing: certainty has no bound."""
    if 2 * question.alpha + question.beta >= 1:
        return
    noisy = question.model.flip > 0 if isinstance(question, PlantTask) else question.model.is_noisy
    for name, risk in (("alpha", question.alpha), ("beta", question.beta)):
        if noisy and risk == 0:
            raise TaskError(
                f"{name} is 0, and readings are noisy, so that no policy is that sure; say how large it may be with "
                f"--{name}, or in [risk] of the problem file"
            )


def find_bounds(question: Task | PlantTask, tell: Callable[[str], None] | None = None) -> Bounds:
    """All that is known about what the question costs at its risks; `tell` hears what is being done."""
    if 2 * question.alpha + question.beta >= 1:
        nothing = {"pairwise": Fraction(0), "program": Fraction(0)}
        return Bounds(question, vacuous=True, lower=nothing, best=Fraction(0))
    if isinstance(question, PlantTask):
        return _of_plant(question)
    obstruction = find_obstruction(question)
    if obstruction is not None:
        pair = obstruction.pair
        states = tuple(question.model.states[int(question.state[k])] for k in pair)
        labels = tuple(question.labels[int(question.label[k])] for k in pair)
        hardest = Hardest((states[0], states[1]), (labels[0], labels[1]), obstruction.sentence)
        return Bounds(
            question, obstruction=obstruction, lower={"pairwise": None, "program": None}, best=None, hardest=hardest
        )
    return _of_task(question, tell)


def _of_task(task: Task, tell: Callable[[str], None] | None) -> Bounds:
    reduced = take_quotient(task).reduced
    found = bound_both_sides(task, tell=tell)
    pairwise = bound_by_information(reduced)
    hardest = explain_information(reduced, pairwise)
    if not reduced.model.is_noisy:
        hardest = explain_pairs(reduced, bound_by_pairs(reduced))
    lower = dict(found.lower_by_method)
    lower.setdefault("pairwise", pairwise.value)
    if "program" not in lower:
        lower["program"] = bound_by_program(reduced).value
    return _gather(task, found, lower, hardest)


def _of_plant(question: PlantTask) -> Bounds:
    factors = find_factors(question)
    hardest = None if factors is None else explain_factors(question, factors)
    found = bound_both_sides(question)
    lower = {"pairwise": None, "program": None, **found.lower_by_method} if found.is_infinite else found.lower_by_method
    return _gather(question, found, lower, hardest)


def _gather(question: Task | PlantTask, found: TwoSidedBounds, lower: Values, hardest: Hardest | None) -> Bounds:
    ordered = {name: lower[name] for name in sorted(lower, key=lambda n: (n not in ("pairwise", "program"), n))}
    return Bounds(
        question,
        lower=ordered,
        best=found.lower,
        upper_by_method=found.upper_by_method,
        upper=found.upper,
        risk=found.risk,
        hardest=hardest,
        policy=found.policy,
    )


def list_claims(bounds: Bounds) -> tuple[list[dict[str, Any]], list[str]]:
    """What can be certified of these bounds, and a remark for each side that cannot."""
    task = bounds.question
    if isinstance(task, PlantTask):
        return [], ["a question about a plant that is not enumerated has no certificate"]
    if bounds.vacuous:
        return [], ["the bounds are vacuous, so that there is nothing to certify"]
    if bounds.obstruction is not None:
        return [obstruction_claim(task, *bounds.obstruction.pair)], []
    claims, notes = _claim_lower(task)
    if not task.model.is_noisy:
        certificate = settle(task).certificate
        claims += [] if certificate is None else certificate["claims"]
    elif not hasattr(bounds.policy, "decide"):
        notes.append("the policy is a tree of tests, so that only the lower bounds are certified")
    else:
        try:
            follow(task, bounds.policy, max_places=MOST_PLACES)
            claims.append(within_risk_claim(task, bounds.policy))
        except (LimitError, CertificateError) as reason:
            notes.append(f"only the lower bounds are certified: {reason}")
    return claims, notes


def _claim_lower(task: Task) -> tuple[list[dict[str, Any]], list[str]]:
    """The pairwise and the program bound, as claims about the hypotheses of the task itself."""
    quotient = take_quotient(task)
    claims: list[dict[str, Any]] = []
    pairwise = bound_by_information(quotient.reduced)
    if pairwise.pair is not None:
        h, g = (int(lift_hypotheses(quotient, k)[0]) for k in pairwise.pair)
        claims.append(information_claim(replace(pairwise, pair=(h, g)), task.alpha, task.beta))
    program = bound_by_program(task)
    if program.dual is not None:
        claims.append(program_claim(program))
    return claims, [] if program.dual is not None else ["the program bound says nothing that could be certified"]
