"""The score of a path: how well it explains the log, less being better.

Of a path, *mis* is the number of trusted readings that it contradicts, *so* the distance of the number of its
replacements from the window that was declared for it, and *sy* the distance of the number of ordinary readings that it
contradicts, its *flips*, from theirs. Its score is

    (mis, so + sy, max(so, sy)),

compared from left to right. The score of a state is the least over the paths that end there. Candidates of equal score
form a *shell*.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from ascertain.bank.operation import Operation, Window
from ascertain.errors import TaskError
from ascertain.types import LongArray

Score: TypeAlias = tuple[int, int, int]
"""(mis, so + sy, max(so, sy)); less is better."""

FARTHEST = 2**20
"""A window may begin this late, which is after the end of any log; its distances then fit the kernels' integers."""


def score_counts(operation: Operation, mis: LongArray, replaced: LongArray, flips: LongArray) -> LongArray:
    """The scores of paths with these counts, a row each."""
    so = _distances(replaced, clip_window(operation.replacement_window, "replacements"))
    sy = _distances(flips, clip_window(operation.flip_window, "flips"))
    return np.stack((mis, so + sy, np.maximum(so, sy)), axis=1)


def clip_window(window: Window, name: str) -> Window:
    """The window with its end brought into the range of the kernels, which changes no distance."""
    low, high = window
    if low > FARTHEST:
        raise TaskError(f"window: {name} begins at {low}; it must begin at {FARTHEST} or before")
    return low, min(high, FARTHEST)


def _distances(count: LongArray, window: Window) -> LongArray:
    """How far each count is from a window: zero inside."""
    return np.maximum(np.maximum(window[0] - count, count - window[1]), 0)
