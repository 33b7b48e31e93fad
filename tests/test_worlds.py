"""Worlds against the dictionary that follows the definition, rival by rival."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import LimitError, TaskError
from ascertain.evidence import boolean_world
from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.evidence import Doubts
from ascertain.evidence.groups import Group, keep_strongest
from ascertain.evidence.labelling import label_bits, label_expression, label_nominal, label_states, label_table
from ascertain.evidence.worlds import AbstractWorld, ListWorld, MachineWorld
from ascertain.model import Machine, NoisyMachine
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.model.build import machine_from_transitions
from ascertain.model.expression import parse_expression
from ascertain.model.noisy import with_flip
from ascertain.policy.verdict import Abstained, Certified
from ascertain.task.bank import Bank, nominal_bank, reuse_bank, uniform_bank, weighted_bank
from ascertain.types import LongArray
from tests.reference.models import enumerate_noisy
from tests.reference.worlds import NaiveWorld
from tests.strategies import names, noisy_machines

ALPHAS = (Fraction(1, 4), Fraction(1, 10), Fraction(1, 64), Fraction(1, 1000))
FLIPS = (Fraction(0), Fraction(1, 50), Fraction(1, 5), Fraction(1, 3), Fraction(49, 100))
ARITY = {"and": 2, "or": 2, "xor": 2, "not": 0, "copy": 1, "set": 0, "clear": 0, "cnot": 1, "toffoli": 2}


@st.composite
def gates(draw: st.DrawFn, num_bits: int) -> Gate:
    known = [op for op, arity in ARITY.items() if arity < num_bits]
    op = draw(st.sampled_from(known))
    bits = draw(st.permutations(range(num_bits)))
    return Gate(op, bits[0], tuple(bits[1 : 1 + ARITY[op]]))


@st.composite
def plants(draw: st.DrawFn, max_bits: int = 7) -> BooleanPlant:
    n = draw(st.integers(1, max_bits))
    commands = tuple(
        Command(f"c{i}", tuple(draw(st.lists(gates(n), max_size=3))), draw(st.integers(0, n - 1)))
        for i in range(draw(st.integers(1, 4)))
    )
    return BooleanPlant(names("b", n), commands, draw(st.sampled_from(FLIPS)))


@st.composite
def banks(draw: st.DrawFn, num_states: int) -> Bank:
    states = draw(st.lists(st.integers(0, num_states - 1), min_size=1, max_size=4, unique=True))
    parts = [draw(st.integers(1, 5)) for _ in states]
    spare = draw(st.integers(0, 2))
    return weighted_bank({z: Fraction(p, sum(parts) + spare) for z, p in zip(states, parts, strict=True)})


@st.composite
def steps(draw: st.DrawFn, num_actions: int, num_readings: int, max_size: int = 12) -> list[tuple[str, int, int]]:
    kinds = st.sampled_from(("read", "read", "read", "read", "missing", "doubt"))
    return draw(
        st.lists(st.tuples(kinds, st.integers(0, num_actions - 1), st.integers(0, num_readings - 1)), max_size=max_size)
    )


def feed(world: AbstractWorld | NaiveWorld, step: tuple[str, int, int]) -> None:
    kind, action, reading = step
    if kind == "doubt":
        world.doubt(action)
    else:
        world.observe(action, reading if kind == "read" else None)


def agree(world: AbstractWorld, naive: NaiveWorld, states: list[int]) -> None:
    """The same rivals are left, the strongest is the same, and so is the verdict."""
    label_of = lambda h, current: int(  # noqa: E731
        world.labelling.code(
            np.array([{"start": states[h], "current": current, "hypothesis": h}[world.labelling.about]], np.uint64)
        )[0]
    )
    left = naive.left(label_of)
    listed = {
        (int(h), group.ran): int(code)
        for group in world.strongest_rivals(2**63, 10**6)
        for h, code in zip(group.hypothesis, world.codes(group), strict=True)
    }
    assert listed == left
    for label in sorted(set(left.values()))[:3]:
        rivals = {case: naive.likelihood[case] for case, other in left.items() if other != label}
        assert world.rivals_left(label) == len(rivals)
        strongest = world.strongest_rival(label)
        if not rivals:
            assert strongest is None
        else:
            assert strongest is not None
            likelihood = naive.likelihood[strongest.hypothesis, strongest.ran]
            assert likelihood == max(rivals.values())
            assert strongest.current == naive.state[strongest.hypothesis, strongest.ran]
            assert math.exp(strongest.evidence_nats) == pytest.approx(float(naive.numerator / likelihood), rel=1e-6)
    if len(set(left.values())) > 1:
        assert world.verdict() is None
    elif left:
        assert world.verdict() == Certified(world.labelling.name(next(iter(left.values()))))
    else:
        assert isinstance(world.verdict(), Abstained)


def compare(world: AbstractWorld, naive: NaiveWorld, states: list[int], taken: list[tuple[str, int, int]]) -> None:
    """Feed both and compare after each step, until no candidate explains the readings."""
    agree(world, naive, states)
    for step in taken:
        feed(world, step)
        feed(naive, step)
        if naive.numerator == 0:
            assert isinstance(world.verdict(), Abstained)
            return
        agree(world, naive, states)


@given(st.data(), plants())
@settings(max_examples=60)
def test_a_boolean_world_holds_the_rivals_that_the_definition_holds(data: st.DataObject, plant: BooleanPlant) -> None:
    size = 1 << plant.num_bits
    bank = data.draw(banks(size))
    alpha = data.draw(st.sampled_from(ALPHAS))
    bits = data.draw(st.lists(st.integers(0, plant.num_bits - 1), min_size=1, unique=True))
    about = data.draw(st.sampled_from(("start", "current")))
    labelling = data.draw(
        st.sampled_from((label_states(), label_bits(plant, bits, about), label_nominal(bank.states[0])))
    )
    world = BooleanWorld(plant, bank, alpha, labelling=labelling)
    naive = NaiveWorld(plant, list(range(size)), bank, alpha)
    taken = data.draw(steps(plant.num_actions, 2).filter(lambda s: sum(k == "doubt" for k, _, _ in s) <= 2))
    compare(world, naive, list(range(size)), taken)


@given(st.data(), plants())
@settings(max_examples=40)
def test_a_boolean_world_asked_only_at_the_end_says_the_same(data: st.DataObject, plant: BooleanPlant) -> None:
    size = 1 << plant.num_bits
    bank = data.draw(banks(size))
    alpha = data.draw(st.sampled_from(ALPHAS))
    world = BooleanWorld(plant, bank, alpha)
    naive = NaiveWorld(plant, list(range(size)), bank, alpha)
    for step in data.draw(steps(plant.num_actions, 2, 20).filter(lambda s: sum(k == "doubt" for k, _, _ in s) <= 2)):
        feed(world, step)
        feed(naive, step)
        if naive.numerator == 0:
            return
    agree(world, naive, list(range(size)))


@given(st.data(), plants(max_bits=5))
@settings(max_examples=40)
def test_a_list_of_states_of_a_boolean_plant_is_filtered_alike(data: st.DataObject, plant: BooleanPlant) -> None:
    size = 1 << plant.num_bits
    states = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=6))
    bank = data.draw(banks(size))
    alpha = data.draw(st.sampled_from(ALPHAS))
    codes = [data.draw(st.integers(0, 2)) for _ in states]
    labelling = label_table(codes, ("x", "y", "z"), "hypothesis")
    world = ListWorld(plant, states, bank, alpha, labelling=labelling)
    taken = data.draw(steps(plant.num_actions, 2).filter(lambda s: sum(k == "doubt" for k, _, _ in s) <= 2))
    compare(world, NaiveWorld(plant, states, bank, alpha), states, taken)


@given(st.data(), noisy_machines(partial=False))
@settings(max_examples=80)
def test_a_machine_world_is_exact_under_any_reading_laws(data: st.DataObject, machine: Machine) -> None:
    states = list(range(machine.num_states))
    bank = data.draw(banks(len(states)))
    alpha = data.draw(st.sampled_from(ALPHAS))
    codes = [data.draw(st.integers(0, 2)) for _ in states]
    labelling = label_table(codes, ("x", "y", "z"), data.draw(st.sampled_from(("start", "current"))))
    world = MachineWorld(machine, bank, alpha, labelling=labelling)
    taken = data.draw(
        steps(machine.num_actions, len(machine.readings)).filter(lambda s: sum(k == "doubt" for k, _, _ in s) <= 2)
    )
    compare(world, NaiveWorld(machine, states, bank, alpha), states, taken)


@given(st.data(), plants(max_bits=5))
@settings(max_examples=40)
def test_a_plant_and_the_machine_it_enumerates_to_leave_the_same_rivals(
    data: st.DataObject, plant: BooleanPlant
) -> None:
    bank = data.draw(banks(1 << plant.num_bits))
    alpha = data.draw(st.sampled_from(ALPHAS))
    dense = BooleanWorld(plant, bank, alpha)
    table = MachineWorld(enumerate_noisy(plant), bank, alpha)
    for step in data.draw(steps(plant.num_actions, 2).filter(lambda s: sum(k == "doubt" for k, _, _ in s) <= 2)):
        feed(dense, step)
        feed(table, step)
        assert dense.verdict() == table.verdict()
        if dense.verdict() is not None:
            return
        for state in bank.states:
            assert dense.rivals_left(state) == table.rivals_left(state)
            assert dense.evidence_against(state) == pytest.approx(table.evidence_against(state), abs=1e-6)


@given(st.data(), plants(max_bits=6))
@settings(max_examples=30)
def test_a_later_part_of_the_bank_counts_as_if_it_had_been_there(data: st.DataObject, plant: BooleanPlant) -> None:
    size = 1 << plant.num_bits
    nominal = data.draw(st.integers(0, size - 1))
    others = uniform_bank({(nominal + 1) % size, (nominal + 2) % size})
    rest = Bank(others.states, tuple(w / 2 for w in others.weights))
    lazy = BooleanWorld(plant, reuse_bank(nominal, Fraction(1, 200), Fraction(1, 100), lambda: rest), Fraction(1, 100))
    weight = {nominal: Fraction(1, 2)}
    for z, w in zip(rest.states, rest.weights, strict=True):
        weight[z] = weight.get(z, Fraction(0)) + w
    whole = BooleanWorld(plant, weighted_bank(weight), Fraction(1, 100))
    alone = BooleanWorld(plant, nominal_bank(nominal), Fraction(1, 200))
    for step in data.draw(steps(plant.num_actions, 2).filter(lambda s: all(k != "doubt" for k, _, _ in s))):
        for world in (lazy, whole, alone):
            feed(world, step)
        assert lazy.verdict() == (whole if alone.evidence.vanished else alone).verdict()
    lazy.complete_bank()
    assert lazy.verdict() == whole.verdict()
    if not isinstance(whole.verdict(), Abstained):
        assert lazy.rivals_left(nominal) == whole.rivals_left(nominal)


@pytest.mark.parametrize("seed", range(4))
def test_the_sweep_and_the_list_leave_the_same_states_with_the_same_counts(seed: int) -> None:
    """Large enough for whole tiles, squeezing and single states; the list is another kernel."""
    random, n = Random(seed), 10
    commands = []
    for i in range(6):
        bits = random.sample(range(n), 3)
        gates = (Gate(random.choice(("cnot", "copy")), bits[0], (bits[1],)), Gate("toffoli", bits[2], tuple(bits[:2])))
        commands.append(Command(f"c{i}", gates if i < 4 else (), random.randrange(n)))
    plant = BooleanPlant(names("b", n), tuple(commands), Fraction(1, 20))
    truth, alpha = random.getrandbits(n), Fraction(1, 5000)
    swept = BooleanWorld(plant, nominal_bank(truth), alpha)
    listed = ListWorld(plant, range(1 << n), nominal_bank(truth), alpha)
    state = truth
    for t in range(24):
        action = random.randrange(6)
        state, tapped = plant.step(state, action)
        reading = tapped ^ (random.random() < 0.05)
        for world in (swept, listed):
            world.observe(action, reading)
        if t % 6 == seed:
            again = BooleanWorld(plant, nominal_bank(truth), alpha)
            for step in swept.history:
                again.observe(step.action, step.reading)
            assert rows(again) == rows(listed) == rows(swept)


def rows(world: AbstractWorld) -> list[tuple[int, int, int]]:
    """What is left: hypothesis, current state, penalty."""
    return [
        row
        for group in world.strongest_rivals(2**63, 10**6)
        for row in zip(group.hypothesis.tolist(), group.current.tolist(), group.penalty.tolist(), strict=True)
    ]


def counter(bits: int, flip: Fraction = Fraction(1, 50)) -> BooleanPlant:
    """Each command reads one bit and changes nothing."""
    return BooleanPlant(names("b", bits), tuple(Command(f"read{i}", (), i) for i in range(bits)), flip)


def test_reading_each_bit_four_times_settles_the_state_at_one_in_a_million() -> None:
    plant, truth = counter(10), 0b1011001110
    world = BooleanWorld(plant, nominal_bank(truth), Fraction(1, 4_000_000))
    for turn in range(4):
        for bit in range(10):
            assert world.verdict() is None, (turn, bit)
            world.observe(bit, truth >> bit & 1)
    assert world.verdict() == Certified(plant.name_state(truth))


def test_a_contradicted_reading_of_the_nominal_costs_one_more_of_the_same_bit() -> None:
    plant, truth = counter(8), 0b10011010
    world = BooleanWorld(plant, nominal_bank(truth), Fraction(1, 4_000_000))
    world.observe(3, 1 - (truth >> 3 & 1))
    for _ in range(4):
        for bit in range(8):
            world.observe(bit, truth >> bit & 1)
    assert world.verdict() is None
    rival = world.strongest_rival(truth)
    assert rival is not None and rival.state == truth ^ 8 and world.rivals_left(truth) == 1
    world.observe(3, truth >> 3 & 1)
    assert world.verdict() == Certified(plant.name_state(truth))


def test_a_question_about_one_bit_is_settled_by_reading_that_bit() -> None:
    plant = counter(12)
    world = BooleanWorld(plant, nominal_bank(0), Fraction(1, 4_000_000), labelling=label_bits(plant, [5]))
    for _ in range(4):
        assert world.verdict() is None
        world.observe(5, 0)
    assert world.verdict() == Certified("b5=0")


def test_a_world_past_its_doubts_abstains_and_stands_still() -> None:
    world = BooleanWorld(counter(4), nominal_bank(3), Fraction(1, 100), doubts=Doubts(limit=1))
    world.doubt(0)
    assert world.verdict() is None
    world.doubt(0)
    assert isinstance(world.verdict(), Abstained)
    world.observe(0, 0)
    assert isinstance(world.verdict(), Abstained)


def test_an_unlisted_truth_costs_an_abstention_when_noise_is_absent() -> None:
    world = BooleanWorld(counter(4, Fraction(0)), nominal_bank(3), Fraction(1, 100))
    world.observe(0, 0)
    assert world.verdict() == Abstained("no candidate of the bank explains the readings")


def test_an_action_that_a_rival_lacks_is_refused_and_leaves_the_world_as_it_was() -> None:
    machine = Machine(
        states=("s", "t"),
        actions=("look", "go"),
        readings=("0", "1"),
        successor=np.array([[0, 1], [1, -1]]),
        output=np.array([[0, 0], [1, -1]]),
    )
    world = MachineWorld(with_flip(machine, Fraction(1, 10)), nominal_bank(0), Fraction(1, 100))
    assert world.is_allowed(0) and not world.is_allowed(1)
    with pytest.raises(TaskError, match="forbidden"):
        world.observe(1, 0)
    assert world.history == []
    world.observe(0, 0)
    world.observe(0, 0)
    world.observe(0, 0)
    assert world.verdict() == Certified("s")
    assert world.is_allowed(1)


def test_worlds_that_are_too_large_and_states_that_are_not_there_are_refused() -> None:
    with pytest.raises(LimitError, match="30"):
        BooleanWorld(counter(31), nominal_bank(0), Fraction(1, 100))
    with pytest.raises(TaskError, match="bits"):
        BooleanWorld(counter(3), nominal_bank(8), Fraction(1, 100))
    with pytest.raises(TaskError, match="at least one"):
        ListWorld(counter(3), [], nominal_bank(0), Fraction(1, 100))
    world = BooleanWorld(counter(3), nominal_bank(0), Fraction(1, 100))
    with pytest.raises(TaskError, match="action 3"):
        world.observe(3, 0)
    with pytest.raises(TaskError, match="reading 2"):
        world.observe(0, 2)
    with pytest.raises(TaskError, match="state 8"):
        world.evidence_against(8)


def test_what_is_left_does_not_depend_on_how_long_a_list_may_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    plant, truth = counter(9), 0b101100111

    def run() -> list[int]:
        world = BooleanWorld(plant, nominal_bank(truth), Fraction(1, 4_000_000))
        left: list[int] = []
        for turn in range(4):
            for bit in range(9):
                world.observe(bit, truth >> bit & 1)
                left.append(world.rivals_left(truth) if turn % 2 else int(world.verdict() is None))
        return left

    whole = run()
    monkeypatch.setattr(boolean_world, "KEPT", 8)
    monkeypatch.setattr(boolean_world, "PART_WORDS", 2)
    monkeypatch.setattr(boolean_world, "MAX_WITNESSES", 4)
    monkeypatch.setattr(boolean_world, "FEW_WITNESSES", 4)
    assert run() == whole


@given(st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6), max_size=3), st.integers(1, 9))
def test_the_first_by_any_rank_are_kept_and_of_equals_those_of_least_number(
    drawn: list[list[tuple[int, int]]], limit: int
) -> None:
    groups: list[Group] = []
    for i, pairs in enumerate(drawn):
        number = np.arange(len(pairs), dtype=np.uint64) * np.uint64(3) + np.uint64(i)
        penalty, worth = (np.array([pair[k] for pair in pairs], dtype=np.int64) for k in (0, 1))
        groups.append(Group((i == 0,) * i, number, worth.astype(np.uint64), penalty))
    for rank in (lambda group: group.penalty, lambda group: group.current.astype(np.int64) - 2 * group.penalty):
        every = [
            (int(r), int(h), i)
            for i, group in enumerate(groups)
            for r, h in zip(rank(group), group.hypothesis, strict=True)
        ]
        kept = [int(h) for group in keep_strongest(groups, limit, rank) for h in group.hypothesis]
        assert sorted(kept) == sorted(h for _, h, _ in sorted(every)[:limit])


def test_rivals_by_a_rank_come_from_the_circle_and_then_from_the_list_and_none_is_beaten() -> None:
    plant, truth = counter(20), 0b1011_0011_1000_1111_0001
    world = BooleanWorld(plant, nominal_bank(truth), Fraction(1, 1000))
    twin = ListWorld(
        plant,
        [truth ^ (1 << i | 1 << j | 1 << k) for i in range(20) for j in range(i + 1) for k in range(j + 1)],
        nominal_bank(truth),
        Fraction(1, 1000),
    )

    def rank(group: Group) -> LongArray:
        return np.bitwise_count(group.current ^ np.uint64(world.leader()[0])).astype(np.int64)

    without_list: list[bool] = []
    for bit in (3, 3, 5, 5):
        # Those one bit away come first: 20 of them, as long as they are not beaten.
        near = {int(h) for group in world.likely_rivals(truth, 15, rank) for h in group.hypothesis}
        listed = {int(h) for group in twin._groups for h in twin._initial[group.hypothesis]}  # pyright: ignore[reportPrivateUsage]
        without_list.append(world._left is None)  # pyright: ignore[reportPrivateUsage]
        assert len(near) == 15
        assert near <= {h for h in listed if (h ^ truth).bit_count() == 1}
        for each in (world, twin):
            each.observe(bit, truth >> bit & 1)
    assert without_list == [True, True, True, False]


def test_listing_what_is_left_needs_a_few_megabytes() -> None:
    plant, truth = counter(16), 0x9B35
    world = BooleanWorld(plant, nominal_bank(truth), Fraction(1, 4_000_000))
    for bit in [*range(16)] * 2:
        world.observe(bit, truth >> bit & 1)
    tracemalloc.start()
    world.rivals_left(truth)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 24 * 2**20


def test_labels_by_bits_and_by_expression_are_named_as_in_a_problem_file() -> None:
    plant = BooleanPlant(("pump", "valve"), (Command("look", (), 0),), Fraction(1, 10))
    states = np.arange(4, dtype=np.uint64)
    by_bits = label_bits(plant, [1, 0])
    assert [by_bits.name(int(code)) for code in by_bits.code(states)] == [
        "valve=0 pump=0",
        "valve=0 pump=1",
        "valve=1 pump=0",
        "valve=1 pump=1",
    ]
    by_expression = label_expression(parse_expression("pump and not valve", plant.bits))
    assert [by_expression.name(by_expression.code_of(s)) for s in range(4)] == ["false", "true", "false", "false"]


def test_a_reading_that_is_all_but_certain_does_not_rule_out_its_state() -> None:
    nearly = 1 - Fraction(1, 10**50)
    m = machine_from_transitions([("z0", "look", "0", "z0"), ("z1", "look", "1", "z1")])
    noisy = NoisyMachine(
        states=m.states,
        actions=m.actions,
        readings=m.readings,
        successor=m.successor,
        law=np.array([[0], [1]]),
        laws=(((0, nearly), (1, 1 - nearly)), ((0, Fraction(1, 2)), (1, Fraction(1, 2)))),
    )
    world = MachineWorld(noisy, nominal_bank(1), Fraction(1, 1000))
    world.observe(0, 0)
    assert world.verdict() is None
    assert world.rivals_left(1) == 1


def test_a_bank_whose_first_part_fails_is_completed_by_itself() -> None:
    m = machine_from_transitions([("a", "look", "0", "a"), ("b", "look", "1", "b"), ("c", "look", "1", "c")])
    calls: list[int] = []

    def later() -> Bank:
        calls.append(1)
        return weighted_bank({1: Fraction(1, 4)})

    world = MachineWorld(m, reuse_bank(0, Fraction(1, 200), Fraction(1, 100), later), Fraction(1, 100))
    world.observe(0, 1)
    assert calls == [1]
    assert len(world.history) == 1
    assert world.verdict() is None  # b and c are left
    assert world.rivals_left(1) == 1
