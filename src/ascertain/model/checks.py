"""What can be told of a model by looking at it: whether it hangs together, and what in it can never happen.

Everything here takes machines, with and without noise, and hidden models alike.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

import numpy as np
from scipy.sparse import coo_array  # type: ignore[import-untyped]
from scipy.sparse.csgraph import breadth_first_order, connected_components  # type: ignore[import-untyped]

from ascertain.model.abstract import AbstractMachine
from ascertain.model.hidden import HiddenModel, sum_exactly
from ascertain.types import UNDEFINED, Action, BoolArray, State

Listed: TypeAlias = AbstractMachine | HiddenModel
"""A model whose states are listed."""


def count_missing(model: Listed) -> int:
    """How many (state, action) pairs are not defined."""
    return int(np.count_nonzero(~_defined(model)))


def unsound_laws(model: Listed) -> list[tuple[State, Action, Fraction]]:
    """Where probabilities do not sum to one, and to what they sum; none in a model that was built here, as models are
    checked when they are made."""
    defined: list[tuple[int, int]] = [(int(s), int(a)) for s, a in np.argwhere(_defined(model))]
    if isinstance(model, HiddenModel):
        totals = {id(law): sum_exactly(p for _, _, p in law) for row in model.joint for law in row if law}
        sums = [totals[id(model.joint[s][a])] for s, a in defined]
    else:
        # One place for every behaviour that occurs.
        examples = {int(model.behaviour[s, a]): (s, a) for s, a in defined}
        total = {b: sum(model.reading_law(s, a).values(), Fraction(0)) for b, (s, a) in examples.items()}
        sums = [total[int(model.behaviour[s, a])] for s, a in defined]
    return [(s, a, found) for (s, a), found in zip(defined, sums, strict=True) if found != 1]


def useless_actions(model: Listed) -> list[Action]:
    """The actions that are defined in no state."""
    return [int(a) for a in np.flatnonzero(~_defined(model).any(axis=0))]


def stuck_states(model: Listed) -> list[State]:
    """The states in which no action is defined."""
    return [int(s) for s in np.flatnonzero(~_defined(model).any(axis=1))]


def is_strongly_connected(model: Listed) -> bool:
    """Whether every state can be reached from every other one."""
    count = connected_components(_graph(model), directed=True, connection="strong", return_labels=False)  # pyright: ignore
    return int(count) == 1  # pyright: ignore


def unreachable_states(model: Listed) -> list[State]:
    """The states that no word of actions reaches from where the plant may begin; none where that is not said."""
    if not model.initial:
        return []
    reached = np.zeros(model.num_states, dtype=bool)
    graph = _graph(model)
    for s in _initial_states(model):
        if not reached[s]:
            order = breadth_first_order(graph, s, directed=True, return_predecessors=False)  # pyright: ignore
            reached[order] = True
    return [int(s) for s in np.flatnonzero(~reached)]


def _initial_states(model: Listed) -> list[State]:
    """The states that the plant may begin in."""
    if isinstance(model, HiddenModel):
        return [s for belief in model.initial for s, _ in belief]
    return list(model.initial)


def _defined(model: Listed) -> BoolArray:
    if isinstance(model, HiddenModel):
        return np.array([[bool(law) for law in row] for row in model.joint], dtype=np.bool_)
    return model.successor != UNDEFINED


def _graph(model: Listed) -> coo_array:  # pyright: ignore
    """An arrow for every step that has positive probability."""
    if isinstance(model, HiddenModel):
        arrows = [(s, t) for s, row in enumerate(model.joint) for t in {t for law in row for t, _, _ in law}]
        source, target = np.array(arrows, dtype=np.int64).reshape(-1, 2).T
    else:
        source, action = np.nonzero(model.successor != UNDEFINED)
        target = model.successor[source, action]
    shape = (model.num_states, model.num_states)
    return coo_array((np.ones(len(source), dtype=np.int8), (source, target)), shape=shape).tocsr()  # pyright: ignore
