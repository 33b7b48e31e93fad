"""Look-ahead on Boolean plants against its slow twin, and what it promises."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction
from functools import partial
from itertools import count
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import TaskError
from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.labelling import label_bits
from ascertain.evidence.look_ahead import (
    AIM,
    FINENESS,
    MAX_RIVALS,
    SPARE,
    LookAhead,
    count_by_halving,
    count_to_go,
)
from ascertain.evidence.mixing import PACE, SCALE, find_spread, tabulate_values
from ascertain.evidence.probing import Separating
from ascertain.evidence.worlds import ListWorld, MachineWorld
from ascertain.kernels.evidence.look_ahead import count_bits
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.model.named import register
from ascertain.policy.verdict import Certified
from ascertain.task.bank import nominal_bank, weighted_bank
from tests.reference import look_ahead as slow
from tests.reference.models import enumerate_noisy
from tests.strategies import names
from tests.test_probing import ALPHA, FLIP, mixing_plant, readings_until_certified
from tests.test_worlds import plants


@given(st.integers(0, 2**64 - 1))
def test_bits_are_counted(word: int) -> None:
    assert int(count_bits(np.uint64(word))) == word.bit_count()


@given(plants(max_bits=4), st.integers(0, 6), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_values_are_those_of_a_random_walk_rounded_up(plant: BooleanPlant, to_go: int, most: int) -> None:
    actions = range(plant.num_actions)
    spread = find_spread(plant, actions)
    table = tabulate_values(spread, to_go, most)
    exact = slow.values(plant, actions, to_go, most, PACE)
    assert not table[:2].any()
    for k in range(1, most + 1):
        for d in range(plant.num_bits + 1):
            above = int(table[k + 1, d]) - SCALE * exact[k][d]
            assert 0 <= above <= 1 + to_go * (spread.steps + 1)  # one unit for every time that it is rounded
    assert MAX_RIVALS * int(table.max()) < 2**63


@given(st.integers(0, 20), st.integers(1, 6), st.integers(1, 12))
@settings(max_examples=30)
def test_values_are_binomial_where_nothing_moves(to_go: int, most: int, num_bits: int) -> None:
    spread = find_spread(register(num_bits, FLIP), range(num_bits))
    table = tabulate_values(spread, to_go, most)
    for k in range(1, most + 1):
        for d in range(num_bits + 1):
            p = d / num_bits
            fewer = sum(math.comb(to_go, i) * p**i * (1 - p) ** (to_go - i) for i in range(min(k, to_go + 1)))
            assert int(table[k + 1, d]) == pytest.approx(SCALE * fewer, rel=1e-9, abs=to_go + 1)


@given(st.data(), plants(max_bits=5))
@settings(max_examples=60, deadline=None)
def test_the_search_chooses_what_its_slow_twin_chooses(data: st.DataObject, plant: BooleanPlant) -> None:
    state = st.integers(0, plant.num_states - 1)
    rivals = data.draw(st.lists(st.tuples(state, st.integers(1, 4)), min_size=1, max_size=6))
    reference, to_go = data.draw(state), data.draw(st.integers(1, 9))
    depth, width = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    cost = {a: Fraction(data.draw(st.sampled_from((1, 1, 2, 5))), 2) for a in range(plant.num_actions)}
    usual = data.draw(st.integers(1, 12))
    rule = LookAhead(plant, tuple(cost), tuple(cost.values()), depth=depth, width=width, num_rivals=usual)
    current = np.array([z for z, _ in rivals], dtype=np.uint64)
    needed = np.array([k for _, k in rivals], dtype=np.int64)
    last = data.draw(st.none() | st.integers(0, plant.num_actions - 1))
    chosen = rule.search(tuple(cost), tuple(cost.values()), reference, current, needed, to_go, last)
    spread, most = find_spread(plant, tuple(cost)), int(needed.max())
    values_of = partial(tabulate_values, spread, most=most)
    if len(rivals) < usual:  # the same work
        width = width * usual // len(rivals)
    assert chosen == slow.search(plant, cost, reference, rivals, to_go, depth, width, values_of, FINENESS, last)


def test_a_command_that_only_takes_itself_back_is_not_repeated() -> None:
    """Swapping far bits to and fro looks like mixing to the values; nothing is read by it."""
    swap = Command("swap", (Gate("cnot", 2, (1,)),), 0)
    plant = BooleanPlant(names("b", 3), (swap, Command("look", (), 1)), FLIP)
    rule = LookAhead(plant, (0, 1), depth=1)
    current, needed = np.array([0b010], dtype=np.uint64), np.array([3], dtype=np.int64)
    dear = Fraction(1), Fraction(1000)
    assert rule.search((0, 1), dear, 0, current, needed, 6) == 0
    assert rule.search((0, 1), dear, 0, current, needed, 6, last=0) == 1
    assert rule.search((0,), dear[:1], 0, current, needed, 6, last=0) == 0, "there is nothing else"


def test_readings_to_go_are_the_fewest_that_leave_less_than_the_aim() -> None:
    assert count_by_halving(24, 4) == 39  # 2^24 states of which each may be contradicted three times
    for number, likely in ((38, False), (39, True)):
        beaten_less = sum(math.comb(number, i) for i in range(4))
        assert (Fraction(2**24 * beaten_less, 2**number) <= AIM) == likely
    assert count_to_go([0, 1]) == 1 + SPARE and count_to_go([0, 1000]) == 11


def test_it_takes_fewer_readings_than_separating_on_a_plant_that_has_to_be_mixed() -> None:
    taken: dict[str, list[int]] = {"look-ahead": [], "separating": []}
    for seed in range(12):
        plant, truth = mixing_plant(9, seed % 3), Random(seed).getrandbits(9)
        actions = tuple(range(9))
        for name, rule in (
            ("look-ahead", LookAhead(plant, actions, depth=6, width=8, num_rivals=128)),
            ("separating", Separating(plant, actions)),
        ):
            world = BooleanWorld(plant, nominal_bank(truth), ALPHA)
            taken[name].append(readings_until_certified(world, plant, truth, rule, seed))
    assert statistics.fmean(taken["look-ahead"]) < statistics.fmean(taken["separating"])


def test_a_question_about_one_bit_is_probed_where_that_bit_is_read() -> None:
    plant = BooleanPlant(names("b", 6), tuple(Command(f"read{i}", (), i) for i in range(6)), FLIP)
    world = BooleanWorld(plant, nominal_bank(0b101010), ALPHA, labelling=label_bits(plant, [4]))
    rule = LookAhead(plant, tuple(range(6)), depth=3, width=4)
    for _ in range(4):
        assert world.verdict() is None
        assert rule.choose(world) == 4
        world.observe(4, 0)
    assert world.verdict() == Certified("b4=0")


def test_a_difference_that_is_never_read_does_not_keep_it_from_one_that_is() -> None:
    """Commands move a difference to and fro where no tap is; past its time the rule goes for what can be read."""
    far = tuple(Gate("copy", i + 1, (i,)) for i in reversed(range(11)))
    commands = (Command("shift", far, 12), Command("stir", (Gate("cnot", 13, (0,)),), 12), Command("look", (), 11))
    plant = BooleanPlant(names("b", 14), commands, FLIP)
    world = ListWorld(plant, [0, 1], nominal_bank(0), Fraction(1, 10))
    rule, state = LookAhead(plant, (0, 1, 2), depth=3, width=4), 0
    for t in count():
        if world.verdict() is not None:
            break
        assert t < 400
        action = rule.choose(world)
        state, seen = plant.step(state, action)
        world.observe(action, seen)
    assert world.verdict() == Certified(world.labelling.name(0))


def test_costs_decide_between_actions_that_show_the_same() -> None:
    plant = BooleanPlant(names("b", 2), (Command("dear", (), 0), Command("cheap", (), 0)), FLIP)
    world = BooleanWorld(plant, nominal_bank(0), ALPHA, labelling=label_bits(plant, [0]))
    assert LookAhead(plant, (0, 1), (Fraction(3), Fraction(1))).choose(world) == 1
    assert LookAhead(plant, (0, 1), (Fraction(1), Fraction(3))).choose(world) == 0
    assert LookAhead(plant, (0, 1), (Fraction(1), Fraction(3))).choose(world, (1,)) == 1


def test_rivals_are_expected_to_be_beaten_at_the_threshold_of_the_leader_alone() -> None:
    plant = mixing_plant(4, 1)
    bank = weighted_bank({0: Fraction(1, 1000), 1: Fraction(999, 1000)})
    evidence = BooleanWorld(plant, bank, ALPHA).evidence
    alone = BooleanWorld(plant, weighted_bank({1: Fraction(999, 1000)}), ALPHA).evidence
    assert evidence.threshold <= evidence.leader_threshold == alone.threshold  # type: ignore[attr-defined]


def test_readings_that_say_next_to_nothing_are_for_the_separating_rule() -> None:
    plant = BooleanPlant(names("b", 2), (Command("a", (), 0), Command("b", (), 1)), Fraction(49, 100))
    world = BooleanWorld(plant, nominal_bank(0), Fraction(1, 10**9))
    assert LookAhead(plant, (0, 1)).choose(world) == Separating(plant, (0, 1)).choose(world)
    never = BooleanWorld(mixing_plant(4, 1), nominal_bank(0), Fraction(0))
    assert LookAhead(mixing_plant(4, 1), (0, 1)).choose(never) in (0, 1)


def test_odd_settings_and_other_worlds_are_refused() -> None:
    plant = mixing_plant(4, 1)
    for arguments in ({"actions": ()}, {"actions": (0,), "depth": 0}, {"actions": (0,), "num_rivals": MAX_RIVALS + 1}):
        with pytest.raises(TaskError):
            LookAhead(plant, **arguments)  # type: ignore[arg-type]
    world = MachineWorld(enumerate_noisy(plant), nominal_bank(0), ALPHA)
    with pytest.raises(TaskError, match="Boolean plants only"):
        LookAhead(plant, (0, 1)).choose(world)
