"""Small plants by name: registers that turn or are read through parities, sensors, a line, permutations."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.model.machine import Machine
from ascertain_paper.testbed.draws import Draws


def parity_register(num_bits: int, flip: Fraction = Fraction(0)) -> BooleanPlant:
    """A register of which only sums of two neighbours, and the last bit, can be read: through a scratch bit.

    The sums are independent, so this is a register in other coordinates.
    """
    bits = tuple(f"b{i}" for i in range(num_bits))
    scratch = num_bits
    commands: list[Command] = []
    for i in range(num_bits):
        gates = [Gate("copy", scratch, (i,))]
        if i + 1 < num_bits:
            gates.append(Gate("cnot", scratch, (i + 1,)))
        commands.append(Command(f"sum{i}", tuple(gates), scratch))
    return BooleanPlant((*bits, "scratch"), tuple(commands), flip)


def ring_register(num_bits: int) -> Machine:
    """A register that shows its lowest bit as it turns by one place: a read advances, and nothing is lost."""
    states = np.arange(2**num_bits, dtype=np.int32)
    turned = states >> 1 | (states & 1) << (num_bits - 1)
    return Machine(
        states=tuple(f"{s:0{num_bits}b}" for s in states.tolist()),
        actions=("turn",),
        readings=("0", "1"),
        successor=turned.reshape(-1, 1),
        output=(states & 1).reshape(-1, 1),
    )


def sensor_bank(num_hypotheses: int) -> Machine:
    """One sensor for each state, which says whether the plant is in it; nothing moves."""
    n = num_hypotheses
    return Machine(
        states=tuple(f"s{i}" for i in range(n)),
        actions=tuple(f"look{i}" for i in range(n)),
        readings=("0", "1"),
        successor=np.repeat(np.arange(n, dtype=np.int32)[:, None], n, axis=1),
        output=np.eye(n, dtype=np.int32),
    )


def far_sensor(length: int) -> Machine:
    """A line of positions, left or right lamp: it is read at the far end only, and walking there shows nothing."""
    n = length
    states = [f"{lamp}{i}" for lamp in ("left", "right") for i in range(n)]
    index = np.arange(2 * n, dtype=np.int32)
    step = np.where(index % n < n - 1, index + 1, index)
    reading = np.where(index % n == n - 1, 1 + index // n, 0)
    return Machine(
        states=tuple(states),
        actions=("walk", "look"),
        readings=("dark", "left", "right"),
        successor=np.stack([step, index], axis=1).astype(np.int32),
        output=np.stack([np.zeros_like(reading), reading], axis=1).astype(np.int32),
    )


def lift_door() -> Machine:
    """The door of a lift, in seven states: two of them are faults, and of four buttons only one moves nothing."""
    after = {
        "shut": ("opening", "shut", "opening", "shut"),
        "opening": ("open", "closing", "open", "opening"),
        "open": ("open", "closing", "closing", "open"),
        "closing": ("opening", "shut", "shut", "closing"),
        "held": ("open", "held", "closing", "held"),
        "jammed": ("jammed", "jammed", "held", "jammed"),
        "locked": ("locked", "locked", "shut", "locked"),
    }
    light = {"shut": 0, "opening": 1, "open": 2, "closing": 1, "held": 2, "jammed": 1, "locked": 0}
    states = tuple(after)
    successor = [[states.index(t) for t in row] for row in after.values()]
    return Machine(
        states=states,
        actions=("open", "close", "reset", "look"),
        readings=("shut", "moving", "open"),
        successor=np.array(successor, dtype=np.int32),
        output=np.array([[light[t] for t in row] for row in after.values()], dtype=np.int32),
    )


def permutation_automaton(num_states: int, num_actions: int, seed: int) -> Machine:
    """Every action permutes the states, and half of them, drawn for each action, read 1."""
    draws = Draws(f"permutation automaton, {num_states} states, {num_actions} actions, seed {seed}")
    successor = [draws.sample(range(num_states), num_states) for _ in range(num_actions)]
    ones = [set(draws.sample(range(num_states), num_states // 2)) for _ in range(num_actions)]
    return Machine(
        states=tuple(f"s{i}" for i in range(num_states)),
        actions=tuple(f"a{i}" for i in range(num_actions)),
        readings=("0", "1"),
        successor=np.array(successor, dtype=np.int32).T.copy(),
        output=np.array([[int(s in one) for one in ones] for s in range(num_states)], dtype=np.int32),
    )


def reversible_plant(num_bits: int, num_commands: int, flip: Fraction, seed: int) -> BooleanPlant:
    """Commands of one or two reversible gates, each tapping another bit in turn."""
    draws = Draws(f"reversible plant, {num_bits} bits, {num_commands} commands, seed {seed}")
    commands: list[Command] = []
    for c in range(num_commands):
        gates: list[Gate] = []
        for _ in range(draws.within(1, 2)):
            op = draws.weighted({"not": 1, "cnot": 2, "toffoli": 2})
            target, *sources = draws.sample(range(num_bits), 1 + {"not": 0, "cnot": 1, "toffoli": 2}[op])
            gates.append(Gate(op, target, tuple(sources)))
        commands.append(Command(f"probe{c}", tuple(gates), c % num_bits))
    return BooleanPlant(tuple(f"b{i}" for i in range(num_bits)), tuple(commands), flip)
