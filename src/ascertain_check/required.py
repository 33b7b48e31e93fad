"""What a certificate is required to say, by whoever receives it: `--require CLAIM`, as often as wanted.

    NAME                there is a claim of this name, such as obstruction or none-of-these
    settles             a policy settles the question: achieves, achieves-expected
    identifies          the same, and all hypotheses have different labels
    unsolvable          no policy settles it: a lower bound "inf", or an obstruction
    optimal             achieves and lower (or shares) at one cost; or the same of the mean, with the same weights
    answer=LABEL        the answer of a run, of every one that is claimed
    alpha<=P            every risk of a wrong answer that is claimed, of at least one
    cost<=C, cost>=C    the cost of a policy; the lower bound of all policies (at the risks of the task)
    complete:K          conforms with at least K extra states
    sampled<=P          sampled conformance: a disagreement has at most this probability

All that a certificate claims was proved before any of this is looked at, so that the claims themselves can be asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias, cast

from ascertain_check.claims import CLAIMS
from ascertain_check.question import Question
from ascertain_check.reading import Object, quote, read_rational
from ascertain_check.task import Task
from ascertain_check.verdicts import Malformed

IsSaid: TypeAlias = Callable[[Question, list[Object]], bool]

COMPARISON = re.compile(r"(alpha<=|cost<=|cost>=|sampled<=)(.+)")
UPPER, UPPER_MEAN = ("achieves",), ("achieves-expected",)
LOWER, LOWER_MEAN = ("lower", "shares"), ("lower-expected",)
AT_RISK = ("information", "program", "prices", "openings")
"""Lower bounds for policies that keep to the risks that the claim names."""


def read_requirement(text: str) -> IsSaid:
    """Whether claims, all of them proved, say this."""
    words: dict[str, IsSaid] = {
        "settles": lambda _, claims: bool(find(claims, *UPPER, *UPPER_MEAN)),
        "identifies": lambda task, claims: identifies(task) and bool(find(claims, *UPPER, *UPPER_MEAN)),
        "unsolvable": lambda task, claims: None in lower_bounds(task, claims),
        "optimal": lambda _, claims: is_optimal(claims),
        **{name: lambda _, claims, name=name: bool(find(claims, name)) for name in CLAIMS},
    }
    if text in words:
        return words[text]
    if text.startswith("answer="):
        return lambda _, claims: {claim["label"] for claim in find(claims, "run", "followed")} == {text[7:]}
    if match := re.fullmatch("complete:([0-9]{1,4})", text):
        return lambda _, claims: any(cast("int", c["extra"]) >= int(match[1]) for c in find(claims, "conforms"))
    if match := COMPARISON.fullmatch(text):
        number = read_rational(match[2], f"the requirement {quote(text)}")
        return lambda task, claims: compare(match[1], number, task, claims)
    raise Malformed(
        f"the requirement {quote(text)} is not known: {', '.join(words)}, answer=LABEL, alpha<=P, cost<=C, "
        "cost>=C, complete:K or sampled<=P"
    )


def find(claims: list[Object], *names: str) -> list[Object]:
    return [claim for claim in claims if claim["claim"] in names]


def fraction(value: object) -> Fraction | None:
    """A number of a claim that was proved; None for infinity."""
    return None if value == "inf" else Fraction(str(value))


def compare(what: str, number: Fraction, task: Question, claims: list[Object]) -> bool:
    if what == "alpha<=":
        risks = [risk_of(claim) for claim in find(claims, "run", "followed", "within-risk")]
        return bool(risks) and all(risk <= number for risk in risks)
    if what == "sampled<=":
        return any(Fraction(str(claim["bound"])) <= number for claim in find(claims, "sampled"))
    if what == "cost<=":
        kept = [claim for claim in find(claims, "within-risk") if keeps_to_risks(task, claim, 1)]
        costs = [fraction(claim["cost"]) for claim in (*find(claims, *UPPER, *UPPER_MEAN), *kept)]
        return any(cost is not None and cost <= number for cost in costs)
    return any(bound is None or bound >= number for bound in lower_bounds(task, claims))


def lower_bounds(task: Question, claims: list[Object]) -> list[Fraction | None]:
    """Of the cost of every policy that keeps to the risks of the task; None is infinite."""
    counted = [*find(claims, *LOWER), *(claim for claim in find(claims, *AT_RISK) if keeps_to_risks(task, claim, -1))]
    asks = isinstance(task, Task) and (not task.noisy or 2 * task.alpha + task.beta < 1)
    return [*(fraction(claim["cost"]) for claim in counted), *(None for _ in find(claims, "obstruction") if asks)]


def risk_of(claim: Object) -> Fraction:
    """What a run, or a policy, may err with."""
    if claim["claim"] == "run":
        shares = cast("dict[str, str]", claim["shares"])
        return sum((Fraction(share) for share in shares.values()), Fraction(0))
    return Fraction(str(cast("Object", claim["risk"] if claim["claim"] == "followed" else claim)["alpha"]))


def keeps_to_risks(task: Question, claim: Object, sign: int) -> bool:
    """Whether the risks of a claim are at most those of the task; with the sign -1, at least."""
    if not isinstance(task, Task):
        return False
    return all(
        sign * (Fraction(str(claim[name])) - risk) <= 0 for name, risk in (("alpha", task.alpha), ("beta", task.beta))
    )


def identifies(task: Question) -> bool:
    return isinstance(task, Task) and len({k for k, _ in task.hypotheses}) == len(task.hypotheses)


def is_optimal(claims: list[Object]) -> bool:
    """A policy and a lower bound at one cost."""
    costs = {claim["cost"] for claim in find(claims, *LOWER)}
    if any(claim["cost"] in costs for claim in find(claims, *UPPER)):
        return True
    means = {(claim["cost"], ratios(claim)) for claim in find(claims, *LOWER_MEAN)}
    return any((claim["cost"], ratios(claim)) in means for claim in find(claims, *UPPER_MEAN))


def ratios(claim: Object) -> tuple[Fraction, ...]:
    """Weights up to a factor."""
    weights = [Fraction(w) for w in cast("list[str]", claim["weights"])]
    return tuple(w / weights[0] for w in weights)
