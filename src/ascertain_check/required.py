"""What a certificate is required to say, by whoever receives it: `--require CLAIM`, as often as wanted.

    NAME                there is a claim of this name, such as obstruction or none-of-these
    settles             a policy settles the question: achieves, achieves-expected
    identifies          the same, and all hypotheses have different labels; in a task about the start
    unsolvable          no policy settles it: a lower bound "inf", or an obstruction
    optimal             achieves and lower (or shares) at one cost; or the same of the mean, with the same weights
    answer=LABEL        the answer of a run, of every one that is claimed
    alpha<=P            every risk of a wrong answer that is claimed, of at least one
    cost<=C, cost>=C    the cost of a policy; the lower bound of all policies (at the risks of the task)
    complete:K          conforms with at least K extra states: every machine of at most K states more than the model
    sampled<=P          sampled conformance: with confidence 19/20, a word disagrees with at most this probability
    sampled<=P@C        the same with confidence C

Conformance counts where all actions but the reset were tried, access words reach every class, and every answer that the
certificate gives is that of the hypothesis which the plant conforms to.

All that a certificate claims was proved before any of this is looked at, so that the claims themselves can be asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias, cast

from ascertain_check.claims import CLAIMS
from ascertain_check.hidden_task import HiddenTask
from ascertain_check.question import Question
from ascertain_check.reading import Object, quote, read_rational
from ascertain_check.task import Task
from ascertain_check.verdicts import Malformed

IsSaid: TypeAlias = Callable[[Question, list[Object]], bool]

COMPARISON = re.compile(r"(alpha<=|cost<=|cost>=|sampled<=)([^@]+)")
SAMPLED = re.compile(r"(sampled<=)([^@]+)@([^@]+)")
CONFIDENCE = Fraction(19, 20)
"""Of a sample, where the requirement names none: that of `conform` where none is asked for."""
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
        return lambda task, claims: any(c["extra"] >= int(match[1]) for c in find_whole(task, claims, "conforms"))
    if match := SAMPLED.fullmatch(text):
        most, least = (read_rational(number, f"the requirement {quote(text)}") for number in match.groups()[1:])
        return lambda task, claims: is_sampled(task, claims, most, least)
    if match := COMPARISON.fullmatch(text):
        number = read_rational(match[2], f"the requirement {quote(text)}")
        return lambda task, claims: compare(match[1], number, task, claims)
    raise Malformed(
        f"the requirement {quote(text)} is not known: {', '.join(words)}, answer=LABEL, alpha<=P, cost<=C, "
        "cost>=C, complete:K, sampled<=P or sampled<=P@C"
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
        return is_sampled(task, claims, number, CONFIDENCE)
    if what == "cost<=":
        kept = [claim for claim in find(claims, "within-risk") if keeps_to_risks(task, claim, 1)]
        costs = [fraction(claim["cost"]) for claim in (*find(claims, *UPPER, *UPPER_MEAN), *kept)]
        return any(cost is not None and cost <= number for cost in costs)
    return any(bound is None or bound >= number for bound in lower_bounds(task, claims))


def is_sampled(task: Question, claims: list[Object], most: Fraction, confidence: Fraction) -> bool:
    return any(
        Fraction(str(claim["bound"])) <= most and Fraction(str(claim["confidence"])) >= confidence
        for claim in find_whole(task, claims, "sampled")
    )


def find_whole(task: Question, claims: list[Object], name: str) -> list[dict[str, Any]]:
    """Claims about conformance to the whole model, as the hypothesis that the answers of the certificate name."""
    if not isinstance(task, Task):
        return []
    answers = {claim["label"] for claim in find(claims, "run", "followed")}
    found = cast("list[dict[str, Any]]", find(claims, name))
    return [claim for claim in found if is_whole(task, claim) and is_answer(task, claim["hypothesis"], answers)]


def is_whole(task: Task, claim: dict[str, Any]) -> bool:
    """Whether all actions but the reset were tried, and access words reach every class."""
    classes: list[int | None] = claim["classes"]
    first = task.hypotheses[int(claim["hypothesis"])][1]
    reached = {classes[walk(task, first, [claim["reset"], *word])] for word in claim["access"]}
    return len(claim["actions"]) == task.num_actions - 1 and reached == {c for c in classes if c is not None}


def walk(task: Task, state: int, word: list[int]) -> int:
    """Where the reset and a word of actions lead; from a state with a class they lead to one."""
    for action in word:
        after = task.successor[state][action]
        assert after is not None
        state = after
    return state


def is_answer(task: Task, hypothesis: int, answers: set[object]) -> bool:
    """Whether answers about the start, if there are any, are the label of this hypothesis."""
    return task.current is not None or answers <= {task.labels[task.hypotheses[hypothesis][0]]}


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
    if isinstance(task, HiddenTask):
        return False
    return all(
        sign * (Fraction(str(claim[name])) - risk) <= 0 for name, risk in (("alpha", task.alpha), ("beta", task.beta))
    )


def identifies(task: Question) -> bool:
    return (
        isinstance(task, Task) and task.current is None and len({k for k, _ in task.hypotheses}) == len(task.hypotheses)
    )


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
