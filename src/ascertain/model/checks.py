"""What can be told of a model by looking at it: whether it hangs together, and what in it can never happen."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array  # type: ignore[import-untyped]
from scipy.sparse.csgraph import breadth_first_order, connected_components  # type: ignore[import-untyped]

from ascertain.model.abstract import AbstractMachine
from ascertain.types import UNDEFINED, State


def count_missing(model: AbstractMachine) -> int:
    """How many (state, action) pairs are not defined."""
    return int(np.count_nonzero(model.successor == UNDEFINED))


def is_strongly_connected(model: AbstractMachine) -> bool:
    """Whether every state can be reached from every other one."""
    count = connected_components(_graph(model), directed=True, connection="strong", return_labels=False)  # pyright: ignore
    return int(count) == 1  # pyright: ignore


def unreachable_states(model: AbstractMachine) -> list[State]:
    """The states that no word of actions reaches from an initial state; none where no initial state is named."""
    if not model.initial:
        return []
    reached = np.zeros(model.num_states, dtype=bool)
    graph = _graph(model)
    for s in model.initial:
        if not reached[s]:
            order = breadth_first_order(graph, s, directed=True, return_predecessors=False)  # pyright: ignore
            reached[order] = True
    return [int(s) for s in np.flatnonzero(~reached)]


def _graph(model: AbstractMachine) -> coo_array:  # pyright: ignore
    source, action = np.nonzero(model.successor != UNDEFINED)
    target = model.successor[source, action]
    shape = (model.num_states, model.num_states)
    return coo_array((np.ones(len(source), dtype=np.int8), (source, target)), shape=shape).tocsr()  # pyright: ignore
