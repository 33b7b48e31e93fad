"""Observers that were told the wrong noise: what they read, compile and answer when the sensor is better or worse.

An operation has one stream of random words; a reading is wrong where the word is below the actual probability, so that
a worse sensor is wrong wherever a better one is. Half of the operations are active.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from ascertain.bank.compile import compile_bank
from ascertain.bank.shells import bank_shells
from ascertain.instances.draws import draw_words, happens
from ascertain.instances.operations import Slot
from ascertain.study.campaign import run_campaign
from ascertain.study.conditions import Conditions, testbed_of
from ascertain.study.controller import Controller, observer_settings, outcome, settle_on_stream

READWISE = Controller("readwise 100", "readwise", 100, "merging")
ACTUAL = tuple(Fraction(1, n) for n in (100, 50, 40, 30, 20, 15, 10))


def observe_noises(conditions: Conditions, actual: tuple[Fraction, ...], operations: int) -> list[dict[str, Any]]:
    """So many operations, each under every actual noise."""
    cases = [(conditions.settings.text, number, tuple(map(str, actual))) for number in range(operations)]
    with conditions.store("audit-noise") as store:
        progress = conditions.counting("operations under other noise")
        return run_campaign(observe_noise, cases, conditions.engine, store=store, chunk=16, progress=progress)


def observe_noise(case: tuple[str, int, tuple[str, ...]]) -> dict[str, Any]:
    """One operation under every actual noise."""
    text, number, actual = case
    testbed = testbed_of(text)
    settings = testbed.settings
    plant, family = number // 2 % len(settings.plants), number % len(settings.families)
    operation = testbed.draw(Slot("audit noise", plant, family, number, active=number % 2 == 0))
    compiled = compile_bank(testbed.logged(operation))
    bank, stream = bank_shells(compiled, compiled.num_shells), testbed.stream(operation)
    words = draw_words(f"{operation.name}, stream", stream.noise.shape)
    runs: dict[str, Any] = {}
    for noise in actual:
        worse = replace(stream, noise=happens(words, Fraction(noise)).astype("uint8"))
        observer = settle_on_stream(testbed, operation, worse, observer_settings(testbed, operation, READWISE), bank)
        runs[noise] = {
            "outcome": outcome(operation, observer),
            "reads": observer.counters.readings,
            "compilations": observer.counters.compilations,
        }
    return {"active": operation.active, "runs": runs}
