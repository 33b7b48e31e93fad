"""Two plants at once, as one model.

An action that both know moves both and reads the pair "y|z"; an action that one of them knows moves that one alone and
reads as it does there. States are called "s|t". The readings of the two are independent given the state.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product as pairs_of
from typing import TypeAlias

import numpy as np

from ascertain.model.abstract import AbstractMachine
from ascertain.model.machine import Machine
from ascertain.model.noisy import Law, NoisyMachine, make_law
from ascertain.types import UNDEFINED, State

_Move: TypeAlias = tuple[State, dict[str, Fraction]]
"""Where an action leads, and the law of what is read, by name."""


def product(left: AbstractMachine, right: AbstractMachine) -> AbstractMachine:
    """Both models side by side; a machine when both are machines. Every pair of states is a state."""
    actions = tuple(dict.fromkeys((*left.actions, *right.actions)))
    places = list(pairs_of(range(left.num_states), range(right.num_states)))
    successor = np.full((len(places), len(actions)), UNDEFINED, dtype=np.int32)
    law = successor.copy()
    reading_of: dict[str, int] = {}
    number: dict[Law, int] = {}
    for (at, (s, t)), (a, name) in pairs_of(enumerate(places), enumerate(actions)):
        step = _step(left, s, right, t, name)
        if step is None:
            continue
        (s2, t2), readings = step
        successor[at, a] = s2 * right.num_states + t2
        here = make_law({reading_of.setdefault(y, len(reading_of)): p for y, p in readings.items()})
        law[at, a] = number.setdefault(here, len(number))
    noisy = NoisyMachine(
        states=tuple(f"{left.states[s]}|{right.states[t]}" for s, t in places),
        actions=actions,
        readings=tuple(reading_of),
        successor=successor,
        initial=tuple(s * right.num_states + t for s, t in pairs_of(left.initial, right.initial)),
        law=law,
        laws=tuple(number),
    )
    return _exact(noisy) if left.is_exact and right.is_exact else noisy


def _exact(noisy: NoisyMachine) -> Machine:
    """A noisy machine whose laws are all certain, as a machine."""
    certain = np.array([*(law[0][0] for law in noisy.laws), UNDEFINED], dtype=np.int32)
    return Machine(
        states=noisy.states,
        actions=noisy.actions,
        readings=noisy.readings,
        successor=noisy.successor,
        initial=noisy.initial,
        origin=noisy.origin,
        output=certain[noisy.law],
    )


def _step(
    left: AbstractMachine, s: State, right: AbstractMachine, t: State, action: str
) -> tuple[tuple[State, State], dict[str, Fraction]] | None:
    """Where the pair goes and what is read; None when one that knows the action does not allow it here."""
    moves = [_move(m, u, action) for m, u in ((left, s), (right, t)) if action in m.actions]
    if any(move is None for move in moves):
        return None
    steps = [move for move in moves if move is not None]
    if len(steps) == 1:
        to, readings = steps[0]
        return ((to, t) if action in left.actions else (s, to)), readings
    (s2, first), (t2, second) = steps
    both = {f"{y}|{z}": p * q for (y, p), (z, q) in pairs_of(first.items(), second.items())}
    return (s2, t2), both


def _move(model: AbstractMachine, state: State, action: str) -> _Move | None:
    a = model.actions.index(action)
    if model.successor[state, a] == UNDEFINED:
        return None
    law = model.reading_law(state, a)
    return int(model.successor[state, a]), {model.readings[y]: p for y, p in law.items()}
