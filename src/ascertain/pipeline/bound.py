"""Bound: a lower and an upper bound on the cost at a given risk, and what makes the question hard.

question at its risks -> quotient -> lower bounds and policies -> the hardest pair -> claims -> certificate -> check
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, final

from ascertain.bounds.capacity import bound_by_capacity, bound_by_one_reading
from ascertain.bounds.divergence import round_value
from ascertain.bounds.information import PairwiseBound, bound_by_information
from ascertain.bounds.pairs import bound_by_pairs
from ascertain.bounds.program import bound_by_program
from ascertain.certificate.claims.information import information_claim
from ascertain.certificate.claims.obstruction import obstruction_claim
from ascertain.certificate.claims.program import program_claim
from ascertain.certificate.claims.within_risk import tests_claim, within_risk_claim
from ascertain.certificate.solution import solution_claims
from ascertain.certificate.write import write_certificate
from ascertain.drawing.shown import Listing, Shown
from ascertain.drawing.tree import write_tree
from ascertain.errors import CertificateError, LimitError, TaskError
from ascertain.pipeline import Tell, ignore
from ascertain.pipeline.certified import Certified, claim_prices, read_certified
from ascertain.pipeline.certify import certify
from ascertain.planning.bounded_noise import bound_under_noise, spread_evenly
from ascertain.planning.exported import Controller, export_policy, listed
from ascertain.planning.factors import find_factors
from ascertain.planning.hardest_pair import (
    HardestPair,
    explain_factors,
    explain_information,
    explain_pairs,
)
from ascertain.planning.limits import DEFAULT_LIMITS, SearchLimits
from ascertain.planning.policy_file import write_policy
from ascertain.planning.policy_forms import policy_data
from ascertain.planning.two_sided import TwoSidedBounds, Values
from ascertain.policy.chain import follow
from ascertain.problem.problem import Problem, find_question
from ascertain.quotients.obstruction import Obstruction
from ascertain.quotients.quotient import Quotient, take_quotient
from ascertain.rational import rational_field
from ascertain.search.exact import solve
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task
from ascertain_check import Verdict

MAX_PLACES = 20_000
"""A policy that may be at more places (memory, label, state) is not certified: the file would have megabytes."""
POWERS = (-4, -2, 0, 2, 4)
"""Of ten: the factors by which alpha is varied, four orders of magnitude to each side of what was asked."""


@final
@dataclass(frozen=True, eq=False)
class Bounds(Shown):
    """Lower <= complexity <= upper; None is infinity in `lower`, and in `upper` that no policy is known, or none is."""

    question: Task | PlantTask
    vacuous: bool = False
    """Whether 2 alpha + beta >= 1, so that a valid experiment need settle nothing."""
    obstruction: Obstruction | None = None
    lower: Values = field(default_factory=dict[str, Fraction | None])
    best: Fraction | None = None
    """The largest lower bound."""
    upper_by_method: Values = field(default_factory=dict[str, Fraction | None])
    upper: Fraction | None = None
    """The least cost of a policy that keeps to the risks, exact or rounded upwards."""
    risk: tuple[Fraction, Fraction] | None = None
    """How probable a wrong answer and an abstention of the policy are at most."""
    hardest: HardestPair | None = None
    policy: Any = None
    """What attains `upper`."""
    certificate: dict[str, Any] | None = None
    verdict: Verdict | None = None
    """What the checker says of the certificate."""
    certified: Certified | None = None
    """What the certificate proves of both sides, where the checker has verified it."""
    remarks: tuple[str, ...] = ()
    """Which methods met which limit, and what could not be certified, and why."""
    stopped_by: str | None = None
    """"time" or "interrupt" where the search ended before all methods were done; both sides hold all the same."""

    def shown(self) -> Mapping[str, object]:
        lower = "infinite" if self.is_infinite else self.best
        return {
            "alpha": self.question.alpha,
            "beta": self.question.beta,
            "lower": lower,
            "upper": self.upper,
            "certificate": self.verdict,
        }

    def listing(self) -> Listing:
        rows = [("lower", name, "infinite" if v is None else v) for name, v in self.lower.items()]
        rows += [("upper", name, "none found" if v is None else v) for name, v in self.upper_by_method.items()]
        return ("side", "method", "bound"), rows

    @property
    def is_infinite(self) -> bool:
        """Whether it is proved that no experiment keeps to the risk."""
        return self.best is None

    @property
    def ratio(self) -> Fraction | None:
        """Upper over lower bound; None where one of them is not finite, or the lower one is 0."""
        return self.upper / self.best if self.best and self.upper is not None else None

    def facts(self) -> dict[str, Any]:
        """As plain data, which is what `bounds --json` prints.

        What is not simple is rounded to nine decimals, lower bounds down and the others up.
        """
        return {
            "alpha": str(self.question.alpha),
            "beta": str(self.question.beta),
            "vacuous": self.vacuous,
            "obstructed": self.obstruction is not None,
            "lower": {
                k: "inf" if v is None else str(round_value(v)) for k, v in (*self.lower.items(), ("best", self.best))
            },
            "upper": "inf" if self.is_infinite else _text(self.upper),
            "upper_by_method": {k: _text(v) for k, v in self.upper_by_method.items()},
            "ratio": _text(self.ratio),
            "risk": None if self.risk is None else {"wrong": _text(self.risk[0]), "abstain": _text(self.risk[1])},
            "hardest": None if self.hardest is None else self.hardest.facts(),
            "policy": self._policy_data(),
            "certificate": None if self.verdict is None else str(self.verdict),
            "remarks": list(self.remarks),
            "stopped_by": self.stopped_by,
            "certified": self.certified_facts(),
        }

    def certified_facts(self) -> dict[str, Any] | None:
        """By row what of it the certificate proves, null where nothing; None where there is no verified certificate."""
        sure = self.certified
        if sure is None:
            return None
        rows = [(name, sure.covers(name, value)) for name, value in (*self.lower.items(), ("best", self.best))]
        return {
            "lower": {
                name: None if not covered else "inf" if value is None else str(round_value(value))
                for name, (covered, value) in rows
            },
            "upper": _text(sure.upper),
            "upper_by_method": {name: _text(self.certified_upper(name)) for name in self.upper_by_method},
            "ratio": _text(sure.ratio),
        }

    def certified_upper(self, name: str) -> Fraction | None:
        """What the certificate proves of the policy that a method has found: the one that attains `upper`."""
        value = self.upper_by_method.get(name)
        is_best = value is not None and value == self.upper
        return self.certified.upper if self.certified is not None and is_best else None

    @cached_property
    def controller(self) -> Controller | None:
        """The policy that attains `upper` as a thing to save, draw, simulate and run; None where there is none."""
        return None if self.policy is None else export_policy(self.question, self.policy)

    def write_policy(self, path: str | Path) -> Path:
        """Write the policy file; `docs/policies.md` describes it."""
        return write_policy(path, self._need_controller(path))

    def draw_policy(self, path: str | Path, title: str = "Policy") -> None:
        """Draw the policy: a page (.html), a picture (.svg), Graphviz text (.dot) or plain text (.txt)."""
        write_tree(path, self._need_controller(path).outline(), title)

    def _policy_data(self) -> dict[str, Any] | None:
        """The policy as plain data; None where there is none, or where it is too large to be listed."""
        with suppress(LimitError):
            return None if self.controller is None else policy_data(self.controller)
        return None

    def _need_controller(self, path: str | Path) -> Controller:
        if self.controller is None:
            raise TaskError(f"{path}: no policy was found, so that there is none to write")
        return self.controller

    def write_certificate(self, path: str | Path) -> tuple[Path, Path]:
        """Write NAME.json and NAME.task.json; returns both paths."""
        if self.certificate is None:
            raise CertificateError(f"{path}: there is nothing to certify")
        return write_certificate(path, self.question, self.certificate["claims"])


def round_decimals_up(value: Fraction) -> Fraction:
    """A simple fraction as it is, any other rounded up to nine decimals, not counting the zeros that it begins with."""
    if value.denominator <= 10**6:
        return value
    zeros = len(str(value.denominator // value.numerator)) if value < 1 else 0
    scale: int = 10 ** (9 + zeros)
    return Fraction(math.ceil(value * scale), scale)


def _text(value: Fraction | None) -> str | None:
    return None if value is None else str(round_decimals_up(value))


def bound(
    question: Task | PlantTask | Problem | str | Path,
    alpha: Fraction | int | str | None = None,
    beta: Fraction | int | str | None = None,
    *,
    certified: bool = False,
    time_limit: float | None = None,
    tell: Tell = ignore,
) -> Bounds:
    """Find all that is known about what the question costs at these risks; those that are not given are its own.

    `question` is a task, a question about a Boolean plant, a problem, or the name of a problem file. With `certified`
    what can be proved to a stranger is put into a certificate and checked. The search ends after about `time_limit`
    seconds, or when it is interrupted, with the best of both sides so far. `tell` hears what is being done, and how far
    both sides are.
    """
    limits = DEFAULT_LIMITS if time_limit is None else replace(DEFAULT_LIMITS, until=time.monotonic() + time_limit)
    risks = {"alpha": _read_risk("alpha", alpha, zero=False), "beta": _read_risk("beta", beta, zero=True)}
    question, _ = find_question(question, choose_question)
    question = replace(question, **{name: risk for name, risk in risks.items() if risk is not None})
    if 2 * question.alpha + question.beta >= 1:
        nothing = {"pairwise": Fraction(0), "program": Fraction(0)}
        found = Bounds(question, vacuous=True, lower=nothing, best=Fraction(0))
        why = "the bounds are vacuous, so that there is nothing to certify"
        return replace(found, remarks=(why,) if certified else ())
    check_risks(question)
    # Without a list of states there is neither a quotient to bound nor a task that certificates speak of.
    if isinstance(question, PlantTask):
        found = _bound_plant(question, limits)
        return _certify_tests(found) if certified else found
    # Lower bounds are for the laws as they stand, also where they are no more than a bound.
    quotient = take_quotient(question if question.model.noise_bound is None else spread_evenly(question))
    found, pairwise, both = _bound_task(question, quotient, limits, tell)
    if not certified:
        return found
    tell("certifying")
    return _certify(found, *_list_claims(found, quotient, pairwise, both))


def bound_around(
    found: Bounds, progress: Callable[[int, int], None] | None = None, time_limit: float | None = None
) -> Iterator[Bounds]:
    """The same question at other alphas, the asked one among them, as far as it stays one; none where alpha is 0.

    They come one by one. `time_limit` is for each of them; one that is interrupted is the last.
    """
    question = found.question
    risks = [question.alpha * Fraction(10) ** power for power in POWERS if question.alpha]
    risks = [risk for risk in risks if 2 * risk + question.beta < 1]
    for k, risk in enumerate(risks):
        if progress is not None:
            progress(k, len(risks))
        point = found if risk == question.alpha else bound(replace(question, alpha=risk), time_limit=time_limit)
        yield point
        if point is not found and point.stopped_by == "interrupt":
            return


def _read_risk(name: str, given: Fraction | int | str | None, *, zero: bool) -> Fraction | None:
    if given is None:
        return None
    risk = rational_field(given, f"--{name}", TaskError)
    if not 0 <= risk < 1 or (risk == 0 and not zero):
        raise TaskError(f"--{name}: {given} is not a probability in {'[' if zero else '('}0, 1)")
    return risk


def choose_question(problem: Problem) -> Task | PlantTask:
    """The question of a problem: through the factors of a plant where it has them, else with its states listed."""
    question = problem.require_machine().require_law().question
    if isinstance(question, PlantTask):  # only gates have factors
        try:
            factored = find_factors(question) is not None and question.model.is_noisy
        except LimitError:
            if problem.listed is None and question.about != "start":
                raise
            factored = False
        if factored or problem.listed is None:
            return question
    return problem.task


def check_risks(question: Task | PlantTask, where: str = "with --{name}, or in [risk] of the problem file") -> None:
    """With noise both risks must be positive: certainty has no bound. `where` tells where a risk is said."""
    for name, risk in (("alpha", question.alpha), ("beta", question.beta)):
        if question.model.is_noisy and risk == 0:
            raise TaskError(
                f"{name} is 0, and readings are noisy, so that no policy is that sure; say how large it may be "
                + where.format(name=name)
            )


def _bound_task(
    task: Task, quotient: Quotient, limits: SearchLimits, tell: Tell
) -> tuple[Bounds, PairwiseBound | None, TwoSidedBounds]:
    """Both sides of a task, the pairwise bound of its quotient unless that is obstructed, and what proves the rest."""
    found, reduced = bound_under_noise(task, limits, tell=tell), quotient.reduced
    if found.obstruction is not None:
        witness = found.obstruction
        hardest = HardestPair(witness.names, witness.labels, witness.sentence)
        infinite: Values = {"pairwise": None, "program": None}
        return Bounds(task, obstruction=witness, lower=infinite, hardest=hardest), None, found
    lower, remarks, hardest = dict(found.lower_by_method), list(found.remarks), None
    pairwise, program = found.pairwise, found.program
    # Without noise the optimum needs none of these, and a limit of one of them does not take it down.
    try:
        pairwise = pairwise or bound_by_information(reduced)
        hardest = explain_information(reduced, pairwise)
        if not reduced.model.is_noisy:
            program = bound_by_program(reduced, pairwise=pairwise)
            hardest = explain_pairs(reduced, bound_by_pairs(reduced))
    except LimitError as reason:
        remarks.append(str(reason))
    lower |= {} if pairwise is None else {"pairwise": pairwise.value}
    lower |= {} if program is None else {"program": program.value}
    return replace(_gather(task, found, lower, hardest), remarks=tuple(remarks)), pairwise, found


def _bound_plant(question: PlantTask, limits: SearchLimits) -> Bounds:
    """Both sides of a question about a plant that is not enumerated; the lower one alone where commands move bits."""
    try:
        factors = find_factors(question)
    except LimitError:
        if question.about != "start":
            raise
        pairwise, capacity = bound_by_one_reading(question), bound_by_capacity(question)
        return Bounds(question, lower={"pairwise": pairwise, "capacity": capacity}, best=max(pairwise, capacity))
    hardest = None if factors is None else explain_factors(question, factors)
    found = bound_under_noise(question, limits)
    return _gather(question, found, {"pairwise": None, "program": None, **found.lower_by_method}, hardest)


def _gather(question: Task | PlantTask, found: TwoSidedBounds, lower: Values, hardest: HardestPair | None) -> Bounds:
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
        remarks=found.remarks,
        stopped_by=found.stopped_by,
    )


def _list_claims(
    bounds: Bounds, quotient: Quotient, pairwise: PairwiseBound | None, both: TwoSidedBounds
) -> tuple[list[dict[str, Any]], list[str]]:
    """What can be certified of these bounds, and a remark for each side that cannot."""
    task = quotient.task
    if bounds.obstruction is not None or pairwise is None:
        return [obstruction_claim(task, *bounds.obstruction.pair)] if bounds.obstruction else [], []
    claims, remarks = _claim_lower(quotient, pairwise)
    priced, unproved = claim_prices(both, quotient, claims)
    claims, remarks = [*claims, *priced], [*remarks, *unproved]
    if not task.model.is_noisy:
        claims += solution_claims(solve(task), [Fraction(1)] * task.num_hypotheses)
    elif bounds.policy is None:
        remarks.append("no policy was found, so that only the lower bounds are certified")
    else:
        try:
            follow(listed(bounds.question), bounds.policy, max_places=MAX_PLACES)
            claims.append(within_risk_claim(listed(bounds.question), bounds.policy))
        except (LimitError, CertificateError) as reason:
            remarks.append(f"only the lower bounds are certified: {reason}")
    return claims, remarks


def _certify_tests(found: Bounds) -> Bounds:
    """The policy of a plant that is not enumerated, certified; its lower bounds are not."""
    remarks = ["lower bounds of a plant that is not enumerated are not certified: the checker lists states for them"]
    if found.controller is None or found.upper is None or found.risk is None:
        return _certify(found, [], remarks)
    return _certify(found, [tests_claim((*found.risk, found.upper), policy_data(found.controller))], remarks)


def _certify(found: Bounds, claims: list[dict[str, Any]], remarks: list[str]) -> Bounds:
    """The bounds with the certificate of these claims, and what it proves where it is verified."""
    certificate, verdict = certify(found.question, claims) if claims else (None, None)
    proved = read_certified(found.question, claims) if verdict is not None and verdict.exit_code == 0 else None
    told = (*found.remarks, *remarks)
    return replace(found, certificate=certificate, verdict=verdict, certified=proved, remarks=told)


def _claim_lower(quotient: Quotient, pairwise: PairwiseBound) -> tuple[list[dict[str, Any]], list[str]]:
    """The pairwise and the program bound, as claims about the hypotheses of the task itself."""
    task, claims = quotient.task, list[dict[str, Any]]()
    if pairwise.pair is not None:
        h, g = (int(quotient.members_of(k)[0]) for k in pairwise.pair)
        pairwise = replace(pairwise, pair=(h, g))
        claims.append(information_claim(pairwise, task.alpha, task.beta))
    program = bound_by_program(task, pairwise=pairwise)
    if program.dual is None:
        return claims, ["the program bound says nothing that could be certified"]
    return [*claims, program_claim(program)], []
