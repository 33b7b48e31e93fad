"""Non-merging actions: those that do not lead states of different labels to the same place.

A question about the start is lost for two states once an action has led both to the same place and they could show the
same reading on the way: nothing read after that tells them apart. Where the plant forgets like this, an observer that
took the first action at hand would often destroy what it is to find out. So actions that merge none of the leading
candidate and its strongest rivals go first, as long as words of them tell the leader from the strongest rival. This
decides how long it takes, and never what may be answered.
"""

from __future__ import annotations

import numpy as np

from ascertain.evidence.probing import shortest_splitting_word, strongest_of
from ascertain.evidence.worlds import AbstractWorld
from ascertain.model.abstract import AbstractDeterministic
from ascertain.types import Action, WordArray

NUM_RIVALS = 512
"""How many rivals, the strongest, are looked at: as many as the separating rule looks at."""


def prefer_non_merging(world: AbstractWorld, allowed: tuple[Action, ...]) -> tuple[Action, ...]:
    """The allowed actions that merge no rivals, where they will do; otherwise all of them.

    On a hidden model, where an action leads is random, so that no action is known to merge.
    """
    model = world.model.deterministic
    if model is None or world.labelling.about == "current" or all(model.is_injective(a) for a in allowed):
        return allowed
    leader, code = world.leader()
    rivals = world.likely_rivals(code, NUM_RIVALS)
    if not rivals:
        return allowed
    current = np.concatenate([np.array([leader], dtype=np.uint64), *(group.current for group in rivals)])
    codes = np.concatenate([np.array([code], dtype=np.uint64), *(world.codes(group) for group in rivals)])
    kept = tuple(a for a in allowed if not merges(model, a, current, codes))
    if len(kept) in {0, len(allowed)}:
        return allowed
    return kept if shortest_splitting_word(model, kept, leader, strongest_of(rivals)) else allowed


def merges(model: AbstractDeterministic, action: Action, current: WordArray, codes: WordArray) -> bool:
    """Whether two of these states, of different labels, come to the same place with what may be the same reading."""
    after, shown = model.outcomes(current, action)
    order = np.lexsort((codes, shown, after))
    after, shown, codes = after[order], shown[order], codes[order]
    together = (after[1:] == after[:-1]) & (shown[1:] == shown[:-1])
    return bool((together & (codes[1:] != codes[:-1])).any())
