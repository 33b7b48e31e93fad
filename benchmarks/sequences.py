"""The toolbox of state identification: its limits, and characterising sets beside those of AALpy in the same run.

    python -m benchmarks.sequences [--models FOLDER] [--random COUNT [--tables FILE]] [--large]

Seconds are of processor time, of a second call in one process. *Cost* is the number of actions in all words, and of a
tree its depth. With `--models` every `.dot` below the folder that is a complete machine of 2 to 40 classes is taken,
minimised for both sides. `--random` asks every kind of so many random machines, and `--tables` writes them for other
libraries: a line has the numbers of states, of actions and of chosen states, then for each state and each action the
successor and the reading, then the chosen states. `--sizes` are the least and the most states of these machines.
`--large` grows splitting trees of machines of a million states, and says what memory the process took.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from tests.test_sequences import cerny

from ascertain.errors import AscertainError
from ascertain.model import Machine, Model
from ascertain.model.files import read_listed
from ascertain.model.files.aalpy import to_aalpy
from ascertain.pipeline.found_sequence import SequenceKind
from ascertain.pipeline.sequence import find_sequence
from ascertain.problem.pose import pose
from ascertain.quotients.quotient import reduce_model
from ascertain.quotients.refinement import refine
from ascertain.sequences.characterising import MOST_COVERED, find_characterising_set
from ascertain.sequences.separating_tree import grow_separating_tree
from ascertain.task.task import Task

KINDS: tuple[SequenceKind, ...] = (
    "adaptive-distinguishing",
    "preset-distinguishing",
    "preset-homing",
    "synchronizing",
    "uio",
    "characterising-set",
    "identifiers",
)
"""Those that other libraries have."""

T = TypeVar("T")


def timed(call: Callable[[], T]) -> tuple[T, float]:
    """What a second call gives, and its processor seconds."""
    call()
    began = time.process_time()
    return call(), time.process_time() - began


def compare_sets(folder: Path) -> Iterator[tuple[str, int, int, float, int, float]]:
    """Cost and seconds of our characterising set and of AALpy's, for each model."""
    for path in sorted(folder.rglob("*.dot")):
        try:
            machine = read_listed(path)
        except AscertainError:
            continue
        reduced = reduce_model(machine, refine(machine))
        if not (reduced.is_exact and reduced.is_total and 2 <= reduced.num_states <= MOST_COVERED):
            continue
        model: Model = reduced if len(reduced.initial) == 1 else reduced.rebuilt(**tables(reduced), initial=(0,))
        assert isinstance(model, Machine)
        rival = to_aalpy(model)
        theirs, their_seconds = timed(partial(rival.compute_characterization_set, online_suffix_closure=False))
        cost = np.ones(model.num_actions, dtype=np.int64)
        (ours, _), seconds = timed(partial(find_characterising_set, model, cost))
        yield path.stem, model.num_states, sum(map(len, ours)), seconds, sum(map(len, theirs)), their_seconds


def tables(model: Model) -> dict[str, np.ndarray]:
    return {"successor": model.successor, "behaviour": model.behaviour}


def random_machines(count: int, sizes: tuple[int, int]) -> Iterator[tuple[Machine, list[int]]]:
    """Minimal machines of two readings, and some of the states of each; two in five have permutations as actions."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        while True:
            n, p = int(rng.integers(sizes[0], sizes[1] + 1)), int(rng.integers(2, 4))
            if seed % 5 < 2:
                successor = np.stack([rng.permutation(n) for _ in range(p)], axis=1)
            else:
                successor = rng.integers(0, n, (n, p))
            output = rng.random((n, p)) < (0.15 if seed % 2 else 0.5)
            machine = Machine(
                states=tuple(f"s{s}" for s in range(n)),
                actions=tuple("abc"[:p]),
                readings=("0", "1"),
                successor=successor.astype(np.int32),
                output=output.astype(np.int32),
            )
            if refine(machine).num_classes == n:
                break
        chosen = rng.permutation(n)
        yield machine, sorted(map(int, chosen[: int(rng.integers(3, n))] if n > 3 else chosen[:2]))


def write_tables(path: Path, machines: list[tuple[Machine, list[int]]]) -> None:
    with path.open("w") as file:
        for machine, chosen in machines:
            table = np.stack([machine.successor, machine.behaviour], axis=2)
            file.write(" ".join(map(str, (*table.shape[:2], len(chosen), *table.reshape(-1), *chosen))) + "\n")


def restrict(task: Task, chosen: list[int]) -> Task:
    """The question which of the chosen states it was."""
    names = tuple(task.model.states[s] for s in chosen)
    here = np.array(chosen, dtype=np.int32)
    return replace(task, state=here, label=np.arange(len(here), dtype=np.int32), labels=names, state_label=None)


def ask_every_kind(machines: list[tuple[Machine, list[int]]]) -> Iterator[tuple[str, int, int, int, float]]:
    """For each kind how many answers there are, their cost, their words, and the seconds, certificates included."""
    questions = [("of all states", kind, [pose(machine) for machine, _ in machines]) for kind in KINDS]
    some = [restrict(pose(machine), chosen) for machine, chosen in machines]
    for whom, kind, tasks in [*questions, ("of some states", KINDS[0], some)]:
        answers = [timed(partial(find_sequence, kind, task)) for task in tasks]
        found = [answer for answer, _ in answers if answer.status == "found"]
        cost, words = sum(int(answer.upper or 0) for answer in found), sum(len(answer.words) for answer in found)
        yield f"{kind} {whom}", len(found), cost, words, sum(seconds for _, seconds in answers)


def large_machines() -> Iterator[tuple[str, Machine]]:
    """Machines of a million states: random ones, and a counter whose words are as long as they can be."""
    n, rng = 10**6, np.random.default_rng(0)
    names = tuple(map(str, range(n)))
    for num_actions, num_readings in ((2, 2), (10, 5)):
        successor = rng.integers(0, n, (n, num_actions)).astype(np.int32)
        output = rng.integers(0, num_readings, (n, num_actions)).astype(np.int32)
        actions, readings = (tuple(f"{k}" for k in range(count)) for count in (num_actions, num_readings))
        yield (
            f"random, {num_actions} actions",
            Machine(states=names, actions=actions, readings=readings, successor=successor, output=output),
        )
    here = np.arange(n, dtype=np.int32)
    output = (here == 0).astype(np.int32)[:, None]
    yield (
        "counter",
        Machine(states=names, actions=("t",), readings=("0", "1"), successor=((here + 1) % n)[:, None], output=output),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--random", type=int, metavar="COUNT")
    parser.add_argument("--sizes", type=int, nargs=2, default=(3, 8), metavar=("LEAST", "MOST"))
    parser.add_argument("--tables", type=Path, metavar="FILE")
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    print("| Cerny's machine | bounds | seconds |\n|---|---|---|")
    for n in (8, 12, 16, 32, 64, 128):
        began = time.process_time()
        found = find_sequence("synchronizing", pose(cerny(n)))
        print(f"| {n} states, (n - 1)^2 = {(n - 1) ** 2} | {found.lower} .. {found.upper} | ", end="")
        print(f"{time.process_time() - began:.2f} |")
    if options.models is not None:
        rows = list(compare_sets(options.models))
        print("\n| model | classes | W: cost | seconds | AALpy: cost | seconds |\n|---|---|---|---|---|---|")
        for row in rows:
            print("| {} | {} | {} | {:.3f} | {} | {:.3f} |".format(*row))
        ours, theirs = sum(row[2] for row in rows), sum(row[4] for row in rows)
        less, more = (sum(sign * (row[2] - row[4]) < 0 for row in rows) for sign in (1, -1))
        print(f"\n{len(rows)} models, cost {ours} in all, AALpy {theirs}; less on {less}, more on {more}")
    if options.random is not None:
        machines = list(random_machines(options.random, tuple(options.sizes)))
        if options.tables is not None:
            write_tables(options.tables, machines)
        print(f"\n| {len(machines)} random machines | found | cost | words | seconds |\n|---|---|---|---|---|")
        for line in ask_every_kind(machines):
            print("| {} | {} | {} | {} | {:.2f} |".format(*line), flush=True)
    if options.large:
        head = ("a million states", "classes", "dearest word", "seconds, first call", "again", "MB")
        print(f"\n| {' | '.join(head)} |\n{'|---' * len(head)}|")
        for name, machine in large_machines():
            began = time.process_time()
            tree = grow_separating_tree(machine)
            first, began = time.process_time() - began, time.process_time()
            tree = grow_separating_tree(machine)
            again = time.process_time() - began
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(f"| {name} | {tree.num_classes} | {tree.dearest} | {first:.1f} | {again:.1f} | {most} |", flush=True)


if __name__ == "__main__":
    main()
