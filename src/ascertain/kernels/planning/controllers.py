"""Dynamic programming on belief graphs: values from below, and what a policy visits, spends and risks.

Throughout: v and w are nodes, k an option, y a reading; `child[v, k, y]` is the next node, -1 where y cannot be read,
and `factor[v, k, y]` what unnormalised weights at the child are multiplied by (`planning/belief_graph.py`).
"""

from __future__ import annotations

import numpy as np

from ascertain.kernels._jit import kernel
from ascertain.types import FloatArray, IntArray, LongArray

SHRINK = 1 - 2.0**-40
"""Each value is taken a little smaller than it was computed: more than all rounding of one update."""


@kernel(work=lambda child: child.size, sliced=True, unfinished=False)
def iterate_values(
    child: IntArray,
    factor: FloatArray,
    once: FloatArray,
    stop: FloatArray,
    value: FloatArray,
    tolerance: float,
    sweeps: int,
) -> bool:
    """Sweep over the nodes, last first, raising values in place; whether the last sweep hardly changed any.

    `once[v, k]` is what asking option k costs at v by itself, infinite where there is no such option.
    `value` starts at or below the solution and stays there: each update is the Bellman operator of values that are, and
    the operator is monotone.
    """
    nodes, options, readings = child.shape
    for _ in range(sweeps):
        change = 0.0
        # Nodes are numbered breadth first, so that from the last one on most children are up to date (Gauss-Seidel).
        for v in range(nodes - 1, -1, -1):
            best = stop[v]
            for k in range(options):
                if once[v, k] == np.inf:
                    continue
                total = once[v, k]
                for y in range(readings):
                    w = child[v, k, y]
                    if w >= 0:
                        total += factor[v, k, y] * value[w]
                total *= SHRINK
                best = min(best, total)
            if best > value[v]:
                change = max(change, (best - value[v]) / best)
                value[v] = best
        if change <= tolerance:
            return True
    return False


@kernel(work=lambda source, now: source.size + now.size)
def push_forward(
    source: LongArray, target: LongArray, chance: FloatArray, cost_of: FloatArray, now: FloatArray, after: FloatArray
) -> float:
    """Carry the probability `now` along the edges into `after`; return the expected cost of the step.

    Only nonnegative numbers are added and multiplied, each edge once: `planning/controller.py` bounds the rounding.
    """
    spent = 0.0
    for k in range(len(now)):
        after[k] = 0.0
        spent += now[k] * cost_of[k]
    for e in range(len(source)):
        after[target[e]] += now[source[e]] * chance[e]
    return spent


@kernel(work=lambda child: child.size, sliced=True, unfinished=False)
def accumulate_visits(
    child: IntArray,
    factor: FloatArray,
    mass: FloatArray,
    now: FloatArray,
    total: FloatArray,
    tolerance: float,
    sweeps: int,
) -> bool:
    """Add up in `total` what ever comes to each node, passing on what is there `now`; whether that came to an end.

    This solves total = now + total @ P, P being the substochastic matrix of the factors. Each node hands on what it has
    in its turn, first node first, so that most of it is done in the first sweeps. It ends when the mass of what is
    still on its way is at most `tolerance`.
    """
    nodes, readings = child.shape
    for _ in range(sweeps):
        left = 0.0
        for v in range(nodes):
            # What comes to a later node in this sweep is handed on in this sweep too.
            amount = now[v]
            if amount == 0.0:
                continue
            now[v] = 0.0
            total[v] += amount
            for y in range(readings):
                w = child[v, y]
                if w >= 0:
                    now[w] += amount * factor[v, y]
        for v in range(nodes):
            left += now[v] * mass[v]
        if left <= tolerance:
            return True
    return False


@kernel(work=lambda child, own: child.size * own.shape[1], sliced=True, unfinished=False)
def accumulate_outcomes(
    child: IntArray, factor: FloatArray, own: FloatArray, total: FloatArray, tolerance: float, sweeps: int
) -> bool:
    """`total[v, i]` becomes own[v, i] and what follows it, by sweeps from the last node; whether they were enough.

    This solves total = own + P @ total for each column i, from whatever is in `total` at first (Gauss-Seidel).
    """
    nodes, readings = child.shape
    width = own.shape[1]
    for _ in range(sweeps):
        change = 0.0
        for v in range(nodes - 1, -1, -1):
            for i in range(width):
                new = own[v, i]
                for y in range(readings):
                    w = child[v, y]
                    if w >= 0:
                        new += factor[v, y] * total[w, i]
                change = max(change, abs(new - total[v, i]) / (abs(new) + 1.0))
                total[v, i] = new
        if change <= tolerance:
            return True
    return False
