"""Questions that grow: families of tasks on which the exact solver is measured, and small ones of each for tests.

A family is a function of a size; hypotheses are states of one machine, or the initial states of many with a reset.
"""

from __future__ import annotations

import itertools
import tarfile
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from ascertain.model import Machine
from ascertain.model.files.dot import parse_dot
from ascertain.problem.fingerprint import pose_fingerprint
from ascertain.quotients.quotient import take_quotient
from ascertain.task.task import Task

Tables = tuple[np.ndarray, np.ndarray]
"""Successors and outputs, a row for each state."""


def counter(n: int) -> Task:
    """Which value has a counter modulo n? One action counts up and reads the wrap, the other counts down."""
    value, output = np.arange(n), np.zeros((n, 2), dtype=np.int32)
    output[n - 1, 0] = 1
    return identify(np.column_stack(((value + 1) % n, (value - 1) % n)), output, range(n))


def mastermind(places: int, colours: int) -> Task:
    """Which code is hidden? Every code is a guess, which changes nothing and reads its marks."""
    codes = np.array(list(itertools.product(range(colours), repeat=places)))
    right = (codes[:, None] == codes[None]).sum(axis=2)
    number = np.stack([(codes == c).sum(axis=1) for c in range(colours)], axis=1)
    shared = np.minimum(number[:, None], number[None]).sum(axis=2)
    _, marks = np.unique(right * (places + 1) + shared, return_inverse=True)
    return identify(np.arange(len(codes))[:, None].repeat(len(codes), 1), marks.reshape(right.shape), range(len(codes)))


def shift_register(bits: int, hypotheses: int) -> Task:
    """What does a register hold? Each action shifts a bit in and reads the one that falls out."""
    n = 1 << bits
    value = np.arange(n)
    out, shifted = value >> (bits - 1) & 1, value << 1 & (n - 1)
    chosen = range(n) if hypotheses >= n else np.random.default_rng(1).choice(n, hypotheses, replace=False).tolist()
    return identify(np.column_stack((shifted, shifted | 1)), np.column_stack((out, out)), chosen)


def random_machine(states: int, hypotheses: int, seed: int = 1, actions: int = 3, readings: int = 2) -> Task:
    """In which of some states is a random machine?"""
    rng = np.random.default_rng(seed)
    successor = rng.integers(0, states, (states, actions))
    output = rng.integers(0, readings, (states, actions))
    return identify(successor, output, rng.choice(states, hypotheses, replace=False).tolist())


def odd_permutations(states: int, hypotheses: int, seed: int = 1, actions: int = 3) -> Task:
    """Every action permutes the states, and one reading, of one action in one state, is odd."""
    rng, output = np.random.default_rng(seed), np.zeros((states, actions), dtype=np.int32)
    output[0, 0] = 1
    successor = np.stack([rng.permutation(states) for _ in range(actions)], axis=1)
    return identify(successor, output, range(hypotheses))


def random_union(machines: int, seed: int = 1, states: int = 10, actions: int = 3, readings: int = 2) -> Task:
    """Which of many small random machines is it?"""
    rng = np.random.default_rng(seed)
    drawn = [
        (rng.integers(0, states, (states, actions)), rng.integers(0, readings, (states, actions)))
        for _ in range(machines)
    ]
    return which_machine(drawn)


def mutants(machines: int, seed: int = 1, states: int = 20, actions: int = 4, readings: int = 3) -> Task:
    """Which of many machines is it that differ from the first in one transition? Equivalent ones share a label."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, states, (states, actions)), rng.integers(0, readings, (states, actions))
    drawn: list[Tables] = [first]
    while len(drawn) < machines:
        successor, output = first[0].copy(), first[1].copy()
        s, a = int(rng.integers(states)), int(rng.integers(actions))
        if rng.random() < 0.5:
            output[s, a] = rng.integers(readings)
        else:
            successor[s, a] = rng.integers(states)
        drawn.append((successor, output))
    return which_machine(drawn)


def locks(machines: int, seed: int = 1, digits: int = 6, actions: int = 4) -> Task:
    """Which code opens the lock? A reading says when it opens; a wrong digit starts over."""
    rng, drawn = np.random.default_rng(seed), list[Tables]()
    for _ in range(machines):
        code = rng.integers(0, actions, digits)
        successor, output = (np.zeros((digits, actions), dtype=np.int32) for _ in range(2))
        successor[np.arange(digits), code] = (np.arange(digits) + 1) % digits
        output[digits - 1, code[-1]] = 1
        drawn.append((successor, output))
    return which_machine(drawn)


def dtls_clients(archive: Path, number: int) -> Task:
    """Which of the first so many DTLS clients of the archive is it, in the order of their names?"""
    with tarfile.open(archive) as files:
        names = sorted(name for name in files.getnames() if name.endswith(".dot"))[:number]
        machines = {Path(name).stem: _read_machine(files, name) for name in names}
    return pose_fingerprint(machines)


def _read_machine(files: tarfile.TarFile, name: str) -> Machine:
    member = files.extractfile(name)
    assert member is not None
    return parse_dot(member.read().decode(), name)


def which_machine(machines: Sequence[Tables]) -> Task:
    """Which of these machines is it, from their first states? The last action is a reset, which reads differently."""
    quiet = max(int(output.max()) for _, output in machines) + 1
    successors: list[np.ndarray] = []
    outputs: list[np.ndarray] = []
    initial: list[int] = []
    total = 0
    for successor, output in machines:
        initial.append(total)
        column = np.ones((len(successor), 1), dtype=np.int64)
        successors.append(np.hstack((successor + total, total * column)))
        outputs.append(np.hstack((output, quiet * column)))
        total += len(successor)
    return identify(np.vstack(successors), np.vstack(outputs), initial)


def identify(successor: np.ndarray, output: np.ndarray, states: Sequence[int]) -> Task:
    """In which of these states is the machine? Equivalent ones share a label."""
    machine = Machine(
        states=tuple(map(str, range(len(successor)))),
        actions=tuple(f"a{a}" for a in range(successor.shape[1])),
        readings=tuple(map(str, range(int(output.max()) + 1))),
        successor=successor.astype(np.int32),
        output=output.astype(np.int32),
    )
    state = np.array(states, dtype=np.int32)
    task = Task(
        model=machine,
        state=state,
        label=np.zeros(len(state), dtype=np.int32),
        labels=("any",),
        cost=(Fraction(1),) * machine.num_actions,
    )
    _, label = np.unique(take_quotient(task).block[state], return_inverse=True)
    return replace(task, label=label.astype(np.int32), labels=tuple(f"class {k}" for k in range(int(label.max()) + 1)))
