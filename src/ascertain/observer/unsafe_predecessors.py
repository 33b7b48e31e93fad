"""Unsafe predecessors: from where, and by which command, a Boolean plant would enter a state it must never enter.

Reversible gates undo themselves, so under a reversible command each such state has one predecessor: its gates
backwards. The predecessors under all reversible commands are found among millions of states by their lowest bits
first, which a small table holds. Other commands are done to every state.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

import numpy as np

from ascertain.evidence.worlds import AbstractWorld
from ascertain.model.boolean import BooleanPlant
from ascertain.types import Action, BoolArray, WordArray

LOW_BITS = 16
"""A table of 2^16 flags stays in the cache and already rules out nearly every state."""


@final
class UnsafePredecessors:
    """Of the states `never` of a plant, under the commands given."""

    def __init__(self, plant: BooleanPlant, actions: Iterable[Action], never: WordArray) -> None:
        self._plant, self._never = plant, never
        self._actions = tuple(actions)
        self._before = {
            a: np.array([plant.predecessor(int(z), a) for z in never], dtype=np.uint64)
            for a in self._actions
            if plant.is_injective(a)
        }
        self._near: BoolArray = np.zeros(1 << LOW_BITS, dtype=np.bool_)
        for states in self._before.values():
            self._near[states & np.uint64((1 << LOW_BITS) - 1)] = True

    def find_open(self, world: AbstractWorld) -> frozenset[Action]:
        """The actions by which some state outside, not beaten, would enter; found in one pass over what is left."""
        pending = set(self._actions)

        def look(states: WordArray) -> BoolArray:
            near = states[self._near[states & np.uint64((1 << LOW_BITS) - 1)]]
            near = near[~np.isin(near, self._never)]
            outside = states[~np.isin(states, self._never)] if len(pending - self._before.keys()) else states
            for action in sorted(pending):
                if self._enters(action, near, outside):
                    pending.remove(action)
            return np.array([not pending])

        world.may_be_in(look)
        return frozenset(self._actions) - pending

    def _enters(self, action: Action, near: WordArray, outside: WordArray) -> bool:
        if action in self._before:
            return bool(near.size) and bool(np.isin(near, self._before[action]).any())
        after, _ = self._plant.outcomes(outside, action)
        return bool(np.isin(after.astype(np.uint64), self._never).any())
