"""Real and hard questions that tests and benchmarks of the exact solver share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from ascertain.model import Machine
from ascertain.model.build import complete, with_reset
from ascertain.model.files import read_model
from ascertain.model.union import union
from ascertain.problem.fingerprint import pose_fingerprint
from ascertain.quotients.quotient import take_quotient
from ascertain.task.task import Task

FINGERPRINTS: dict[str, tuple[str, int]] = {
    "MQTT single_client": ("automata_wiki/MQTT/*__single_client.dot", 6),
    "MQTT two_client_will_retain": ("automata_wiki/MQTT/*__two_client_will_retain.dot", 4),
    "Bankcard": ("automata_wiki/Bankcard/*.dot", 4),
    "tlsprint TLS12": ("tlsprint/TLS12/*.dot", 12),
    "tlsprint TLS10": ("tlsprint/TLS10/*.dot", 12),
    "DTLS servers-all_cert": ("dtls-fuzzer/servers-all_cert/*.dot", 13),
}
"""Name, pattern of the machines' files, optimum with a reset at cost 1."""
DEZYNE = "automata_wiki/FromRhapsodyToDezyne/model4.dot"


def load(path: Path) -> Machine:
    model = read_model(path)
    assert isinstance(model, Machine)
    return model


def fingerprint(
    models: Path, pattern: str, *, reset: int = 1, all_actions: bool = False, completed: bool = False
) -> Task:
    """Which of the machines is it, from their initial states, with a reset? Those alike on these actions are one label.

    Actions are those common to all machines, or all of them: then either forbidden where a machine lacks them or
    completed with self-loops.
    """
    machines = {path.stem: load(path) for path in sorted(models.glob(pattern))}
    if not all_actions:
        return pose_fingerprint(machines, reset_cost=reset)
    joint = with_reset(complete(union(machines)) if completed else union(machines), "RESET")
    assert isinstance(joint, Machine)
    return relabelled(joint, joint.initial, {"RESET": reset})


def all_states(machine: Machine) -> Task:
    """Which state is it? Equivalent states are one label."""
    return relabelled(machine, range(machine.num_states), {})


def relabelled(machine: Machine, states: Iterable[int], cost: dict[str, int]) -> Task:
    """The hypotheses are these states and the label of each is its class."""
    state = np.array(list(states), dtype=np.int32)
    task = Task(
        model=machine,
        state=state,
        label=np.zeros(len(state), dtype=np.int32),
        labels=("any",),
        cost=tuple(Fraction(cost.get(name, 1)) for name in machine.actions),
    )
    _, label = np.unique(take_quotient(task).block[state], return_inverse=True)
    return replace(task, label=label, labels=tuple(f"class {i}" for i in range(int(label.max()) + 1)))


def permutation_machine(seed: int, states: int, actions: int = 3) -> Machine:
    """Every action permutes the states; one reading, of one action in one state, is odd."""
    random = np.random.default_rng(seed)
    output = np.zeros((states, actions), dtype=np.int32)
    output[0, 0] = 1
    return Machine(
        states=tuple(f"s{i}" for i in range(states)),
        actions=tuple(f"a{i}" for i in range(actions)),
        readings=("even", "odd"),
        successor=np.stack([random.permutation(states) for _ in range(actions)], axis=1).astype(np.int32),
        output=output,
    )


def hard_task(seed: int, states: int, hypotheses: int) -> Task:
    """Tell the first few states of a permutation machine apart: each question can at best single out one of them."""
    return relabelled(permutation_machine(seed, states), range(hypotheses), {})
