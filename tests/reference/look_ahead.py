"""The slow obvious twin of look-ahead on a Boolean plant: exact values, words as tuples, one rival at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from ascertain.model.boolean import BooleanPlant


def value(to_go: int, k: int, d: int, num_bits: int) -> Fraction:
    """The probability that fewer than k of the readings to go contradict, each with probability d / num_bits."""
    p = Fraction(d, num_bits)
    return sum((math.comb(to_go, i) * p**i * (1 - p) ** (to_go - i) for i in range(min(k, to_go + 1))), Fraction(0))


def sum_of_values(
    plant: BooleanPlant, word: Sequence[int], reference: int, rivals: Sequence[tuple[int, int]], to_go: int, unit: int
) -> int:
    """What the rivals, states and the contradictions they need, count for after a word; `to_go` readings come then."""
    total = 0
    for state, needed in rivals:
        z, r, k = state, reference, needed
        for a in word:
            z, seen = plant.step(z, a)
            r, believed = plant.step(r, a)
            k -= seen != believed
        if k > 0:
            total += max(1, math.ceil(unit * value(to_go, k, (z ^ r).bit_count(), plant.num_bits)))
    return total


def search(
    plant: BooleanPlant,
    cost: dict[int, Fraction],
    reference: int,
    rivals: Sequence[tuple[int, int]],
    to_go: int,
    depth: int,
    width: int,
    unit: int,
    fineness: int,
) -> int | None:
    """The first action of the best word, of `width` kept at each length; None if it leaves no less than there is."""
    words: list[tuple[int, ...]] = [()]
    for length in range(1, min(depth, to_go) + 1):
        before = sum_of_values(plant, (), reference, rivals, to_go - length, unit)
        longer = [(*word, a) for word, a in product(words, cost)]
        left = {word: sum_of_values(plant, word, reference, rivals, to_go - length, unit) for word in longer}

        def gain(word: tuple[int, ...], left: dict[tuple[int, ...], int] = left, before: int = before) -> int:
            paid = sum(float(cost[a]) for a in word)
            return round(fineness * math.log(before / max(left[word], 0.5)) / paid)

        longer.sort(key=gain, reverse=True)  # equals stay in order
        best = longer[0]
        if length == min(depth, to_go) or left[best] == 0:
            return best[0] if left[best] < before else None
        words = [word for i, word in enumerate(longer) if i == 0 or left[word] != left[longer[i - 1]]][:width]
    raise AssertionError
