"""The machines of the study: those of a folder, or a family of our own, up to what their common actions can tell."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import final

import numpy as np

from ascertain.errors import FileError, ModelError
from ascertain.model import Machine, Model
from ascertain.model.files import read_listed
from ascertain.model.union import common_actions, union
from ascertain.quotients.refinement import refine

FAMILY, STATES, ACTIONS, READINGS = 12, 8, 9, 5
"""Our own family has the size of a protocol that someone learned: machines, states, actions, readings."""
SEED = 5
"""Draws the family; chosen before anything was evaluated."""


@final
@dataclass(frozen=True, eq=False)
class Population:
    """Machines that differ on their common actions, one for each class, and how many boxes run each."""

    machines: Mapping[str, Model]
    boxes: Mapping[str, int]
    source: str
    """Where they come from, in words."""

    @property
    def num_boxes(self) -> int:
        return sum(self.boxes.values())


def find_population(folder: Path | None) -> Population:
    """The machines below a folder, or our own where none is given."""
    return draw_family() if folder is None else read_population(folder)


def read_population(folder: Path) -> Population:
    """Every .dot file of the folder; `MANIFEST.tsv` there, or beside it, may say how many boxes a file stands for."""
    files = sorted(folder.glob("*.dot"))
    if len(files) < 3:
        raise FileError(
            f"{folder}: {len(files)} models (*.dot); the study leaves machines out, and needs three or more"
        )
    boxes = _read_boxes(folder)
    machines = {file.stem: read_listed(file) for file in files}
    return _gather(machines, {name: boxes.get(f"{name}.dot", 1) for name in machines}, f"{len(files)} machines")


def _read_boxes(folder: Path) -> dict[str, int]:
    """By file name, from the first two columns of a manifest."""
    manifest = next((p for p in (folder / "MANIFEST.tsv", folder.parent / "MANIFEST.tsv") if p.is_file()), None)
    if manifest is None:
        return {}
    with manifest.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file, delimiter="\t") if len(row) > 1 and row[1].isdigit()]
    return {Path(row[0]).name: int(row[1]) for row in rows}


def draw_family() -> Population:
    """A random machine and others that differ from it in one transition or reading: near relatives are hard."""
    rng = Random(SEED)  # noqa: S311  a study must be repeatable, not secret
    successor = np.array([[rng.randrange(STATES) for _ in range(ACTIONS)] for _ in range(STATES)], dtype=np.int32)
    successor[:-1, 0] = np.arange(1, STATES)  # every state can be reached
    output = np.array([[rng.randrange(READINGS) for _ in range(ACTIONS)] for _ in range(STATES)], dtype=np.int32)
    machines: dict[str, Model] = {}
    for number in range(FAMILY):
        tables = [successor.copy(), output.copy()]
        if number:
            s, a = rng.randrange(STATES), rng.randrange(1, ACTIONS)
            table, bound = (tables[0], STATES) if number % 2 else (tables[1], READINGS)
            table[s, a] = (table[s, a] + rng.randrange(1, bound)) % bound
        machines[f"relative{number:02}"] = Machine(
            states=tuple(f"s{s}" for s in range(STATES)),
            actions=tuple(f"a{a}" for a in range(ACTIONS)),
            readings=tuple(f"y{y}" for y in range(READINGS)),
            successor=tables[0],
            output=tables[1],
            initial=(0,),
        )
    return _gather(machines, dict.fromkeys(machines, 1), f"{FAMILY} machines of our own")


def _gather(machines: Mapping[str, Model], boxes: Mapping[str, int], source: str) -> Population:
    """One machine for each class that the common actions can tell, the first by name."""
    actions = common_actions(machines.values())
    if not actions:
        raise ModelError("the machines have no action in common")
    # In one order, so that words mean the same to all of them.
    alike = {name: m.on_actions([m.action_named(a) for a in actions]) for name, m in machines.items()}
    joined = union(alike)
    block = refine(joined).block
    first: dict[int, str] = {}
    count: dict[str, int] = {}
    for name, start in zip(alike, joined.initial, strict=True):
        representative = first.setdefault(int(block[start]), name)
        count[representative] = count.get(representative, 0) + boxes[name]
    return Population({name: alike[name] for name in count}, count, source)
