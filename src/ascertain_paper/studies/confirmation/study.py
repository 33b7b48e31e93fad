"""The paper's large benchmark: how many score shells a bank must keep, and what keeping so few costs and saves.

Calibration blocks come first and fix J, the number of shells that covers each of them whole. Evaluation blocks are
drawn under another name. Every one of their operations is active, is compiled, and is verified on its fresh stream by
the paper's two banks, all shells and the first eight, the nominal endpoint always included, with all candidates
weighted alike; and with our weights by all shells, the first eight and the first J. A bank is scored from the first
reading, as a fallback that begins there would be, at the fallback's share of the risk (`staged_risk` of the settings):
no nominal stage comes first.

The compilers are compared on the same operations: merging with enumeration, whole map with whole map, on all of them;
merging with the direct compilers, the paper's and ours, which merges, on the first eight shells, on as many as the form
allows (see `slow_compilers`), as they take longer than the others.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ascertain.bank.calibration_file import Calibration
from ascertain.bank.candidates import Compiled, shell_starts
from ascertain.bank.compile import compile_bank
from ascertain.bank.operation import Operation
from ascertain.bank.shells import bank_shells, rank_state
from ascertain.bank.weights import DEFAULT, EQUAL, Weighting
from ascertain.observer.settings import ObserverSettings
from ascertain.task.bank import Bank
from ascertain_paper.calibration import PURPOSE, rank_block, testbed_calibration
from ascertain_paper.campaign.conditions import Conditions, testbed_of
from ascertain_paper.studies.confirmation.compilers import DIRECT, DIRECT_MERGING
from ascertain_paper.studies.confirmation.tables import summarise_confirmation
from ascertain_paper.studies.observing import outcome, pose_endpoint, same_map, settle_on_stream, slot_data
from ascertain_paper.study import Study
from ascertain_paper.testbed.operations import DrawnOperation, Slot
from ascertain_paper.testbed.testbed import Testbed

SHELLS = 8
"""The paper's J."""
MEASURED = 3
"""Since version 0.1.0 the nominal weighs what other candidates do in the paper's rows, a beaten candidate takes no more
steps, and the direct compiler is run without merging as well."""
EVALUATION = "evaluation"
"""The name that evaluation blocks are drawn under."""
BLOCKS = {"quick": (8, 2), "full": (100, 100)}
"""Of each form: blocks for calibration and for evaluation."""
COMPARED = {"quick": 2, "full": 40}
"""Of each form: how many operations the direct compilers are compared on. Ours may be on all; the paper's takes a
minute of processor time where its probe succeeds, too much for 2,000 operations."""


def study(conditions: Conditions) -> Study:
    """Calibrate, fix J, and confirm on fresh blocks."""
    calibration = calibrate(conditions)
    results = confirm_operations(conditions, calibration.whole.shells)
    return summarise_confirmation(
        conditions.settings,
        calibration,
        results,
        quick=conditions.quick,
    )


def calibrate(conditions: Conditions) -> Calibration:
    """The calibration of the testbed on this form's number of blocks."""
    cases = [(conditions.settings.text, block) for block in range(BLOCKS[conditions.form][0])]
    name = "confirmation-calibration" + _suffix(conditions)
    ranks = conditions.campaign(name, rank_case, cases, "calibration blocks", chunk=8)
    return testbed_calibration(conditions.testbed, ranks, "merging")


def rank_case(case: tuple[str, int]) -> list[int | None]:
    """The ranks of the true endpoints of one calibration block."""
    text, block = case
    return list(rank_block(testbed_of(text), PURPOSE, block, "merging"))


def confirm_operations(conditions: Conditions, calibrated: int | None) -> list[dict[str, Any]]:
    """All operations of the evaluation blocks, by the banks and the compilers."""
    slots = evaluation_slots(conditions.testbed, BLOCKS[conditions.form][1])
    text = conditions.settings.text
    cases = [(text, slot, calibrated, slow_compilers(conditions, number)) for number, slot in enumerate(slots)]
    name = "confirmation" + _suffix(conditions)
    return conditions.campaign(name, confirm_operation, cases, "operations", chunk=64, measured=MEASURED)


def evaluation_slots(testbed: Testbed, blocks: int) -> list[Slot]:
    """The places of the evaluation blocks, block by block."""
    return [slot for block in range(blocks) for slot in testbed.block_slots(EVALUATION, block)]


def slow_compilers(conditions: Conditions, number: int) -> tuple[str, ...]:
    """The direct compilers that operation `number` is compiled by."""
    if number < COMPARED[conditions.form]:
        return DIRECT
    return (DIRECT_MERGING,) if conditions.exhaustive else ()


def _suffix(conditions: Conditions) -> str:
    return "-exhaustive" if conditions.exhaustive else ""


def confirm_operation(case: tuple[str, Slot, int | None, tuple[str, ...]]) -> dict[str, Any]:
    """One operation. Apart from `microseconds` a pure function of the settings, the slot, J and what is compared."""
    text, slot, calibrated, slow = case
    testbed = testbed_of(text)
    operation = testbed.draw(slot)
    logged = testbed.logged(operation)
    merged, merging_us = _compile_timed(logged, "merging")
    listed, exhaustive_us = _compile_timed(logged, "exhaustive")
    compilers = {
        "merging": _work(merged),
        "exhaustive": {**_work(listed), "equal": same_map(merged, listed)},
    }
    microseconds = {"merging": merging_us, "exhaustive": exhaustive_us}
    for name in slow:
        found, microseconds[name] = _compile_timed(logged, name, SHELLS)
        compilers[name] = _work(found) | {
            "equal": same_shells(found, merged, SHELLS),
            "early_proof": bool(found.stats.early_proof),
            "probe_evaluations": found.stats.probe_evaluations,
        }
    return {
        "operation": slot_data(slot),
        "rank": rank_state(merged, operation.true_endpoint),
        "shells": merged.num_shells,
        "equal": verify_banks(testbed, operation, merged, (None, SHELLS), EQUAL),
        "ours": verify_banks(testbed, operation, merged, (None, SHELLS, calibrated), DEFAULT),
        "compilers": compilers,
        "microseconds": microseconds,
    }


def verify_banks(
    testbed: Testbed,
    operation: DrawnOperation,
    compiled: Compiled,
    limits: Sequence[int | None],
    weighting: Weighting,
) -> list[dict[str, Any]]:
    """What the banks of so many first shells (None: of all) do on the operation's stream, in order."""
    done: dict[int, dict[str, Any]] = {}
    kept = [compiled.num_shells if limit is None else min(limit, compiled.num_shells) for limit in limits]
    for number in kept:
        if number not in done:
            done[number] = _verify(testbed, operation, bank_shells(compiled, number, weighting))
    return [done[number] for number in kept]


def _verify(testbed: Testbed, operation: DrawnOperation, bank: Bank) -> dict[str, Any]:
    settings = fallback_settings(testbed, operation)
    observer = settle_on_stream(testbed, operation, testbed.stream(operation), settings, bank)
    return {
        "candidates": len(bank.states),
        "verifier_steps": observer.counters.verifier_steps,
        "reads": observer.counters.readings,
        "outcome": outcome(operation, observer),
    }


def fallback_settings(testbed: Testbed, operation: DrawnOperation) -> ObserverSettings:
    """A fallback that begins with the first reading: the bank alone, at the fallback's share of the risk."""
    frozen = testbed.settings
    return ObserverSettings(
        question=pose_endpoint(testbed, operation.slot.plant),
        alpha=frozen.staged_risk,
        nominal=operation.nominal_endpoint,
        policy="eager",
        budget=frozen.stream_length,
    )


def same_shells(found: Compiled, whole: Compiled, shells: int) -> bool:
    """Whether the one is the first shells of the other, state by state and score by score."""
    starts = shell_starts(whole.score)
    size = int(starts[shells]) if shells < starts.size else len(whole.score)
    return np.array_equal(found.endpoint, whole.endpoint[:size]) and np.array_equal(found.score, whole.score[:size])


def _compile_timed(logged: Operation, compiler: str, shells: int | None = None) -> tuple[Compiled, int]:
    """What is compiled, and the microseconds of processor time that it took."""
    began = time.process_time_ns()
    compiled = compile_bank(logged, compiler, shells=shells)
    return compiled, (time.process_time_ns() - began) // 1000


def _work(compiled: Compiled) -> dict[str, Any]:
    return {"evaluations": compiled.stats.evaluations, "model_steps": compiled.stats.model_steps}
