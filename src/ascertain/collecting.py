"""When Python looks for reference cycles: not while a great many objects are made that all are kept."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collecting_later() -> Generator[None]:
    """Within, the collector of reference cycles rests.

    It looks at all objects again and again while their number grows: of the time that the rows of a long proof took,
    and their text, that was more than half.
    """
    rests = not gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if not rests:
            gc.enable()
