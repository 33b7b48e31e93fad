"""The deadline of a run: so many seconds from its beginning by a clock that only goes forward, or a person's stop.

It is looked at before an action is sent, while a plant is waited for, and wherever a long computation looks up
(`interruption.py`). It says when a run abstains and never what it answers, so that no guarantee depends on it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import final

from ascertain.errors import TaskError
from ascertain.interruption import limited
from ascertain.observer.records import Cause

STOPPED = "a person has stopped the run"
"""Why a run abstains that was stopped."""
MAX_DEADLINE = 10**7
"""Seconds, about four months: whoever waits longer has made a typing mistake."""


@final
@dataclass(frozen=True)
class Deadline:
    """So many seconds from now on by a clock; infinitely many where there is no deadline."""

    seconds: float
    clock: Callable[[], float] = time.monotonic
    stopped: Callable[[], bool] | None = None
    """Whether a person has stopped the run; None: nobody can."""
    _began: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not (0 < self.seconds <= MAX_DEADLINE or self.seconds == math.inf):
            raise TaskError(
                f"deadline: {self.seconds} is not understood; write seconds, more than 0 and at most {MAX_DEADLINE}"
            )
        object.__setattr__(self, "_began", self.clock())

    @property
    def left(self) -> float:
        """The seconds that are left, 0 when there are none."""
        if self.stopped is not None and self.stopped():
            return 0.0
        return max(0.0, self._began + self.seconds - self.clock()) if self.seconds < math.inf else math.inf

    @property
    def is_over(self) -> bool:
        return self.left == 0

    @property
    def reason(self) -> str:
        """Why a run abstains that has come to it."""
        return STOPPED if self.cause == "person" else f"the deadline of {self.seconds:g} s has passed"

    @property
    def cause(self) -> Cause:
        """Who has ended such a run."""
        return "person" if self.stopped is not None and self.stopped() else "deadline"

    def limit(self) -> AbstractContextManager[None]:
        """Within, long computations end with it."""
        endless = self.seconds == math.inf and self.stopped is None
        return nullcontext() if endless else limited(lambda: self.left, lambda: self.reason)


NO_DEADLINE = Deadline(math.inf)
"""A run that may take as long as it likes."""


def as_deadline(deadline: float | Deadline | None, name: str = "deadline") -> Deadline:
    """So many seconds from now on, or none; `name` is what a person calls them."""
    if deadline is None or isinstance(deadline, Deadline):
        return NO_DEADLINE if deadline is None else deadline
    if deadline == math.inf:
        raise TaskError(f"{name}: inf is not understood; leave it out for a run without a deadline")
    if not 0 < deadline <= MAX_DEADLINE:
        raise TaskError(f"{name}: {deadline} is not understood; write seconds, more than 0 and at most {MAX_DEADLINE}")
    return Deadline(deadline)
