"""The quotient of a task: one state for each class of equivalent states, one hypothesis for each (class, label).

Theorem (exact task-conditioned quotient). The classes lose nothing: members of a class give every experiment the same
law of readings, so each observer answers alike on the task and on its quotient, and the least cost of settling them is
the same. And nothing coarser does: a map that puts two classes together confuses two laws, two sets of allowed
actions or, in a task about the current state, two labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ascertain.model import Model
from ascertain.quotients.refinement import Partition, refine
from ascertain.task.task import Task, check_task
from ascertain.types import UNDEFINED, IntArray, LongArray, State


@dataclass(frozen=True, eq=False)
class Quotient:
    """A task, its reduced task, and the maps from one to the other."""

    task: Task
    reduced: Task
    block: IntArray
    """`block[s]` is the class of s, a state of the reduced model."""
    representative: IntArray
    """`representative[c]` is the first state of class c, which lends it its name."""
    hypothesis_class: IntArray
    """`hypothesis_class[h]` is the hypothesis of the reduced task that h became."""
    certified: bool
    """Whether laws were compared exactly; a tolerance makes the reduced task an approximation."""
    edge_visits: int
    """How many transitions were looked at while refining."""

    @property
    def num_classes(self) -> int:
        return len(self.representative)


def take_quotient(task: Task, *, tolerance: Fraction | None = None) -> Quotient:
    """The task on classes of equivalent states; seeded with labels where it is about the current state."""
    check_task(task)
    partition = refine(task.model, seed=task.state_label, tolerance=tolerance)
    state, label, hypothesis_class = _merge_hypotheses(task, partition)
    reduced = replace(
        task,
        model=reduce_model(task.model, partition),
        state=state,
        label=label,
        state_label=None if task.state_label is None else task.state_label[partition.representative],
    )
    return Quotient(
        task=task,
        reduced=reduced,
        block=partition.block,
        representative=partition.representative,
        hypothesis_class=hypothesis_class,
        certified=partition.certified,
        edge_visits=partition.edge_visits,
    )


def reduce_model(model: Model, partition: Partition) -> Model:
    """One state a class, named after its first member; an origin is kept only if no class mixes two."""
    representative = partition.representative
    kept: list[int] = representative.tolist()
    block: list[int] = partition.block.tolist()
    lead = model.successor[representative]
    origin = tuple(model.origin[s] for s in kept) if model.origin else ()
    mixed = any(name != origin[c] for name, c in zip(model.origin, block, strict=False))
    return model.rebuilt(
        successor=np.where(lead == UNDEFINED, UNDEFINED, partition.block[lead]),
        behaviour=model.behaviour[representative],
        states=tuple(model.states[s] for s in kept),
        initial=tuple(dict.fromkeys(block[s] for s in model.initial)),
        origin=() if mixed else origin,
    )


def _merge_hypotheses(task: Task, partition: Partition) -> tuple[IntArray, IntArray, IntArray]:
    """States and labels of the merged hypotheses, in the order of first appearance, and the class of each old one."""
    of_class: LongArray = partition.block[task.state].astype(np.int64)
    codes = of_class * len(task.labels) + task.label
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    kept = first[order]
    return partition.block[task.state[kept]], task.label[kept], rank[inverse.reshape(-1)]


def members(quotient: Quotient, state: State) -> IntArray:
    """The states of the original model in a class, ascending."""
    return np.flatnonzero(quotient.block == state).astype(np.int32)
