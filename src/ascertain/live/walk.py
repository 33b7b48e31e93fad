"""Walk a policy on a plant: send what it asks, read, go on, until it answers or abstains.

Faults of the plant are treated as in any session (`faults.py`): it is asked again where that is safe, a reading that
the policy would not have looked at may be lost, and anything else ends the walk in an abstention.

A reading that no hypothesis can give there shows that the plant is none of these; it is never taken for the nearest
one. An action that some hypothesis, not yet ruled out by what was read, does not allow is not sent: such a policy is
not one for this task. (Where states are not listed, every action is allowed everywhere.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, cast

from ascertain.errors import PlantFault, TaskError
from ascertain.live.faults import FaultPolicy, ask_plant
from ascertain.observer.witness import LOST
from ascertain.plant.abstract import as_plant
from ascertain.policy.policy import Abstain, AbstractPolicy, Answer
from ascertain.policy.verdict import Abstained, Certified, NoneOfThese, Verdict
from ascertain.task.hypotheses import follow_record
from ascertain.task.log import LogRecord
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action, Plant, Reading

Memory = TypeVar("Memory")

MAX_ACTIONS = 10**6
"""A walk that asks more often is given up: a policy from a file may go round in circles for ever."""


@dataclass(frozen=True)
class Walk:
    """What was sent and read, what it cost, and how it ended."""

    transcript: tuple[tuple[str, str | None], ...]
    """None where a reading was lost."""
    cost: Fraction
    verdict: Verdict
    faults: tuple[PlantFault, ...] = ()
    """All that were met, those that a retry mended included."""
    plant_failed: bool = False
    """Whether the walk had to end because of the plant."""


class _Remaining:
    """Where the plant may be, given what was done and read."""

    def __init__(self, task: Task) -> None:
        self.task, self.now = task, task.state

    def check(self, action: Action) -> None:
        if (self.task.model.successor[self.now, action] == UNDEFINED).any():
            name = self.task.model.actions[action]
            raise TaskError(f"the policy asks {name!r}, which is forbidden where the plant may be")

    def take(self, action: Action, reading: str | None) -> None:
        if reading is None:
            self.now = self.task.model.successor[self.now, action]
            return
        record = LogRecord(0, self.task.model.actions[action], reading)
        possible, after = follow_record(self.task.model, self.task.model, self.now, record)
        self.now = after[possible]


def walk_policy(
    task: Task | PlantTask,
    policy: AbstractPolicy[Memory],
    plant: Plant,
    label: Callable[[int], str] | None = None,
    *,
    patience: FaultPolicy | None = None,
) -> Walk:
    """Run the policy once; a fault of the plant that is not mended ends it in an abstention.

    `label` names the answers of a policy whose question does not list its labels; `patience` says how often a plant
    that is retry-safe is asked again.
    """
    if label is None and task.model.listed is None:
        raise TaskError("the states of this plant are not listed, so that answers have no names; give `label`")
    remaining = None if task.model.listed is None else _Remaining(cast("Task", task))
    name_label = label or cast("Task", task).labels.__getitem__
    reading_of = {name: y for y, name in enumerate(task.model.readings)}
    transcript: list[tuple[str, str | None]] = []
    faults: list[PlantFault] = []
    device, patience = as_plant(plant), patience or FaultPolicy()
    cost = Fraction(0)
    memory = policy.start()
    while True:
        decision = policy.decide(memory)
        if isinstance(decision, Answer):
            return Walk(tuple(transcript), cost, Certified(name_label(decision.label)), tuple(faults))
        if isinstance(decision, Abstain):
            return Walk(tuple(transcript), cost, Abstained(decision.reason), tuple(faults))
        if len(transcript) >= MAX_ACTIONS:
            raise TaskError(f"the policy has not ended after {MAX_ACTIONS} actions")
        action = task.model.actions[decision.action]
        if remaining is not None:
            remaining.check(decision.action)
        heard = ask_plant(device, action, reading_of, patience)
        faults += heard.faults
        if heard.ran:
            transcript.append((action, heard.text if heard.outcome == "outside" else _name(task, heard.reading)))
            cost += task.cost[decision.action]
        if heard.outcome in ("doubt", "failure"):
            reason = heard.reason if heard.outcome == "failure" else f"nobody knows whether {action!r} ran"
            return Walk(tuple(transcript), cost, Abstained(reason), tuple(faults), plant_failed=True)
        if remaining is not None and heard.outcome != "outside":
            remaining.take(decision.action, transcript[-1][1])
        if heard.outcome == "outside" or (remaining is not None and not len(remaining.now)):
            return Walk(tuple(transcript), cost, NoneOfThese(_witness(transcript)), tuple(faults))
        readings = task.model.possible_readings(decision.action) if heard.reading is None else (heard.reading,)
        after = [policy.next(memory, y) for y in readings]
        if any(other != after[0] for other in after):
            lost = Abstained(f"the reading of {action!r} was lost, and the policy depends on it")
            return Walk(tuple(transcript), cost, lost, tuple(faults), plant_failed=True)
        memory = after[0]


def _name(task: Task | PlantTask, reading: Reading | None) -> str | None:
    return None if reading is None else task.model.readings[reading]


def _witness(transcript: list[tuple[str, str | None]]) -> tuple[tuple[str, str], ...]:
    return tuple((action, LOST if reading is None else reading) for action, reading in transcript)
