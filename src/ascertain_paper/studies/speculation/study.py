"""Speculation: is it worth compiling the bank in the background, before the nominal has been rejected?

On new operations and streams two policies are run, staged and readwise, and every decision is timed; a real process
compiles every bank, by enumeration as in the paper and by merging, and its processor time is taken. *Measured* are
these: microseconds of processor time of each decision and of each compilation, on a machine that may do other things.
*Simulated* is the clock on which they are put together (`speculation_timeline.py`): reads that take 1, 10 or 100
milliseconds, and a second processor that compiles meanwhile. And operations are run *in earnest*: reads that sleep, the
process compiling meanwhile, a real clock; in the full form all of them at 1 and 10 milliseconds and some at 100.

Operations are measured one at a time whatever the engine is, so that they do not disturb each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ascertain.live.compile_worker import CompileWorker
from ascertain.observer.banks import OperationBank
from ascertain.task.bank import Bank
from ascertain_paper.campaign.conditions import Conditions, testbed_of
from ascertain_paper.campaign.engines import start_engine
from ascertain_paper.studies.observing import Controller, observer_settings, outcome, slot_data
from ascertain_paper.studies.speculation.runs import Traced, run_in_earnest, trace_run
from ascertain_paper.studies.speculation.tables import summarise_speculation
from ascertain_paper.studies.speculation.timeline import STRATEGIES, Moment, Strategy
from ascertain_paper.study import Study
from ascertain_paper.testbed.operations import Slot
from ascertain_paper.testbed.testbed import Testbed

PURPOSE = "speculation"
"""The name that the operations are drawn under."""
THRESHOLD = 100
"""lambda of the gate and of readwise switching; from 999 on it would come no earlier than formal rejection."""
STAGED = Controller("staged", "staged")
READWISE = Controller(f"readwise {THRESHOLD}", "readwise", THRESHOLD)
COMPILERS: tuple[str, ...] = ("exhaustive", "merging")
EVERY = {"quick": 5, "full": 1}
"""Of each form: of how many operations one is taken. Every fifth is active about as often as all are."""
EARNEST: Mapping[str, Mapping[int, int | None]] = {"quick": {10: 1}, "full": {1: None, 10: None, 100: 3}}
"""Of each form: milliseconds a read, and how many active operations, and how many inactive ones, are run in earnest
with such reads; None: all of them."""


def study(conditions: Conditions) -> Study:
    """Measure, put together, and check."""
    slots = speculation_slots(conditions.testbed)[:: EVERY[conditions.form]]
    with CompileWorker() as worker:
        # One operation unmeasured, so that no measurement includes the loading of compiled code.
        measure_operation(conditions.testbed, slots[0], worker)
        results = measure_operations(conditions, slots, worker)
        earnest = check_in_earnest(conditions, slots, results, worker)
    return summarise_speculation(conditions.settings, results, earnest, quick=conditions.quick)


def speculation_slots(testbed: Testbed) -> list[Slot]:
    """Places like those of the prospective operations, under a name of their own."""
    return [replace(slot, purpose=PURPOSE) for slot in testbed.slots()]


def measure_operations(conditions: Conditions, slots: Sequence[Slot], worker: CompileWorker) -> list[dict[str, Any]]:
    """The measurements of all operations, one after the other."""
    cases, engine = [(conditions.settings.text, slot) for slot in slots], start_engine("local", 1)
    return conditions.campaign(
        "speculation", partial(_measure_case, worker), cases, "operations", engine=engine, chunk=8
    )


def _measure_case(worker: CompileWorker, case: tuple[str, Slot]) -> dict[str, Any]:
    text, slot = case
    return measure_operation(testbed_of(text), slot, worker)


def measure_operation(testbed: Testbed, slot: Slot, worker: CompileWorker) -> dict[str, Any]:
    """One operation: both runs with their decisions timed, and both compilations; all times in microseconds."""
    operation = testbed.draw(slot)
    logged, stream = testbed.logged(operation), testbed.stream(operation)
    compiled: dict[str, tuple[Bank, int]] = {}
    for compiler in COMPILERS:
        worker.begin(OperationBank(logged, compiler))
        found, _, spent = worker.result()
        compiled[compiler] = found, spent
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
    """Every strategy on the first operations of either kind, with reads that sleep and a real clock."""
    text = conditions.settings.text
    cases: list[tuple[str, Slot, int, Strategy, int]] = [
        (text, slots[i], i, strategy, read_ms)
        for read_ms, number in EARNEST[conditions.form].items()
        for active in (True, False)
        for i in [i for i, result in enumerate(results) if result["active"] == active][:number]
        for strategy in STRATEGIES
    ]
    run, engine = partial(_earnest_case, worker), start_engine("local", 1)
    return conditions.campaign("speculation-earnest", run, cases, "runs in earnest", engine=engine, chunk=8)


def _earnest_case(worker: CompileWorker, case: tuple[str, Slot, int, Strategy, int]) -> dict[str, Any]:
    text, slot, number, strategy, read_ms = case
    testbed = testbed_of(text)
    operation = testbed.draw(slot)
    settings = observer_settings(testbed, operation, READWISE if strategy == "readwise" else STAGED)
    real = run_in_earnest(testbed, operation, settings, strategy, worker, read_ms=read_ms, threshold=THRESHOLD)
    return {"number": number, "strategy": strategy, "read_ms": read_ms, **real}


def _plain(moment: Moment | None) -> list[int] | None:
    return None if moment is None else [moment.reads, moment.decided_us]
