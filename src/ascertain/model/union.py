"""Several machines in one: the truth is in one of them, and stays there.

States are called "machine:state" and remember their machine in `origin`. An action or reading of the same name is the
same; an action that a machine lacks is forbidden in its states.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ascertain.errors import ModelError
from ascertain.model.build import number_names
from ascertain.model.noisy import Law, NoisyMachine, make_law, without_noise
from ascertain.model.tables import AbstractMachine
from ascertain.types import UNDEFINED, State


def union(machines: Mapping[str, AbstractMachine]) -> AbstractMachine:
    """The union of the machines; noisy as soon as one of them is."""
    if not machines:
        raise ModelError("a union needs at least one machine; it was given none")
    parts = list(machines.values())
    if any(m.noise_bound is not None for m in parts):
        raise ModelError("a union is made before its noise is bounded; join the machines first")
    column = number_names(a for m in parts for a in m.actions)
    reading = number_names(y for m in parts for y in m.readings)
    successor = np.full((sum(m.num_states for m in parts), len(column)), UNDEFINED, dtype=np.int32)
    law, number, initial, begin = successor.copy(), dict[Law, int](), list[State](), 0
    for m in parts:
        # The states of a part stand below those of the parts before it, each action in its column.
        cells = np.ix_(range(begin, begin + m.num_states), [column[a] for a in m.actions])
        renamed = [make_law({reading[m.readings[y]]: p for y, p in known}) for known in m.laws]
        renumber = [number.setdefault(known, len(number)) for known in renamed]
        successor[cells] = np.where(m.defined, m.successor + begin, UNDEFINED)
        law[cells] = np.array([*renumber, UNDEFINED], dtype=np.int32)[m.behaviour]
        initial += [begin + s for s in m.initial]
        begin += m.num_states
    joined = NoisyMachine(
        states=tuple(f"{name}:{s}" for name, m in machines.items() for s in m.states),
        actions=tuple(column),
        readings=tuple(reading),
        successor=successor,
        initial=tuple(initial),
        origin=tuple(name for name, m in machines.items() for _ in m.states),
        law=law,
        laws=tuple(number),
    )
    return without_noise(joined) if all(m.is_exact for m in parts) else joined


def common_actions(machines: Iterable[AbstractMachine]) -> tuple[str, ...]:
    """The actions that every machine knows, in the order of the first."""
    first, *others = machines
    return tuple(a for a in first.actions if all(a in m.actions for m in others))
