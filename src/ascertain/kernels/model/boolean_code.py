"""The arrays of a Boolean plant, and the numbers that stand for gates in them; no compiler is loaded for these."""

from __future__ import annotations

from typing import NamedTuple

from ascertain.types import IntArray

AND, OR, XOR, NOT, COPY, SET, CLEAR, CNOT, TOFFOLI = range(9)
"""In the order of OPERATIONS."""

OPERATIONS = ("and", "or", "xor", "not", "copy", "set", "clear", "cnot", "toffoli")
"""`OPERATIONS[code]` is the name that files and people use."""
NUM_SOURCES = (2, 2, 2, 0, 1, 0, 0, 1, 2)
"""`NUM_SOURCES[code]` is how many bits the gate reads besides, for some gates, its own target."""


class Circuit(NamedTuple):
    """The gates of all commands, those of command c from `offset[c]` to `offset[c + 1]`, and the bit that it reads."""

    gates: IntArray
    offset: IntArray
    tap: IntArray
