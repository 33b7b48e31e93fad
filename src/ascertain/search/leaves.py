"""What telling n labels apart costs at least, however well actions split them: a decision tree needs n leaves.

An action that gives m readings makes m branches at most, so that one of them keeps ceil(n / m) labels. The theorem and
its proof are in `ascertain_check/claims/lower.py`. It holds for questions about the start only: labels that move may
become one.
"""

from __future__ import annotations

import numpy as np

from ascertain.task.task import Task
from ascertain.types import LongArray


def bound_by_leaves(task: Task) -> LongArray:
    """The bound for each number of labels up to the task's, in its integer costs; empty where there is none."""
    widest = list_widest(task)
    if task.state_label is not None or not widest:
        return np.empty(0, dtype=np.int64)
    bound = [0, 0]
    for n in range(2, len(task.labels) + 1):
        bound.append(min([price + bound[-(-n // width)] for width, price in widest]))
    return np.array(bound, dtype=np.int64)


def list_widest(task: Task) -> list[tuple[int, int]]:
    """How many readings actions give, more than one, and what they cost: only those that no wider one undercuts."""
    # -1, where an action is not defined, is counted too, and left out.
    behaviour, size = task.model.behaviour, len(task.model.readings) + 1
    num_actions = task.model.num_actions
    shifted = np.add(behaviour, np.arange(num_actions) * size + 1)
    count = np.bincount(np.ravel(shifted), minlength=num_actions * size)
    widths = np.count_nonzero(count.reshape(-1, size)[:, 1:], axis=1).tolist()
    widest: list[tuple[int, int]] = []
    for width, price in sorted(zip(widths, task.integer_costs()[0].tolist(), strict=True), key=lambda e: (-e[0], e[1])):
        if width > 1 and (not widest or price < widest[-1][1]):
            widest.append((width, price))
    return widest
