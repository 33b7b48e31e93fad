"""Walk a policy on a plant: send what it asks, read, go on, until it answers or abstains.

A reading that the task does not know, or that the policy has no branch for, is an abstention with its reason; it is
never taken for the nearest one. An action that some hypothesis, not yet ruled out by what was read, does not allow is
not sent: such a policy is not one for this task.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from ascertain.errors import TaskError
from ascertain.policy.policy import Abstain, AbstractPolicy, Answer
from ascertain.policy.verdict import Abstained, Certified, Verdict
from ascertain.task.hypotheses import follow_record
from ascertain.task.log import LogRecord
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Plant

Memory = TypeVar("Memory")


@dataclass(frozen=True)
class Walk:
    """What was sent and read, what it cost, and how it ended."""

    transcript: tuple[tuple[str, str], ...]
    cost: Fraction
    verdict: Verdict


def walk_policy(task: Task, policy: AbstractPolicy[Memory], plant: Plant) -> Walk:
    """Run the policy once; plant faults are the caller's to catch."""
    reading_of = {name: y for y, name in enumerate(task.model.readings)}
    transcript: list[tuple[str, str]] = []
    cost = Fraction(0)
    memory = policy.start()
    now = task.state
    while True:
        decision = policy.decide(memory)
        if isinstance(decision, Answer):
            return Walk(tuple(transcript), cost, Certified(task.labels[decision.label]))
        if isinstance(decision, Abstain):
            return Walk(tuple(transcript), cost, Abstained(decision.reason))
        action = task.model.actions[decision.action]
        if (task.model.successor[now, decision.action] == UNDEFINED).any():
            raise TaskError(f"the policy asks {action!r}, which is forbidden where the plant may be")
        reading = plant.send(action)
        transcript.append((action, reading))
        cost += task.cost[decision.action]
        if reading not in reading_of:
            return Walk(tuple(transcript), cost, Abstained(f"reading {reading!r} is outside the model"))
        possible, after = follow_record(task.model, task.model, now, LogRecord(0, action, reading))
        now = after[possible]
        memory = policy.next(memory, reading_of[reading])
