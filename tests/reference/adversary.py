"""Noise within a bound, enumerated: every noise that sees the whole history and puts its errors on one reading."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

from ascertain.model.noisy import NoisyMachine
from ascertain.policy.policy import Answer, Ask
from ascertain.task.task import Task

Triple = tuple[Fraction, Fraction, Fraction]


def laws_within(model: NoisyMachine, s: int, a: int) -> list[dict[int, Fraction]]:
    """No error or all errors on one reading; nothing lost, or as much as may be, of what is right and of errors."""
    law = model.reading_law(s, a)
    if len(law) == 1:
        return [law]
    shown = max(law, key=lambda y: law[y])
    f, (silence, loss) = model.at_most or Fraction(0), model.lost or (shown, Fraction(0))
    found: list[dict[int, Fraction]] = []
    for wrong, loses, loses_errors in product(law, (False, True), (False, True)):
        chance = dict.fromkeys(law, Fraction(0))
        kept, kept_errors = (1 - loss if lost else Fraction(1) for lost in (loses, loses_errors))
        for y, p, keep in ((shown, 1 - f, kept), (wrong, f, kept_errors)):
            chance[y] += p * keep
            chance[silence] += p * (1 - keep)
        found.append({y: p for y, p in chance.items() if p})
    return found


def attained(task: Task, policy: Any, memory: Any, label: int, s: int) -> set[Triple]:
    """(wrong, abstain, cost) from here on under every such noise; the policy must end."""
    decision = policy.decide(memory)
    if isinstance(decision, Answer):
        return {(Fraction(decision.label != label), Fraction(0), Fraction(0))}
    if not isinstance(decision, Ask):
        return {(Fraction(0), Fraction(1), Fraction(0))}
    to = int(task.model.successor[s, decision.action])
    label = label if task.state_label is None else int(task.state_label[to])
    readings = task.model.reading_law(s, decision.action)
    after = {y: attained(task, policy, policy.next(memory, y), label, to) for y in readings}
    found: set[Triple] = set()
    assert isinstance(task.model, NoisyMachine)
    for law in laws_within(task.model, s, decision.action):
        for ends in product(*(after[y] for y in law)):
            start = (Fraction(0), Fraction(0), task.cost[decision.action])
            found.add(reduce(_add, zip(law.values(), ends, strict=True), start))
    return found


def _add(total: Triple, term: tuple[Fraction, Triple]) -> Triple:
    p, (wrong, abstain, cost) = term
    return total[0] + p * wrong, total[1] + p * abstain, total[2] + p * cost


def worst(task: Task, policy: Any, h: int) -> Triple:
    """The worst of each of the three numbers, each under a noise of its own."""
    found = attained(task, policy, policy.start(), int(task.label[h]), int(task.state[h]))
    wrong, abstain, cost = (max(column) for column in zip(*found, strict=True))
    return wrong, abstain, cost


def cut_off(task: Task, policy: Any, h: int, steps: int) -> tuple[float, float, float]:
    """The same where whatever comes after so many actions counts nothing: value iteration from below, in floats."""
    known: dict[Any, tuple[float, float, float]] = {}

    def value(memory: Any, label: int, s: int, left: int) -> tuple[float, float, float]:
        decision = policy.decide(memory)
        if isinstance(decision, Answer):
            return float(decision.label != label), 0.0, 0.0
        if not isinstance(decision, Ask):
            return 0.0, 1.0, 0.0
        if left == 0:
            return 0.0, 0.0, 0.0
        key = memory, label, s, left
        if key not in known:
            to = int(task.model.successor[s, decision.action])
            label = label if task.state_label is None else int(task.state_label[to])
            readings = task.model.reading_law(s, decision.action)
            after = {y: value(policy.next(memory, y), label, to, left - 1) for y in readings}
            assert isinstance(task.model, NoisyMachine)
            laws = laws_within(task.model, s, decision.action)
            wrong, abstain, cost = (
                max(sum(float(p) * after[y][column] for y, p in law.items()) for law in laws) for column in range(3)
            )
            known[key] = wrong, abstain, cost + float(task.cost[decision.action])
        return known[key]

    return value(policy.start(), int(task.label[h]), int(task.state[h]), steps)
