"""Work: what checking a certificate takes, counted in steps, and the budget beyond which nothing is decided.

A small file can ask for much: all pairs of states, powers, products of long numbers. Whatever is done more often than
the files are long is counted here before it is done, one step for about a fifth of a microsecond. A step that keeps
something counts several, so that a budget bounds the memory too. When the budget is spent the verdict is UNDECIDED,
whatever was found until then.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from ascertain_check.verdicts import Undecided

STEPS, STEPS_PER_BYTE = 20_000_000, 15
"""The default budget: so many steps, and so many more for each byte of the files. Files of a megabyte are decided or
declined within ten seconds."""
KEEP = 20
"""Steps for what is kept: some two hundred bytes."""


BYTES_PER_STEP = 15
"""What a budget allows to be held in memory: 300 MB where the files are small."""


class Meter:
    """Steps done so far; more than `budget` are not done, if there is one."""

    def __init__(self, budget: int | None) -> None:
        self.budget, self.spent = budget, 0


_METER: ContextVar[Meter | None] = ContextVar("_METER", default=None)


@contextmanager
def limit(budget: int | None) -> Generator[Meter]:
    """Count what is done inside, and end it when the budget is spent; None: there is no end."""
    meter = Meter(budget)
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


def spend(steps: int) -> None:
    """Count so many steps that are about to be done."""
    meter = _METER.get()
    if meter is None:
        return
    meter.spent += steps
    if meter.budget is not None and meter.spent > meter.budget:
        raise Undecided(f"more than {meter.budget} steps are needed; --budget N allows more")


def hold(num_bytes: int) -> None:
    """So much memory is about to be needed at once."""
    meter = _METER.get()
    if meter is not None and meter.budget is not None and num_bytes > BYTES_PER_STEP * meter.budget:
        raise Undecided(f"{num_bytes >> 20} MB of memory are needed; --budget N allows {BYTES_PER_STEP} N bytes")


def default_budget(num_bytes: int) -> int:
    """The budget for files of so many bytes together."""
    return STEPS + STEPS_PER_BYTE * num_bytes
