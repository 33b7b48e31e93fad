"""A test at a node: keep reading one bit until the evidence for one of its two values is enough, exactly evaluated.

The bit is read with a flip f < 1/2, so each reading moves the evidence, the logarithm of the likelihood ratio, by one
step of log((1-f)/f) up or down: it is a walk on the integers. The test answers 1 at `up`, 0 at `-down`, and abstains
after `cap` readings. It starts at 0 with nothing remembered: whatever happened before, its readings are fresh, so what
is computed here holds conditionally on every entry history. That is all that composition needs.

*The guarantee, twice.* By evidence: at `up` the likelihood ratio against "the bit is 0" is ((1-f)/f)^up, an e-process
that ever reaches 1/alpha with probability at most alpha if the bit is 0 (Ville). And by counting, which is what is
used: the probability of every point of the walk after t readings is an integer over q^t (f = p/q), carried forward
exactly, so risk, abstention and expected number of readings are rationals without any rounding. Without a cap and with
r = f/(1-f) they are r^up (1 - r^down) / (1 - r^(up+down)) and so on (Wald, without overshoot); tests compare the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

from ascertain.errors import TaskError
from ascertain.policy.policy import Abstain, Answer, Ask, Decision
from ascertain.types import Reading


@final
@dataclass(frozen=True)
class LatticeTest:
    """Answers 1 at `up`, 0 at `-down`; begins at `begin`, which is 0 unless earlier evidence is carried over."""

    flip: Fraction
    down: int
    up: int
    cap: int
    begin: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.flip < Fraction(1, 2):
            raise TaskError(f"a bit read with flip {self.flip} tells nothing, or the opposite; it must be below 1/2")
        if self.down < 1 or self.up < 1 or self.cap < 1 or not -self.down < self.begin < self.up:
            raise TaskError("a lattice test begins between its thresholds, and needs at least one reading")

    def start(self) -> tuple[int, int]:
        """A memory is the evidence in steps, and the readings so far."""
        return self.begin, 0

    def decide(self, memory: tuple[int, int]) -> Decision:
        evidence, taken = memory
        if evidence >= self.up:
            return Answer(1)
        if evidence <= -self.down:
            return Answer(0)
        if taken >= self.cap:
            return Abstain(f"no answer after {self.cap} readings")
        return Ask(0)

    def next(self, memory: tuple[int, int], reading: Reading) -> tuple[int, int]:
        evidence, taken = memory
        if self.flip == 0:
            return (self.up if reading == 1 else -self.down), taken + 1
        return evidence + (1 if reading == 1 else -1), taken + 1


@final
@dataclass(frozen=True)
class Outcome:
    """Exactly what a test does when the bit has a certain value."""

    says_one: Fraction
    says_zero: Fraction
    abstains: Fraction
    readings: Fraction
    """Expected."""


@lru_cache(maxsize=4096)
def evaluate_test(test: LatticeTest, value: int) -> Outcome:
    """What the test does when the bit is `value`."""
    if test.flip == 0:
        return Outcome(Fraction(value), Fraction(1 - value), Fraction(0), Fraction(1))
    p, q = test.flip.numerator, test.flip.denominator
    rise, fall = (q - p, p) if value else (p, q - p)
    inner = test.up + test.down - 1
    now = [0] * inner
    now[test.begin + test.down - 1] = 1
    one = zero = spent = 0
    for _ in range(test.cap):
        # Everything is kept over the same denominator: what ended earlier is multiplied along.
        one, zero, spent = one * q + now[-1] * rise, zero * q + now[0] * fall, (spent + sum(now)) * q
        left = [0, *(x * rise for x in now[:-1])]
        for i, x in enumerate(now[1:]):
            left[i] += x * fall
        now = left
    whole = q**test.cap
    return Outcome(Fraction(one, whole), Fraction(zero, whole), Fraction(sum(now), whole), Fraction(spent, whole))


@lru_cache(maxsize=4096)
def find_cap(flip: Fraction, down: int, up: int, beta: Fraction, begin: int = 0) -> int:
    """The least cap at which the test abstains with probability at most beta, whichever value the bit has."""
    if beta <= 0:
        if flip == 0:
            return 1
        raise TaskError("a test with a cap abstains now and then; its beta must be positive")
    low, high = 0, 1
    while not _within(flip, down, up, high, beta, begin):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _within(flip, down, up, middle, beta, begin) else (middle, high)
    return high


def _within(flip: Fraction, down: int, up: int, cap: int, beta: Fraction, begin: int) -> bool:
    test = LatticeTest(flip, down, up, cap, begin)
    return all(evaluate_test(test, value).abstains <= beta for value in (0, 1))


def least_threshold(flip: Fraction, alpha: Fraction) -> int:
    """The least k at which a test with both thresholds k is wrong with probability at most alpha, cap or no cap."""
    if flip == 0:
        return 1
    ratio, k = flip / (1 - flip), 1
    while ratio**k > alpha * (1 + ratio**k):
        k += 1
    return k
