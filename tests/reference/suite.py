"""The suite of noisy questions by name, on which two-sided bounds are measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import final

from ascertain.bounds.plant import restrict_plant_task
from ascertain.errors import TaskError
from ascertain.model import Machine
from ascertain.model.files import read_model
from ascertain.model.named import register, shift_register
from ascertain.model.noisy import with_flip
from ascertain.model.union import common_actions, union
from ascertain.problem.pose import Reset, pose
from ascertain.problem.pose_plant import pose_plant
from ascertain.problem.problem import read_problem
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task
from tests.reference.registers import (
    far_sensor,
    lift_door,
    parity_register,
    permutation_automaton,
    reversible_plant,
    ring_register,
    sensor_bank,
)

TENTH = Fraction(1, 10)
FLIPS = (Fraction(1, 100), TENTH, Fraction(1, 5))
REAL: dict[str, tuple[str, ...]] = {
    "BLE chips": ("ble/cc2652r1.dot", "ble/nRF52832.dot", "ble/CYW43455.dot"),
    "MQTT brokers": (
        "automata_wiki/MQTT/ActiveMQ__simple.dot",
        "automata_wiki/MQTT/VerneMQ__simple.dot",
        "automata_wiki/MQTT/hbmqtt__simple.dot",
    ),
    "card readers": (
        "automata_wiki/Edentifier2/learnresult_new_device-simple_fix.dot",
        "automata_wiki/Edentifier2/learnresult_old_device-simple_fix.dot",
    ),
}
"""Real machines of the collection: which of these is it? A reset leads back to where each begins."""


@final
@dataclass(frozen=True)
class Instance:
    """A named question; `make` poses it."""

    name: str
    make: Callable[[], Task | PlantTask]


def list_instances(examples: Path | None = None, models: Path | None = None) -> Iterator[Instance]:
    """The suite; the example machines and the real ones are left out where their directory is not given."""
    for bits in (4, 8, 24):
        yield Instance(f"register {bits}, nominal or not", lambda n=bits: _nominal(n))
        yield Instance(f"register {bits}, which state", lambda n=bits: pose_plant(register(n, TENTH)))
        yield Instance(f"parities {bits}, nominal or not", lambda n=bits: _nominal_parities(n))
        yield Instance(f"parities {bits}, which state", lambda n=bits: _which_parities(n))
    for count in (3, 4, 5, 8):
        yield Instance(f"one of {count} sensors", lambda n=count: pose(sensor_bank(n), flip=TENTH))
    yield Instance("ring register 2, which state", lambda: pose(ring_register(2), flip=TENTH))
    yield Instance("ring register 3, which state", lambda: pose(ring_register(3), flip=TENTH))
    yield Instance("shift register 3, which state", lambda: pose(shift_register(3), flip=TENTH))
    yield Instance("far sensor, 5 places", lambda: pose(far_sensor(5), hypotheses=["left0", "right0"], flip=TENTH))
    yield Instance("permutations, 4 states", lambda: pose(permutation_automaton(4, 2, 1), flip=TENTH))
    yield Instance("permutations, 5 states", lambda: pose(permutation_automaton(5, 2, 2), flip=TENTH))
    yield Instance("lift door, which state", lambda: pose(lift_door(), flip=TENTH))
    yield Instance("8-bit plant, one of 4 states", lambda: plant_question(8, 4, seed=8))
    yield Instance("12-bit plant, one of 4 states", lambda: plant_question(12, 4, seed=12))
    for flip in FLIPS:
        if examples is not None:
            yield Instance(f"valve train, flip {flip}", lambda f=flip: with_noise(examples / "valve/leak.toml", f))
            yield Instance(f"mail servers, flip {flip}", lambda f=flip: with_noise(examples / "servers/which.toml", f))
    if models is not None:
        for name, paths in REAL.items():
            yield Instance(f"{name}, flip 1/10", lambda p=paths: which_machine([models / path for path in p], TENTH))


def _nominal(num_bits: int) -> PlantTask:
    return pose_plant(register(num_bits, TENTH), label={"nominal": "0" * num_bits})


def _which_parities(num_bits: int) -> PlantTask:
    bits = [f"b{i}" for i in range(num_bits)]
    return pose_plant(parity_register(num_bits, TENTH), label={"bits": bits})


def _nominal_parities(num_bits: int) -> PlantTask:
    expression = " and ".join(f"not b{i}" for i in range(num_bits))
    return pose_plant(parity_register(num_bits, TENTH), label={"expression": expression})


def plant_question(num_bits: int, num_states: int, seed: int) -> Task:
    """Which of a few states, far from each other, a plant of reversible commands is in, flip 1/50."""
    plant = reversible_plant(num_bits, 4, Fraction(1, 50), seed)
    step = (1 << num_bits) // num_states
    states = tuple(k * step + k for k in range(num_states))
    return restrict_plant_task(pose_plant(plant, hypotheses=[plant.name_state(z) for z in states]), states, most=5000)


def with_noise(problem: Path, flip: Fraction) -> Task:
    """The question of a problem file, its readings flipped."""
    task = read_problem(problem).listed
    if not isinstance(task, Task) or not isinstance(task.model, Machine):
        raise TaskError(f"{problem}: the question must list its states, on a machine without noise")
    return replace(task, model=with_flip(task.model, flip))


def which_machine(paths: list[Path], flip: Fraction) -> Task:
    """Which of these machines it is, begun in its initial state, on the actions that all of them know and a reset."""
    machines = [read_model(path) for path in paths]
    named = {path.stem: model for path, model in zip(paths, machines, strict=True)}
    both = union(named)  # type: ignore[arg-type]
    return pose(
        both,
        hypotheses="initial",
        label="machine",
        actions=common_actions(machines),  # type: ignore[arg-type]
        reset=Reset("RESET"),
        flip=flip,
    )
