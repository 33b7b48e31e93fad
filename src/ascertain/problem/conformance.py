"""Questions that conformance can answer: whether the plant is this machine, or the one that an answer names.

A reset makes words comparable: from wherever the plant may be it leads to one state and reads alike. Where that is the
state of the hypothesis, what was done before the first reset counts; where it is another (a question about where in a
machine the plant is), only what comes after.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import cast

from ascertain.conformance.specification import reach
from ascertain.errors import TaskError, did_you_mean
from ascertain.model import Model
from ascertain.problem.pose import Reset, pose
from ascertain.quotients.refinement import refine
from ascertain.task.question import AbstractQuestion
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action, State


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


def as_conformable(question: AbstractQuestion) -> Task:
    """The question, if conformance can be asked about its answers: a machine without noise whose states are listed."""
    if question.model.listed is None or not question.model.is_exact:
        raise TaskError(
            "conformance compares words with a machine without noise whose states are listed; this question is about "
            "another kind of model"
        )
    return cast("Task", question)


def check_answers(task: Task, home: Action, labels: Iterable[int] | None = None) -> int:
    """Refuse answers that are not about one complete machine from reset on: these, or all that the task has.

    An answer about where the plant is when the run ends says nothing about where it began: it is about all hypotheses.
    Returns the number of states that the largest of these machines has.
    """
    model, actions = task.model, [a for a in task.actions if a != home]
    block, sizes = refine(model.on_actions(actions)).block, dict[State, int]()
    groups = [task.label == k for k in labels or sorted(set(task.label.tolist()))]
    for members in groups if task.about == "start" else [task.label >= 0]:
        starts = [int(s) for s in model.successor[task.state[members], home]]
        if len({int(block[s]) for s in starts}) > 1:
            name = task.labels[int(task.label[members][0])]
            raise TaskError(
                f"an answer such as {name!r} may be true of several machines that differ after a reset, and "
                "conformance is to one; give them labels of their own"
            )
        for start in starts:
            if start not in sizes:
                sizes[start] = len({int(block[s]) for s in reach(model, [start], actions)})
    return max(sizes.values())


def find_reset(task: Task, name: str) -> Action:
    """The reset, which leads from wherever a hypothesis may have come to one state, and reads alike everywhere."""
    model, allowed = task.model, [task.model.actions[a] for a in task.actions]
    if name not in allowed:
        raise TaskError(
            f"conformance runs words from reset, and {name!r} is not an action of the question"
            f'{did_you_mean(name, allowed)}; add it (in a problem file [reset] action = "{name}"), or name the action '
            "that is a reset with --reset"
        )
    home = model.actions.index(name)
    order = list(dict.fromkeys(task.state.tolist()))
    seen = set(order)
    for z in order:
        for a in (home, *task.actions):
            after = int(model.successor[z, a])
            if after == UNDEFINED and a != home:
                continue
            leads = model.successor[z, home], model.behaviour[z, home]
            if after == UNDEFINED or leads != (model.successor[after, home], model.behaviour[after, home]):
                raise TaskError(
                    f"{name!r} is no reset: around state {model.states[z]!r} it is not defined, leads to different "
                    "states or reads differently, so that words cannot be compared; name another with --reset"
                )
            if after not in seen:
                seen.add(after)
                order.append(after)
    return home
