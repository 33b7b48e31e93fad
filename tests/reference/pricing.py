"""How many readings a random code takes, by looking at every pattern of contradicted readings."""

from __future__ import annotations

import math
from itertools import product


def contradicted_often(rivals: float, risk: float, errors: float, nats: float, most: int) -> tuple[float, float]:
    """The least number of readings that leaves less than one rival, and how many a rival is scored on until then."""
    need = 1 if errors == 0 else max(1, math.ceil(math.log(1 / risk) / nats))
    scored = 0.0
    for n in range(most):
        patterns = list(product((0, 1), repeat=n))
        alive = [pattern for pattern in patterns if sum(pattern) < need + math.floor(errors * n)]
        if rivals * len(alive) / len(patterns) < 1:
            return n, scored
        scored += len(alive) / len(patterns)
    return most, scored
