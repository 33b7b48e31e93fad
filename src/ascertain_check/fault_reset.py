"""Going on after a fault of the plant, from a reset.

After a fault nobody knows where the plant is. The *part* of a hypothesis holds all states that are linked to its own by
transitions, whichever way they point; no step ever leaves it. If in every part that holds a hypothesis an action is
allowed everywhere, leads everywhere to one state and reads the same everywhere, then after it every hypothesis knows
again where the plant is, and the step is the same as without the fault. Without noise a hypothesis is ruled out only by
a reading that it cannot give, so that whatever the fault has lost rules out nobody.

It is trusted that a fault leaves the plant in the part of the model that it was in.
"""

from __future__ import annotations

from ascertain_check.question import Question
from ascertain_check.task import Task
from ascertain_check.verdicts import Refuted
from ascertain_check.work import spend


def check_reset(task: Question, action: int) -> None:
    """Refute a run that goes on after a fault with an action that does not lead back from wherever the plant may be."""
    if not isinstance(task, Task) or task.kind != "machine":
        raise Refuted("after a fault of the plant a run goes on only where the model is a machine without noise")
    spend(5 * task.num_states * task.num_actions)
    part = find_parts(task)
    known: dict[int, tuple[int | None, int | None]] = {}
    started = {part[state] for _, state in task.hypotheses}
    for s, number in enumerate(part):
        if number not in started:
            continue
        step = task.successor[s][action], task.behaviour[s][action]
        if step[0] is None or known.setdefault(number, step) != step:
            raise Refuted(f"after a fault of the plant the run goes on with action {action}, which is not a reset")


def find_parts(task: Task) -> list[int]:
    """The number of the part that each state is in."""
    linked: list[set[int]] = [set() for _ in task.successor]
    for s, row in enumerate(task.successor):
        for after in row:
            if after is not None:
                linked[s].add(after)
                linked[after].add(s)
    part = [-1] * len(linked)
    for first in range(len(linked)):
        if part[first] >= 0:
            continue
        part[first], stack = first, [first]
        while stack:
            for other in linked[stack.pop()]:
                if part[other] < 0:
                    part[other] = first
                    stack.append(other)
    return part
