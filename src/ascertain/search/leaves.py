"""What telling n labels apart costs at least, however well actions split them: a decision tree needs n leaves.

An action that gives m readings makes m branches at most, so that one of them keeps ceil(n / m) labels. The theorem and
its proof are in `ascertain_check/claims/lower.py`. It holds for questions about the start only: labels that move may
become one.
"""

from __future__ import annotations

import numpy as np

from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, LongArray


def bound_by_leaves(task: Task) -> LongArray:
    """The bound for each number of labels up to the task's, in its integer costs; empty where there is none."""
    least_cost: dict[int, int] = {}
    model, (cost, _) = task.model, task.integer_costs()
    for a, price in enumerate(cost.tolist()):
        given = model.behaviour[model.successor[:, a] != UNDEFINED, a]
        num_readings = int(np.count_nonzero(np.bincount(given))) if len(given) else 0
        if num_readings > 1:
            least_cost[num_readings] = min(price, least_cost.get(num_readings, price))
    if task.state_label is not None or not least_cost:
        return np.empty(0, dtype=np.int64)
    labels = np.arange(len(task.labels) + 1)
    bound = np.where(labels > 1, INFINITE, 0)
    # After t sweeps all is right up to 2^t labels: what it depends on has half as many at most.
    for _ in range(len(labels).bit_length()):
        for num_readings, price in least_cost.items():
            bound = np.minimum(bound, price + bound[-(-labels // num_readings)])
    return bound
