"""Progress of counted work on standard error: a line that changes on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def counting(what: str) -> Generator[Callable[[int, int], None]]:
    """A callback that shows how much of how much is done; work of less than a second says nothing, nor does the end."""
    terminal = sys.stderr.isatty()
    every = 0.2 if terminal else 10.0
    began = time.monotonic()
    last, shown = began + 1.0 - every, False

    def show(done: int, total: int) -> None:
        nonlocal last, shown
        now = time.monotonic()
        if now - last < every or done >= total:
            return
        last, shown = now, True
        line = f"{done:,} of {total:,} {what}   {now - began:.1f} s"
        sys.stderr.write(f"\r\x1b[K{line}" if terminal else f"{line}\n")
        sys.stderr.flush()

    try:
        yield show
    finally:
        if terminal and shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
