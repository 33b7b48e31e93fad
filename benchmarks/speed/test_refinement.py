"""How fast states fall into classes: 100,000 and 1,000,000 states with 8 actions, and AALpy beside us at 2,000.

Run with `pytest benchmarks/speed/test_refinement.py -m '' -s`. Three kinds of machine, none of which is told apart by
what is read at once: *random* (one state in a hundred reads oddly), *copies* (four copies of a random machine with
edges across them, so that there are a quarter as many classes as states) and *lock* (the one state at the end of a
chain reads oddly, and every wrong action leads back to its beginning, so that rounds over all states would be as many
as there are states). AALpy gets a machine that is minimal already, which spares it all merging. Times are processor
times.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ascertain.model import Machine
from ascertain.quotients.refinement import Partition, refine

ACTIONS = 8
SMALL, LARGE = 100_000, 1_000_000
ROUNDS = 3
MOST_VISITS = 2.0
"""Edge visits, over edges times log2(states)."""
MOST_GROWTH = 30.0
"""Time for ten times the states."""
LEAST_LEAD = 50.0
"""AALpy's time over ours."""


def make(successor: np.ndarray, odd: np.ndarray) -> Machine:
    output = np.zeros(successor.shape, dtype=np.int32)
    output[odd, 0] = 1
    return Machine(
        states=tuple(map(str, range(len(successor)))),
        actions=tuple(f"a{i}" for i in range(successor.shape[1])),
        readings=("even", "odd"),
        successor=successor.astype(np.int32),
        output=output,
    )


def random_machine(n: int) -> Machine:
    rng = np.random.default_rng(1)
    return make(rng.integers(0, n, (n, ACTIONS)), rng.choice(n, n // 100, replace=False))


def copies(n: int) -> Machine:
    rng = np.random.default_rng(2)
    quarter = n // 4
    one = rng.integers(0, quarter, (quarter, ACTIONS))
    odd = rng.choice(quarter, quarter // 100, replace=False)
    across = np.tile(one, (4, 1)) + quarter * rng.integers(0, 4, (n, ACTIONS))
    return make(across, np.concatenate([odd + quarter * k for k in range(4)]))


def lock(n: int) -> Machine:
    rng = np.random.default_rng(3)
    successor = np.zeros((n, ACTIONS), dtype=np.int32)
    successor[np.arange(n), rng.integers(0, ACTIONS, n)] = np.minimum(np.arange(n) + 1, n - 1)
    return make(successor, np.array([n - 1]))


KINDS: dict[str, Callable[[int], Machine]] = {"random": random_machine, "copies": copies, "lock": lock}
SHARE = {"random": 1, "copies": 4, "lock": 1}


def best_of(rounds: int, machine: Machine) -> tuple[float, Partition]:
    """The least time of some rounds, and the partition."""
    best, partition = float("inf"), refine(machine)
    for _ in range(rounds):
        start = time.process_time()
        partition = refine(machine)
        best = min(best, time.process_time() - start)
    return best, partition


@pytest.mark.parametrize("kind", KINDS)
def test_time_and_edge_visits_grow_almost_linearly(benchmark: Any, kind: str) -> None:
    seconds: dict[int, float] = {}
    for n in (SMALL, LARGE):
        machine = KINDS[kind](n)
        seconds[n], partition = best_of(ROUNDS, machine)
        per_edge = partition.edge_visits / (n * ACTIONS)
        print(
            f"\n{kind:7} {n:9,} states {partition.num_classes:9,} classes {seconds[n]:7.3f} s"
            f" {per_edge:6.2f} visits an edge, {per_edge / np.log2(n):.3f} over log2",
            end="",
        )
        assert partition.num_classes == n // SHARE[kind]
        assert per_edge <= MOST_VISITS * np.log2(n)
        if n == LARGE:
            benchmark.pedantic(refine, args=(machine,), rounds=1)
    growth = seconds[LARGE] / seconds[SMALL]
    print(f"\n{kind:7} time for ten times the states: {growth:.1f} times")
    assert growth <= MOST_GROWTH


def test_at_two_thousand_states_we_lead_aalpy_by_far(benchmark: Any) -> None:
    automata = pytest.importorskip("aalpy.automata")
    machine = random_machine(2_000)
    states = [automata.MealyState(name) for name in machine.states]
    for s, state in enumerate(states):
        for a in range(ACTIONS):
            state.transitions[a] = states[machine.successor[s, a]]
            state.output_fun[a] = int(machine.output[s, a])
    rival = automata.MealyMachine(states[0], states)
    ours, partition = best_of(20, machine)
    benchmark.pedantic(refine, args=(machine,), rounds=5)
    start = time.process_time()
    rival.minimize()
    theirs = time.process_time() - start
    assert len(rival.states) == partition.num_classes
    print(f"\n2,000 states: ascertain {ours * 1000:.2f} ms, AALpy {theirs:.2f} s: {theirs / ours:,.0f} times")
    assert theirs >= LEAST_LEAD * ours
