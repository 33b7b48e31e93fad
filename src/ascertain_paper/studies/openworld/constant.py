"""Servers that answer the same whatever is done, the silent one among them: nobody's model, and certified once.

Tried live, a stopped process was certified as a broker from one time-out. For every reading that some known machine
gives, here is a box that gives nothing else: what the closed world calls it, whether conformance exposes it, and, of
the silent one, whether it is certified where silence is no evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ascertain.conformance.specification import Specification
from ascertain.conformance.suite import Suite
from ascertain.model import Machine, Model
from ascertain.pipeline.observe import observe
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.verdict import Certified
from ascertain.problem.conformance import pose_conformance
from ascertain.problem.fingerprint import pose_fingerprint
from ascertain.problem.problem import as_problem
from ascertain.report.tables import Cell, Table
from ascertain_paper.studies.openworld.naming import WORDS, Named, Samples, first_exposing, specify_machine

SILENCE = "-"
"""How learned models of servers usually write that nothing came back."""


def make_constant(actions: Sequence[str], reading: str) -> Machine:
    """A box that gives one reading at every action."""
    return Machine(
        states=("only",),
        actions=tuple(actions),
        readings=(reading,),
        successor=np.zeros((1, len(actions)), dtype=np.int32),
        output=np.zeros((1, len(actions)), dtype=np.int32),
        initial=(0,),
    )


def make_constants(specs: Mapping[str, Specification]) -> dict[str, Machine]:
    """One such box for each reading that some machine gives, and the silent one, by name."""
    some = next(iter(specs.values()))
    actions = [some.model.actions[a] for a in some.actions]
    given = {SILENCE, *(spec.model.readings[y] for spec in specs.values() for row in spec.output for y in row)}
    return {f"always {reading}": make_constant(actions, reading) for reading in sorted(given)}


def expose_constants(
    boxes: Mapping[str, Machine],
    named: Mapping[str, Named],
    specs: Mapping[str, Specification],
    suites: Mapping[str, Suite],
    samples: Samples,
) -> dict[str, Any]:
    """How many of these boxes were named, and how many of those complete suites and samples fail to expose.

    One that is named for what it is, a machine that always answers the same, is no outsider and not counted.
    """
    taken = {box: named[box].name for box in boxes}
    wrong = {box: name for box, name in taken.items() if name is not None and specs[name].num_states > 1}
    missed: Counter[str] = Counter()
    for box, name in wrong.items():
        plant = specify_machine(boxes[box])
        missed["complete"] += first_exposing(suites[name].words, specs[name], plant) is None
        for n, drawn in samples(name).items():
            missed[str(n)] += sum(first_exposing(words, specs[name], plant) is None for words in drawn)
    return {
        "constants": len(boxes),
        "constants_named": len(wrong),
        "silent_named": f"always {SILENCE}" in wrong,
        "constants_missed": missed["complete"],
        "constants_missed_by": {str(n): missed[str(n)] for n in WORDS},
    }


def certify_silence(machines: Mapping[str, Model]) -> bool:
    """Whether the silent box is certified as one of the machines where silence is no evidence."""
    problem = as_problem(pose_fingerprint(machines))
    if SILENCE not in problem.question.model.readings:
        return False
    careful = replace(problem, observe=replace(problem.observe, silence="no evidence"), silence=SILENCE)
    posed = pose_conformance(make_constant(next(iter(machines.values())).actions, SILENCE))
    found = observe(careful, SimulatedPlant(posed.model, int(posed.state[0])), budget=100)
    return isinstance(found.verdict, Certified)


def constant_table(rows: Sequence[Mapping[str, Any]], seeds: int) -> Table:
    """By the number of known classes."""
    body: list[tuple[Cell, ...]] = []
    for known in sorted({row["known"] for row in rows}):
        these = [row for row in rows if row["known"] == known]
        named = sum(row["constants_named"] for row in these)
        body.append(
            (
                known,
                named / len(these),
                f"{sum(row['silent_named'] for row in these)} of {len(these)}",
                sum(row["constants_missed"] for row in these),
                *(f"{sum(row['constants_missed_by'][str(n)] for row in these)} of {named * seeds}" for n in WORDS),
                f"{sum(row.get('silence_certified', False) for row in these)}" if known == rows[0]["known"] else None,
            )
        )
    return Table(
        "constant",
        f"{rows[0]['constants']} servers that always answer the same, the silent one among them",
        (
            *("known", "named in the closed world", "silent one named, of draws", "left by complete:0"),
            *(f"left by sample:{n}, of seeds" for n in WORDS),
            "silent one certified where silence is no evidence",
        ),
        tuple(body),
        "One server for each reading that some machine gives, and one that is silent. Means over draws of the known "
        "classes; the last column for the smallest number of them. The others give a reading that no known machine "
        "gives there, and are none of these at once.",
    )
