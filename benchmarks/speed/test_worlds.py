"""64 readings against all 16,777,216 states of a testbed plant: ours beside NumPy and beside C, in the same run.

Times are of the processor, on one core, each the shortest of interleaved rounds. The NumPy filter is measured twice:
as one first writes it, every state through every reading (on a part of the states, scaled up), and dropping beaten
states as it goes. The C version is compiled here, where there is a compiler, with `-O3 -march=native`.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import time
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.evidence import NEVER
from ascertain.evidence.worlds import MachineWorld
from ascertain.model import Machine
from ascertain.model.boolean import BooleanPlant
from ascertain.model.noisy import with_flip
from ascertain.task.bank import nominal_bank
from ascertain_paper.testbed.testbed import load_testbed

ALPHA = Fraction(1, 4_000_000)
NUM_READINGS = 64
ROUNDS = 7
PART = 1 << 20


class Stream:
    """The readings that the nominal gives to a schedule, two of them flipped, and the thresholds after each."""

    def __init__(self, plant: BooleanPlant, probes: range, nominal: int = 0x5A3C96, length: int = NUM_READINGS) -> None:
        random = np.random.default_rng(1)
        self.plant, self.nominal = plant, nominal
        self.commands = np.array([probes[i] for i in random.integers(0, len(probes), length)], dtype=np.int32)
        _, taps = plant.run(nominal, self.commands.tolist())
        self.readings = np.array(taps, dtype=np.int32)
        self.readings[[length // 4, length // 2]] ^= 1
        world = self.world()
        self.threshold = np.array(world._thresholds, dtype=np.int64)

    def world(self) -> BooleanWorld:
        world = BooleanWorld(self.plant, nominal_bank(self.nominal), ALPHA)
        for action, reading in zip(self.commands.tolist(), self.readings.tolist(), strict=True):
            world.observe(action, reading)
        return world


def filter_numpy(stream: Stream, states: np.ndarray, drop: bool) -> tuple[np.ndarray, np.ndarray]:
    """What is left of some states, and the counts, one array operation after the other."""
    hypothesis, current = states, states.copy()
    count, beaten = np.zeros(states.size, dtype=np.uint8), np.zeros(states.size, dtype=np.bool_)
    for c, y, limit in zip(stream.commands.tolist(), stream.readings.tolist(), stream.threshold.tolist(), strict=True):
        for gate in stream.plant.commands[c].gates:
            bits = [current >> np.uint32(s) for s in gate.sources]
            new = bits[0] if gate.op == "cnot" else bits[0] & bits[1]
            current ^= (new & np.uint32(1)) << np.uint32(gate.target)
        count += (current >> np.uint32(stream.plant.tap[c])) & np.uint32(1) != y
        if drop:
            kept = count < limit
            hypothesis, current, count = hypothesis[kept], current[kept], count[kept]
        else:
            beaten |= count >= limit
    return (hypothesis, count) if drop else (hypothesis[~beaten], count[~beaten])


def numpy_dropping(stream: Stream) -> list[int]:
    left: list[int] = []
    for low in range(0, 1 << stream.plant.num_bits, PART):
        states = np.arange(low, low + PART, dtype=np.uint32)
        left += filter_numpy(stream, states, drop=True)[0].tolist()
    return left


def numpy_whole(stream: Stream) -> list[int]:
    """A part of the states only: the caller scales the time."""
    return filter_numpy(stream, np.arange(PART, dtype=np.uint32), drop=False)[0].tolist()


def compile_c(folder: Path) -> ctypes.CDLL | None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    library = folder / "worlds.so"
    source = Path(__file__).with_name("worlds.c")
    subprocess.run([compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.sweep.restype = ctypes.c_int64
    return loaded


def sweep_c(library: ctypes.CDLL, stream: Stream, part: int = 1 << 12) -> list[int]:
    plant, threshold = stream.plant, stream.threshold
    num_planes = int(threshold[-1] - 1).bit_length()
    hypothesis, current = np.empty(64 * part + 1, np.uint64), np.empty(64 * part + 1, np.uint64)
    count = np.empty(64 * part + 1, np.int64)
    pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)  # noqa: E731
    left: list[int] = []
    for first in range(0, (1 << plant.num_bits) // 64, part):
        size = library.sweep(
            pointer(plant.gates),
            pointer(plant.offset),
            pointer(plant.tap),
            plant.num_bits,
            pointer(stream.commands),
            pointer(stream.readings),
            pointer(threshold),
            stream.commands.size,
            num_planes,
            ctypes.c_int64(first),
            ctypes.c_int64(part),
            pointer(hypothesis),
            pointer(current),
            pointer(count),
        )
        left += hypothesis[:size].tolist()
    return left


def ours(stream: Stream) -> Callable[[], list[int]]:
    world = stream.world()

    def sweep() -> list[int]:
        world._left = None  # forget the list, so that it is made again
        return [int(h) for group in world.strongest_rivals(NEVER, NEVER) for h in group.hypothesis]

    return sweep


def interleave(work: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """The least processor time of each, in seconds, in rounds that take turns, after one round that compiles."""
    best = dict.fromkeys(work, float("inf"))
    for function in work.values():
        function()
    for _ in range(rounds):
        for name, function in work.items():
            begin = time.process_time()
            function()
            best[name] = min(best[name], time.process_time() - begin)
    return best


@pytest.mark.parametrize("plant", [0, 1])
def test_a_sweep_is_a_hundred_times_as_quick_as_numpy_and_nearly_as_quick_as_c(plant: int, tmp_path: Path) -> None:
    drawn = load_testbed().plants[plant]
    stream = Stream(drawn.plant, drawn.probing)
    sweep, library = ours(stream), compile_c(tmp_path)
    left = sweep()
    assert sorted(left) == sorted(numpy_dropping(stream))
    slow = interleave({"numpy": lambda: numpy_whole(stream), "dropping": lambda: numpy_dropping(stream)}, 1)
    work: dict[str, Callable[[], object]] = {"ours": sweep}
    if library is not None:
        assert sorted(sweep_c(library, stream)) == sorted(left)
        work["c"] = lambda: sweep_c(library, stream)
    best = interleave(work, 3 * ROUNDS)
    whole = slow["numpy"] * 2**24 / PART
    print(f"\nplant {plant}: ours {1e3 * best['ours']:.1f} ms, {len(left)} states left")
    print(f"  NumPy {whole:.2f} s = {whole / best['ours']:.0f} times; ", end="")
    print(f"dropping {slow['dropping']:.2f} s = {slow['dropping'] / best['ours']:.0f} times")
    assert whole >= 100 * best["ours"]
    if library is not None:
        print(f"  C {1e3 * best['c']:.1f} ms: we reach {best['c'] / best['ours']:.2f} of its speed")
        assert best["c"] >= 0.8 * best["ours"]


@pytest.mark.parametrize("length", [8, 14, 20, 64])
def test_a_sweep_of_24_bits_stays_below_64_megabytes(length: int) -> None:
    """Early sweeps leave millions of states, which are counted part by part."""
    drawn = load_testbed().plants[0]
    stream = Stream(drawn.plant, drawn.probing, length=length)
    stream.world().rivals_left(0)
    world = stream.world()
    tracemalloc.start()
    left = world.rivals_left(0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"\n{length} readings leave {left} states: peak {peak / 2**20:.1f} MB")
    assert peak < 64 * 2**20


def test_time_is_linear_in_readings_and_in_the_number_of_states() -> None:
    """Readings that beat nobody (the risk is tiny), so that every state goes through every one of them."""
    drawn = load_testbed().plants[0]
    times: dict[tuple[int, int], float] = {}
    for bits, length in ((16, 2048), (18, 512), (18, 1024), (18, 2048), (20, 2048)):
        world = unbeatable(drawn.plant, bits, length)
        work = {"sweep": lambda world=world: [group.size for group in world._sweep()]}
        times[bits, length] = interleave(work, 3)["sweep"]
        print(f"\n2^{bits} states, {length} readings: {1e3 * times[bits, length]:.2f} ms", end="")
    for short, long in ((512, 1024), (1024, 2048)):
        assert 1.3 < times[18, long] / times[18, short] < 3
    for small, large in ((16, 18), (18, 20)):
        assert 2 < times[large, 2048] / times[small, 2048] < 8


def unbeatable(plant: BooleanPlant, bits: int, length: int) -> BooleanWorld:
    """Commands of the plant that use the first bits only, and a risk that no number of readings reaches here."""
    used = lambda c: max(c.tap, *(b for g in c.gates for b in (g.target, *g.sources)))  # noqa: E731
    commands = tuple(c for c in plant.commands if c.is_reversible and used(c) < bits)
    world = BooleanWorld(BooleanPlant(plant.bits[:bits], commands, plant.flip), nominal_bank(0), Fraction(1, 10**1000))
    for t in range(length):
        world.observe(t % len(commands), t % 3 == 0)
    return world


@pytest.mark.parametrize("size", [1_000_000, 10_000_000])
def test_every_state_of_a_machine_is_filtered(size: int) -> None:
    num_actions = 4
    random = np.random.default_rng(2)
    machine = Machine(
        states=tuple(map(str, range(size))),
        actions=tuple("abcd"),
        readings=("0", "1"),
        successor=random.integers(0, size, (size, num_actions)).astype(np.int32),
        output=random.integers(0, 2, (size, num_actions)).astype(np.int32),
    )
    noisy = with_flip(machine, Fraction(1, 50))
    world = MachineWorld(noisy, nominal_bank(0), ALPHA)
    state, spent = 0, []
    for t in range(40):
        action = t % num_actions
        reading, state = int(machine.output[state, action]), int(machine.successor[state, action])
        begin = time.process_time()
        world.observe(action, reading)
        spent.append(time.process_time() - begin)
    print(
        f"\n{size:,} states: first reading {1e3 * spent[1]:.1f} ms, forty readings {1e3 * sum(spent[1:]):.0f} ms, ",
        end="",
    )
    left = world.rivals_left(0)
    print(f"{left} rivals left")
    assert left < size // 1000
