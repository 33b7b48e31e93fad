"""A program that a strict type checker accepts: the roads, their results by `match`, plants, runs and drawing."""

from fractions import Fraction
from pathlib import Path
from typing import assert_type

from ascertain import (
    Abstained,
    Automaton,
    Bounded,
    Calibration,
    Certified,
    Machine,
    NoneOfThese,
    Observed,
    Operation,
    Pattern,
    Settled,
    SimulatedPlant,
    Solved,
    Task,
    Unsolvable,
    bound,
    calibrate,
    compile_operation,
    draw_policy,
    fingerprint,
    machine_from_transitions,
    observe,
    open_plant,
    pose,
    pose_observer,
    read_model,
    read_problem,
    settle,
    start_observer,
    with_flip,
)


def make_lamp() -> Machine:
    return machine_from_transitions([("off", "press", "on", "light"), ("on", "press", "off", "dark")])


def ask(machine: Machine) -> Task:
    return pose(machine, hypotheses=Pattern("on|off"), cost={"press": "1/2"}, alpha="1/1000", beta=Fraction(1, 100))


def ask_file(files: list[Path]) -> Task:
    """What a file holds is only known when it is read: a hidden model is refused then, not by the type checker."""
    print(fingerprint({file.stem: read_model(file) for file in files}).classes)
    return pose(read_model(files[0]), label={"pattern": "^on"}, never=["off"])


def cost_of(task: Task) -> Fraction | None:
    settled = settle(task, time_limit=5.0)
    assert_type(settled, Settled)
    match settled.solution:
        case Solved(cost=cost):
            assert_type(cost, Fraction)
            return cost
        case Bounded(upper=upper):
            return upper
        case Unsolvable():
            return None


def draw(settled: Settled, path: Path) -> Automaton | None:
    if settled.policy is not None:
        draw_policy(path, settled.task, settled.policy)
    return settled.policy


def run(problem: str) -> str:
    seen = observe(problem, "simulated:7", budget=100)
    assert_type(seen, Observed)
    match seen.run.verdict:
        case Certified(label=label):
            return label
        case Abstained(reason=reason):
            return reason
        case NoneOfThese(witness=witness):
            return witness[-1][1]
        case None:
            return "not ended"


def others(problem: Path, models: list[Path]) -> None:
    posed = read_problem(problem)
    plant = open_plant("simulated:7", posed)
    print(plant.send("press"), read_model(models[0]).actions, SimulatedPlant(make_lamp(), 0).send("press"))
    print(bound(ask(make_lamp())).ratio, fingerprint(models, reset_cost=None).classes)
    print([candidate.weight for candidate in compile_operation(posed, shells=3).candidates])
    print(with_flip(make_lamp(), Fraction(1, 20)).num_states, with_flip(make_lamp(), "1/20").kind)


def made_in_python(task: Task, operation: Operation) -> str:
    seen = observe(task, SimulatedPlant(task.model, "on"), nominal="on", operation=operation)
    settings, make_bank = pose_observer(task)
    observer = start_observer(settings, make_bank)
    calibration = calibrate([[(operation, "on")], [(operation, 0)]])
    assert_type(calibration, Calibration)
    task.model.draw("lamp.svg")
    return f"{seen!r} {observer!r} {calibration!r} {open_plant('simulated:7', task)!r}"


def show(settled: Settled) -> str:
    match settled.solution:
        case Solved(policy=policy):
            policy.draw("tree.svg")
            return str(policy)
        case Unsolvable(members=members):
            return f"{len(members)} hypotheses"
        case Bounded(lower=lower):
            return f"at least {lower}"
