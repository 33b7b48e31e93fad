"""What can be told of a model by looking at it: whether it hangs together, and what in it can never happen.

Everything here takes models whose states are listed: machines, with and without noise, and hidden models alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ascertain.kernels.model.reach import mark_reached
from ascertain.model.abstract import AbstractListed
from ascertain.model.hidden import sum_exactly
from ascertain.types import Action, BoolArray, LongArray, State


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
    source, target = model.arrows()
    # That is so when one state reaches all others and all others reach it.
    forwards, backwards = _reach(model, source, target, [0]), _reach(model, target, source, [0])
    return bool(forwards.all() and backwards.all())


def unreachable_states(model: AbstractListed) -> list[State]:
    """The states that no word of actions reaches from where the plant may begin; none where that is not said."""
    if not model.initial_states:
        return []
    source, target = model.arrows()
    return [int(s) for s in np.flatnonzero(~_reach(model, source, target, model.initial_states))]


def _reach(model: AbstractListed, source: LongArray, target: LongArray, first: Sequence[State]) -> BoolArray:
    """Which states can be reached from some, along these arrows."""
    order = np.argsort(source, kind="stable")
    start = np.searchsorted(source[order], np.arange(model.num_states + 1))
    queue = np.empty(model.num_states, dtype=np.int64)
    reached = np.zeros(model.num_states, dtype=bool)
    begin = np.unique(np.array(first, dtype=np.int64))
    queue[: len(begin)], reached[begin] = begin, True
    mark_reached(start, target[order], reached, queue, len(begin))
    return reached
