"""Walk a policy on a plant: send what it asks, read, go on, until it answers or abstains.

A reading that no hypothesis can give there shows that the plant is none of these; it is never taken for the nearest
one. An action that some hypothesis, not yet ruled out by what was read, does not allow is not sent: such a policy is
not one for this task. (Where states are not listed, every action is allowed everywhere.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, cast

from ascertain.errors import TaskError
from ascertain.policy.policy import Abstain, AbstractPolicy, Answer
from ascertain.policy.verdict import Abstained, Certified, NoneOfThese, Verdict
from ascertain.task.hypotheses import follow_record
from ascertain.task.log import LogRecord
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action, Plant

Memory = TypeVar("Memory")

MAX_ACTIONS = 10**6
"""A walk that asks more often is given up: a policy from a file may go round in circles for ever."""


@dataclass(frozen=True)
class Walk:
    """What was sent and read, what it cost, and how it ended."""

    transcript: tuple[tuple[str, str], ...]
    cost: Fraction
    verdict: Verdict


class _Remaining:
    """Where the plant may be, given what was done and read."""

    def __init__(self, task: Task) -> None:
        self.task, self.now = task, task.state

    def check(self, action: Action) -> None:
        if (self.task.model.successor[self.now, action] == UNDEFINED).any():
            name = self.task.model.actions[action]
            raise TaskError(f"the policy asks {name!r}, which is forbidden where the plant may be")

    def take(self, action: str, reading: str) -> None:
        possible, after = follow_record(self.task.model, self.task.model, self.now, LogRecord(0, action, reading))
        self.now = after[possible]


def walk_policy(
    task: Task | PlantTask,
    policy: AbstractPolicy[Memory],
    plant: Plant,
    label: Callable[[int], str] | None = None,
) -> Walk:
    """Run the policy once; plant faults are the caller's to catch.

    `label` names the answers of a policy whose question does not list its labels.
    """
    if label is None and task.model.listed is None:
        raise TaskError("the states of this plant are not listed, so that answers have no names; give `label`")
    remaining = None if task.model.listed is None else _Remaining(cast("Task", task))
    name_label = label or cast("Task", task).labels.__getitem__
    reading_of = {name: y for y, name in enumerate(task.model.readings)}
    transcript: list[tuple[str, str]] = []
    cost = Fraction(0)
    memory = policy.start()
    while True:
        decision = policy.decide(memory)
        if isinstance(decision, Answer):
            return Walk(tuple(transcript), cost, Certified(name_label(decision.label)))
        if isinstance(decision, Abstain):
            return Walk(tuple(transcript), cost, Abstained(decision.reason))
        if len(transcript) >= MAX_ACTIONS:
            raise TaskError(f"the policy has not ended after {MAX_ACTIONS} actions")
        action = task.model.actions[decision.action]
        if remaining is not None:
            remaining.check(decision.action)
        reading = plant.send(action)
        transcript.append((action, reading))
        cost += task.cost[decision.action]
        if remaining is not None and reading in reading_of:
            remaining.take(action, reading)
        if reading not in reading_of or (remaining is not None and not len(remaining.now)):
            return Walk(tuple(transcript), cost, NoneOfThese(tuple(transcript)))
        memory = policy.next(memory, reading_of[reading])
