"""The slow obvious twins of evaluation: every transcript one by one, and visits counted by one dense linear system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from ascertain.model import NoisyMachine
from ascertain.model.noisy import Law, make_law
from ascertain.policy.policy import Abstain, Answer, Ask
from ascertain.policy.product import Product
from ascertain.task.task import Task
from ascertain.types import UNDEFINED

ZERO = Fraction(0)


class Forbidden(Exception):
    """A policy asks what a hypothesis that agrees with the transcript does not allow."""


@dataclass
class Tally:
    """What the transcripts of a hypothesis add up to; `left` is the probability of those that were cut off."""

    wrong: Fraction = ZERO
    abstain: Fraction = ZERO
    cost: Fraction = ZERO
    left: Fraction = ZERO


def list_transcripts(task: Task, policy: Any, depth: int) -> list[Tally]:
    """Follow every transcript of at most so many actions, with all hypotheses that agree with it."""
    tallies = [Tally() for _ in task.state]
    start = {h: (Fraction(1), int(s)) for h, s in enumerate(task.state)}
    _follow(task, policy, policy.start(), start, depth, tallies)
    return tallies


def _follow(task: Task, policy: Any, memory: Any, agree: dict, depth: int, tallies: list[Tally]) -> None:
    decision = policy.decide(memory)
    if isinstance(decision, Abstain):
        for h, (p, _) in agree.items():
            tallies[h].abstain += p
    elif isinstance(decision, Answer):
        for h, (p, s) in agree.items():
            right = int(task.label[h]) if task.state_label is None else int(task.state_label[s])
            tallies[h].wrong += p * (decision.label != right)
    else:
        a = decision.action
        if any(task.model.successor[s, a] == UNDEFINED for _, s in agree.values()):
            raise Forbidden
        for h, (p, _) in agree.items():
            if depth == 0:
                tallies[h].left += p
            else:
                tallies[h].cost += p * task.cost[a]
        for y in range(len(task.model.readings)) if depth else ():
            after = {
                h: (p * task.model.reading_law(s, a).get(y, ZERO), int(task.model.successor[s, a]))
                for h, (p, s) in agree.items()
            }
            after = {h: (p, s) for h, (p, s) in after.items() if p}
            if after:
                _follow(task, policy, policy.next(memory, y), after, depth - 1, tallies)


def count_visits(task: Task, policy: Any, h: int) -> tuple[Fraction, Fraction, Fraction | None]:
    """(wrong, abstain, cost) of a hypothesis from expected visits: N = start + N P, by Gauss and Jordan."""
    start = (policy.start(), int(task.state[h]))
    step: dict[Any, dict[Any, Fraction]] = {}
    stack = [start]
    while stack:
        here = stack.pop()
        if here in step:
            continue
        step[here] = {}
        decision = policy.decide(here[0])
        if isinstance(decision, Ask):
            to = int(task.model.successor[here[1], decision.action])
            if to == UNDEFINED:
                raise Forbidden
            for y, p in task.model.reading_law(here[1], decision.action).items():
                after = (policy.next(here[0], y), to)
                step[here][after] = step[here].get(after, ZERO) + p
                stack.append(after)
    ends = {i for i, after in step.items() if not after}
    saved = set(ends)
    while grown := {i for i, after in step.items() if i not in saved and saved & after.keys()}:
        saved |= grown
    moving = [i for i in step if i in saved - ends]
    visits = _visits(step, moving, start)
    probability = {i: sum((visits[j] * step[j].get(i, ZERO) for j in moving), ZERO) + (i == start) for i in step}
    wrong = abstain = ZERO
    for memory, s in ends:
        decision = policy.decide(memory)
        right = int(task.label[h]) if task.state_label is None else int(task.state_label[s])
        if isinstance(decision, Abstain):
            abstain += probability[memory, s]
        else:
            wrong += probability[memory, s] * (decision.label != right)
    if saved != set(step):
        answered = sum(
            (probability[i] for i in ends if isinstance(policy.decide(i[0]), Answer)),
            ZERO,
        )
        return wrong, 1 - answered, None
    return wrong, abstain, sum((visits[i] * task.cost[policy.decide(i[0]).action] for i in moving), ZERO)


def _visits(step: dict, moving: list, start: Any) -> dict[Any, Fraction]:
    n = len(moving)
    rows = [
        [Fraction(i == j) - step[moving[j]].get(moving[i], ZERO) for j in range(n)] + [Fraction(moving[i] == start)]
        for i in range(n)
    ]
    for i in range(n):
        pivot = next(r for r in range(i, n) if rows[r][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(n):
            if r != i and rows[r][i]:
                rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i], strict=True)]
    return {place: rows[i][n] for i, place in enumerate(moving)}


def whole_task(whole: Product) -> Task:
    """The task that a product speaks of, with every combination of states and of hypotheses listed."""
    parts = [factor.task.model for factor in whole.factors]
    places = list(product(*(range(m.num_states) for m in parts)))
    number = {place: i for i, place in enumerate(places)}
    num_actions = 1 + max(a for factor in whole.factors for a in factor.actions)
    num_readings = 1 + max(y for factor in whole.factors for y in factor.readings)
    successor = np.full((len(places), num_actions), UNDEFINED, dtype=np.int32)
    law = successor.copy()
    laws: dict[Law, int] = {}
    cost = [Fraction(1)] * num_actions
    for place, (i, factor) in product(places, enumerate(whole.factors)):
        for a, outer in enumerate(factor.actions):
            to = int(parts[i].successor[place[i], a])
            cost[outer] = factor.task.cost[a]
            if to != UNDEFINED:
                successor[number[place], outer] = number[(*place[:i], to, *place[i + 1 :])]
                here = {factor.readings[y]: p for y, p in parts[i].reading_law(place[i], a).items()}
                law[number[place], outer] = laws.setdefault(make_law(here), len(laws))
    chosen = list(product(*(range(f.task.num_hypotheses) for f in whole.factors)))
    state = [number[tuple(int(f.task.state[h]) for f, h in zip(whole.factors, c, strict=True))] for c in chosen]
    label = [
        combine_labels(whole, [int(f.task.label[h]) for f, h in zip(whole.factors, c, strict=True)]) for c in chosen
    ]
    current = None
    tables = [f.task.state_label for f in whole.factors if f.task.state_label is not None]
    if len(tables) == len(whole.factors):
        each = [[int(table[s]) for table, s in zip(tables, place, strict=True)] for place in places]
        current = np.array([combine_labels(whole, labels) for labels in each], dtype=np.int32)
    model = NoisyMachine(
        states=tuple(map(str, places)),
        actions=tuple(f"a{a}" for a in range(num_actions)),
        readings=tuple(f"y{y}" for y in range(num_readings)),
        successor=successor,
        law=law,
        laws=tuple(laws),
    )
    num_labels = 2 if whole.asks_nominal else int(np.prod([len(f.task.labels) for f in whole.factors]))
    return Task(
        model=model,
        state=np.array(state, dtype=np.int32),
        label=np.array(label, dtype=np.int32),
        labels=tuple(f"l{k}" for k in range(num_labels)),
        cost=tuple(cost),
        state_label=current,
    )


def combine_labels(whole: Product, labels: Sequence[int]) -> int:
    """The answer of a product whose factors answer these labels: as `policy/product.py` says, in one formula."""
    if whole.asks_nominal:
        return int(any(k != factor.nominal for k, factor in zip(labels, whole.factors, strict=True)))
    number = 0
    for k, factor in zip(reversed(labels), reversed(whole.factors), strict=True):
        number = number * len(factor.task.labels) + k
    return number
