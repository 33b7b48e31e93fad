"""What makes the program start sooner; nothing that it finds depends on it."""

from __future__ import annotations

import gc
import os

YOUNG_OBJECTS = 50_000
"""New objects after which Python looks for cycles among them. Importing creates many and hardly any garbage; with
Python's own 700, `bounds` on the lamp took about 7 % more processor time than with 100,000."""
THREADS = "OPENBLAS_NUM_THREADS"
"""How many threads NumPy and SciPy start for linear algebra when they are imported, as OpenBLAS calls it."""
_ours: list[str] = []
"""The variables that were set here and not by the user."""


def look_for_cycles_rarely() -> None:
    """Have the collector of reference cycles run less often."""
    gc.set_threshold(YOUNG_OBJECTS)


def use_one_thread() -> None:
    """Have NumPy and SciPy start no threads, unless the user says how many: our linear algebra is small."""
    if THREADS not in os.environ:
        os.environ[THREADS] = "1"
        _ours.append(THREADS)


def restore_threads() -> None:
    """Programs that we start from now on, such as plants, have the user's environment."""
    while _ours:
        os.environ.pop(_ours.pop(), None)
