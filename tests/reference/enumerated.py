"""What deterministic policies of a few actions achieve, one by one: every decision after every history.

A policy of at most `horizon` actions is an answer, abstention, or an action and a policy for each reading. Its outcome
is what it costs, errs and abstains under each hypothesis, in rationals, times the probability of the history so far.
Outcomes that another one is no worse than in every respect are left out on the way: a policy with such a part can be
changed for the better.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TypeAlias

from ascertain.task.task import Task
from ascertain.types import UNDEFINED

Outcome: TypeAlias = tuple[Fraction, ...]
"""Costs, errors and abstentions, one after the other for each hypothesis."""


def cheapest(task: Task, alpha: Fraction, beta: Fraction, horizon: int, first: int | None = None) -> Fraction | None:
    """The least worst-case cost of those that keep to the risks, and that begin with action `first` if it is given."""
    n = task.num_hypotheses
    chance = (Fraction(1),) * n
    states = tuple(int(s) for s in task.state)
    found = list_outcomes(task, states, chance, horizon) if first is None else ask(task, states, chance, horizon, first)
    costs = [max(o[:n]) for o in found if max(o[n : 2 * n]) <= alpha and max(o[2 * n :]) <= beta]
    return min(costs, default=None)


def list_outcomes(task: Task, states: tuple[int, ...], chance: tuple[Fraction, ...], horizon: int) -> list[Outcome]:
    n, zero = len(chance), (Fraction(0),) * len(chance)
    found = [zero + zero + chance]
    for label in range(len(task.labels)):
        found.append(zero + tuple(chance[h] * int(task.label[h] != label) for h in range(n)) + zero)
    if horizon > 0:
        for action in range(task.model.num_actions):
            found += ask(task, states, chance, horizon, action)
    return undominated(found)


def ask(task: Task, states: tuple[int, ...], chance: tuple[Fraction, ...], horizon: int, action: int) -> list[Outcome]:
    n = len(chance)
    if any(p and task.model.successor[s, action] == UNDEFINED for s, p in zip(states, chance, strict=True)):
        return []
    moved = tuple(int(task.model.successor[s, action]) if p else s for s, p in zip(states, chance, strict=True))
    laws = [task.model.reading_law(s, action) if p else {} for s, p in zip(states, chance, strict=True)]
    paid = tuple(p * task.cost[action] for p in chance) + (Fraction(0),) * (2 * n)
    parts: list[list[Outcome]] = []
    for y in range(len(task.model.readings)):
        after = tuple(p * law.get(y, Fraction(0)) for p, law in zip(chance, laws, strict=True))
        if any(after):
            parts.append(list_outcomes(task, moved, after, horizon - 1))
    return undominated(
        [tuple(sum(column, Fraction(0)) for column in zip(paid, *choice, strict=True)) for choice in product(*parts)]
    )


def undominated(outcomes: list[Outcome]) -> list[Outcome]:
    kept: list[Outcome] = []
    for one in sorted(set(outcomes)):
        if not any(all(a <= b for a, b in zip(other, one, strict=True)) for other in kept):
            kept.append(one)
    return kept
