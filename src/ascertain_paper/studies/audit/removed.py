"""The truth removed from the bank: could any answer have been wrong, on any of thousands of operations?

A wrong answer needs the truth z to be beaten (`docs/evidence.md`): z is a rival of every label but its own, and a label
is answered only when all its rivals are. On a schedule that is fixed beforehand the readings do not depend on what the
observer does, so that the evidence against z alone, along the whole stream, decides the matter: if it never reaches
1/alpha, no answer at any time was wrong, whichever the other states are and whenever the observer stops. This takes one
state instead of all of them, and it is stricter than running the observer, which stops at its answer. What is followed:

- *eager*: the bank, on all readings, at the whole risk;
- *reuse*: nominal and bank as one mixture, on all readings, at the whole risk. While its later part is not computed an
  observer uses less than that, so that it beats nothing that the whole mixture does not;
- *nominal*: the nominal alone, at its share: the first stage of staged and of readwise, whenever that ends;
- *fallback*: the bank, on the readings after readwise 100 would have switched, at its share.

One operation of each block is nevertheless run by readwise 100 on the open world, to see what becomes of it.
*Separating probes* choose actions by the evidence, so that readings do depend on the observer, and only running it
tells: on some of those operations both observers with separating probes are run too, and the evidence against z is
followed along what they did and read. It is an e-process there as well.

Evidence is recomputed here from the plant: counts of contradicted readings for every candidate, logarithms in floats,
rationals where they come near the threshold. Throughout: t is a reading, c a candidate, k a count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ascertain.bank.compile import compile_bank
from ascertain.bank.shells import bank_shells, rank_state
from ascertain.kernels.model.boolean import ONE, BitArray, run_states
from ascertain.model.boolean import BooleanPlant
from ascertain.task.bank import Bank
from ascertain.types import FloatArray, IntArray, LongArray, State
from ascertain_paper.campaign.conditions import Conditions, testbed_of
from ascertain_paper.studies.audit.compiling import first_switches
from ascertain_paper.studies.audit.sampling import READWISE
from ascertain_paper.studies.observing import Controller, observer_settings, outcome, pose_endpoint, settle_on_stream
from ascertain_paper.testbed.operations import DrawnOperation
from ascertain_paper.testbed.streams import Stream
from ascertain_paper.testbed.testbed import Testbed

PURPOSE = "audit"
SEPARATING = tuple(
    replace(controller, name=f"separating, {controller.policy} 100", probing="separating")
    for controller in (READWISE, replace(READWISE, policy="reuse"))
)
STAGES = ("eager", "reuse", "nominal", "fallback")
NOMINAL_SHARE = Fraction(1, 2)
"""Of the risk of reuse and readwise: what observers spend on the nominal unless told otherwise."""
_CLOSE = 1e-6
_FAR = 200
"""Candidates that are this many contradictions behind the best have no weight in floating point: 49^-200."""


def audit_blocks(conditions: Conditions, blocks: int, separating: int) -> list[dict[str, Any]]:
    """What the truths of so many blocks of operations met, in order; so many of the blocks with separating probes."""
    every = max(1, blocks // max(1, separating))
    cases = [
        (conditions.settings.text, block, block % every == 0 and block // every < separating) for block in range(blocks)
    ]
    counted = "blocks of operations without their truth"
    found = conditions.campaign("audit-removed", audit_block, cases, counted, chunk=16)
    return [result for block in found for result in block]


def audit_block(case: tuple[str, int, bool]) -> list[dict[str, Any]]:
    """One block: an operation of each stratum, one of them run on the open world, with separating probes too or not."""
    text, block, separating = case
    testbed = testbed_of(text)
    slots = list(testbed.block_slots(PURPOSE, block))
    played = (READWISE, *SEPARATING) if separating else (READWISE,)
    return [
        audit_operation(testbed, testbed.draw(slot), played if i == block % len(slots) else ())
        for i, slot in enumerate(slots)
    ]


def audit_operation(testbed: Testbed, operation: DrawnOperation, played: Sequence[Controller]) -> dict[str, Any]:
    """The largest evidence that ever stood against the truth, in each stage, with a bank that does not list it."""
    compiled = compile_bank(testbed.logged(operation))
    bank = without(bank_shells(compiled, compiled.num_shells), operation.true_endpoint)
    stream, drawn = testbed.stream(operation), testbed.plants[operation.slot.plant]
    _, readings = stream.read(drawn, operation.true_endpoint)
    plant, bounds = pose_endpoint(testbed, operation.slot.plant).model, [1 + Fraction(READWISE.threshold)]
    (switched,) = first_switches(plant, operation.nominal_endpoint, stream, readings, bounds)
    return {
        "rank": rank_state(compiled, operation.true_endpoint),
        "candidates": len(bank.states),
        "switched": switched,
        "stages": follow_truth(testbed, operation, bank, stream.schedule, readings, switched),
        "played": {each.name: play_removed(testbed, operation, stream, bank, each) for each in played},
    }


def follow_truth(
    testbed: Testbed,
    operation: DrawnOperation,
    bank: Bank,
    commands: IntArray,
    readings: BitArray,
    switched: int | None,
) -> dict[str, dict[str, Any]]:
    """The largest evidence against the truth by every stage that there is, along these commands and readings."""
    frozen, nominal = testbed.settings, operation.nominal_endpoint
    plant = pose_endpoint(testbed, operation.slot.plant).model
    ahead, moments = count_ahead(plant, operation.true_endpoint, bank.states, commands, readings, switched)
    column, weights = bank.states.index(nominal), list(bank.weights)
    mixed = [(1 - NOMINAL_SHARE) * w + (NOMINAL_SHARE if i == column else 0) for i, w in enumerate(weights)]
    found = {
        "eager": stand_against(ahead, weights, plant.flip, frozen.eager_risk),
        "reuse": stand_against(ahead, mixed, plant.flip, 2 * frozen.staged_risk),
        "nominal": stand_against(ahead[:, [column]], [Fraction(1)], plant.flip, frozen.staged_risk),
    }
    if switched is not None:
        later = ahead[moments >= switched] - ahead[moments == switched - 1]
        found["fallback"] = stand_against(later, weights, plant.flip, frozen.staged_risk)
    return {stage: {"micronats": math.ceil(1e6 * x), "beaten": beaten} for stage, (x, beaten) in found.items()}


def without(bank: Bank, state: State) -> Bank:
    """The bank without a state. The weights of the others stay: what was its is lost, never shared out."""
    kept = [(z, w) for z, w in zip(bank.states, bank.weights, strict=True) if z != state]
    return Bank(tuple(z for z, _ in kept), tuple(w for _, w in kept))


def play_removed(
    testbed: Testbed, operation: DrawnOperation, stream: Stream, bank: Bank, controller: Controller
) -> dict[str, Any]:
    """What an observer itself makes of it, against all states of the plant, and what it then held against the truth."""
    settings = observer_settings(testbed, operation, controller)
    observer = settle_on_stream(testbed, operation, stream, settings, bank)
    steps = observer.transcript
    switched = observer.events[0].readings if observer.events and controller.policy == "readwise" else None
    met = follow_truth(
        testbed,
        operation,
        bank,
        np.array([step.action for step in steps], np.int32),
        np.array([step.reading for step in steps], np.uint8),
        switched,
    )
    spent = ("reuse",) if controller.policy == "reuse" else ("nominal", "fallback")
    return {
        "outcome": outcome(operation, observer),
        "reads": observer.counters.readings,
        "stages": {stage: met[stage] for stage in spent if stage in met},
    }


def count_ahead(
    plant: BooleanPlant,
    truth: State,
    states: tuple[State, ...],
    commands: IntArray,
    readings: BitArray,
    switch: int | None,
) -> tuple[LongArray, LongArray]:
    """How many more of the first t + 1 readings contradict each candidate than the truth, and at which t.

    Evidence against the truth rises only where a reading contradicts the truth: elsewhere every term stays or falls. So
    these moments are all that is looked at, and the one at which a fallback begins.
    """
    current = np.array((truth, *states), np.uint64)
    shown = np.empty((commands.size, current.size), dtype=np.uint8)
    for i, c in enumerate(commands):
        run_states(plant.gates, plant.offset, current, commands[i : i + 1])
        shown[i] = current >> np.uint64(plant.tap[c]) & ONE
    wrong = shown != readings[:, None]
    looked_at = wrong[:, 0].copy()
    if switch is not None:
        looked_at[switch - 1] = True
    moments = np.flatnonzero(looked_at)
    count = np.cumsum(wrong, axis=0, dtype=np.int16)[moments].astype(np.int64)
    return count[:, 1:] - count[:, :1], moments


def stand_against(ahead: LongArray, weights: list[Fraction], flip: Fraction, alpha: Fraction) -> tuple[float, bool]:
    """The largest evidence against the truth, that before any reading included, and whether it reached 1/alpha."""
    floats = np.array([float(w) for w in weights])
    first = math.log(floats.sum())
    if not ahead.size:
        return first, False
    nats = evidence_nats(ahead, floats, flip)
    close = np.flatnonzero(np.abs(nats + math.log(alpha)) <= _CLOSE)
    sure = bool((nats > _CLOSE - math.log(alpha)).any())
    return max(first, float(nats.max())), sure or any(is_beaten(weights, ahead[t].tolist(), flip, alpha) for t in close)


def evidence_nats(ahead: LongArray, weights: FloatArray, flip: Fraction) -> FloatArray:
    """The logarithm of the sum of w_c r^(k_c - k_z) at every t; `ahead[t, c]` is the exponent."""
    step = math.log((1 - flip) / flip)
    least = ahead.min(axis=1)
    power = np.exp(-step * np.arange(_FAR + 1))
    total = power[np.minimum(ahead - least[:, None], _FAR)] @ weights
    return np.log(total) - step * least


def is_beaten(weights: list[Fraction], ahead: list[int], flip: Fraction, alpha: Fraction) -> bool:
    """Whether the evidence has reached 1/alpha, in rationals."""
    ratio = flip / (1 - flip)
    return sum((w * ratio**d for w, d in zip(weights, ahead, strict=True)), Fraction(0)) * alpha >= 1
