"""Random draws that are the same on every platform, in every order of work and with any number of workers.

A draw has a *name*, such as "plant 1, family 3, slot 0, batch 2", and its bits are the output of SHAKE-128, a hash
function of any length, on that name: nothing is carried from one draw to the next. Whoever knows the names can repeat
any part alone. Numbers below n are u n / 2^k rounded down, for k uniform bits u, so that their probabilities are exact
to within n / 2^k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from hashlib import shake_128
from typing import TypeVar, final

import numpy as np
import numpy.typing as npt

from ascertain.types import BoolArray, LongArray

T = TypeVar("T")


@final
class Draws:
    """One name's numbers, 64 bits each, one after the other."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.used = 0

    def number(self) -> int:
        """The next 64 bits. Each is hashed by itself: plants are drawn once, so that simple is quick enough."""
        self.used += 1
        return int.from_bytes(shake_128(f"{self.name}, number {self.used}".encode()).digest(8), "big")

    def below(self, bound: int) -> int:
        """A number in 0 .. bound - 1."""
        return self.number() * bound >> 64

    def within(self, low: int, high: int) -> int:
        """A number in low .. high, both included."""
        return low + self.below(high - low + 1)

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different items in random order."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(count)]

    def weighted(self, weights: Mapping[T, int]) -> T:
        """An item, with probability proportional to its weight."""
        at = self.below(sum(weights.values()))
        for item, weight in weights.items():
            if at < weight:
                return item
            at -= weight
        raise AssertionError("the weights do not sum to their sum")


def draw_words(name: str, shape: tuple[int, ...]) -> LongArray:
    """An array of 32 uniform bits in each place, as non-negative numbers."""
    size = int(np.prod(shape))
    words: npt.NDArray[np.uint32] = np.frombuffer(shake_128(name.encode()).digest(4 * size), dtype="<u4")
    return words.astype(np.int64).reshape(shape)


def scale_below(words: LongArray, bound: LongArray | int) -> LongArray:
    """Numbers in 0 .. bound - 1 from 32 uniform bits each; bounds are at most 2^31."""
    return words * bound >> 32


def happens(words: LongArray, probability: Fraction) -> BoolArray:
    """True with the given probability, to within 2^-32."""
    return words * probability.denominator < probability.numerator << 32
