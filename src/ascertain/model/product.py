"""Two plants at once, as one model.

An action that both know moves both and reads the pair "y|z"; an action that one of them knows moves that one alone and
reads as it does there. States are called "s|t". The readings of the two are independent given the state.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product as pairs_of
from typing import TypeAlias

import numpy as np

from ascertain.model.noisy import Law, NoisyMachine, make_law, without_noise
from ascertain.model.tables import AbstractMachine
from ascertain.types import UNDEFINED, State

_Move: TypeAlias = tuple[State, dict[str, Fraction]]
"""Where an action leads, and the law of what is read, by name; an empty one where nothing is read."""


def product(left: AbstractMachine, right: AbstractMachine) -> AbstractMachine:
    """Both models side by side; a machine when both are machines. Every pair of states is a state."""
    actions = tuple(dict.fromkeys((*left.actions, *right.actions)))
    places = list(pairs_of(range(left.num_states), range(right.num_states)))
    successor = np.full((len(places), len(actions)), UNDEFINED, dtype=np.int32)
    law = successor.copy()
    reading_of: dict[str, int] = {}
    number: dict[Law, int] = {}
    for (at, (s, t)), (a, name) in pairs_of(enumerate(places), enumerate(actions)):
        first, second = _move(left, s, name), _move(right, t, name)
        if first is None or second is None:
            continue
        successor[at, a] = first[0] * right.num_states + second[0]
        both = {f"{y}|{z}": p * q for (y, p), (z, q) in pairs_of(first[1].items(), second[1].items())}
        readings = both or first[1] or second[1]
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
    return without_noise(noisy) if left.is_exact and right.is_exact else noisy


def _move(model: AbstractMachine, state: State, action: str) -> _Move | None:
    """What the action does to one of the two; None where it is forbidden, and nothing where it is not known."""
    if action not in model.actions:
        return state, {}
    a = model.actions.index(action)
    law = model.reading_law(state, a)
    return (model.next_state(state, a), {model.readings[y]: p for y, p in law.items()}) if law else None
