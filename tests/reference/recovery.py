"""Resets, slow and obvious: the states that a fault may have left a plant in, one by one."""

from __future__ import annotations

from ascertain.task.task import Task
from ascertain.types import UNDEFINED


def linked_states(task: Task, start: int) -> set[int]:
    """All states that transitions link to this one, in either direction."""
    found = {start}
    while True:
        more = {
            other
            for s in range(task.model.num_states)
            for a in range(task.model.num_actions)
            if (t := int(task.model.successor[s, a])) != UNDEFINED and (s in found or t in found)
            for other in (s, t)
        }
        if more <= found:
            return found
        found |= more


def is_reset(task: Task, action: int) -> bool:
    """Whether the action does one and the same thing wherever a plant may be that began as some hypothesis."""
    for start in task.state:
        steps = {
            (int(task.model.successor[s, action]), int(task.model.behaviour[s, action]))
            for s in linked_states(task, int(start))
        }
        if len(steps) > 1 or UNDEFINED in {after for after, _ in steps}:
            return False
    return True
