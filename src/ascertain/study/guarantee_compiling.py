"""How often the bank is compiled in vain: the trigger on true nominals, counted, computed, and promised.

Under a true nominal a reading contradicts it exactly when it was flipped, whatever the plant and the probes are, so
that the trigger after t readings is a function of t and of the number k of flips alone:

    T(t, k) = mean over q of (1 - q + q / (2f))^k (1 - q + q / (2(1-f)))^(t-k).

It rises with k and falls with t, so T exceeds 1 + lambda at reading t exactly from some k on, which never falls as t
grows. The probability that this ever happens is computed by carrying the law of k along; Ville's inequality promises
1/(1 + lambda). Streams are counted to their end, where an observer would long have answered: no fewer than it compiles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from scipy.special import betaincinv

from ascertain.instances.draws import draw_words, happens
from ascertain.sequential.trigger import MIXTURE
from ascertain.types import LongArray

BATCH = 512
"""Streams that are drawn together. Draws are named by batch, so this is part of the definition, not a knob."""


@final
@dataclass(frozen=True)
class Vain:
    """Compilations in vain at one threshold."""

    threshold: int
    streams: int
    compiled: int
    computed: float
    """The probability, from the law of the number of flips."""

    @property
    def promised(self) -> Fraction:
        return Fraction(1, 1 + self.threshold)


def count_vain(
    name: str, flip: Fraction, length: int, thresholds: Sequence[int], streams: int, *, actual: Fraction | None = None
) -> list[Vain]:
    """Count over streams of true nominals, each read to its end; `actual` is the noise where it is not `flip`."""
    noise = flip if actual is None else actual
    lines = [find_boundary(flip, length, Fraction(1 + threshold)) for threshold in thresholds]
    compiled = [0] * len(thresholds)
    for batch in range(-(-streams // BATCH)):
        words = draw_words(f"{name}, batch {batch}", (BATCH, length))[: streams - batch * BATCH]
        flips = np.cumsum(happens(words, noise), axis=1, dtype=np.int64)
        for i, line in enumerate(lines):
            compiled[i] += int((flips >= line).any(axis=1).sum())
    return [
        Vain(threshold, streams, number, compute_crossing(line, noise))
        for threshold, number, line in zip(thresholds, compiled, lines, strict=True)
    ]


def find_boundary(flip: Fraction, length: int, bound: Fraction) -> LongArray:
    """`line[t - 1]` is the least number of flips at which T(t, .) exceeds the bound; t + 1 where none does."""
    line: list[int] = []
    k = 0
    for t in range(1, length + 1):
        while k <= t and not exceeds(t, k, flip, bound):
            k += 1
        line.append(k)
    return np.array(line, dtype=np.int64)


def exceeds(t: int, k: int, flip: Fraction, bound: Fraction) -> bool:
    """Whether T(t, k) > bound: by logarithms where they are far off, else in rationals."""
    factors = [(1 - q + q / (2 * flip), 1 - q + q / (2 * (1 - flip))) for q in MIXTURE]
    logs = [k * math.log(wrong) + (t - k) * math.log(right) for wrong, right in factors]
    top = max(logs)
    apart = top + math.log(math.fsum(math.exp(x - top) for x in logs) / len(logs)) - math.log(bound)
    if abs(apart) > 1e-6:
        return apart > 0
    return sum((wrong**k * right ** (t - k) for wrong, right in factors), Fraction(0)) > bound * len(MIXTURE)


def compute_crossing(line: LongArray, noise: Fraction) -> float:
    """The probability that the number of flips ever reaches the line."""
    law = np.zeros(int(line.max()) + 2)
    law[0], crossed, chance = 1.0, 0.0, float(noise)
    for least in line.tolist():
        law[1:] = law[1:] * (1 - chance) + law[:-1] * chance
        law[0] *= 1 - chance
        crossed += float(law[least:].sum())
        law[least:] = 0.0
    return crossed


def binomial_limits(number: int, of: int, delta: float) -> tuple[float, float]:
    """Clopper and Pearson's limits of a probability, each exceeded with probability at most delta."""
    low = 0.0 if number == 0 else float(betaincinv(number, of - number + 1, delta))
    high = 1.0 if number == of else float(betaincinv(number + 1, of - number, 1 - delta))
    return low, high
