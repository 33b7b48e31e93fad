"""How long computations end in time: who limits them says so here, and they look up here now and then.

A limit is a function that says how many seconds are left, by whatever clock; without one, looking up does nothing. It
holds for all that is called within the `with` statement, so that it need not be handed through functions that have
nothing to do with time.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NoReturn, TypeAlias, final

SecondsLeft: TypeAlias = Callable[[], float]
"""How many seconds are left now; none or fewer: the time is over."""

_limit: ContextVar[tuple[SecondsLeft, str | Callable[[], str], bool] | None] = ContextVar(
    "ascertain_limit", default=None
)
"""The seconds that are left, what is said when they are over, and whether the limit is strict."""


@final
class OutOfTime(Exception):
    """The time is over, and a computation has stopped in the middle."""


@contextmanager
def limited(left: SecondsLeft, reason: str | Callable[[], str], *, strict: bool = False) -> Generator[None]:
    """Within, whoever looks up when no time is left is stopped for the reason that there is then.

    Where the limit is strict, work that is sure not to end in time is not begun.
    """
    token = _limit.set((left, reason, strict))
    try:
        yield
    finally:
        _limit.reset(token)


def seconds_left() -> float | None:
    """How much time there is; None where nothing limits it."""
    limit = _limit.get()
    return None if limit is None else limit[0]()


def look_up() -> None:
    """Go on, or stop here if the time is over."""
    limit = _limit.get()
    if limit is not None and limit[0]() <= 0:
        _stop(limit[1])


def begin_work(seconds: float) -> bool:
    """Go on, or stop here if a strict limit leaves no time for that many seconds; whether the limit is strict."""
    limit = _limit.get()
    strict = limit is not None and limit[2]
    if limit is not None and strict and seconds > max(limit[0](), 0.0):
        _stop(limit[1])
    return strict


def _stop(reason: str | Callable[[], str]) -> NoReturn:
    raise OutOfTime(reason if isinstance(reason, str) else reason())
