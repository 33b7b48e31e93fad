"""Progress of long work on standard error: one line that changes on a terminal, now and then a line elsewhere.

Short work says nothing, nor does the end. Where there is no terminal that is ten seconds, and lines become rarer as
time goes by.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Self, final

from ascertain.cli.show.output import note
from ascertain.drawing.printable import printable

if TYPE_CHECKING:
    from ascertain.pipeline.settle import SearchProgress, SearchStats

CLEAR = "\r\x1b[K"
"""What takes a terminal back to the beginning of an empty line."""
EVERY = 0.2
"""Seconds between two lines on a terminal: often enough to be seen to move."""
EVERY_ELSEWHERE = 10.0
"""Seconds between two lines elsewhere: a file of them stays readable."""


@final
class _Line:
    """A line that is written anew when it is due, and taken away at the end of the `with` block."""

    def __init__(self) -> None:
        self.terminal, self.began, self.shown = sys.stderr.isatty(), time.monotonic(), False
        self.next_at = self.began + (1.0 if self.terminal else EVERY_ELSEWHERE)

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self.next_at

    def write(self, line: str) -> None:
        now = time.monotonic()
        self.next_at = now + (EVERY if self.terminal else max(EVERY_ELSEWHERE, (now - self.began) / 10))
        self.shown = True
        line = printable(line)
        sys.stderr.write(f"{CLEAR}{line}" if self.terminal else f"{line}\n")
        sys.stderr.flush()

    def clear(self) -> None:
        if self.terminal and self.shown:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()
        self.shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()


def announce_compilation() -> None:
    """Say so when kernels have been compiling for some seconds, and what for."""
    from ascertain.pipeline import tell_long_compiling

    tell_long_compiling(
        lambda what, folder: note(f"compiling {what} for this machine; this happens once, it is kept in {folder}")
    )


@contextmanager
def bounds_closing_in() -> Generator[SearchProgress]:
    """A callback that shows lower and upper bound closing in on the optimum."""
    with _Line() as line:

        def show(lower: Fraction, upper: Fraction | None, stats: SearchStats) -> None:
            if line.is_due:
                between = f"{lower} <= optimum <= {'unknown' if upper is None else upper}"
                line.write(f"{between}   {stats.configurations:,} configurations   {stats.seconds:.1f} s")

        yield show


@contextmanager
def counting(what: str) -> Generator[Callable[[int, int], None]]:
    """A callback that shows how much of how much is done, how fast, and how long the rest will take.

    What was done when it is first called was done before, and says nothing about how fast this is.
    """
    first: tuple[float, int] | None = None
    with _Line() as line:

        def show(done: int, total: int) -> None:
            nonlocal first
            first = first or (time.monotonic(), done)
            if done >= total:
                line.clear()
            elif line.is_due:
                pace = tell_pace(done - first[1], total - done, time.monotonic() - first[0])
                line.write(f"{done:,} of {total:,} {what}{pace}")

        yield show


@contextmanager
def waiting(what: str) -> Generator[Callable[[str], None]]:
    """Say now and then that this is being done, which cannot be counted, and for how long.

    What it is may change: the function that is handed out says so.
    """
    doing, done = [what], threading.Event()
    with _Line() as line:

        def tell() -> None:
            while not done.wait(EVERY):
                if line.is_due:
                    line.write(f"{doing[0]}   {time.monotonic() - line.began:.0f} s")

        teller = threading.Thread(target=tell, daemon=True)
        teller.start()
        try:
            yield lambda text: doing.__setitem__(0, text)
        finally:
            done.set()
            teller.join()


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
