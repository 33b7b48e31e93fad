"""Walk a policy on a plant: send what it asks, read, go on, until it answers or abstains.

A reading that the task does not know, or that the policy has no branch for, is an abstention with its reason; it is
never taken for the nearest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from ascertain.policy.policy import Abstain, AbstractPolicy, Answer
from ascertain.policy.verdict import Abstained, Certified, Verdict
from ascertain.task.task import Task
from ascertain.types import Plant

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
    while True:
        decision = policy.decide(memory)
        if isinstance(decision, Answer):
            return Walk(tuple(transcript), cost, Certified(task.labels[decision.label]))
        if isinstance(decision, Abstain):
            return Walk(tuple(transcript), cost, Abstained(decision.reason))
        action = task.model.actions[decision.action]
        reading = plant.send(action)
        transcript.append((action, reading))
        cost += task.cost[decision.action]
        if reading not in reading_of:
            return Walk(tuple(transcript), cost, Abstained(f"reading {reading!r} is outside the model"))
        memory = policy.next(memory, reading_of[reading])
