"""How often the bank is compiled in vain: the trigger on true nominals, counted, computed, and promised.

Under a true nominal a reading contradicts it exactly when it was flipped, whatever the plant and the probes are, so
that the trigger after t readings is a function of t and of the number k of flips alone:

    T(t, k) = mean over q of (1 - q + q / (2f))^k (1 - q + q / (2(1-f)))^(t-k).

It rises with k and falls with t, so T exceeds 1 + lambda at reading t exactly from some k on, which never falls as t
grows. The probability that this ever happens is computed by carrying the law of k along; Ville's inequality promises
1/(1 + lambda). Streams are counted to their end, where an observer would long have answered: no fewer than it compiles.

Counting takes the formula for the trigger. A sample of the streams, the first of all and the first that cross at each
threshold, is therefore given to the trigger itself, on a plant of the testbed and to the stream's end, and to readwise
observers, which compile or answer: all must cross, or switch, at the very reading that the formula says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast, final

import numpy as np

from ascertain.bank.compile import compile_bank
from ascertain.bank.shells import bank_shells
from ascertain.evidence.trigger import MIXTURE, REJECTION, Trigger
from ascertain.kernels.model.boolean import BitArray
from ascertain.model.boolean import BooleanPlant
from ascertain.types import BoolArray, LongArray, State
from ascertain_paper.campaign.conditions import Conditions, testbed_of
from ascertain_paper.studies.audit.sampling import SHELLS
from ascertain_paper.studies.observing import Controller, observer_settings, pose_endpoint, settle_on_stream
from ascertain_paper.testbed.draws import draw_words, happens
from ascertain_paper.testbed.operations import DrawnOperation, Slot
from ascertain_paper.testbed.streams import Stream
from ascertain_paper.testbed.testbed import Testbed

BATCH = 512
"""Streams that are drawn together. Draws are named by batch, so this is part of the definition, not a knob."""
EXAMPLES = 100


@final
@dataclass(frozen=True)
class Vain:
    """Compilations in vain at one threshold."""

    threshold: int
    streams: int
    compiled: int
    computed: float
    """The probability, from the law of the number of flips."""
    examples: tuple[int, ...]
    """The first streams that were compiled on."""

    @property
    def promised(self) -> Fraction:
        return Fraction(1, 1 + self.threshold)


def count_vain(
    name: str, flip: Fraction, length: int, thresholds: Sequence[int], streams: int, *, actual: Fraction | None = None
) -> list[Vain]:
    """Count over streams of true nominals, each read to its end; `actual` is the noise where it is not `flip`."""
    noise = flip if actual is None else actual
    lines = [find_boundary(flip, length, Fraction(1 + threshold)) for threshold in thresholds]
    crossed: list[list[int]] = [[] for _ in thresholds]
    for batch in range(-(-streams // BATCH)):
        flips = np.cumsum(_draw_flips(name, batch, length, noise)[: streams - batch * BATCH], axis=1, dtype=np.int64)
        for numbers, line in zip(crossed, lines, strict=True):
            numbers.extend((batch * BATCH + np.flatnonzero((flips >= line).any(axis=1))).tolist())
    return [
        Vain(threshold, streams, len(numbers), compute_crossing(line, noise), tuple(numbers[:EXAMPLES]))
        for threshold, numbers, line in zip(thresholds, crossed, lines, strict=True)
    ]


def _draw_flips(name: str, batch: int, length: int, noise: Fraction) -> BitArray:
    """Which readings are wrong, a stream in each row."""
    return happens(draw_words(f"{name}, batch {batch}", (BATCH, length)), noise).astype(np.uint8)


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


def watch_triggers(conditions: Conditions, name: str, vain: Sequence[Vain], sample: int) -> list[dict[str, Any]]:
    """The first streams, and the first that cross at each threshold, by trigger and observers: so many of each."""
    numbers = sorted({*range(min(sample, vain[0].streams)), *(n for each in vain for n in each.examples[:sample])})
    thresholds = tuple(each.threshold for each in vain)
    cases = [(conditions.settings.text, name, number, thresholds) for number in numbers]
    return conditions.campaign("audit-vain", watch_stream, cases, "streams of true nominals", chunk=16)


def watch_stream(case: tuple[str, str, int, tuple[int, ...]]) -> dict[str, Any]:
    """One stream on a plant: where the formula, the trigger and the observers cross each threshold; None: nowhere."""
    text, name, number, thresholds = case
    testbed = testbed_of(text)
    frozen = testbed.settings
    plant, family = number % len(frozen.plants), number // len(frozen.plants) % len(frozen.families)
    operation = testbed.draw(Slot("audit vain", plant, family, number, active=False))
    flips = _draw_flips(name, number // BATCH, frozen.stream_length, frozen.stream_flip)[number % BATCH]
    stream = Stream(testbed.stream(operation).schedule, flips)
    bounds = [Fraction(1 + threshold) for threshold in thresholds]
    lines = [find_boundary(frozen.stream_flip, frozen.stream_length, bound) for bound in bounds]
    formula = [first_reached(np.cumsum(flips, dtype=np.int64) >= line) for line in lines]
    model = pose_endpoint(testbed, plant).model
    _, readings = stream.read(testbed.plants[plant], operation.nominal_endpoint)
    return {
        "formula": formula,
        "trigger": first_switches(model, operation.nominal_endpoint, stream, readings, bounds),
        "observers": watch_observers(testbed, operation, stream, thresholds),
    }


def first_reached(reached: BoolArray) -> int | None:
    """The number of the first reading, from 1, at which it is so."""
    return int(np.argmax(reached)) + 1 if reached.any() else None


def watch_observers(
    testbed: Testbed, operation: DrawnOperation, stream: Stream, thresholds: Sequence[int]
) -> list[list[int | None] | None]:
    """Of readwise observers: after how many readings each switched, and how many it read in all.

    None where the threshold lies above formal rejection, which then comes first.
    """
    bank = bank_shells(compile_bank(testbed.logged(operation)), SHELLS)
    watched: list[list[int | None] | None] = []
    for threshold in thresholds:
        if 1 + threshold > 1 / REJECTION:
            watched.append(None)
            continue
        settings = observer_settings(testbed, operation, Controller("", "readwise", threshold, "merging"))
        observer = settle_on_stream(testbed, operation, stream, settings, bank)
        watched.append([observer.events[0].readings if observer.events else None, observer.counters.readings])
    return watched


def disagrees(watched: Mapping[str, Any]) -> bool:
    """Whether the trigger, or an observer as far as it went, is not where the formula says."""
    if watched["formula"] != watched["trigger"]:
        return True
    pairs = zip(watched["formula"], watched["observers"], strict=True)
    return any(
        run[0] != (crossed if crossed is not None and crossed <= run[1] else None)
        for crossed, run in pairs
        if run is not None
    )


def first_switches(
    plant: BooleanPlant, nominal: State, stream: Stream, readings: BitArray, bounds: Sequence[Fraction]
) -> list[int | None]:
    """After how many readings the trigger first exceeds each bound; None when it does not."""
    trigger = Trigger(plant, nominal)
    found: list[int | None] = [None] * len(bounds)
    steps = zip(cast("list[int]", stream.schedule.tolist()), cast("list[int]", readings.tolist()), strict=True)
    for t, (action, reading) in enumerate(steps, start=1):
        trigger.observe(action, reading)
        for i, bound in enumerate(bounds):
            if found[i] is None and trigger.exceeds(bound):
                found[i] = t
        if None not in found:
            break
    return found
