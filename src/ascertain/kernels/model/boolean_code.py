"""The numbers that stand for gates in the arrays of a Boolean plant; plain integers, so that no compiler is loaded."""

from __future__ import annotations

AND, OR, XOR, NOT, COPY, SET, CLEAR, CNOT, TOFFOLI = range(9)
"""In the order of OPERATIONS."""

OPERATIONS = ("and", "or", "xor", "not", "copy", "set", "clear", "cnot", "toffoli")
"""`OPERATIONS[code]` is the name that files and people use."""
NUM_SOURCES = (2, 2, 2, 0, 1, 0, 0, 1, 2)
"""`NUM_SOURCES[code]` is how many bits the gate reads besides, for some gates, its own target."""
