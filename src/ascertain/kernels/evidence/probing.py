"""What each action would leave of a weighted set of rivals.

Throughout: the *reference* is the state that is believed, rival j is in `current[j]` and counts for `weight[j]`. An
action multiplies the weight of a rival by the *affinity* of its reading law with the reference's, the sum over readings
of the square root of the product of the two: 1 when they are equal, 0 when they exclude each other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ascertain.kernels._jit import kernel
from ascertain.kernels.model.boolean import ONE, WordArray, apply_command, gates_each, run_states
from ascertain.kernels.model.boolean_code import Circuit
from ascertain.types import FloatArray, IntArray


class Rivals(NamedTuple):
    """The reference, and rivals with their weights."""

    reference: np.uint64
    current: WordArray
    weight: FloatArray


@kernel(work=lambda circuit, actions, rivals: actions.size * rivals.current.size * gates_each(circuit.offset))
def weigh_flips(
    circuit: Circuit, actions: IntArray, affinity: float, rivals: Rivals, left: FloatArray, room: WordArray
) -> None:
    """`left[i]` becomes the total weight after `actions[i]` on a Boolean plant: laws are equal or flipped.

    `room` is for as many states as there are rivals, which go through each action together.
    """
    gates, offset, tap = circuit
    reference, current, weight = rivals
    for i in range(actions.size):
        a = actions[i]
        bit = np.uint64(tap[a])
        believed = (apply_command(gates, offset, a, reference) >> bit) & ONE
        for j in range(current.size):
            room[j] = current[j]
        run_states(gates, offset, room, actions[i : i + 1])
        equal, other = 0.0, 0.0
        for j in range(current.size):
            # Both sums without a branch, which could not be foreseen: adding nothing changes nothing.
            same = (room[j] >> bit) & ONE == believed
            equal += weight[j] if same else 0.0
            other += 0.0 if same else weight[j]
        left[i] = equal + affinity * other


@kernel(work=lambda circuit, rivals: 3 * rivals.current.size * gates_each(circuit.offset))
def step_flips(circuit: Circuit, a: int, affinity: float, rivals: Rivals) -> np.uint64:
    """Lead the rivals through one command, in place, weights included; returns where the reference goes."""
    gates, offset, tap = circuit
    reference, current, weight = rivals
    bit = np.uint64(tap[a])
    after = apply_command(gates, offset, a, reference)
    believed = (after >> bit) & ONE
    for j in range(current.size):
        current[j] = apply_command(gates, offset, a, current[j])
        if (current[j] >> bit) & ONE != believed:
            weight[j] *= affinity
    return after


@kernel(work=lambda actions, rivals: actions.size * rivals.current.size)
def weigh_laws(law: IntArray, actions: IntArray, affinity: FloatArray, rivals: Rivals, left: FloatArray) -> None:
    """`left[i]` becomes the total weight after `actions[i]` on a machine, -1 where some state lacks the action."""
    reference, current, weight = rivals
    for i in range(actions.size):
        a = actions[i]
        believed = law[reference, a]
        # In a fixed order, so that the sum is the same to the last bit however the kernel runs.
        total = 0.0
        lacking = believed < 0
        for j in range(current.size):
            k = law[current[j], a]
            if k < 0:
                lacking = True
            else:
                total += weight[j] * affinity[believed, k]
        left[i] = -1.0 if lacking else total
