"""A policy with its clock in its memory: the same memory met at different times may then be treated differently.

On a lattice of evidence a threshold is too rash at 4 and careful enough at 5, with much of alpha left over. A clock is
a finer thing: answer at 4 if that was reached after 4 readings, or after 4 or 6, and ask on to 5 otherwise. Written out
along time, as far as the policy's horizon, a memory becomes one node for every time it can be met at, and nodes can be
moved from asking to answering one by one, as many as alpha bears (`driven.py`).
"""

from __future__ import annotations

import numpy as np

from ascertain.errors import LimitError
from ascertain.planning.belief_graph import Ledgers
from ascertain.planning.information_state import NOWHERE
from ascertain.types import LongArray


def unroll(ledgers: Ledgers, choice: LongArray, horizon: int, max_nodes: int) -> tuple[Ledgers, LongArray]:
    """The memories that the policy meets, one for every time, and the memory that each of them is.

    What the policy asks is the one option; at the horizon there is none. LimitError past `max_nodes`.
    """
    layer = np.zeros(1, dtype=np.int64)
    origin: list[LongArray] = [layer]
    children: list[LongArray] = []
    size = 1
    for _ in range(horizon):
        asks = choice[layer] >= 0
        after = np.where(asks[:, None], ledgers.child[layer, np.maximum(choice[layer], 0), :], NOWHERE)
        following = np.unique(after[after != NOWHERE]).astype(np.int64)
        place = size + np.searchsorted(following, after)
        children.append(np.where(after == NOWHERE, NOWHERE, place).astype(np.int64))
        layer, size = following, size + len(following)
        origin.append(layer)
        if size > max_nodes:
            raise LimitError(f"written out along time the policy has more than {max_nodes} nodes")
    children.append(np.full((len(layer), ledgers.book.num_readings), NOWHERE, dtype=np.int64))
    node = np.concatenate(origin)
    child = np.concatenate(children)
    asked = np.maximum(choice[node], 0)
    option = np.where((child == NOWHERE).all(axis=1), NOWHERE, ledgers.option[node, asked])
    unrolled = Ledgers(
        ledgers.book,
        ledgers.state[node],
        ledgers.penalty[node],
        option[:, None].astype(np.int32),
        child[:, None, :].astype(np.int32),
        ledgers.shift[node, asked][:, None],
        None if ledgers.slot is None else ledgers.slot[node, asked][:, None],
        False,
    )
    return unrolled, node
