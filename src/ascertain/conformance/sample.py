"""Sampled conformance: words drawn from a declared distribution by a seed that was committed before.

Let n words be drawn independently and run from reset. If a word of the distribution disagrees with the specification
with probability p, all n agree with probability (1 - p)^n. So when they do, then with confidence 1 - delta

    p <= 1 - delta^(1/n),

at any n at which one stops: the event that the first n agree shrinks as n grows. Nothing is said about words that the
distribution hardly ever draws.

*The distribution.* One of the access words and one of the actions, uniformly: the transition of a uniformly drawn state
and action. Then further actions, each uniform, as long as a draw from 0 .. STOP - 1 is not 0: a geometric number of
them. Draws are exact and are the same for everybody: the number k-th drawn below m for the j-th word, both from 0, is
the SHA-256 of "SEED:j:k" modulo m, where hashes from the largest multiple of m on are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import count
from math import ceil
from typing import Any, final

from ascertain.conformance.plan import AbstractPlan
from ascertain.conformance.specification import Specification, Word
from ascertain.errors import TaskError

STOP = 5
"""Further actions have a mean of STOP - 1: long enough for what follows a wrong transition to show, in most
protocols."""
SCALE = 10**6
"""Bounds are rounded up to millionths."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Sample(AbstractPlan):
    """Words drawn by a seed from this distribution."""

    seed: str
    confidence: Fraction
    bound: Fraction
    """When all words agree, a word disagrees with at most this probability, with that confidence."""

    @property
    def method(self) -> dict[str, Any]:
        return {"sample": len(self.words), "seed": self.seed, "stop": STOP, "confidence": str(self.confidence)}

    @property
    def statement(self) -> str:
        return (
            f"with confidence {self.confidence} a word drawn like these {len(self.words)} disagrees with the model "
            f"with probability at most {float(self.bound):.6f} (drawn: the access word of a state, an action, and "
            f"{STOP - 1} further actions in the mean)"
        )


def plan_sample(spec: Specification, seed: str, num_words: int, confidence: Fraction) -> Sample:
    """A sample of so many words, and what they show with this confidence when all of them agree."""
    bound = bound_disagreement(num_words, confidence)
    words = tuple(draw_words(spec, seed, num_words))
    return Sample(spec=spec, words=words, seed=seed, confidence=confidence, bound=bound)


def draw_words(spec: Specification, seed: str, num_words: int) -> list[Word]:
    """The first words that a seed draws."""
    words: list[Word] = []
    for j in range(num_words):
        hashes = _hashes(seed, j)
        word = [*spec.access[_draw(hashes, spec.num_states)], _draw(hashes, spec.num_actions)]
        while _draw(hashes, STOP):
            word.append(_draw(hashes, spec.num_actions))
        words.append(tuple(word))
    return words


def _hashes(seed: str, word: int) -> Iterator[int]:
    """What a word is drawn from."""
    for k in count():
        yield int.from_bytes(sha256(f"{seed}:{word}:{k}".encode()).digest(), "big")


def _draw(hashes: Iterator[int], below: int) -> int:
    """An exactly uniform number below `below`."""
    limit = 2**256 // below * below
    return next(x for x in hashes if x < limit) % below


def bound_disagreement(num_words: int, confidence: Fraction) -> Fraction:
    """The probability that a word disagrees is at most this, with this confidence, when so many words agreed: the least
    number of millionths with (1 - p)^n <= 1 - confidence."""
    if num_words < 1 or not 0 < confidence < 1:
        raise TaskError(
            f"{num_words} words at confidence {confidence}: a word or more and a confidence between 0 and 1 are needed"
        )
    delta = 1 - confidence
    guess = ceil((1 - float(delta) ** (1 / num_words)) * SCALE)
    # Floating point is right to within a few millionths; the rest is exact.
    p = max(0, guess - 3)
    while Fraction(SCALE - p, SCALE) ** num_words > delta:
        p += 1
    return Fraction(p, SCALE)
