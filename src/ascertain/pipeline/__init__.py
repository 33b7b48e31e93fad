"""The roads: one file for each thing that a user can ask for, from a problem to a result that carries its proof.

A road takes things made in Python or the name of a problem file and returns one frozen result with everything that the
verb of the command line prints. What it remarks on while it works it says to a callback; nothing here prints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ascertain.kernels._jit import tell_long_compiling as tell_long_compiling

Tell: TypeAlias = Callable[[str], None]
"""Hears remarks and what is being done, a sentence each."""


def ignore(_sentence: str) -> None:
    """Hear nothing."""
