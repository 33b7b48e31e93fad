"""What can be told of a model by looking at it: whether it hangs together, and what in it can never happen."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.sparse import coo_array  # type: ignore[import-untyped]
from scipy.sparse.csgraph import breadth_first_order, connected_components  # type: ignore[import-untyped]

from ascertain.model.abstract import AbstractMachine
from ascertain.types import UNDEFINED, Action, State


def count_missing(model: AbstractMachine) -> int:
    """How many (state, action) pairs are not defined."""
    return int(np.count_nonzero(model.successor == UNDEFINED))


def unsound_laws(model: AbstractMachine) -> list[tuple[State, Action, Fraction]]:
    """Where the probabilities of the readings do not sum to one, and to what they sum; none in a model that was built
    here, as models are checked when they are made."""
    defined: list[tuple[int, int]] = [(int(s), int(a)) for s, a in np.argwhere(model.successor != UNDEFINED)]
    total = {b: sum(model.reading_law(s, a).values(), Fraction(0)) for b, (s, a) in _examples(model, defined).items()}
    return [(s, a, total[b]) for s, a in defined if total[b := int(model.behaviour[s, a])] != 1]


def _examples(model: AbstractMachine, defined: list[tuple[int, int]]) -> dict[int, tuple[State, Action]]:
    """One place for every behaviour that occurs."""
    return {int(model.behaviour[s, a]): (s, a) for s, a in defined}


def useless_actions(model: AbstractMachine) -> list[Action]:
    """The actions that are defined in no state."""
    return [int(a) for a in np.flatnonzero((model.successor == UNDEFINED).all(axis=0))]


def stuck_states(model: AbstractMachine) -> list[State]:
    """The states in which no action is defined."""
    return [int(s) for s in np.flatnonzero((model.successor == UNDEFINED).all(axis=1))]


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
