"""Small models with known answers, by name."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ascertain.model.boolean import BooleanPlant, Command
from ascertain.model.machine import Machine


def shift_register(num_bits: int) -> Machine:
    """A register that shows its lowest bit as it shifts it out, and shifts in a zero: read in `num_bits` steps."""
    states = np.arange(2**num_bits, dtype=np.int32)
    return Machine(
        states=tuple(f"{s:0{num_bits}b}" for s in states.tolist()),
        actions=("shift",),
        readings=("0", "1"),
        successor=(states >> 1).reshape(-1, 1),
        output=(states & 1).reshape(-1, 1),
    )


def register(num_bits: int, flip: Fraction = Fraction(0)) -> BooleanPlant:
    """A register that never changes, any bit of which can be read: the plant of independent tests."""
    commands = tuple(Command(f"read{i}", (), i) for i in range(num_bits))
    return BooleanPlant(tuple(f"b{i}" for i in range(num_bits)), commands, flip)
