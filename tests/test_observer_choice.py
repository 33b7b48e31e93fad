"""What may be done and what is done first: predecessors of forbidden states, non-merging actions, partial machines."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.evidence import Step
from ascertain.evidence.worlds import AbstractWorld
from ascertain.kernels.model.boolean_code import NUM_SOURCES, OPERATIONS
from ascertain.model import Machine, Model
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.model.build import machine_from_transitions
from ascertain.observer.choice import Chooser, merges, prefer_non_merging
from ascertain.observer.guard import Guard, Reach, UnsafePredecessors
from ascertain.observer.probing.planned import PlannedProbing
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.staged import Act, start_observer
from ascertain.policy.verdict import Certified
from ascertain.problem.observer import pose_observer
from ascertain.problem.pose import pose
from ascertain.problem.problem import read_problem
from ascertain.search.exact import solve
from ascertain.search.solution import Solved
from ascertain.task.bank import uniform_bank
from ascertain.task.plant_task import PlantTask, StateRule
from ascertain.types import UNDEFINED
from tests.conftest import ROOT
from tests.strategies import machines, models


@st.composite
def plants(draw: st.DrawFn, flips: tuple[Fraction, ...] = (Fraction(0), Fraction(1, 5))) -> BooleanPlant:
    """Three bits, four commands of up to two gates each."""

    def gate() -> Gate:
        op = draw(st.sampled_from(OPERATIONS))
        target, *sources = draw(st.permutations(range(3)))
        return Gate(op, target, tuple(sources[: NUM_SOURCES[OPERATIONS.index(op)]]))

    commands = tuple(
        Command(f"c{i}", tuple(gate() for _ in range(draw(st.integers(0, 2)))), draw(st.integers(0, 2)))
        for i in range(4)
    )
    return BooleanPlant(("b0", "b1", "b2"), commands, draw(st.sampled_from(flips)))


def what_is_left(world: AbstractWorld) -> list[int]:
    found: list[int] = []

    def note(states: np.ndarray) -> np.ndarray:
        found.extend(int(s) for s in states)
        return np.zeros(states.size, dtype=np.bool_)

    world.may_be_in(note)
    return found


@given(plants(), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=4), st.sets(st.integers(0, 7)))
def test_entrances_are_what_trying_every_action_in_every_state_that_is_left_finds(
    plant: BooleanPlant, steps: list[tuple[int, int]], never: set[int]
) -> None:
    world = BooleanWorld(plant, uniform_bank(range(8)), Fraction(1, 3))
    for action, reading in steps:
        world.observe(action, reading)
    forbidden = np.array(sorted(never), dtype=np.uint64)
    expected = {
        a for a in range(4) if any(plant.step(z, a)[0] in never for z in set(what_is_left(world)) if z not in never)
    }
    if not world.evidence.vanished:
        assert UnsafePredecessors(plant, range(4), forbidden).find_open(world) == expected


@given(st.one_of(plants(), models(partial=False)), st.data())
def test_an_action_merges_when_two_states_of_different_labels_end_alike_and_may_have_read_alike(
    model: BooleanPlant | Model, data: st.DataObject
) -> None:
    num_states = 8 if isinstance(model, BooleanPlant) else model.num_states
    states = data.draw(st.lists(st.integers(0, num_states - 1), min_size=1, max_size=6))
    codes = data.draw(st.lists(st.integers(0, 2), min_size=len(states), max_size=len(states)))
    action = data.draw(st.integers(0, len(model.actions) - 1))
    exact = isinstance(model, Machine) or (isinstance(model, BooleanPlant) and model.flip == 0)
    expected = any(
        model.next_state(y, action) == model.next_state(z, action)
        and k != m
        and (not exact or model.reading_law(y, action) == model.reading_law(z, action))
        for (y, k), (z, m) in combinations(zip(states, codes, strict=True), 2)
    )
    assert merges(model, action, np.array(states, np.uint64), np.array(codes, np.uint64)) == expected


def test_what_would_be_forgotten_is_looked_at_first() -> None:
    plant = BooleanPlant(
        ("b0", "b1"),
        (Command("clear0", (Gate("clear", 0),), 0), Command("look0", (), 0), Command("look1", (), 1)),
        Fraction(1, 50),
    )
    question = PlantTask(model=plant, rule=StateRule(), actions=(0, 1, 2), cost=(Fraction(1),) * 3)
    world = BooleanWorld(plant, uniform_bank(range(4)), Fraction(1, 1000))
    assert prefer_non_merging(world, (0, 1, 2)) == (1, 2)
    assert prefer_non_merging(world, (0,)) == (0,)
    options = ObserverSettings(question=question, alpha=Fraction(1, 1000), policy="eager")
    guard = Guard(options)
    assert Chooser(options).choose(world, guard, world.history) == 1


def test_actions_that_merge_are_used_when_the_others_tell_nothing() -> None:
    """`wait` shows nothing; `empty` tells the full tank from the rest and merges the others."""
    machine = machine_from_transitions(
        [
            *((s, "wait", "-", s) for s in ("low", "half", "full")),
            ("low", "empty", "drip", "low"),
            ("half", "empty", "drip", "low"),
            ("full", "empty", "gush", "low"),
        ]
    )
    task = pose(machine)
    options = ObserverSettings(question=task, alpha=Fraction(0), policy="eager")
    world = options.make_world(uniform_bank(range(3)), Fraction(0))
    assert prefer_non_merging(world, (0, 1)) == (0, 1)


@given(machines(partial=True), st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=5))
@settings(max_examples=60)
def test_reach_is_every_state_that_the_actions_may_have_led_to(machine: Machine, steps: list[tuple[int, bool]]) -> None:
    reach, current = Reach(machine, range(machine.num_states)), set(range(machine.num_states))
    for action, certain in steps:
        a = action % machine.num_actions
        allowed = all(machine.successor[s, a] != UNDEFINED for s in current)
        assert reach.allows(a) == allowed
        if not allowed:
            return
        reach.take(Step(a, None, certain))
        after = {int(machine.successor[s, a]) for s in current}
        current = after if certain else after | current


def test_a_plan_settles_what_looking_ahead_a_step_at_a_time_does_not() -> None:
    problem = read_problem(ROOT / "examples" / "valve" / "leak.toml")
    settings, make_bank = pose_observer(problem)
    optimum = solve(problem.task)
    assert settings.probing == "planned"
    assert isinstance(optimum, Solved)
    task = problem.task
    for h in range(task.num_hypotheses):
        observer, state = start_observer(settings, make_bank), int(task.state[h])
        while isinstance(act := observer.next(), Act):
            reading = int(task.model.output[state, act.action])  # type: ignore[union-attr]
            state = int(task.model.successor[state, act.action])
            observer = observer.update(act.action, reading)
        assert act == Certified(task.labels[task.label[h]])
        assert observer.counters.cost <= optimum.cost


def test_a_plan_that_is_lost_gives_way_to_separating() -> None:
    problem = read_problem(ROOT / "examples" / "valve" / "leak.toml")
    settings, make_bank = pose_observer(problem)
    observer = start_observer(settings, make_bank)
    act = observer.next()
    assert isinstance(act, Act)
    lost = observer.update(act.action, None)
    assert isinstance(lost.next(), Act)
    assert PlannedProbing(problem.task).ask(lost.transcript) is None
    assert PlannedProbing(problem.task).ask(()) == act.action


def test_a_risk_too_small_for_floating_point_can_still_be_watched() -> None:
    problem = read_problem(ROOT / "examples" / "plants" / "lamp.toml")
    observed, make_bank = pose_observer(problem, alpha=Fraction(1, 10**400))
    assert 900 < start_observer(observed, make_bank).view.threshold_nats < 1000
