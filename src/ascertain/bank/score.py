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

from ascertain.bank.operation import Operation, Window
from ascertain.errors import TaskError

Score: TypeAlias = tuple[int, int, int]
"""(mis, so + sy, max(so, sy)); less is better."""

FARTHEST = 2**20
"""A window may begin this late, which is after the end of any log; its distances then fit the kernels' integers."""


def distance(count: int, window: Window) -> int:
    """How far a count is from a window: zero inside."""
    low, high = window
    return max(low - count, count - high, 0)


def score_counts(operation: Operation, mis: int, replaced: int, flips: int) -> Score:
    """The score of a path with these counts."""
    so = distance(replaced, operation.replacement_window)
    sy = distance(flips, operation.flip_window)
    return mis, so + sy, max(so, sy)


def clip_window(window: Window, name: str) -> Window:
    """The window with its end brought into the range of the kernels, which changes no distance."""
    low, high = window
    if low > FARTHEST:
        raise TaskError(f"window: {name} begins at {low}; it must begin at {FARTHEST} or before")
    return low, min(high, FARTHEST)
