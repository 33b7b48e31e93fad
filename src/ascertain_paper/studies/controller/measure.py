"""The paper's first table: six controllers on identical streams of the prospective operations, and ours below them.

Every operation is decided by every controller on the readings that its own stream gives: noise belongs to the position
in the stream, so that controllers that follow the stream's schedule see the same readings. The question is which state
the operation ended in, among all states of the plant. The paper's six compile by enumeration; its counts are what they
would have been charged, and the bank, which the merging compiler gives as well, is compared with its. Its candidates
have equal weights, the nominal one of them, and its banks all shells: the paper's eight come in its replay. Where it
rejects the nominal formally is not known: staging is run a second time with the strictest level that it may have meant.
Ours have our weights and the merging compiler.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ascertain.bank.candidates import CompileStats
from ascertain.bank.compile import compile_bank, compiler_names
from ascertain.bank.shells import bank_shells
from ascertain.bank.weights import DEFAULT, EQUAL
from ascertain.observer.staged import Observer
from ascertain_paper.campaign.conditions import Conditions, testbed_of
from ascertain_paper.studies.controller.switching import watch_switching
from ascertain_paper.studies.observing import (
    Controller,
    observer_settings,
    outcome,
    pose_endpoint,
    same_map,
    settle_on_stream,
    slot_data,
)
from ascertain_paper.testbed.operations import DrawnOperation

THRESHOLDS = (0, 10, 100, 1000)
"""The paper's lambdas."""
PAPER = (
    Controller("eager", "eager", equal_weights=True),
    Controller("staged", "staged", equal_weights=True),
    *(Controller(f"readwise {threshold}", "readwise", threshold, equal_weights=True) for threshold in THRESHOLDS),
)
AT_RISK = Controller("staged, at its risk", "staged", equal_weights=True, rejects_at_risk=True)
"""What the paper's formal rejection may have been: at the risk of the nominal stage, 1/4,000,000."""
LIKE = "readwise 100"
"""The paper's controller that those of ours that it does not have stand beside."""
OUR_WEIGHTS = "our weights, "
WEIGHTED = tuple(
    replace(controller, name=OUR_WEIGHTS + controller.name, compiler="merging", equal_weights=False)
    for controller in PAPER
)
"""The paper's policies with our weights and our compiler."""
OURS = (
    *WEIGHTED,
    Controller(f"{OUR_WEIGHTS}reuse 100", "reuse", 100, "merging"),
    *(
        Controller(f"{probing}, {policy} 100", policy, 100, "merging", probing)
        for probing in ("separating", "look-ahead")
        for policy in ("readwise", "reuse")
    ),
)
MEASURED = 3
"""Since version 0.1.0 the paper's rows have equal weights, a beaten candidate takes no more steps, and there are rows
with look-ahead."""
ALL = (*PAPER, AT_RISK, *OURS)
"""Every row of the table, in its order."""


def control_operation(case: tuple[str, int, tuple[Controller, ...]]) -> dict[str, Any]:
    """All controllers on one operation: a pure function of the testbed's settings and the operation's number."""
    text, number, controllers = case
    testbed = testbed_of(text)
    operation = testbed.draw(list(testbed.slots())[number])
    stream = testbed.stream(operation)
    logged = testbed.logged(operation)
    wanted = {"merging", *(controller.compiler for controller in controllers)}
    compiled = {compiler: compile_bank(logged, compiler) for compiler in compiler_names() if compiler in wanted}
    merged = compiled["merging"]
    banks = {
        equal: bank_shells(merged, merged.num_shells, EQUAL if equal else DEFAULT)
        for equal in {controller.equal_weights for controller in controllers}
    }
    played: dict[Controller, Observer] = {}
    runs: dict[str, Any] = {}
    for controller in controllers:
        # The compiler changes what is charged and nothing else, as the maps are equal.
        alike = replace(controller, name="", compiler="merging")
        if alike not in played:
            settings = observer_settings(testbed, operation, controller)
            played[alike] = settle_on_stream(testbed, operation, stream, settings, banks[controller.equal_weights])
        runs[controller.name] = run_data(operation, played[alike], compiled[controller.compiler].stats)
    plant = pose_endpoint(testbed, operation.slot.plant).model
    return {
        "operation": slot_data(operation.slot),
        "active": operation.active,
        "map_equal": all(same_map(merged, other) for other in compiled.values()),
        "switching": watch_switching(plant, operation, stream) if operation.active else None,
        "runs": runs,
    }


def run_data(operation: DrawnOperation, observer: Observer, stats: CompileStats) -> dict[str, Any]:
    """A run as plain data; if it compiled, it is charged what that takes."""
    counters = observer.counters
    compile_steps = stats.model_steps * counters.compilations
    return {
        "reads": counters.readings,
        "model_steps": counters.model_steps + compile_steps,
        "compile_steps": compile_steps,
        "evaluations": stats.evaluations * counters.compilations,
        "world_steps": counters.world_steps,
        "compilations": counters.compilations,
        "fallback_after": observer.events[0].readings if observer.events else None,
        "outcome": outcome(operation, observer),
    }


def control_operations(conditions: Conditions) -> list[dict[str, Any]]:
    """The runs of all controllers on all prospective operations."""
    number = len(list(conditions.testbed.slots()))
    cases = [(conditions.settings.text, i, ALL) for i in range(number)]
    return conditions.campaign("controller", control_operation, cases, "operations", chunk=24, measured=MEASURED)
