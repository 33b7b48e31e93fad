"""Misfit as the definition says it: everything again from the beginning, for every hypothesis that is not beaten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from ascertain.evidence.evidence import Step
from ascertain.model.abstract import AbstractDeterministic
from ascertain.observer.staged import Act, Observer
from ascertain.policy.verdict import Abstained, Verdict
from tests.reference.observer import MIXTURE

THETAS = (2, 4, 8, 16, 64)
Factors = tuple[Fraction, ...]
Score = Callable[[int, int, int], Factors]
"""From a state, an action and a reading to what each part of the mixture is multiplied by."""


def flip_score(model: AbstractDeterministic, flip: Fraction) -> Score:
    """For readings that are wrong with probability at most `flip`, to whatever reading."""

    def score(state: int, action: int, reading: int) -> Factors:
        law = model.reading_law(state, action)
        wrong = reading != max(law, key=lambda y: law[y])
        return tuple((theta if wrong else Fraction(1)) / (1 - flip + theta * flip) for theta in THETAS)

    return score


def law_score(model: AbstractDeterministic) -> Score:
    """For laws that are exact."""

    def score(state: int, action: int, reading: int) -> Factors:
        uniform = Fraction(1, len(model.possible_readings(action)))
        return tuple(1 - q + q * uniform / model.reading_law(state, action)[reading] for q in MIXTURE)

    return score


def g_of(
    model: AbstractDeterministic, score: Score, state: int, ran: Sequence[bool], steps: Sequence[Step]
) -> Fraction:
    """G of one hypothesis, had the doubted actions run in one particular way."""
    products, doubted = [Fraction(1)] * 5, iter(ran)
    for step in steps:
        if step.reading is not None:
            factors = score(state, step.action, step.reading)
            products = [x * y for x, y in zip(products, factors, strict=True)]
        if step.certain or next(doubted):
            state = model.next_state(state, step.action)
    return sum(products, Fraction(0)) / 5


Laws = Callable[[int, int], list[dict[int, Fraction]]]
"""For a state and an action, laws of the reading; the noise takes any of them at every step, knowing all before."""


def is_alarm(verdict: Verdict) -> bool:
    return verdict == Abstained("no model explains the readings")


def chance_of(ends: Callable[[Verdict], bool], observer: Observer, state: int, most: Laws) -> Fraction:
    """The largest probability that the run ends like that when the plant is in this state and noise does its worst."""
    advice = observer.next()
    if not isinstance(advice, Act):
        return Fraction(int(ends(advice)))
    model = observer.settings.model.deterministic
    assert model is not None
    after = model.next_state(state, advice.action)
    found: dict[int, Fraction] = {}
    for law in most(state, advice.action):
        for y in law:
            if y not in found:
                found[y] = chance_of(ends, observer.update(advice.action, y), after, most)
    return max(sum((p * found[y] for y, p in law.items()), Fraction(0)) for law in most(state, advice.action))
