"""A lower bound on the cost of settling a question, where it takes no more than a moment."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ascertain.bounds.information import bound_by_information
from ascertain.errors import AscertainError
from ascertain.pipeline.run_page import LowerBound
from ascertain.problem.problem import Problem
from ascertain.quotients.quotient import take_quotient
from ascertain.search.exact import solve
from ascertain.search.solution import Bounded, Solved

MOST_HYPOTHESES = 64
"""Hypotheses of a question that is bounded by the way: with more, pairs take seconds."""
SECONDS = 2.0
"""How long the search without noise may take: a page is waited for."""


def bound_cheaply(problem: Problem, alpha: Fraction) -> LowerBound:
    """The lower bound of a problem's question at this alpha, or why none was computed.

    With noise it is the pairwise bound on the mean cost in the worst case, without noise the least worst cost, or what
    a short search has proved of it.
    """
    if problem.listed is None or not problem.question.model.has_certain_transitions:
        return LowerBound(
            None, "the states of the model are not listed or hidden, and there is no quick bound for that"
        )
    task = replace(problem.task, alpha=alpha)
    if task.num_hypotheses > MOST_HYPOTHESES:
        return LowerBound(
            None, f"there are more than {MOST_HYPOTHESES} hypotheses; ascertain bounds takes its time for it"
        )
    try:
        if task.model.is_noisy:
            value = bound_by_information(take_quotient(task).reduced).value
            meaning = (
                f"no policy that is wrong with probability at most {task.alpha} and abstains with probability at most "
                f"{task.beta} has a lower mean cost in the worst case; a single run may cost less"
            )
        else:
            solution = solve(task, time_limit=SECONDS, prove="never", least_mean=False)
            value = solution.cost if isinstance(solution, Solved) else None
            meaning = "the cheapest experiment costs so much in the worst case; a single run may cost less"
            if isinstance(solution, Bounded):
                value, meaning = (
                    solution.lower,
                    "no experiment costs less in the worst case; a single run may cost less",
                )
    except AscertainError as reason:
        return LowerBound(None, str(reason))
    return LowerBound(value, meaning if value is not None else "nothing settles the question for every hypothesis")
