"""Speculation: is it worth compiling the bank in the background, before the nominal has been rejected?

On new operations and streams two policies are run, staged and readwise, and every decision is timed; a real process
compiles every bank, by enumeration as in the paper and by merging, and its processor time is taken. *Measured* are
these: microseconds of processor time of each decision and of each compilation, on a machine that may do other things.
*Simulated* is the clock on which they are put together (`speculation_timeline.py`): reads that take 1, 10 or 100
milliseconds, and a second processor that compiles meanwhile. As a check a few operations are run *in earnest*: reads
that sleep, the process compiling meanwhile, a real clock.

Operations are measured one at a time whatever the engine is, so that they do not disturb each other.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ascertain.instances.operations import Slot
from ascertain.instances.testbed import Testbed
from ascertain.sequential.bank import Bank
from ascertain.study.campaign import run_campaign
from ascertain.study.conditions import Conditions, testbed_of
from ascertain.study.controller import Controller, observer_settings, outcome, slot_data
from ascertain.study.engines import start_engine
from ascertain.study.record import Study
from ascertain.study.speculation_runs import Traced, run_in_earnest, trace_run
from ascertain.study.speculation_tables import summarise_speculation
from ascertain.study.speculation_timeline import STRATEGIES, Moment
from ascertain.study.speculation_worker import CompileWorker
from ascertain.task.sections import CompilerName

PURPOSE = "speculation"
"""The name that the operations are drawn under."""
THRESHOLD = 100
"""lambda of the gate and of readwise switching; from 999 on it would come no earlier than formal rejection."""
STAGED = Controller("staged", "staged")
READWISE = Controller(f"readwise {THRESHOLD}", "readwise", THRESHOLD)
COMPILERS: tuple[CompilerName, ...] = ("exhaustive", "merging")
EVERY = {"quick": 5, "full": 1}
"""Of each form: of how many operations one is taken. Every fifth is active about as often as all are."""
EARNEST = {"quick": 1, "full": 3}
"""Of each form: how many active operations, and how many inactive ones, are run in earnest."""
EARNEST_MS = 10


def study(conditions: Conditions) -> Study:
    """Measure, put together, and check."""
    began = time.monotonic()
    slots = speculation_slots(conditions.testbed)[:: EVERY[conditions.form]]
    with CompileWorker() as worker:
        warm_up(conditions.testbed, slots[0], worker)
        results = measure_operations(conditions, slots, worker)
        earnest = check_in_earnest(conditions, slots, results, worker)
    return summarise_speculation(
        conditions.settings, results, earnest, quick=conditions.quick, seconds=time.monotonic() - began
    )


def speculation_slots(testbed: Testbed) -> list[Slot]:
    """Places like those of the prospective operations, under a name of their own."""
    return [replace(slot, purpose=PURPOSE) for slot in testbed.slots()]


def warm_up(testbed: Testbed, slot: Slot, worker: CompileWorker) -> None:
    """One operation unmeasured, so that no measurement includes the loading of compiled code."""
    measure_operation(testbed, slot, worker)


def measure_operations(conditions: Conditions, slots: Sequence[Slot], worker: CompileWorker) -> list[dict[str, Any]]:
    """The measurements of all operations, one after the other."""
    with conditions.store("speculation") as store:
        return run_campaign(
            partial(_measure_case, worker),
            [(conditions.settings.text, slot) for slot in slots],
            start_engine("local", 1),
            store=store,
            chunk=8,
            progress=conditions.counting("operations"),
        )


def _measure_case(worker: CompileWorker, case: tuple[str, Slot]) -> dict[str, Any]:
    text, slot = case
    return measure_operation(testbed_of(text), slot, worker)


def measure_operation(testbed: Testbed, slot: Slot, worker: CompileWorker) -> dict[str, Any]:
    """One operation: both runs with their decisions timed, and both compilations; all times in microseconds."""
    operation = testbed.draw(slot)
    logged, stream = testbed.logged(operation), testbed.stream(operation)
    compiled: dict[CompilerName, tuple[Bank, int]] = {}
    for compiler in COMPILERS:
        worker.begin(logged, compiler)
        compiled[compiler] = worker.result()
    bank = compiled["exhaustive"][0]
    runs: dict[str, Traced] = {}
    for controller in (STAGED, READWISE):
        settings = observer_settings(testbed, operation, controller)
        runs[controller.policy] = trace_run(testbed, operation, stream, settings, bank)
    return {
        "operation": slot_data(slot),
        "active": operation.active,
        "equal": all(found == bank for found, _ in compiled.values()),
        "compile_us": {compiler: spent for compiler, (_, spent) in compiled.items()},
        "gate": _plain(find_gate(runs["staged"], runs["readwise"])),
        "runs": {
            name: {
                "wanted": _plain(traced.wanted),
                "end": _plain(traced.end),
                "outcome": outcome(operation, traced.observer),
            }
            for name, traced in runs.items()
        },
    }


def find_gate(staged: Traced, readwise: Traced) -> Moment | None:
    """When the staged run had read what made the readwise one switch; up to there they are alike."""
    if not readwise.observer.events:
        return None
    reads = readwise.observer.events[0].readings
    if staged.wanted is not None and staged.wanted.reads == reads:
        return staged.wanted
    return Moment(reads, staged.decided_us[reads])


def check_in_earnest(
    conditions: Conditions, slots: Sequence[Slot], results: Sequence[dict[str, Any]], worker: CompileWorker
) -> list[dict[str, Any]]:
    """Every strategy on the first few operations of either kind, with reads that sleep and a real clock."""
    number = EARNEST[conditions.form]
    chosen = [i for active in (True, False) for i in _first(results, number, active=active)]
    testbed = conditions.testbed
    found: list[dict[str, Any]] = []
    for i in chosen:
        operation = testbed.draw(slots[i])
        for strategy in STRATEGIES:
            controller = READWISE if strategy == "readwise" else STAGED
            settings = observer_settings(testbed, operation, controller)
            real = run_in_earnest(
                testbed, operation, settings, strategy, worker, read_ms=EARNEST_MS, threshold=THRESHOLD
            )
            found.append({"number": i, "strategy": strategy, "read_ms": EARNEST_MS, **real})
    return found


def _first(results: Sequence[dict[str, Any]], number: int, *, active: bool) -> list[int]:
    return [i for i, result in enumerate(results) if result["active"] == active][:number]


def _plain(moment: Moment | None) -> list[int] | None:
    return None if moment is None else [moment.reads, moment.decided_us]
