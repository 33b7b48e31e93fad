"""The coarsest partition of a model's states that no experiment can refine.

Two states are *equivalent* when they allow the same words of actions and, after each of them, the next reading has the
same law. This is the coarsest partition whose classes agree in allowed actions and reading laws and are stable: an
action leads a class into one class. For a task about the current state classes also agree in label: the partition is
*seeded* with labels. Classes are numbered by first appearance, so class 0 is that of state 0.

Laws are compared exactly. With a tolerance, two laws count as one when a chain of laws of the model joins them in which
neighbours are within that total variation distance of each other (single linkage); what follows from such a partition
is approximate, and it is marked as not certified.

Time is O(edges * log(states)): rounds over all states while they multiply the blocks by at least 3/2, all but a few of
them, then Hopcroft's algorithm (1971).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations

import numpy as np

from ascertain.errors import LimitError, ModelError
from ascertain.interruption import look_up
from ascertain.kernels.quotients.refinement import (
    arrange_blocks,
    hash_rows,
    is_stable,
    number_rows,
    renumber_blocks,
    split_by_halves,
)
from ascertain.model import Model
from ascertain.model.noisy import total_variation
from ascertain.quotients.abstract import first_places
from ascertain.quotients.separation import predecessors
from ascertain.types import UNDEFINED, IntArray, LongArray

SLICE = 20_000_000
"""Edges visited in one call of the kernel; between two calls Ctrl-C works."""
SEED = 20
"""Of the multipliers that rows are hashed with; the partition does not depend on them."""
POOR_ROUNDS = 4
"""How many rounds may multiply the blocks by less than 3/2 before Hopcroft's algorithm takes over."""
MOST_LAWS = 1_000
"""Laws that a tolerance compares with one another, exactly: half a million pairs of rationals, which take seconds."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Classes of states, numbered by first appearance."""

    block: IntArray
    """`block[s]` is the class of s."""
    num_classes: int
    edge_visits: int
    """How many transitions were looked at while refining."""
    certified: bool
    """Whether laws were compared exactly."""

    @cached_property
    def representative(self) -> IntArray:
        """The first state of each class."""
        return first_places(self.block)


def refine(model: Model, *, seed: IntArray | None = None, tolerance: Fraction | None = None) -> Partition:
    """The coarsest stable partition of the states; with a seed, states of a class also agree in `seed[s]`."""
    first = np.zeros(model.num_states, dtype=np.int32) if seed is None else np.asarray(seed, dtype=np.int32)
    if first.shape != (model.num_states,):
        raise ModelError(f"the seed has shape {first.shape}; each of the {model.num_states} states needs one number")
    if not tolerance:
        return Partition(*refine_tables(model.successor, model.behaviour, first), certified=True)
    joined = join_laws(model, tolerance)[model.behaviour]
    behaviour = np.where(model.behaviour == UNDEFINED, UNDEFINED, joined).astype(np.int32)
    return Partition(*refine_tables(model.successor, behaviour, first), certified=False)


def refine_tables(successor: IntArray, behaviour: IntArray, seed: IntArray) -> tuple[IntArray, int, int]:
    """Blocks, their number and the edges visited, for tables whose shapes and ranges were checked."""
    if successor.size >= 2**31:
        raise LimitError(f"{successor.size} transitions are too many to refine; at most 2^31 - 1 can be taken")
    rounds = _Rounds(len(seed), successor.shape[1])
    plain = np.arange(-1, int(behaviour.max()) + 1, dtype=np.int32)
    block, count = rounds.split(behaviour, plain, seed, exact=True)
    edges = int(np.count_nonzero(successor != UNDEFINED))
    visits, poor, before = 0, 0, 0
    # Rounds may trust their hashes: a collision splits too little, never too much, and `is_stable` finds it out.
    while before < count < len(block) and poor < POOR_ROUNDS:
        look_up()
        before = count
        block, count = rounds.split(successor, _named(block), block, exact=False)
        visits += edges
        poor += count * 2 < before * 3
    # Nothing was split: either this is the answer, or a collision hid a split; a last pass over all edges decides.
    if count == before:
        visits += edges
    if count == len(block) or (count == before and is_stable(successor, _named(block), block, np.empty_like(block))):
        return block, count, visits
    return _finish_by_halves(successor, block, count, visits)


class _Rounds:
    """Room for rounds over all states, kept from one to the next."""

    def __init__(self, num_states: int, num_actions: int) -> None:
        self.multiplier = draw_multipliers(num_actions + 1)
        self.code = np.empty(num_states, dtype=np.int64)
        self.slots = np.empty(1 << (2 * num_states).bit_length(), dtype=np.int64)

    def split(self, table: IntArray, name: IntArray, block: IntArray, *, exact: bool) -> tuple[IntArray, int]:
        """One round: states numbered by their block and the names of what is in their row."""
        fresh = np.empty(len(block), dtype=np.int32)
        self.slots.fill(-1)
        hash_rows(table, name, block, self.multiplier, self.code)
        return fresh, number_rows(table, name, block, self.code, self.slots, exact, fresh)


@cache
def draw_multipliers(number: int) -> LongArray:
    """Odd numbers for the hashes of rows, always the same."""
    return np.random.default_rng(SEED).integers(0, 2**61, number) * 2 + 1


def _named(block: IntArray) -> IntArray:
    """What a transition leads to, by its entry in the table plus one: nothing, or a block."""
    return np.concatenate((np.full(1, UNDEFINED, dtype=np.int32), block))


def _finish_by_halves(successor: IntArray, block: IntArray, count: int, visits: int) -> tuple[IntArray, int, int]:
    n, num_actions = successor.shape
    start, source = predecessors(successor)
    element, place, first, stack, touched, splitter = (np.empty(n, dtype=np.int32) for _ in range(6))
    past, marked = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
    height = arrange_blocks(block, count, element, place, first, past, stack)
    progress = np.array([count, height, visits], dtype=np.int64)
    layout = (block, element, place, first, past, marked, stack, touched, splitter)
    while progress[1] > 0:
        look_up()
        split_by_halves(start, source, num_actions, *layout, progress, SLICE)
    number = np.full(n, UNDEFINED, dtype=np.int32)
    renumber_blocks(block, number)
    return block, int(progress[0]), int(progress[2])


def join_laws(model: Model, tolerance: Fraction) -> IntArray:
    """For each law of the model the least law that a chain of laws within `tolerance` of each other joins it to."""
    if not 0 <= tolerance < 1:
        raise ModelError(f"the tolerance is {tolerance}; a total variation distance in [0, 1) is needed")
    if not model.is_noisy:
        return np.arange(len(model.laws), dtype=np.int32)  # certain readings are at distance 1 from each other
    if len(model.laws) > MOST_LAWS:
        raise LimitError(f"the model has {len(model.laws)} laws and a tolerance can join at most {MOST_LAWS}")
    joined = np.arange(len(model.laws), dtype=np.int32)
    for i, j in combinations(range(len(model.laws)), 2):
        if total_variation(model.laws[i], model.laws[j]) <= tolerance:
            low, high = sorted((joined[i], joined[j]))
            joined[joined == high] = low
    return joined
