"""Which learner asks the fewest words? L# and KV of AALpy, with our conformance as equivalence oracle.

    python benchmarks/learners.py FOLDER [FILE ...]

prints, for every .dot file, how many words reach the plant until a model passes sample:100 and complete:1.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import aalpy.learning_algs
from aalpy.learning_algs import run_KV

from ascertain.model.build import with_reset
from ascertain.model.files import read_listed
from ascertain.pipeline.learn import Learned, learn
from ascertain.plant.simulated import SimulatedPlant

METHODS = ("sample:100", "complete:1")
"""Strict enough for both to end with the same model, on the machines that we know."""


def run_kv(actions: list[str], system: Any, oracle: Any, **options: Any) -> Any:
    """KV in place of L#, with the options that both have."""
    shared = {key: options[key] for key in ("automaton_type", "cache_and_non_det_check", "print_level")}
    return run_KV(actions, system, oracle, **shared)


def measure(path: Path, algorithm: str) -> Learned:
    machine = read_listed(path)
    whole = machine if "RESET" in machine.actions else with_reset(machine, "RESET")
    plant = SimulatedPlant(whole, whole.initial[0])
    actions = [action for action in machine.actions if action != "RESET"]
    if algorithm == "KV":
        with patch.object(aalpy.learning_algs, "run_Lsharp", run_kv):
            return learn(plant, actions, votes=1, seed="1", conform_by=METHODS)
    return learn(plant, actions, votes=1, seed="1", conform_by=METHODS)


def main() -> None:
    named = [Path(word) for word in sys.argv[1:]]
    files = [file for path in named for file in (sorted(path.glob("*.dot")) if path.is_dir() else [path])]
    print("| model | L# | KV |\n|---|---|---|")
    for file in files:
        cells = []
        for algorithm in ("L#", "KV"):
            found = measure(file, algorithm)
            size = None if found.machine is None else found.machine.num_states
            cells.append(f"{found.queries} words, {found.actions} actions, {size} states")
        print(f"| {file.stem} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
