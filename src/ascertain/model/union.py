"""Several machines in one: the truth is in one of them, and stays there.

States are called "machine:state" and remember their machine in `origin`. An action or reading of the same name is the
same; an action that a machine lacks is forbidden in its states.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascertain.errors import ModelError
from ascertain.model.abstract import AbstractMachine
from ascertain.model.machine import Machine
from ascertain.model.noisy import Law, NoisyMachine, make_law
from ascertain.types import UNDEFINED, IntArray


def union(machines: Mapping[str, AbstractMachine]) -> AbstractMachine:
    """The union of the machines; noisy as soon as one of them is."""
    if not machines:
        raise ModelError("a union needs at least one machine; it was given none")
    exact = all(m.is_exact for m in machines.values())
    return _join(machines) if exact else _join_noisy(machines)


def common_actions(machines: Iterable[AbstractMachine]) -> tuple[str, ...]:
    """The actions that every machine knows, in the order of the first."""
    first, *others = machines
    return tuple(a for a in first.actions if all(a in m.actions for m in others))


def _join(parts: Mapping[str, AbstractMachine]) -> Machine:
    frame = _Frame.around(parts)
    output = frame.stack([frame.renumber_readings(m)[m.behaviour] for m in parts.values()])
    return Machine(output=output, **frame.fields())


def _join_noisy(parts: Mapping[str, AbstractMachine]) -> NoisyMachine:
    frame = _Frame.around(parts)
    number: dict[Law, int] = {}
    tables: list[IntArray] = []
    for m in parts.values():
        new = frame.renumber_readings(m)
        laws = [make_law({int(new[y]): p for y, p in law}) for law in m.laws]
        renumber = [number.setdefault(law, len(number)) for law in laws]
        tables.append(np.array([*renumber, UNDEFINED], dtype=np.int32)[m.behaviour])
    return NoisyMachine(law=frame.stack(tables), laws=tuple(number), **frame.fields())


@dataclass(frozen=True)
class _Frame:
    """The parts of a union and where each begins."""

    parts: Mapping[str, AbstractMachine]
    actions: tuple[str, ...]
    readings: tuple[str, ...]
    begin: tuple[int, ...]

    @classmethod
    def around(cls, parts: Mapping[str, AbstractMachine]) -> _Frame:
        machines = list(parts.values())
        ends = np.cumsum([m.num_states for m in machines]).tolist()
        return cls(
            parts=dict(parts),
            actions=tuple(dict.fromkeys(a for m in machines for a in m.actions)),
            readings=tuple(dict.fromkeys(y for m in machines for y in m.readings)),
            begin=(0, *ends[:-1]),
        )

    def renumber_readings(self, model: AbstractMachine) -> IntArray:
        """`new[y]` for every reading of a part; the last entry keeps -1 at -1."""
        place = {y: i for i, y in enumerate(self.readings)}
        return np.array([*(place[y] for y in model.readings), UNDEFINED], dtype=np.int32)

    def stack(self, tables: Sequence[IntArray]) -> IntArray:
        """The tables of the parts, one below the other, each action in its column."""
        height = sum(len(table) for table in tables)
        whole = np.full((height, len(self.actions)), UNDEFINED, dtype=np.int32)
        column = {a: i for i, a in enumerate(self.actions)}
        for at, m, table in zip(self.begin, self.parts.values(), tables, strict=True):
            whole[at : at + m.num_states, [column[a] for a in m.actions]] = table
        return whole

    def fields(self) -> dict[str, Any]:
        placed = list(zip(self.begin, self.parts.items(), strict=True))
        moves = [np.where(m.successor == UNDEFINED, UNDEFINED, m.successor + at) for at, (_, m) in placed]
        return {
            "states": tuple(f"{name}:{s}" for _, (name, m) in placed for s in m.states),
            "actions": self.actions,
            "readings": self.readings,
            "successor": self.stack(moves),
            "initial": tuple(at + s for at, (_, m) in placed for s in m.initial),
            "origin": tuple(name for _, (name, m) in placed for _ in m.states),
        }
