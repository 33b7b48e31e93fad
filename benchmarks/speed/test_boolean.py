"""State-steps a second of the three simulations of a Boolean plant, each beside plain NumPy in the same run.

Bit-sliced simulation has to be at least 20 times as quick as NumPy.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from tests.reference.simulation import SLICE_TILE, from_slices, run_slices, run_state, slice_all

from ascertain.kernels.model.boolean import run_states
from ascertain.model.boolean import BooleanPlant
from ascertain_paper.testbed.testbed import load_testbed

NUM_BITS = 20
NUM_COMMANDS = 64
ROUNDS = 5


def numpy_states(plant: BooleanPlant, states: np.ndarray, commands: np.ndarray, readings: np.ndarray) -> None:
    """The same, as one writes it with NumPy: an array of states, one operation of the array after the other."""
    one = np.uint64(1)
    for i, c in enumerate(commands.tolist()):
        for gate in plant.commands[c].gates:
            t = np.uint64(gate.target)
            bits = [states >> np.uint64(s) for s in gate.sources]
            match gate.op:
                case "cnot":
                    states ^= (bits[0] & one) << t
                case "toffoli":
                    states ^= (bits[0] & bits[1] & one) << t
                case "not":
                    states ^= one << t
                case "set":
                    states |= one << t
                case "clear":
                    states &= ~(one << t)
                case _:
                    new = {
                        "and": lambda b: b[0] & b[1],
                        "or": lambda b: b[0] | b[1],
                        "xor": lambda b: b[0] ^ b[1],
                        "copy": lambda b: b[0],
                    }[gate.op](bits)
                    states &= ~(one << t)
                    states |= (new & one) << t
        readings[i] = states >> np.uint64(plant.commands[c].tap) & one


def best_seconds(work: Callable[[], object]) -> float:
    """The shortest of a few rounds, after one that compiles."""
    work()
    spent: list[float] = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        spent.append(time.perf_counter() - begin)
    return min(spent)


@pytest.mark.parametrize("kind", ["actuating", "probing"])
def test_bit_sliced_simulation_is_twenty_times_as_quick_as_numpy(kind: str) -> None:
    drawn = load_testbed().plants[0]
    plant = drawn.plant
    pool = drawn.actuating if kind == "actuating" else drawn.probing
    commands = np.array([pool[(7 * i) % len(pool)] for i in range(NUM_COMMANDS)], dtype=np.int32)
    code = (plant.gates, plant.offset, plant.tap)
    slices, states = slice_all(24, 0, 2**NUM_BITS // 64), np.arange(2**NUM_BITS, dtype=np.uint64)
    sliced = np.empty((NUM_COMMANDS, slices.shape[1]), dtype=np.uint64)
    plain = np.empty((NUM_COMMANDS, states.size), dtype=np.uint8)
    tile = np.empty((24, SLICE_TILE), dtype=np.uint64)
    word = np.tile(commands, 1000)
    single = np.empty(word.size, dtype=np.uint8)

    run_slices(*code, slices, commands, sliced, tile)
    run_states(plant.gates, plant.offset, states, commands)
    by_numpy = np.arange(2**NUM_BITS, dtype=np.uint64)
    numpy_states(plant, by_numpy, commands, plain)
    assert np.array_equal(by_numpy, states)
    assert np.array_equal(by_numpy, from_slices(slices, states.size))

    steps = states.size * NUM_COMMANDS
    speed = {
        "NumPy": steps / best_seconds(lambda: numpy_states(plant, by_numpy, commands, plain)),
        "one state": word.size / best_seconds(lambda: run_state(*code, np.uint64(5), word, single)),
        "many states": steps / best_seconds(lambda: run_states(plant.gates, plant.offset, states, commands)),
        "bit-sliced": steps / best_seconds(lambda: run_slices(*code, slices, commands, sliced, tile)),
    }
    print(f"\nmillions of state-steps a second, {kind} commands, 24 bits:")
    for name, figure in speed.items():
        print(f"  {name:12} {figure / 1e6:10.1f}   {figure / speed['NumPy']:7.1f} times NumPy")
    assert speed["bit-sliced"] >= 20 * speed["NumPy"]
