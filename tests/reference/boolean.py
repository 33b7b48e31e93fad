"""Boolean plants the slow and obvious way: a state is a list of booleans, slices are read off bit by bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ascertain.model.boolean import BooleanPlant, Gate

MEANING = {
    "and": lambda t, a, b: a and b,
    "or": lambda t, a, b: a or b,
    "xor": lambda t, a, b: a != b,
    "not": lambda t: not t,
    "copy": lambda t, a: a,
    "set": lambda t: True,
    "clear": lambda t: False,
    "cnot": lambda t, a: t != a,
    "toffoli": lambda t, a, b: t != (a and b),
}


def spread(state: int, num_bits: int) -> list[bool]:
    """The bits of a state, the least significant first."""
    return [digit == "1" for digit in reversed(f"{state:0{num_bits}b}")]


def gather(bits: Sequence[bool]) -> int:
    """The state that has these bits."""
    return int("".join("1" if bit else "0" for bit in reversed(bits)), 2)


def apply_gate(gate: Gate, bits: list[bool]) -> list[bool]:
    after = list(bits)
    after[gate.target] = MEANING[gate.op](bits[gate.target], *(bits[s] for s in gate.sources))
    return after


def run(plant: BooleanPlant, state: int, commands: Sequence[int]) -> tuple[int, list[int]]:
    """Where the commands lead and what is tapped after each."""
    bits = spread(state, plant.num_bits)
    taps: list[int] = []
    for c in commands:
        for gate in plant.commands[c].gates:
            bits = apply_gate(gate, bits)
        taps.append(int(bits[plant.commands[c].tap]))
    return gather(bits), taps


def slice_states(states: Sequence[int], num_bits: int) -> np.ndarray:
    """Row i holds bit i of every state, 64 states to a word."""
    slices = [[0] * -(-len(states) // 64) for _ in range(num_bits)]
    for j, state in enumerate(states):
        for i, bit in enumerate(spread(state, num_bits)):
            slices[i][j // 64] += bit << j % 64
    return np.array(slices, dtype=np.uint64).reshape(num_bits, -1)
