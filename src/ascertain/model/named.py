"""Small models with known answers, by name."""

from __future__ import annotations

import numpy as np

from ascertain.errors import ModelError
from ascertain.model.boolean import MAX_BITS, MAX_ENUMERATED_BITS, BooleanPlant, Command
from ascertain.model.machine import Machine
from ascertain.rational import Number, rational_field


def shift_register(num_bits: int) -> Machine:
    """A register that shows its lowest bit as it shifts it out, and shifts in a zero: read in `num_bits` steps."""
    _check_size(num_bits, MAX_ENUMERATED_BITS)
    states = np.arange(2**num_bits, dtype=np.int32)
    return Machine(
        states=tuple(f"{s:0{num_bits}b}" for s in states.tolist()),
        actions=("shift",),
        readings=("0", "1"),
        successor=(states >> 1).reshape(-1, 1),
        output=(states & 1).reshape(-1, 1),
    )


def register(num_bits: int, flip: Number = 0) -> BooleanPlant:
    """A register that never changes, any bit of which can be read: the plant of independent tests."""
    _check_size(num_bits, MAX_BITS)
    commands = tuple(Command(f"read{i}", (), i) for i in range(num_bits))
    return BooleanPlant(tuple(f"b{i}" for i in range(num_bits)), commands, rational_field(flip, "flip", ModelError))


def _check_size(num_bits: int, most: int) -> None:
    if not 1 <= num_bits <= most:
        raise ModelError(f"a register of {num_bits} bits cannot be made; it has from 1 to {most}")
