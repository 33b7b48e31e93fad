"""How a difference between two states of a Boolean plant spreads while commands are done, and how soon it is read.

All that is kept of the difference is how many bits it has, d of n. They are taken to be anywhere, all sets of d bits
alike, and the bits of the states to be fair coins. Then a gate takes d to d - 1, d or d + 1 with probabilities that
counting gives: over the differences of d bits, as far as they touch the gate's target and sources, and over the values
of these. The gate drawn at random from those of the commands is one step of a random walk of d. A *reading* is PACE
times as many steps as a command has gates, and then a look at a bit drawn at random, which the difference contradicts
with probability d/n.

    value(q, k, d) = the probability that a difference of d bits contradicts fewer than k of the q readings to come

is what a rival counts for that must be contradicted k times more. With d = n/2 at every reading these are Berlekamp's
weights for searching with lies: halving them at every reading is the best that a question can do to rivals at random.
On commands without gates the values are binomial, as d stays what it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np
import numpy.typing as npt

from ascertain.model.boolean import BooleanPlant, Gate
from ascertain.types import Action, LongArray

SCALE = 1 << 53
"""Values are integers in units of its inverse: the sum of 512 of them fits a signed word."""
PACE = 2
"""Commands that are chosen spread a difference about so many times as fast as commands drawn at random."""


@final
@dataclass(frozen=True)
class Spread:
    """A gate drawn at random takes d to d - 1 in `down[d]` of `whole[d]` cases, and to d + 1 in `up[d]`."""

    down: tuple[int, ...]
    up: tuple[int, ...]
    whole: tuple[int, ...]
    steps: int
    """Gates that are done for each reading."""

    @property
    def num_bits(self) -> int:
        return len(self.whole) - 1


def find_spread(plant: BooleanPlant, actions: Iterable[Action]) -> Spread:
    """How the commands of a plant spread differences."""
    gates = [plant.commands[a].gates for a in actions]
    n = plant.num_bits
    kinds = [_relabel(gate) for command in gates for gate in command]
    # Over the same denominator for every gate: the differences of d bits, the values of three bits, the gates.
    whole = [math.comb(n, d) * 8 * max(len(kinds), 1) for d in range(n + 1)]
    moves = {kind: count_moves(kind, n) for kind in set(kinds)}
    down = [sum(moves[kind][d][0] for kind in kinds) for d in range(n + 1)]
    up = [sum(moves[kind][d][1] for kind in kinds) for d in range(n + 1)]
    return Spread(tuple(down), tuple(up), tuple(whole), -(-PACE * len(kinds) // max(len(gates), 1)))


def _relabel(gate: Gate) -> Gate:
    """The gate on the first bits: which ones it has does not matter, only which of them are the same."""
    place = {bit: i for i, bit in enumerate(dict.fromkeys((gate.target, *gate.sources)))}
    return Gate(gate.op, place[gate.target], tuple(place[bit] for bit in gate.sources))


@cache
def count_moves(gate: Gate, num_bits: int) -> tuple[tuple[int, int], ...]:
    """`[d]` is in how many cases a gate on the first bits makes a difference of d bits smaller, and larger by one.

    The cases are the sets of d bits, each with the 8 values of three bits, of which a gate touches at most all.
    """
    touched = 1 + max((gate.target, *gate.sources))
    moves = [[0, 0] for _ in range(num_bits + 1)]
    for differ in range(1 << touched):
        for values in range(1 << touched):
            after = gate.apply(values) ^ gate.apply(values ^ differ)
            change = after.bit_count() - differ.bit_count()
            if change:
                for d in range(differ.bit_count(), num_bits + 1):
                    cases = math.comb(num_bits - touched, d - differ.bit_count()) << (3 - touched)
                    moves[d][change > 0] += cases
    return tuple((fewer, more) for fewer, more in moves)


@cache
def tabulate_values(spread: Spread, to_go: int, most: int) -> LongArray:
    """`[k + 1, d]` is value(to_go, k, d) for k up to `most`, in units of 1/SCALE; two rows of zeros come first.

    Rounded up, and at least 1, so that a rival counts as long as it is not beaten.
    """
    beaten = np.zeros((1, spread.num_bits + 1), dtype=np.int64)
    # Tables of a few sizes serve all numbers.
    values = np.maximum(_follow(spread, to_go, 1 << (most - 1).bit_length())[1 : most + 1].astype(np.int64), 1)
    table = np.concatenate([beaten, beaten, values])
    table.flags.writeable = False
    return table


@cache
def _follow(spread: Spread, to_go: int, most: int) -> npt.NDArray[Any]:
    """`[k, d]` is value(to_go, k, d) as an integer of any size, so that nothing overflows; rounded up at every step."""
    n = spread.num_bits
    if to_go <= 0:
        values = np.full((most + 1, n + 1), SCALE, dtype=object)
        values[0] = 0
        return values
    later, d = _follow(spread, to_go - 1, most), np.arange(n + 1).astype(object)
    values = later.copy()
    values[1:] = -(-(d * later[:-1] + (n - d) * later[1:]) // n)
    down, up, whole = (np.array(numbers, dtype=object) for numbers in (spread.down, spread.up, spread.whole))
    for _ in range(spread.steps):
        smaller, larger = np.roll(values, 1, axis=1), np.roll(values, -1, axis=1)
        values = -(-(down * smaller + up * larger + (whole - down - up) * values) // whole)
    return values
