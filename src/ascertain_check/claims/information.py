"""The claim that two hypotheses cannot be told apart for less than what they owe each other, at their best rate.

*Theorem.* Let h and g have different labels, and 2 alpha + beta < 1. A policy that errs with probability at most alpha
and abstains with probability at most beta answers the label of h with probability at least 1 - alpha - beta under h
and at most alpha under g. So the relative entropy of its transcripts under h and g is at least d(1 - alpha - beta ||
alpha). By the chain rule it is the sum, over actions, of the expected number of times under h that the action is done
times the relative entropy of the two reading laws there. If that is at most G for each unit of cost wherever a common
word leads h and g, the expected cost under h is at least d(1 - alpha - beta || alpha) / G. It is infinite where G is
0, and where alpha is 0 and G finite. Everything is recomputed from the task.

*Noise as a bound.* The laws of such a task, errors spread evenly, are one noise within the bound. A policy that keeps
to the risks under every noise keeps to them under this one, and costs no less in the worst case than it does here. So
this claim, and `program`, `prices` and `openings`, are checked with these laws as they stand.
"""

from __future__ import annotations

from fractions import Fraction

from ascertain_check.claim import LISTED, register
from ascertain_check.encounters import entropy_of, explore
from ascertain_check.logarithm import binary_entropy
from ascertain_check.reading import Object, read_index, read_list, read_object, read_rational
from ascertain_check.task import Task, read_risk
from ascertain_check.verdicts import Refuted


@register("information", about=LISTED)
def check_information(task: Task, claim: Object) -> str:
    data = read_object(claim, "claim alpha beta cost pair", "the claim 'information'")
    alpha, beta = read_risks(data)
    cost = None if data["cost"] == "inf" else read_rational(data["cost"], "cost")
    h, g = (read_index(k, len(task.hypotheses), "pair") for k in read_list(data["pair"], "pair", 2))
    if task.hypotheses[h][0] == task.hypotheses[g][0]:
        raise Refuted("the two hypotheses have the same label")
    limit = bound_pair(task, h, g, alpha, beta)
    if limit is not None and (cost is None or cost > limit):
        raise Refuted("the pair does not owe each other that much")
    return say_bound(cost, alpha, beta)


def read_risks(data: Object) -> tuple[Fraction, Fraction]:
    """alpha and beta of the claim, which must ask for something."""
    alpha, beta = (read_risk(data[name], name) for name in ("alpha", "beta"))
    if 2 * alpha + beta >= 1:
        raise Refuted("2 alpha + beta is at least 1, so that nothing is asked")
    return alpha, beta


def bound_pair(task: Task, h: int, g: int, alpha: Fraction, beta: Fraction) -> Fraction | None:
    """What the pair proves, rounded down; None when that is infinite."""
    rate = Fraction(0)
    for shown, cost in explore(task, task.hypotheses[h][1], task.hypotheses[g][1]):
        entropy = entropy_of(shown)
        if entropy is None:
            return Fraction(0)
        rate = max(rate, entropy[1] / cost)
    owed = binary_entropy(1 - alpha - beta, alpha)
    return None if owed is None or rate == 0 else owed[0] / rate


def say_bound(cost: Fraction | None, alpha: Fraction, beta: Fraction) -> str:
    risk = f"with risks of at most {alpha} and {beta}"
    if cost is None:
        return f"no policy settles the question {risk}"
    return f"no policy settles the question {risk} at an expected cost of less than {cost}"
