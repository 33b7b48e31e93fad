"""The one place that decides how kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba  # type: ignore[import-untyped]
from numba.core import event  # type: ignore[import-untyped]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile on first call, keep the machine code on disk, hold no lock. No fastmath: guarantees depend on it."""
    return numba.njit(cache=True, nogil=True, boundscheck=False)(function)  # pyright: ignore


def tell_first_compilation(tell: Callable[[], None]) -> None:
    """Call `tell` when the first kernel must be compiled because the disk holds no machine code for it yet."""

    class Listener(event.Listener):
        """Hears once that a compilation begins."""

        told = False

        def on_start(self, event: event.Event) -> None:
            if not self.told:
                self.told = True
                tell()

        def on_end(self, event: event.Event) -> None:
            pass

    event.register("numba:compile", Listener())  # pyright: ignore
