"""Action rules: what they choose, and how many readings they save on small testbed plants."""

from __future__ import annotations

import statistics
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import TaskError
from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.labelling import label_bits, label_table
from ascertain.evidence.laws import tabulate_levels
from ascertain.evidence.probing import (
    AbstractRule,
    FixedSchedule,
    Separating,
    affinities,
    round_robin,
    shortest_splitting_word,
)
from ascertain.evidence.worlds import AbstractWorld, ListWorld, MachineWorld
from ascertain.kernels.evidence.probing import Rivals, step_flips, weigh_flips, weigh_laws
from ascertain.model import Machine
from ascertain.model.abstract import AbstractDeterministic
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.model.build import machine_from_transitions
from ascertain.model.noisy import with_flip
from ascertain.policy.verdict import Certified
from ascertain.task.bank import nominal_bank, uniform_bank
from tests.reference.models import enumerate_noisy
from tests.strategies import names, noisy_machines
from tests.test_worlds import plants

ALPHA = Fraction(1, 10_000)
FLIP = Fraction(1, 20)


def mixing_plant(num_bits: int, seed: int) -> BooleanPlant:
    """Reversible probes of two gates each, tapping every bit, as the testbed has them."""
    random = Random(seed)
    commands = []
    for tap in range(num_bits):
        gates = []
        for _ in range(2):
            op = random.choice(("cnot", "toffoli"))
            target, *sources = random.sample(range(num_bits), 2 if op == "cnot" else 3)
            gates.append(Gate(op, target, tuple(sources)))
        commands.append(Command(f"probe{tap}", tuple(gates), tap))
    return BooleanPlant(names("b", num_bits), tuple(commands), FLIP)


def readings_until_certified(
    world: AbstractWorld, model: AbstractDeterministic, state: int, rule: AbstractRule, seed: int
) -> int:
    random = Random(seed)
    for t in range(2000):
        verdict = world.verdict()
        if verdict is not None:
            assert isinstance(verdict, Certified)
            return t
        action = rule.choose(world)
        law = list(model.reading_law(state, action).items())
        reading = random.choices([y for y, _ in law], [float(p) for _, p in law])[0]
        state = model.next_state(state, action)
        world.observe(action, reading)
    raise AssertionError("no answer")


def test_a_fixed_schedule_is_followed_and_begun_again() -> None:
    plant = mixing_plant(4, 1)
    world = BooleanWorld(plant, nominal_bank(0), ALPHA)
    rule = FixedSchedule((2, 0, 3))
    chosen = []
    for _ in range(5):
        chosen.append(rule.choose(world))
        world.observe(chosen[-1], None)
    assert chosen == [2, 0, 3, 2, 0]
    with pytest.raises(TaskError, match="at least one"):
        FixedSchedule(())


def test_round_robin_taps_every_bit_once_a_round_and_commands_in_turn() -> None:
    commands = tuple(Command(f"c{i}", (), tap) for i, tap in enumerate((1, 0, 1, 2)))
    plant = BooleanPlant(names("b", 3), commands, FLIP)
    world, rule = BooleanWorld(plant, nominal_bank(0), ALPHA), round_robin(plant, range(4))
    chosen = []
    for _ in range(7):
        chosen.append(rule.choose(world))
        world.observe(chosen[-1], None)
    assert chosen == [1, 0, 3, 1, 2, 3, 1]
    assert rule.choose(world, (2, 3)) == 2, "of the bit whose turn it is, the command that is allowed"
    with pytest.raises(TaskError, match="at least one"):
        round_robin(plant, ())


def test_separating_needs_far_fewer_readings_than_round_robin() -> None:
    taken: dict[str, list[int]] = {"round-robin": [], "separating": []}
    for seed in range(8):
        plant = mixing_plant(8, seed % 3)
        actions = tuple(range(8))
        truth = Random(seed).getrandbits(8)
        separating = Separating(plant, actions, depth=2, breadth=4, num_rivals=48)
        for name, rule in (("round-robin", round_robin(plant, actions)), ("separating", separating)):
            world = BooleanWorld(plant, nominal_bank(truth), ALPHA)
            taken[name].append(readings_until_certified(world, plant, truth, rule, seed))
    assert statistics.fmean(taken["separating"]) < 0.8 * statistics.fmean(taken["round-robin"])


def test_a_question_about_one_bit_is_probed_where_that_bit_is_read() -> None:
    plant = BooleanPlant(names("b", 6), tuple(Command(f"read{i}", (), i) for i in range(6)), FLIP)
    world = BooleanWorld(plant, nominal_bank(0b101010), ALPHA, labelling=label_bits(plant, [4]))
    rule = Separating(plant, tuple(range(6)), depth=2)
    for _ in range(4):
        assert world.verdict() is None
        assert rule.choose(world) == 4
        world.observe(4, 0)
    assert world.verdict() == Certified("b4=0")


def test_look_ahead_finds_a_pair_of_actions_of_which_the_first_shows_nothing() -> None:
    hidden = (
        Command("blank", (), 2),
        Command("bring", (Gate("cnot", 1, (0,)),), 2),
        Command("look", (), 1),
    )
    plant = BooleanPlant(names("b", 3), hidden, FLIP)
    world = ListWorld(plant, [0b000, 0b001], nominal_bank(0), ALPHA)
    assert Separating(plant, (0, 1, 2), depth=2).choose(world) == 1
    world.observe(1, 0)
    assert Separating(plant, (0, 1, 2), depth=2).choose(world) == 2


def test_beyond_its_look_ahead_the_rule_travels_toward_a_difference() -> None:
    length = 6
    machine = Machine(
        states=tuple(f"{side}{i}" for side in "xy" for i in range(length)),
        actions=("stay", "walk"),
        readings=("0", "1"),
        successor=np.array([[i, (i // length) * length + min(i % length + 1, length - 1)] for i in range(2 * length)]),
        output=np.array([[int(i == length - 1), 0] for i in range(2 * length)]),
    )
    noisy = with_flip(machine, FLIP)
    labelling = label_table([i // length for i in range(2 * length)], ("x", "y"))
    world = ListWorld(noisy, [0, length], nominal_bank(0), Fraction(1, 100), labelling=labelling)
    rule = Separating(noisy, (0, 1), depth=2)
    for _ in range(length - 1):
        assert rule.choose(world) == 1
        world.observe(1, 0)
    assert rule.choose(world) == 0


def test_costs_decide_between_actions_that_show_the_same() -> None:
    commands = (Command("dear", (), 0), Command("cheap", (), 0))
    plant = BooleanPlant(names("b", 2), commands, FLIP)
    world = BooleanWorld(plant, nominal_bank(0), ALPHA, labelling=label_bits(plant, [0]))
    assert Separating(plant, (0, 1), (Fraction(3), Fraction(1))).choose(world) == 1
    assert Separating(plant, (0, 1), (Fraction(1), Fraction(3))).choose(world) == 0


def test_rules_work_on_machines_and_with_several_candidates() -> None:
    plant = mixing_plant(4, 5)
    machine = enumerate_noisy(plant)
    world = MachineWorld(machine, uniform_bank([3, 9]), ALPHA)
    assert readings_until_certified(world, machine, 9, Separating(machine, tuple(range(4)), depth=2), 7) > 4


def test_equal_seeds_give_equal_runs() -> None:
    plant = mixing_plant(7, 2)

    def run() -> list[object]:
        world = BooleanWorld(plant, nominal_bank(77), ALPHA)
        readings_until_certified(world, plant, 77, Separating(plant, tuple(range(7)), num_rivals=16), 3)
        return list(world.history)

    assert run() == run()


def test_rules_without_actions_or_with_odd_settings_are_refused() -> None:
    plant = mixing_plant(4, 1)
    for arguments in ({"actions": ()}, {"actions": (0, 1), "cost": (Fraction(1),)}, {"actions": (0,), "depth": 0}):
        with pytest.raises(TaskError):
            Separating(plant, **arguments)  # type: ignore[arg-type]


@given(st.data(), plants(max_bits=5))
@settings(max_examples=30)
def test_what_an_action_leaves_is_a_sum_over_rivals(data: st.DataObject, plant: BooleanPlant) -> None:
    state = st.integers(0, (1 << plant.num_bits) - 1)
    rivals, reference = data.draw(st.lists(state, min_size=1, max_size=6)), data.draw(state)
    weight = np.array([data.draw(st.integers(1, 9)) / 8 for _ in rivals])
    current, left = np.array(rivals, dtype=np.uint64), np.empty(plant.num_actions)
    actions = np.arange(plant.num_actions, dtype=np.int32)
    together = Rivals(np.uint64(reference), current, weight)
    weigh_flips(plant.circuit, actions, 0.25, together, left, np.empty_like(current))
    for a in range(plant.num_actions):
        after, shown = plant.step(reference, a)
        steps = [plant.step(z, a) for z in rivals]
        wanted = [w * (1 if y == shown else 0.25) for w, (_, y) in zip(weight, steps, strict=True)]
        assert left[a] == pytest.approx(sum(wanted))
        moved = Rivals(np.uint64(reference), current.copy(), weight.copy())
        assert int(step_flips(plant.circuit, a, 0.25, moved)) == after
        assert moved.current.tolist() == [z for z, _ in steps] and moved.weight == pytest.approx(np.array(wanted))


@given(st.data(), noisy_machines())
@settings(max_examples=40)
def test_affinity_is_the_sum_of_roots_of_products(data: st.DataObject, machine: Machine) -> None:
    state = st.integers(0, machine.num_states - 1)
    rivals, reference = data.draw(st.lists(state, min_size=1, max_size=4)), data.draw(state)
    levels, weight = tabulate_levels(machine), np.ones(len(rivals))
    left = np.empty(machine.num_actions)
    actions = np.arange(machine.num_actions, dtype=np.int32)
    together = Rivals(np.uint64(reference), np.array(rivals, np.uint64), weight)
    weigh_laws(levels.law, actions, affinities(levels), together, left)
    for a in range(machine.num_actions):
        laws = [machine.reading_law(z, a) for z in (reference, *rivals)]
        if not all(laws):
            assert left[a] == -1
        else:
            roots = [sum(float(p * other.get(y, 0)) ** 0.5 for y, p in laws[0].items()) for other in laws[1:]]
            assert left[a] == pytest.approx(sum(roots))


@given(st.data(), noisy_machines(partial=False))
@settings(max_examples=40)
def test_a_splitting_word_splits_and_none_shorter_does(data: st.DataObject, machine: Machine) -> None:
    state = st.integers(0, machine.num_states - 1)
    one, other = data.draw(state), data.draw(state)
    every = range(machine.num_actions)
    word = shortest_splitting_word(machine, [(one, other)], every, every)
    pairs, length = {(one, other)}, 0
    while length < machine.num_states**2:
        length += 1
        if any(
            machine.reading_law(z, a) != machine.reading_law(n, a) for z, n in pairs for a in range(machine.num_actions)
        ):
            break
        pairs = {
            (machine.next_state(z, a), machine.next_state(n, a)) for z, n in pairs for a in range(machine.num_actions)
        }
    else:
        length = 0
    assert len(word) == length
    for a in word[:-1]:
        assert machine.reading_law(one, a) == machine.reading_law(other, a)
        one, other = machine.next_state(one, a), machine.next_state(other, a)
    assert not word or machine.reading_law(one, word[-1]) != machine.reading_law(other, word[-1])


def test_no_rule_chooses_what_is_forbidden_where_the_plant_may_be() -> None:
    rows = [("s0", "p", "0", "s0"), ("s1", "p", "1", "s1"), ("s0", "q", "0", "s0"), ("s1", "q", "1", "s1")]
    m = machine_from_transitions([*rows, ("s2", "q", "0", "s2")])
    noisy = with_flip(m, Fraction(1, 10))
    labelling = label_table([0, 1, 0], ("A", "B"))
    world = MachineWorld(noisy, nominal_bank(0), Fraction(1, 100), labelling=labelling)
    assert not world.is_allowed(0)
    for rule in (Separating(noisy, (0, 1)), FixedSchedule((0, 1))):
        assert rule.choose(world) == 1
    with pytest.raises(TaskError, match="no action of the rule"):
        FixedSchedule((0,)).choose(world)
