"""How long the checker takes to verify complete conformance.

    python benchmarks/check_conformance.py

Random machines, and combination locks, whose states only long words tell apart, conform to themselves; each certificate
is then checked by `python -P -m ascertain_check` in a process of its own. Printed for each: the runs, the nodes of the
observed tree, the size of the certificate and the seconds of processor time of the whole command.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

import numpy as np

from ascertain.model import Machine
from ascertain.pipeline.conform import conform
from ascertain.plant.simulated import SimulatedPlant
from ascertain.problem.conformance import pose_conformance


def build(successor: list[list[int]], output: list[list[int]]) -> Machine:
    return Machine(
        states=tuple(f"s{s}" for s in range(len(successor))),
        actions=tuple(f"a{a}" for a in range(len(successor[0]))),
        readings=tuple(f"y{y}" for y in range(1 + max(map(max, output)))),
        successor=np.array(successor, dtype=np.int32),
        output=np.array(output, dtype=np.int32),
        initial=(0,),
    )


def draw_machine(states: int, actions: int, readings: int) -> Machine:
    rng = Random(f"{states} {actions} {readings}")
    successor = [[rng.randrange(states) for _ in range(actions)] for _ in range(states)]
    for s in range(states - 1):
        successor[s][0] = s + 1
    return build(successor, [[rng.randrange(readings) for _ in range(actions)] for _ in range(states)])


def draw_lock(states: int, actions: int) -> Machine:
    """Only the word 0 0 ... 0 opens it; every other action leads back to the start."""
    successor = [[(s + 1) % states, *(0,) * (actions - 1)] for s in range(states)]
    return build(successor, [[int(s == states - 1), *(0,) * (actions - 1)] for s in range(states)])


def measure(name: str, machine: Machine, extra: int) -> None:
    task = pose_conformance(machine)
    with tempfile.TemporaryDirectory() as home:
        file = Path(home) / "c.json"
        found = conform(task, SimulatedPlant(task.model, int(task.state[0])), complete=extra, certificate=file)
        nodes = len({word[:n] for word in found.plan.words for n in range(len(word) + 1)})
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-P", "-m", "ascertain_check", str(file.with_name("c.task.json")), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        runs = len(found.plan.words)
        print(
            f"{name}, complete:{extra}: {done.stdout.splitlines()[0]}, {runs:,} runs, {nodes:,} nodes, "
            f"{file.stat().st_size:,} bytes, {seconds:.2f} s",
            flush=True,
        )


def main() -> int:
    measure("10 states, 10 actions, 3 readings", draw_machine(10, 10, 3), 0)
    measure("30 states, 20 actions, 4 readings", draw_machine(30, 20, 4), 0)
    measure("8 states, 8 actions, 3 readings", draw_machine(8, 8, 3), 1)
    measure("3 states, 2 actions, 2 readings", draw_machine(3, 2, 2), 7)
    measure("lock of 20 states, 3 actions", draw_lock(20, 3), 0)
    measure("lock of 30 states, 4 actions", draw_lock(30, 4), 0)
    measure("lock of 60 states, 2 actions", draw_lock(60, 2), 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
