"""Which of several machines is it? The question of fingerprinting, posed so that it has an answer.

The plant is one of the machines, in its initial state. Only the actions that all of them know are used, and a reset
that leads each back to its own initial state. Machines that nobody can tell apart on these actions share a label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ascertain.errors import ModelError, TaskError, find_name
from ascertain.model import Model
from ascertain.model.union import common_actions, union
from ascertain.problem.pose import Reset, pose
from ascertain.quotients.obstruction import coarsen
from ascertain.rational import Number
from ascertain.task.task import Task


def pose_fingerprint(
    machines: Mapping[str, Model],
    *,
    reset_cost: Fraction | int | None = 1,
    reset_action: str = "RESET",
    actions: Sequence[str] | None = None,
    cost: Mapping[str, Number] | None = None,
    undefined: str = "forbidden",
    coarsened: bool = True,
) -> Task:
    """The task of naming the machine; without a reset where its cost is None.

    `actions` keeps these only, of those that all machines know; `cost` has the costs of those that do not cost 1.

    Machines that nobody can tell apart share a label, unless `coarsened` is False: then each has its own, and the task
    may have no answer.
    """
    if len(machines) < 2:
        raise ModelError("fingerprinting tells machines apart; at least two are needed")
    for name, machine in machines.items():
        if len(machine.initial) != 1:
            raise ModelError(f"{name}: fingerprinting needs one initial state; this machine has {len(machine.initial)}")
    common = common_actions(machines.values())
    if not common:
        known = "; ".join(f"{name} knows {', '.join(machine.actions[:6])}" for name, machine in machines.items())
        raise ModelError(f"the machines have no action in common, and one at least is needed: {known}")
    for name in actions or ():
        find_name(name, common, "actions", "an action that all machines know", TaskError)
    task = pose(
        union(machines),
        hypotheses="initial",
        label="machine",
        actions=common if actions is None else actions,
        undefined=undefined,
        # A model whose reset reads something of its own has it as an action.
        reset=None if reset_cost is None or reset_action in common else Reset(reset_action),
        cost={**(cost or {}), **({} if reset_cost is None else {reset_action: reset_cost})},
    )
    return coarsen(task) if coarsened else task
