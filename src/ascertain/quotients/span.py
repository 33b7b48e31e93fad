"""The span of integer vectors, exactly: is a vector a combination of those that are there?

Rational vectors are taken up to a positive factor, so that integers are enough: each is divided by the greatest common
divisor of its entries. The basis is kept in echelon form, and elimination multiplies across instead of dividing
(Bareiss, *Sylvester's identity and multistep integer-preserving Gaussian elimination*, 1968, in its plainest form).

Integers grow while they are eliminated; remainders do not. A vector that is no combination of others modulo a prime is
none over the rationals either, so `QuickSpan` asks modulo a prime first, and eliminates exactly only where that finds a
combination, which may be an accident of the prime.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from ascertain.types import LongArray

Vector: TypeAlias = tuple[int, ...]
"""Integers, up to a positive factor."""

PRIME = (1 << 31) - 1
"""The largest prime below 2^31: products of two remainders fit 62 bits, and accidents are as rare as can be."""
_LONG = 1 << 256
"""Entries larger than this are divided by what they have in common while a vector is reduced."""


@final
class Span:
    """A growing basis; `rows[i]` is zero before place i and not at it."""

    def __init__(self) -> None:
        self.rows: dict[int, Vector] = {}

    def add(self, vector: Sequence[int]) -> bool:
        """Add a vector; whether it was no combination of those before."""
        left = self.reduce(vector)
        pivot = next((i for i, x in enumerate(left) if x), None)
        if pivot is None:
            return False
        self.rows[pivot] = left
        return True

    def reduce(self, vector: Sequence[int]) -> Vector:
        """What is left of a vector, up to a factor, once the basis is subtracted: zero for a combination of it."""
        left = list(vector)
        for i in range(len(left)):
            row = self.rows.get(i)
            if left[i] == 0 or row is None:
                continue
            # Cross multiplication in lowest terms: place i becomes zero, and no fraction arises.
            common = math.gcd(left[i], row[i])
            keep, take = row[i] // common, left[i] // common
            # Places before i are kept in step too: those without a row of their own need not be zero.
            left = [keep * x - take * y for x, y in zip(left, row, strict=True)]
            if abs(keep) > _LONG or abs(take) > _LONG:
                left = list(primitive(left))
        return primitive(left)


@final
class QuickSpan:
    """A growing basis over the rationals that eliminates exactly only where remainders do not decide."""

    def __init__(self) -> None:
        self.dimension = 0
        self._exact = Span()
        self._remainders: dict[int, LongArray] = {}
        """A basis modulo PRIME; row i is zero before place i and one at it."""
        self._waiting: list[Sequence[int]] = []
        """Vectors of the basis that exact elimination has not seen yet."""
        self._fooled = False
        """Whether the prime has hidden a vector: from then on remainders no longer know the whole basis."""

    def add(self, vector: Sequence[int]) -> bool:
        """Add a vector; whether it was no combination of those before."""
        if not self._fooled and self._is_new_modulo_prime(vector):
            self._waiting.append(vector)
            self.dimension += 1
            return True
        # Remainders found a combination: only now is the basis eliminated exactly, to see whether it is one.
        for known in self._waiting:
            self._exact.add(known)
        self._waiting.clear()
        if not self._exact.add(vector):
            return False
        self._fooled = True
        self.dimension += 1
        return True

    def _is_new_modulo_prime(self, vector: Sequence[int]) -> bool:
        """Whether a vector is no combination of those before, modulo the prime; then it joins their basis."""
        left = np.array([x % PRIME for x in vector], dtype=np.int64)
        for i, row in sorted(self._remainders.items()):
            if left[i]:
                left = (left - left[i] * row) % PRIME
        places = np.flatnonzero(left)
        if not places.size:
            return False
        pivot = int(places[0])
        self._remainders[pivot] = left * pow(int(left[pivot]), -1, PRIME) % PRIME
        return True


def primitive(vector: Iterable[int]) -> Vector:
    """The vector divided by what its entries have in common."""
    entries = tuple(vector)
    common = math.gcd(*entries)
    return entries if common <= 1 else tuple(x // common for x in entries)


def integers(values: Sequence[Fraction]) -> Vector:
    """Rational entries over one denominator, as a primitive vector of integers."""
    whole = math.lcm(*(x.denominator for x in values))
    return primitive(x.numerator * (whole // x.denominator) for x in values)
