"""D of all small sets of states: a bound for larger ones that pays where a search is long and states are few."""

from __future__ import annotations

import math
import time

import numpy as np

from ascertain.kernels.search.bounds import NEVER, SearchTables, Subsets, sweep_subsets

MOST_SETS = 30_000_000
"""Sets of one size that a table is made for."""
LARGEST_SIZE = 8


def no_subsets() -> Subsets:
    """The table of nothing."""
    return Subsets(2, np.zeros(4, dtype=np.int64), np.zeros((0, 3), dtype=np.int64), np.zeros(0, dtype=np.int32))


def price_of_next(tables: SearchTables, num_members: int) -> int | None:
    """How many sets the next size has, for configurations of at most so many members; None when it is not to be had."""
    size, n = tables.subsets.most + 1, len(tables.successor)
    count = math.comb(n, size)
    if size > min(LARGEST_SIZE, num_members - 1) or int(tables.cost.max()) >= NEVER:
        return None
    return count if 0 < count <= MOST_SETS else None


def value_next_size(tables: SearchTables, deadline: float | None) -> Subsets | None:
    """The table with the next size added, or None when time runs out.

    Let c be the least cost and g the greatest common divisor of all. After t sweeps every set with D <= (t - 1) c is
    exact: the first sweep settles D = 0, and what a set depends on is exact one sweep before it. Any other D is a
    multiple of g above that, so every value up to (t - 1) c + g is final, and need not be looked at again.
    """
    known = tables.subsets
    size, n = known.most + 1, len(tables.successor)
    new = np.full(math.comb(n, size), NEVER, dtype=np.int32)
    subsets = Subsets(
        most=size,
        first=np.append(known.first, len(known.value) + len(new)),
        binomial=np.array([[math.comb(s, i) for i in range(size + 1)] for s in range(n)], dtype=np.int64),
        value=np.concatenate((known.value, new)),
    )
    key = np.zeros(size, dtype=np.int64)
    least, divisor = int(tables.cost.min()), int(np.gcd.reduce(tables.cost))
    fallen, settled = 1, 0
    while fallen:
        if deadline is not None and time.monotonic() > deadline:
            return None
        fallen = sweep_subsets(tables._replace(subsets=subsets), settled, key)
        settled = min(settled + least, NEVER - 1) if settled else divisor
    return subsets
