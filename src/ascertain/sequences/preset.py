"""Preset words: the same actions whatever is read, after which the start, or where one is, is known.

The *uncertainty* after a word is a family of sets of states: the hypotheses that read alike along it form a *block*,
the set of the states that they have come to.

*Distinguishing.* No two members of a block may be led to one state (they would never be told apart), and in the end
every block is a single state: what was read tells the hypothesis. *Homing.* Members may meet; in the end every block is
a single state: what was read tells the state that was reached. *Synchronizing.* The same where nothing is read: there
is one block.

All three are cheapest paths over uncertainties. A block that is contained in another asks nothing of its own, so only
the largest are kept. Of a machine that allows everything everywhere, single states are forgotten.

*Absence.* No word homes two states that no word separates or brings together: a pair that cannot be settled shows that
there is none. Where all actions are allowed everywhere and every two states that hypotheses can become are settled by
some word, the converse holds too: settling one pair after another, each by a cheapest word for it, homes the machine
(Kohavi; for synchronizing words Eppstein, 1990). With n hypotheses that takes at most n - 1 such words: this greedy
word, where it ends, is the upper bound that the search begins with. For distinguishing
words there is no such shortcut: to decide whether one exists is complete for PSPACE (Lee and Yannakakis, 1994), and
absence is shown by exhausting the uncertainties.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, final

import numpy as np

from ascertain.interruption import look_up
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.model import Model
from ascertain.quotients.separation import PairDistances, measure_pairs
from ascertain.sequences.cheapest_path import MOST_NODES, Sought, Word, find_cheapest
from ascertain.sequences.subsets import Subsets, members
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action, LongArray, State

Aim: TypeAlias = Literal["distinguishing", "homing", "synchronizing"]
"""What a preset word is for."""
Uncertainty: TypeAlias = tuple[int, ...]
"""Blocks as bit masks, ascending."""


@final
@dataclass(frozen=True)
class Preset:
    """The word that was sought, and where there is none, two states that show it, if two do."""

    sought: Sought
    pair: tuple[State, State] | None = None


def find_preset_word(task: Task, aim: Aim, *, max_nodes: int = MOST_NODES) -> Preset:
    """The cheapest word that distinguishes, homes or synchronizes the states of the hypotheses of a task.

    Labels do not matter. Looks at the limit of time that holds (`interruption.limited`).
    """
    sets = Subsets(task if aim != "synchronizing" else replace(task, model=_unread(task)))
    count = len(set(sets.start))
    if count < 2:
        return Preset(Sought((), 0, 0))
    label = None if aim == "distinguishing" else np.arange(len(sets.states), dtype=np.int32)
    distances = measure_pairs(sets.successor, sets.behaviour, label, np.array(sets.cost, dtype=np.int64))
    matrix = _matrix(distances)
    low, high = np.unravel_index(np.argmax(matrix[np.ix_(sets.start, sets.start)]), (len(sets.start),) * 2)
    farthest = sets.start[int(low)], sets.start[int(high)]
    least = int(matrix[farthest])
    if least == INFINITE:
        one, other = sorted(int(sets.states[e]) for e in farthest)
        return Preset(Sought(None, None, None), (one, other))
    known = Sought(None, least, None)
    word = _settle_greedily(sets, matrix, distances) if sets.is_total and aim != "distinguishing" else None
    if word is not None:
        known = Sought(word, least, sum(sets.cost[a] for a in word))
        if known.is_decided:
            return Preset(known)

    def expand(blocks: Uncertainty) -> Iterator[tuple[Action, Uncertainty]]:
        return _expand(sets, blocks, merging=aim != "distinguishing")

    start = _reduced({sets.everything()}, sets.is_total)
    return Preset(find_cheapest(start, _is_settled, expand, sets.cost, known=known, max_nodes=max_nodes))


def _unread(task: Task) -> Model:
    """The model of a task where every reading is the same."""
    model = task.model
    same = np.where(model.defined, 0, UNDEFINED).astype(np.int32)
    return model.rebuilt(successor=model.successor, behaviour=same)


def _matrix(distances: PairDistances) -> LongArray:
    """`matrix[e, f]`: what settling two elements costs; 0 on the diagonal."""
    n = len(distances.successor)
    matrix = np.zeros((n, n), dtype=np.int64)
    matrix[np.tril_indices(n, -1)] = distances.distance
    return matrix + matrix.T


def _settle_greedily(sets: Subsets, matrix: LongArray, distances: PairDistances) -> Word | None:
    """Settle the nearest pair of a block, by a cheapest word for it, until every block is a single state.

    None where that leads two members to states that nothing settles: hypotheses which are not all states can be settled
    pair by pair and yet become such states on the way.
    """
    blocks, word = [sets.everything()], list[Action]()
    while True:
        look_up()
        best: tuple[int, int, int] | None = None
        for block in blocks:
            here = np.array(members(block))
            near = matrix[np.ix_(here, here)].copy()
            np.fill_diagonal(near, INFINITE)
            i, j = np.unravel_index(np.argmin(near), near.shape)
            found = int(near[i, j]), int(here[i]), int(here[j])
            best = found if best is None else min(best, found)
        if best is None:
            return tuple(word)
        if best[0] == INFINITE:
            return None
        settling = distances.word(best[1], best[2])
        assert settling
        word += settling
        for a in settling:
            parted = {sets.image(part, a) for block in blocks for part in sets.parts(block, a)}
            blocks = list(_reduced(parted, True))


def _expand(sets: Subsets, blocks: Uncertainty, *, merging: bool) -> Iterator[tuple[Action, Uncertainty]]:
    """What every action makes of an uncertainty, where all members allow it and none is lost."""
    for a, allowed in enumerate(sets.allowed):
        if any(block & ~allowed for block in blocks):
            continue
        after: set[int] = set()
        for block in blocks:
            for part in sets.parts(block, a):
                image = sets.image(part, a)
                if not merging and image.bit_count() < part.bit_count():
                    break
                after.add(image)
            else:
                continue
            break
        else:
            yield a, _reduced(after, sets.is_total)


def _reduced(blocks: set[int], is_total: bool) -> Uncertainty:
    """The largest blocks; without single states, where these can do whatever is done."""
    kept: list[int] = []
    for block in sorted(blocks, key=lambda block: (-block.bit_count(), block)):
        single = block & (block - 1) == 0
        if not (single and is_total) and not any(block & ~other == 0 for other in kept):
            kept.append(block)
    return tuple(sorted(kept))


def _is_settled(blocks: Uncertainty) -> bool:
    return all(block & (block - 1) == 0 for block in blocks)
