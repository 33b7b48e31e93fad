"""Progress of work that cannot be counted: what is being done and for how long, on standard error."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def waiting(what: str) -> Generator[Callable[[str], None]]:
    """Say now and then that this is being done; work of less than a second says nothing, nor does the end.

    What it is may change: the function that is handed out says so.
    """
    doing = [what]
    terminal = sys.stderr.isatty()
    every = 0.2 if terminal else 10.0
    done = threading.Event()
    began = time.monotonic()

    def tell() -> None:
        pause = 1.0 if terminal else every
        while not done.wait(pause):
            line = f"{doing[0]}   {time.monotonic() - began:.0f} s"
            sys.stderr.write(f"\r\x1b[K{line}" if terminal else f"{line}\n")
            sys.stderr.flush()
            pause = every

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield lambda text: doing.__setitem__(0, text)
    finally:
        done.set()
        teller.join()
        if terminal and time.monotonic() - began > 1:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
