"""The paper's first table: six controllers on identical streams of the prospective operations, and ours below them.

Every operation is decided by every controller on the readings that its own stream gives: noise belongs to the position
in the stream, so that controllers that follow the stream's schedule see the same readings. The question is which state
the operation ended in, among all states of the plant. The paper's six compile by enumeration; its counts are what they
would have been charged, and the bank, which the merging compiler gives as well, is compared with its. How the paper
weighs its candidates is not known: eager is run with equal weights besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np

from ascertain.bank.candidates import Compiled, Stats
from ascertain.bank.compile import compile_bank, compiler_names
from ascertain.bank.shells import bank_shells
from ascertain.bank.weights import DEFAULT, WEIGHTINGS
from ascertain.observer.settings import ObserverSettings, PolicyName
from ascertain.observer.staged import Act, Observer, start_observer
from ascertain.policy.verdict import Certified
from ascertain.task.bank import Bank
from ascertain.task.plant_task import PlantTask, StateRule
from ascertain_paper.campaign.campaign import run_campaign
from ascertain_paper.campaign.conditions import Conditions, testbed_of
from ascertain_paper.studies.switching import watch_switching
from ascertain_paper.testbed.operations import DrawnOperation, Slot
from ascertain_paper.testbed.streams import Stream
from ascertain_paper.testbed.testbed import Testbed


@final
@dataclass(frozen=True)
class Controller:
    """A row of the table: a policy, how it probes and what compiles its bank."""

    name: str
    policy: PolicyName
    threshold: int = 0
    compiler: str = "exhaustive"
    separating: bool = False
    equal_weights: bool = False


PAPER = (
    Controller("eager", "eager"),
    Controller("staged", "staged"),
    *(Controller(f"readwise {threshold}", "readwise", threshold) for threshold in (0, 10, 100, 1000)),
)
EQUAL = Controller("eager, equal weights", "eager", equal_weights=True)
"""What the paper's eager may have been: every candidate of the bank weighs the same."""
LIKE = "readwise 100"
"""The paper's controller that ours are built on, and stand beside."""
OURS = (
    Controller("merging, readwise 100", "readwise", 100, "merging"),
    Controller("merging, reuse 100", "reuse", 100, "merging"),
    Controller("separating, readwise 100", "readwise", 100, "merging", separating=True),
    Controller("separating, reuse 100", "reuse", 100, "merging", separating=True),
)


def pose_endpoint(testbed: Testbed, plant_number: int) -> PlantTask:
    """The question of the studies: in which of all its states is this plant, by probing commands alone?"""
    drawn = testbed.plants[plant_number]
    plant = replace(drawn.plant, flip=testbed.settings.stream_flip)
    cost = (Fraction(1),) * plant.num_actions
    return PlantTask(model=plant, rule=StateRule(), actions=tuple(drawn.probing), cost=cost)


def settle_on_stream(
    testbed: Testbed, operation: DrawnOperation, stream: Stream, settings: ObserverSettings, bank: Bank
) -> Observer:
    """Run an observer on an operation's stream: on its schedule, or, with separating probes, on its noise alone."""
    plant, state = testbed.plants[operation.slot.plant].plant, operation.true_endpoint
    observer = start_observer(settings, lambda: bank)
    for foreseen, noise in zip(stream.schedule.tolist(), stream.noise.tolist(), strict=True):
        if observer.verdict is not None:
            break
        action = foreseen
        if settings.probing == "separating":
            advice = observer.next()
            assert isinstance(advice, Act)
            action = advice.action
        state, tapped = plant.step(state, action)
        observer = observer.update(action, tapped ^ noise)
    return observer


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
        equal: bank_shells(merged, merged.num_shells, WEIGHTINGS["uniform"] if equal else DEFAULT)
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


def observer_settings(testbed: Testbed, operation: DrawnOperation, controller: Controller) -> ObserverSettings:
    """Eager spends its risk at once; the others the same risk in two halves."""
    frozen = testbed.settings
    question = pose_endpoint(testbed, operation.slot.plant)
    probing = "separating" if controller.separating else "round-robin"
    return ObserverSettings(
        question=question,
        alpha=frozen.eager_risk if controller.policy == "eager" else 2 * frozen.staged_risk,
        nominal=operation.nominal_endpoint,
        policy=controller.policy,
        threshold=Fraction(controller.threshold),
        budget=frozen.stream_length,
        probing=probing,
    )


def run_data(operation: DrawnOperation, observer: Observer, stats: Stats) -> dict[str, Any]:
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


def outcome(operation: DrawnOperation, observer: Observer) -> str:
    """Whether the run answered rightly, wrongly or not."""
    if not isinstance(observer.verdict, Certified):
        return "abstained"
    question = observer.settings.question
    assert isinstance(question, PlantTask)
    return "correct" if observer.verdict.label == question.label_of(operation.true_endpoint) else "wrong"


def same_map(one: Compiled, other: Compiled) -> bool:
    """Whether two compilers found the same states with the same scores."""
    return np.array_equal(one.endpoint, other.endpoint) and np.array_equal(one.score, other.score)


def slot_data(slot: Slot) -> list[int]:
    return [slot.plant, slot.family, slot.number, slot.block]


def control_operations(
    conditions: Conditions, controllers: Sequence[Controller] = (*PAPER, EQUAL, *OURS)
) -> list[dict[str, Any]]:
    """The runs of all controllers on all prospective operations."""
    number = len(list(conditions.testbed.slots()))
    cases = [(conditions.settings.text, i, tuple(controllers)) for i in range(number)]
    with conditions.store("controller") as store:
        progress = conditions.counting("operations")
        return run_campaign(control_operation, cases, conditions.engine, store=store, chunk=24, progress=progress)
