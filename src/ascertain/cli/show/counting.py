"""Progress of counted work on standard error: a line that changes on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

CLEAR = "\r\x1b[K"


@contextmanager
def counting(what: str) -> Generator[Callable[[int, int], None]]:
    """A callback that shows how much of how much is done, how fast, and how long the rest will take.

    What was done when it is first called was done before, and says nothing about how fast this is. Short work says
    nothing, nor does the end; where there is no terminal that is ten seconds, and lines become rarer as time goes by.
    """
    terminal = sys.stderr.isatty()
    every = 0.2 if terminal else 10.0
    began = time.monotonic()
    next_at = began + max(1.0, every)
    first: tuple[float, int] | None = None
    shown = False

    def show(done: int, total: int) -> None:
        nonlocal first, next_at, shown
        now = time.monotonic()
        first = first or (now, done)
        if done >= total:
            clear()
        elif now >= next_at:
            next_at = now + (every if terminal else max(every, (now - began) / 10))
            shown = True
            line = f"{done:,} of {total:,} {what}{tell_pace(done - first[1], total - done, now - first[0])}"
            sys.stderr.write(f"{CLEAR}{line}" if terminal else f"{line}\n")
            sys.stderr.flush()

    def clear() -> None:
        nonlocal shown
        if terminal and shown:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()
            shown = False

    try:
        yield show
    finally:
        clear()


def tell_pace(done: int, left: int, seconds: float) -> str:
    """So much done in so many seconds: the rate, and when the rest will be done; nothing when nothing was done."""
    if done <= 0 or seconds <= 0:
        return ""
    rate = done / seconds
    return f"   {tell_rate(rate)}   {tell_span(left / rate)} left"


def tell_rate(rate: float) -> str:
    """So many a second, in the unit in which it is at least one."""
    unit, seconds = ("a second", 1) if rate >= 1 else ("a minute", 60) if rate >= 1 / 60 else ("an hour", 3600)
    number = rate * seconds
    return f"{number:,.0f} {unit}" if number >= 100 else f"{number:.1f} {unit}"


def tell_span(seconds: float) -> str:
    """A time in the two largest of its units."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
