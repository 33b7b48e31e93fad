"""Observers on the operations of a testbed, as several studies run them: the question, the settings, the stream."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np

from ascertain.bank.candidates import Compiled
from ascertain.evidence.trigger import REJECTION
from ascertain.observer.settings import ObserverSettings, PolicyName
from ascertain.observer.staged import Act, Observer, start_observer
from ascertain.policy.verdict import Certified
from ascertain.task.bank import Bank
from ascertain.task.plant_task import PlantTask, StateRule
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
    probing: str = "round-robin"
    """A rule by its name, which chooses what to probe; with round-robin that is the stream's schedule."""
    equal_weights: bool = False
    """Whether candidates weigh as the paper's do, all the same, or as ours."""
    rejects_at_risk: bool = False
    """Whether the nominal is formally rejected at the nominal stage's own risk, or at beta_nom = 1/1000."""


def pose_endpoint(testbed: Testbed, plant_number: int) -> PlantTask:
    """The question of the studies: in which of all its states is this plant, by probing commands alone?"""
    drawn = testbed.plants[plant_number]
    plant = replace(drawn.plant, flip=testbed.settings.stream_flip)
    cost = (Fraction(1),) * plant.num_actions
    return PlantTask(model=plant, rule=StateRule(), actions=tuple(drawn.probing), cost=cost)


def observer_settings(testbed: Testbed, operation: DrawnOperation, controller: Controller) -> ObserverSettings:
    """Eager spends its risk at once; the others the same risk in two halves."""
    frozen = testbed.settings
    question = pose_endpoint(testbed, operation.slot.plant)
    return ObserverSettings(
        question=question,
        alpha=frozen.eager_risk if controller.policy == "eager" else 2 * frozen.staged_risk,
        nominal=operation.nominal_endpoint,
        policy=controller.policy,
        threshold=Fraction(controller.threshold),
        budget=frozen.stream_length,
        rejection=frozen.staged_risk if controller.rejects_at_risk else REJECTION,
        probing=controller.probing,
    )


def settle_on_stream(
    testbed: Testbed, operation: DrawnOperation, stream: Stream, settings: ObserverSettings, bank: Bank
) -> Observer:
    """Run an observer on an operation's stream: on its schedule, or, if it chooses its probes, on its noise alone."""
    plant, state = testbed.plants[operation.slot.plant].plant, operation.true_endpoint
    observer = start_observer(settings, lambda: bank)
    for foreseen, noise in zip(stream.schedule.tolist(), stream.noise.tolist(), strict=True):
        if observer.verdict is not None:
            break
        action = foreseen
        if settings.probing != "round-robin":
            advice = observer.next()
            assert isinstance(advice, Act)
            action = advice.action
        state, tapped = plant.step(state, action)
        observer = observer.update(action, tapped ^ noise)
    return observer


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
    """A slot as plain data: plant, family, number and block."""
    return [slot.plant, slot.family, slot.number, slot.block]
