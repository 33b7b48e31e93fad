"""Machines and tasks written out by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ascertain.model import Machine
from ascertain.task.task import Task
from tests.strategies import names


def build(successor: list[list[int]], output: list[list[int]], **changes: object) -> Machine:
    return Machine(
        states=names("s", len(successor)),
        actions=names("a", len(successor[0])),
        readings=names("y", 1 + max(y for row in output for y in row)),
        successor=np.array(successor, dtype=np.int32),
        output=np.array(output, dtype=np.int32),
        **changes,  # type: ignore[arg-type]
    )


def identify(model, label: list[int] | None = None, **changes: object) -> Task:
    """The task about the start whose hypotheses are all states, each with its own label unless told."""
    every = np.arange(model.num_states, dtype=np.int32)
    return Task(
        model=model,
        state=every,
        label=every if label is None else np.array(label, dtype=np.int32),
        labels=names("l", model.num_states),
        cost=(Fraction(1),) * model.num_actions,
        **changes,  # type: ignore[arg-type]
    )
