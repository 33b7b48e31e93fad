"""Gentle actions: those that do not merge what must be told apart.

A question about the start is lost for two states once an action has led both to the same place and they could show the
same reading on the way: nothing read after that tells them apart. Where the plant forgets like this, an observer that
looked at the first thing that comes to hand would often destroy what it is to find out. So actions that merge none of
the leading candidate and its strongest rivals go first, as long as words of them tell the leader from the strongest
rival. This decides how long it takes, and never what may be answered.
"""

from __future__ import annotations

import numpy as np

from ascertain.evidence.dynamics import AnyModel
from ascertain.evidence.probing import shortest_splitting_word, strongest_of
from ascertain.evidence.worlds import AbstractWorld
from ascertain.kernels.model.boolean import WordArray, run_states
from ascertain.model import Machine
from ascertain.model.boolean import BooleanPlant
from ascertain.types import Action, LongArray

NUM_RIVALS = 512
"""How many rivals, the strongest, are looked at."""


def prefer_gentle(world: AbstractWorld, allowed: tuple[Action, ...]) -> tuple[Action, ...]:
    """The gentle ones of the allowed actions, where they will do; otherwise all of them."""
    model = world.model
    if world.labelling.about == "current" or not allowed or _keeps_all_apart(model, allowed):
        return allowed
    leader, code = world.leader()
    rivals = world.likely_rivals(code, NUM_RIVALS)
    if not rivals:
        return allowed
    current = np.concatenate([np.array([leader], dtype=np.uint64), *(group.current for group in rivals)])
    codes = np.concatenate([np.array([code], dtype=np.uint64), *(world.codes(group) for group in rivals)])
    gentle = tuple(a for a in allowed if not merges(model, a, current, codes))
    if len(gentle) in {0, len(allowed)}:
        return allowed
    return gentle if shortest_splitting_word(model, gentle, leader, strongest_of(rivals)) else allowed


def merges(model: AnyModel, action: Action, current: WordArray, codes: WordArray) -> bool:
    """Whether two of these states, of different labels, come to the same place with what may be the same reading."""
    after, shown = _outcomes(model, action, current)
    order = np.lexsort((codes, shown, after))
    after, shown, codes = after[order], shown[order], codes[order]
    together = (after[1:] == after[:-1]) & (shown[1:] == shown[:-1])
    return bool((together & (codes[1:] != codes[:-1])).any())


def _outcomes(model: AnyModel, action: Action, current: WordArray) -> tuple[LongArray, LongArray]:
    """Where the states come to, and what they show; with noise, that counts as the same."""
    if isinstance(model, BooleanPlant):
        states, command = current.copy(), np.array([action], dtype=np.int32)
        run_states(model.gates, model.offset, model.tap, states, command, np.empty((0, 0), dtype=np.uint8))
        after = states.astype(np.int64)
        return after, np.zeros_like(after) if model.flip else after >> int(model.tap[action]) & 1
    after = model.successor[current, action].astype(np.int64)
    exact = isinstance(model, Machine)
    return after, model.output[current, action].astype(np.int64) if exact else np.zeros_like(after)


def _keeps_all_apart(model: AnyModel, allowed: tuple[Action, ...]) -> bool:
    """Whether no action merges any two states, as far as that is seen at a glance."""
    return isinstance(model, BooleanPlant) and all(model.commands[a].is_reversible for a in allowed)
