"""Gentle actions: those that do not merge what must be told apart.

A question about the start is lost for two states once an action has led both to the same place and they could show the
same reading on the way: nothing read after that tells them apart. Where the plant forgets like this, an observer that
looked at the first thing that comes to hand would often destroy what it is to find out. So actions that merge none of
the leading candidate and its strongest rivals go first, as long as words of them tell the leader from the strongest
rival. This decides how long it takes, and never what may be answered.
"""

from __future__ import annotations

import numpy as np

from ascertain.evidence.probing import shortest_splitting_word, strongest_of
from ascertain.evidence.worlds import AbstractWorld
from ascertain.model.abstract import AbstractDeterministic
from ascertain.types import Action, WordArray

NUM_RIVALS = 512
"""How many rivals, the strongest, are looked at."""


def prefer_gentle(
    model: AbstractDeterministic, world: AbstractWorld, allowed: tuple[Action, ...]
) -> tuple[Action, ...]:
    """The gentle ones of the allowed actions, where they will do; otherwise all of them."""
    if world.labelling.about == "current" or not allowed or all(model.is_injective(a) for a in allowed):
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


def merges(model: AbstractDeterministic, action: Action, current: WordArray, codes: WordArray) -> bool:
    """Whether two of these states, of different labels, come to the same place with what may be the same reading."""
    after, shown = model.outcomes(current, action)
    order = np.lexsort((codes, shown, after))
    after, shown, codes = after[order], shown[order], codes[order]
    together = (after[1:] == after[:-1]) & (shown[1:] == shown[:-1])
    return bool((together & (codes[1:] != codes[:-1])).any())
