"""Progress of long work on standard error: one line that changes on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING

from ascertain.cli.show.output import note

if TYPE_CHECKING:
    from ascertain.pipeline.settle import SearchProgress, SearchStats


def announce_compilation() -> None:
    """Say so when kernels have been compiling for some seconds, and what for."""
    from ascertain.pipeline import tell_long_compiling

    tell_long_compiling(
        lambda what, folder: note(f"compiling {what} for this machine; this happens once, it is kept in {folder}")
    )


@contextmanager
def bounds_closing_in() -> Generator[SearchProgress]:
    """A callback that shows lower and upper bound closing in on the optimum."""
    terminal = sys.stderr.isatty()
    every = 0.2 if terminal else 10.0
    last = time.monotonic() + (0.0 if terminal else every) - every

    def show(lower: Fraction, upper: Fraction | None, stats: SearchStats) -> None:
        nonlocal last
        if time.monotonic() - last < every:
            return
        last = time.monotonic()
        most = "unknown" if upper is None else str(upper)
        line = f"{lower} <= optimum <= {most}   {stats.configurations:,} configurations   {stats.seconds:.1f} s"
        sys.stderr.write(f"\r\x1b[K{line}" if terminal else f"{line}\n")
        sys.stderr.flush()

    try:
        yield show
    finally:
        if terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
