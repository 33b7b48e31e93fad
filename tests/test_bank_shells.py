"""Shells, ranks and weights, and what becomes of a run whose truth was left out of the bank."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.bank.candidates import Compiled, CompileStats
from ascertain.bank.compile import compile_bank
from ascertain.bank.operation import Operation
from ascertain.bank.shells import bank_shells, keep_shells, rank_state
from ascertain.bank.weights import EQUAL, WEIGHTINGS, Weighting, geometric, inverse_cube, inverse_square, uniform
from ascertain.errors import TaskError
from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.evidence import Step
from ascertain.evidence.worlds import ListWorld
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.policy.verdict import Certified
from ascertain.task.bank import Bank
from ascertain_paper.testbed.testbed import load_testbed
from tests.reference.evidence import every_run

REGISTER = BooleanPlant(
    ("b0", "b1"), tuple(Command(f"look{i}", (), tap) for i, tap in enumerate((0, 1, 0))), Fraction(1, 5)
)
LOOKED_ONCE = Operation(
    model=REGISTER,
    start=0,
    sent=np.zeros(1, dtype=np.int32),
    readings=np.zeros(1, dtype=np.int32),
    trusted=np.zeros(1, dtype=np.bool_),
    alternatives=((), (), ()),
    max_replaced=0,
    replacement_window=(0, 0),
    flip_window=(0, 0),
)
"""An operation for compiled banks written down by hand: shells, ranks and weights do not look at it."""
NO_EFFORT = CompileStats(compiler="by hand", paths=1, model_steps=0, evaluations=0, seconds=0.0, peak_bytes=0)


def listed(layers: tuple[tuple[int, ...], ...], nominal: int | None = None, *, complete: bool = True) -> Compiled:
    """What a compiler hands over, written down by hand."""
    return Compiled(
        operation=LOOKED_ONCE,
        endpoint=np.array([z for states in layers for z in sorted(states)], dtype=np.uint64),
        score=np.array([(0, 2 * j, j) for j, states in enumerate(layers) for _ in states], dtype=np.int64),
        nominal=nominal,
        complete=complete,
        stats=NO_EFFORT,
    )


LAYERS = ((7,), (3, 4, 5), (0, 9))
COMPILED = listed(LAYERS, nominal=4)


def weights_of(bank: Bank) -> dict[int, Fraction]:
    return dict(zip(bank.states, bank.weights, strict=True))


def test_a_bank_keeps_the_first_shells_and_the_nominal() -> None:
    assert set(bank_shells(COMPILED, 1).states) == {7, 4}
    assert set(bank_shells(COMPILED, 2).states) == {7, 3, 4, 5}
    assert set(bank_shells(COMPILED, 50).states) == {7, 3, 4, 5, 0, 9}
    assert bank_shells(COMPILED, 0).states == (4,)


def test_the_rank_of_a_state_is_how_many_shells_it_takes_to_keep_it() -> None:
    assert [rank_state(COMPILED, z) for z in (4, 7, 3, 5, 0, 9, 8)] == [0, 1, 2, 2, 3, 3, None]
    for z in (4, 7, 3, 5, 0, 9):
        rank = rank_state(COMPILED, z)
        assert rank is not None and z in bank_shells(COMPILED, rank).states
        assert rank == 0 or z not in bank_shells(COMPILED, rank - 1).states


def test_shells_that_were_not_compiled_cannot_be_kept() -> None:
    part = listed(LAYERS, 4, complete=False)
    assert len(keep_shells(part, 3)) == 3
    with pytest.raises(TaskError, match="only the first 3 shells were compiled; compile 4"):
        keep_shells(part, 4)
    with pytest.raises(TaskError, match="cannot be kept"):
        keep_shells(part, -1)
    with pytest.raises(TaskError, match="the bank would be empty"):
        bank_shells(listed(LAYERS), 0)


def test_default_weights_fall_over_shells_are_equal_inside_and_give_the_nominal_its_share() -> None:
    weight = weights_of(bank_shells(COMPILED, 3))
    left, total = Fraction(15, 16), Fraction(1) + Fraction(1, 8) + Fraction(1, 27)
    assert weight[7] == left / total
    assert weight[3] == weight[5] == left / 8 / total / 3
    assert weight[0] == weight[9] == left / 27 / total / 2
    assert weight[4] == Fraction(1, 16) + weight[3]
    half = Weighting("half", inverse_cube, Fraction(1, 2))
    assert weights_of(bank_shells(COMPILED, 3, half))[4] > Fraction(1, 2)


def test_with_equal_weights_the_nominal_weighs_what_every_other_candidate_does() -> None:
    """Whether a shell that is kept holds it or not, or there is none."""
    inside, outside, without = listed(LAYERS, 4), listed(LAYERS, 11), listed(LAYERS)
    assert 11 not in {state for layer in LAYERS for state in layer}
    for compiled in (inside, outside, without):
        for limit in (1, 2, 3):
            states = {state for layer in LAYERS[:limit] for state in layer}
            states |= set() if compiled.nominal is None else {compiled.nominal}
            assert weights_of(bank_shells(compiled, limit, EQUAL)) == dict.fromkeys(states, Fraction(1, len(states)))


def test_without_a_nominal_the_shells_share_all() -> None:
    bank = bank_shells(listed(((1, 2), (3,))), 2)
    assert bank.total == 1 and set(bank.states) == {1, 2, 3}


@given(st.lists(st.integers(1, 50), min_size=1, max_size=12), st.sampled_from(sorted(WEIGHTINGS)))
def test_shares_are_exact_positive_and_sum_to_one(sizes: list[int], name: str) -> None:
    shares = WEIGHTINGS[name].shares(sizes)
    assert len(shares) == len(sizes) and sum(shares) == 1 and min(shares) > 0
    if name not in {"uniform", "equal"}:
        assert all(a > b for a, b in pairwise(shares))


def test_shares_are_those_of_their_names() -> None:
    assert uniform([1, 3]) == (Fraction(1, 4), Fraction(3, 4))
    assert geometric([5, 5]) == (Fraction(4, 5), Fraction(1, 5))
    assert inverse_square([5, 5]) == (Fraction(4, 5), Fraction(1, 5))
    assert inverse_cube([5, 5]) == (Fraction(8, 9), Fraction(1, 9))
    with pytest.raises(TaskError, match="more than 0 and less than 1"):
        Weighting("all", uniform, Fraction(1))


@st.composite
def listings(draw: st.DrawFn, states: Sequence[int]) -> Compiled:
    """Some of the states in some shells, and a nominal."""
    order = draw(st.permutations(list(states)))
    used = draw(st.integers(1, len(order)))
    cuts = sorted(draw(st.sets(st.integers(1, used - 1), max_size=3))) if used > 1 else []
    layers = tuple(tuple(order[a:b]) for a, b in zip([0, *cuts], [*cuts, used], strict=True))
    return listed(layers, draw(st.sampled_from(list(states))))


@given(listings(range(12)), st.integers(0, 5), st.sampled_from(sorted(WEIGHTINGS)))
def test_every_bank_weighs_exactly_one_and_holds_what_its_rank_allows(
    compiled: Compiled, limit: int, name: str
) -> None:
    bank = bank_shells(compiled, limit, WEIGHTINGS[name])
    assert bank.total == 1
    for state in range(12):
        rank = rank_state(compiled, state)
        assert (state in bank.states) == (rank is not None and rank <= limit)


@st.composite
def plants(draw: st.DrawFn) -> BooleanPlant:
    """Two or three bits, three commands of a gate or two, irreversible ones among them."""
    num_bits = draw(st.integers(2, 3))
    bits = st.permutations(range(num_bits))

    def gate() -> Gate:
        name, sources = draw(
            st.sampled_from([("xor", 2), ("copy", 1), ("and", 2), ("not", 0), ("set", 0), ("cnot", 1)])
        )
        target, *others = draw(bits)
        return Gate(name, target, tuple([*others, target][:sources]))

    commands = [
        Command(f"c{i}", tuple(gate() for _ in range(draw(st.integers(0, 2)))), draw(st.integers(0, num_bits - 1)))
        for i in range(3)
    ]
    flip = draw(st.sampled_from([Fraction(1, 5), Fraction(1, 10), Fraction(1, 3)]))
    return BooleanPlant(tuple(f"b{i}" for i in range(num_bits)), tuple(commands), flip)


def adaptive(history: tuple[Step, ...]) -> Step:
    """Actions that depend on everything read."""
    return Step((sum((i + 1) * (1 + (step.reading or 0)) for i, step in enumerate(history)) + len(history)) % 3, 0)


def wrong_probability(
    plant: BooleanPlant, world: Sequence[int], bank: Bank, truth: int, alpha: Fraction, budget: int
) -> Fraction:
    """The exact probability that the rule ever answers another state than the truth."""

    @cache
    def ends(history: tuple[Step, ...]) -> object:
        here = ListWorld(plant, world, bank, alpha)
        for step in history:
            here.observe(step.action, step.reading)
        return here.verdict()

    runs = every_run(plant, truth, adaptive, ends, budget)
    wrong = [run for run in runs if isinstance(run.end, Certified) and run.end.label != str(truth)]
    return sum((run.probability for run in wrong), Fraction(0))


@given(plants(), st.data())
@settings(max_examples=12, deadline=None)
def test_leaving_the_truth_out_of_the_bank_never_makes_a_wrong_answer_likelier_than_alpha(
    plant: BooleanPlant, data: st.DataObject
) -> None:
    everything = range(1 << plant.num_bits)
    truth = data.draw(st.sampled_from(everything), label="truth")
    compiled = data.draw(listings([z for z in everything if z != truth]), label="compiled")
    limit = data.draw(st.integers(0, 3), label="shells")
    alpha = data.draw(st.sampled_from([Fraction(1, 3), Fraction(1, 6)]), label="alpha")
    bank = bank_shells(compiled, limit)
    assert truth not in bank.states and rank_state(compiled, truth) is None
    assert wrong_probability(plant, everything, bank, truth, alpha, budget=6) <= alpha


def test_wrong_answers_do_occur_and_a_world_without_the_truth_would_break_it() -> None:
    """The bank may leave the truth out, the world may not: closing the world around the bank is wrong most times."""
    alpha, bank = Fraction(1, 6), bank_shells(listed(((1,), (2,)), nominal=3), 2)
    assert Fraction(1, 100) < wrong_probability(REGISTER, range(4), bank, 0, alpha, budget=9) <= alpha
    assert wrong_probability(REGISTER, (1, 2, 3), bank, 0, alpha, budget=9) > alpha


def test_a_miss_costs_an_abstention_and_nothing_else() -> None:
    """Operations of the small testbed whose bank is cut just before the shell of the truth, on their own streams."""
    testbed, alpha, missed, found = load_testbed("small"), Fraction(1, 2_000_000), 0, 0
    for slot in testbed.block_slots("misses", 0):
        operation = testbed.draw(slot)
        compiled = compile_bank(testbed.logged(operation))
        rank = rank_state(compiled, operation.true_endpoint)
        assert rank is not None and rank >= 1
        drawn, stream = testbed.plants[slot.plant], testbed.stream(operation)
        _, readings = stream.read(drawn, operation.true_endpoint)
        for limit in (rank - 1, rank):
            world = BooleanWorld(drawn.plant, bank_shells(compiled, limit), alpha)
            for action, reading in zip(stream.schedule.tolist(), readings.tolist(), strict=True):
                world.observe(action, reading)
                if world.verdict() is not None:
                    break
            right = Certified(drawn.plant.name_state(operation.true_endpoint))
            assert world.verdict() == (None if limit < rank else right)
            missed, found = missed + (limit < rank), found + (limit == rank)
    assert missed == found == 16
