"""Shapes that every layer shares, each named once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

State: TypeAlias = int
"""Index of a state in a model."""
Action: TypeAlias = int
"""Index of an action in a model."""
Reading: TypeAlias = int
"""Index of a reading in a model."""
IntArray: TypeAlias = npt.NDArray[np.int32]
"""Indices; -1 stands for "not defined"."""
LongArray: TypeAlias = npt.NDArray[np.int64]
"""Costs scaled to integers, and whatever else needs 64 bits."""
WordArray: TypeAlias = npt.NDArray[np.uint64]
"""States of a Boolean plant, 64 bits to a word, and slices of them."""
BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
"""Probabilities, weights and values that are approximate, or rounded to a known side."""
Progress: TypeAlias = Callable[[int, int], None]
"""Called now and then with how much is done, and of how much."""

UNDEFINED = -1
"""In a table: the action is not defined in that state."""


class Plant(Protocol):
    """Whatever answers an action with a reading: a simulation, a recording, a device."""

    def send(self, action: str) -> str:
        """Carry out the action and return what was read."""
        ...
