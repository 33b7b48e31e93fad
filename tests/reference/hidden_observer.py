"""Slow obvious twins of what an observer of a hidden model uses: the trigger, the separating rule, the exact risk."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import product

from ascertain.evidence.evidence import Step
from ascertain.evidence.trigger import MIXTURE
from ascertain.model.hidden import Belief, HiddenModel
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import Act, Observer, start_observer
from ascertain.policy.verdict import Certified
from ascertain.task.bank import uniform_bank
from ascertain.task.hidden_task import HiddenTask
from tests.reference.hidden import propagate

Weights = dict[int, Fraction]


def belief_after(model: HiddenModel, belief: Belief, steps: tuple[Step, ...], ran: tuple[bool, ...]) -> Weights:
    """The weights after these steps, had the doubted ones run as `ran` says; their total is the likelihood."""
    weights, doubted = dict(belief), iter(ran)
    for step in steps:
        if step.certain or next(doubted):
            weights = propagate(model, weights, step.action, step.reading)
    return weights


def predictions(model: HiddenModel, weights: Mapping[int, Fraction], action: int) -> list[Fraction]:
    """The probability of every reading of the model."""
    total = sum(weights.values(), Fraction(0))
    after = [propagate(model, weights, action, y) for y in range(len(model.readings))]
    return [sum(left.values(), Fraction(0)) / total for left in after]


def naive_trigger(model: HiddenModel, nominal: Belief, steps: tuple[Step, ...]) -> Fraction | None:
    """T by its definition, the least over the cases of the doubted actions; None where that is infinite."""
    values: list[Fraction | None] = []
    for ran in product((True, False), repeat=sum(not step.certain for step in steps)):
        values.append(trigger_of_case(model, nominal, steps, ran))
    finite = [value for value in values if value is not None]
    return min(finite) if finite else None


def trigger_of_case(
    model: HiddenModel, nominal: Belief, steps: tuple[Step, ...], ran: tuple[bool, ...]
) -> Fraction | None:
    products = [Fraction(1)] * len(MIXTURE)
    for i, step in enumerate(steps):
        if step.reading is None:
            continue
        weights = belief_after(model, nominal, steps[:i], ran[: sum(not s.certain for s in steps[:i])])
        likelihood = predictions(model, weights, step.action)[step.reading]
        if likelihood == 0:
            return None
        support = {y for row in model.joint for _, y, _ in row[step.action]}
        ratio = Fraction(1, len(support)) / likelihood
        products = [x * (1 - q + q * ratio) for x, q in zip(products, MIXTURE, strict=True)]
    return sum(products, Fraction(0)) / len(MIXTURE)


def naive_gain(
    model: HiddenModel, leader: Mapping[int, Fraction], rivals: list[Weights], action: int, cost: Fraction
) -> float:
    """Which part of the rivals' roots an action takes in the mean, if the leader is true, per unit of cost."""
    mine = predictions(model, leader, action)
    roots = [math.sqrt(sum(rival.values())) for rival in rivals]
    left = 0.0
    for rival, root in zip(rivals, roots, strict=True):
        theirs = predictions(model, rival, action)
        left += root * math.fsum(math.sqrt(p * q) for p, q in zip(mine, theirs, strict=True))
    return max(0.0, 1 - left / math.fsum(roots)) / float(cost)


def chance_of_error(settings: ObserverSettings, truth: int, faults: Mapping[int, str]) -> Fraction:
    """The exact probability that an observer answers wrongly when a hypothesis is true, by every transcript.

    `faults` says at which steps the reading is "missing", or the action is in doubt and "ran" or "stayed".
    """
    task = settings.question
    assert isinstance(task, HiddenTask)
    model, right = task.model, task.labels[task.label[truth]]

    def walk(observer: Observer, weights: Weights, step: int) -> Fraction:
        advice = observer.next()
        if not isinstance(advice, Act):
            wrong = isinstance(advice, Certified) and advice.label != right
            return sum(weights.values(), Fraction(0)) if wrong else Fraction(0)
        a, fault = advice.action, faults.get(step)
        assert model.allows([s for s in weights if weights[s]], a)
        if fault == "stayed":
            return walk(observer.doubt(a), weights, step + 1)
        if fault is not None:
            after = observer.doubt(a) if fault == "ran" else observer.update(a, None)
            return walk(after, propagate(model, weights, a, None), step + 1)
        possible = [(y, propagate(model, weights, a, y)) for y in range(len(model.readings))]
        return sum((walk(observer.update(a, y), left, step + 1) for y, left in possible if left), Fraction(0))

    observer = start_observer(settings, lambda: uniform_bank(range(task.num_hypotheses)))
    return walk(observer, dict(task.belief[truth]), 0)
