"""Is the plant this machine? The question of conformance, posed as a task with one hypothesis and a reset."""

from __future__ import annotations

from fractions import Fraction

from ascertain.errors import TaskError
from ascertain.model import Model
from ascertain.task.pose import Reset, pose
from ascertain.task.task import Task


def pose_conformance(
    machine: Model, *, name: str | None = None, reset: str = "RESET", reset_cost: Fraction | int | str = 1
) -> Task:
    """The task whose one hypothesis is that the plant is this machine, in its initial state.

    `name` is its label; by default that of the state. `reset` names the action that leads back there; where the machine
    has none of that name it is added. It costs `reset_cost`, any other action 1.
    """
    if len(machine.initial) != 1:
        raise TaskError(f"conformance is to a machine with one initial state; this one has {len(machine.initial)}")
    start = machine.states[machine.initial[0]]
    return pose(
        machine,
        hypotheses="initial",
        label={start: name or start},
        reset=None if reset in machine.actions else Reset(reset),
        cost={reset: reset_cost},
    )
