"""Every transcript of a tiny plant, with its exact probability, and what an observer makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

from ascertain.evidence.evidence import Step
from ascertain.model.abstract import AbstractDeterministic
from ascertain.task.bank import Bank

Choice = Callable[[tuple[Step, ...]], Step]
"""What is done after a history: a step whose reading says what becomes of it (0: it is read, None: it is lost)."""
Ends = Callable[[tuple[Step, ...]], object]
"""What an observer says after a history; None: go on."""


@dataclass(frozen=True)
class Run:
    """One transcript: its probability from the true state, and how the observer ended it."""

    history: tuple[Step, ...]
    probability: Fraction
    end: object


def every_run(
    model: AbstractDeterministic, truth: int, choose: Choice, ends: Ends, budget: int, ran: Sequence[bool] = ()
) -> Iterator[Run]:
    """All transcripts from a true state; `ran` says what became of the doubted actions."""

    def walk(history: tuple[Step, ...], state: int, probability: Fraction, doubts: int) -> Iterator[Run]:
        end = ends(history)
        if end is not None or len(history) == budget:
            yield Run(history, probability, end)
            return
        step = choose(history)
        after = model.next_state(state, step.action)
        if not step.certain:
            yield from walk((*history, step), after if ran[doubts] else state, probability, doubts + 1)
        elif step.reading is None:
            yield from walk((*history, step), after, probability, doubts)
        else:
            for y, p in model.reading_law(state, step.action).items():
                yield from walk((*history, Step(step.action, y)), after, probability * p, doubts)

    yield from walk((), truth, Fraction(1), 0)


def likelihood(model: AbstractDeterministic, state: int, history: Sequence[Step]) -> Fraction:
    """The likelihood of a history without doubts, by its definition."""
    result = Fraction(1)
    for step in history:
        if step.reading is not None:
            result *= model.reading_law(state, step.action).get(step.reading, Fraction(0))
        state = model.next_state(state, step.action)
    return result


def e_value(model: AbstractDeterministic, bank: Bank, state: int, history: Sequence[Step]) -> Fraction | None:
    """E for a state after a history; None for infinity."""
    own = likelihood(model, state, history)
    mixture = sum(
        (w * likelihood(model, c, history) for w, c in zip(bank.weights, bank.states, strict=True)), Fraction(0)
    )
    return None if own == 0 else mixture / own


def least_count(terms: Sequence[tuple[Fraction, int]], flip: Fraction, alpha: Fraction) -> int:
    """The least number of contradictions that beats a state, by trying them in turn; flip is positive."""
    r = flip / (1 - flip)
    total = sum((w * r**k for w, k in terms), Fraction(0))
    return next(k for k in count() if r**k <= alpha * total)


def trigger_value(
    model: AbstractDeterministic, nominal: int, mixture: Sequence[Fraction], history: Sequence[Step]
) -> Fraction | None:
    """T after a history without doubts; None for infinity."""
    terms = [Fraction(1)] * len(mixture)
    state = nominal
    for step in history:
        if step.reading is not None:
            own = model.reading_law(state, step.action).get(step.reading)
            if own is None:
                return None
            uniform = Fraction(1, len(model.possible_readings(step.action)))
            terms = [x * ((1 - q) * own + q * uniform) / own for x, q in zip(terms, mixture, strict=True)]
        state = model.next_state(state, step.action)
    return sum(terms, Fraction(0)) / len(terms)
