"""The one place that decides how kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba  # type: ignore[import-untyped]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile on first call, keep the machine code on disk, hold no lock. No fastmath: guarantees depend on it."""
    return numba.njit(cache=True, nogil=True, boundscheck=False)(function)  # pyright: ignore
