"""What can be told of a model by looking at it: whether it hangs together, and what in it can never happen.

Everything here takes models whose states are listed: machines, with and without noise, and hidden models alike.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.sparse import coo_array  # type: ignore[import-untyped]
from scipy.sparse.csgraph import breadth_first_order, connected_components  # type: ignore[import-untyped]

from ascertain.model.abstract import AbstractListed
from ascertain.model.hidden import sum_exactly
from ascertain.types import Action, State


def count_missing(model: AbstractListed) -> int:
    """How many (state, action) pairs are not defined."""
    return int(np.count_nonzero(~model.defined))


def list_missing(model: AbstractListed, most: int) -> list[tuple[State, Action]]:
    """The first (state, action) pairs that are not defined, at most so many."""
    return [(int(s), int(a)) for s, a in np.argwhere(~model.defined)[:most]]


def unsound_laws(model: AbstractListed) -> list[tuple[State, Action, Fraction]]:
    """Where probabilities do not sum to one, and to what they sum; none in a model that was built here, as models are
    checked when they are made."""
    defined: list[tuple[int, int]] = [(int(s), int(a)) for s, a in np.argwhere(model.defined)]
    laws = [model.law_at(s, a) for s, a in defined]
    # Many places share a law, so each is added up once.
    total = {id(law): sum_exactly(entry[-1] for entry in law) for law in {id(law): law for law in laws}.values()}
    return [(s, a, total[id(law)]) for (s, a), law in zip(defined, laws, strict=True) if total[id(law)] != 1]


def useless_actions(model: AbstractListed) -> list[Action]:
    """The actions that are defined in no state."""
    return [int(a) for a in np.flatnonzero(~model.defined.any(axis=0))]


def stuck_states(model: AbstractListed) -> list[State]:
    """The states in which no action is defined."""
    return [int(s) for s in np.flatnonzero(~model.defined.any(axis=1))]


def is_strongly_connected(model: AbstractListed) -> bool:
    """Whether every state can be reached from every other one."""
    count = connected_components(_graph(model), directed=True, connection="strong", return_labels=False)  # pyright: ignore
    return int(count) == 1  # pyright: ignore


def unreachable_states(model: AbstractListed) -> list[State]:
    """The states that no word of actions reaches from where the plant may begin; none where that is not said."""
    if not model.initial_states:
        return []
    reached = np.zeros(model.num_states, dtype=bool)
    graph = _graph(model)
    for s in model.initial_states:
        if not reached[s]:
            order = breadth_first_order(graph, s, directed=True, return_predecessors=False)  # pyright: ignore
            reached[order] = True
    return [int(s) for s in np.flatnonzero(~reached)]


def _graph(model: AbstractListed) -> coo_array:  # pyright: ignore
    """An arrow for every step that has positive probability."""
    source, target = model.arrows()
    shape = (model.num_states, model.num_states)
    return coo_array((np.ones(len(source), dtype=np.int8), (source, target)), shape=shape).tocsr()  # pyright: ignore
