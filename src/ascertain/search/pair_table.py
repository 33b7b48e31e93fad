"""The table of the pairs that a search meets, with room to grow."""

from __future__ import annotations

import numpy as np

from ascertain.kernels.search.distances import FULL, PAIRS, enter_again
from ascertain.kernels.search.tables import PairTable

ROOM = 2**17
"""Pairs that one query may explore: a hundredth of a second for each action, and two states of a shift register of 17
bits are told apart within it."""
BYTES = 8 + 8 + 2 + 4 + 2 * 4
"""What a pair takes, with its two slots."""


def keep_no_pairs() -> PairTable:
    """In place of a table where distances are not asked for, or those of all pairs are known."""
    return _make_table(slots=0, pairs=0, room=0, num_actions=0)


def keep_met_pairs(num_actions: int) -> PairTable:
    """The table of no pairs yet."""
    # A pair may lead to as many new ones as there are actions.
    room = max(ROOM, 4 * num_actions)
    pairs = 4 * room
    return _make_table(slots=1 << (2 * pairs).bit_length(), pairs=pairs, room=room, num_actions=num_actions)


def grow_pairs(table: PairTable, most_bytes: int | None) -> PairTable | None:
    """The same with twice the room; None where that would take too much memory."""
    pairs = 2 * len(table.key)
    if most_bytes is not None and pairs * BYTES > most_bytes:
        return None
    count = int(table.used[PAIRS])
    slot = np.full(2 * len(table.slot), -1, dtype=np.int32)
    longer = {
        name: np.zeros(pairs, dtype=getattr(table, name).dtype) for name in ("key", "distance", "choice", "local")
    }
    for name, array in longer.items():
        array[:count] = getattr(table, name)[:count]
    # Whoever still has the smaller table goes on with it as it is.
    larger = table._replace(slot=slot, used=table.used.copy(), **longer)
    larger.used[FULL] = 0
    enter_again(larger)
    return larger


def _make_table(*, slots: int, pairs: int, room: int, num_actions: int) -> PairTable:
    return PairTable(
        slot=np.full(slots, -1, dtype=np.int32),
        key=np.zeros(pairs, dtype=np.int64),
        distance=np.zeros(pairs, dtype=np.int64),
        choice=np.zeros(pairs, dtype=np.int16),
        local=np.zeros(pairs, dtype=np.int32),
        # Memory that is never written is never taken.
        explored=np.zeros(room, dtype=np.int32),
        direct=np.zeros(room, dtype=np.int64),
        lead=np.zeros(room * num_actions, dtype=np.int32),
        below=np.zeros(room, dtype=np.int64),
        above=np.zeros(room, dtype=np.int64),
        used=np.zeros(3, dtype=np.int64),
    )
