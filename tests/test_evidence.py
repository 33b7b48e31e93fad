"""Evidence: exact arithmetic, and the guarantee itself, by enumeration of every transcript of tiny plants."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import TaskError
from ascertain.evidence.boolean_world import BooleanWorld
from ascertain.evidence.evidence import Doubts, FlipEvidence, Step, least_beaten_count
from ascertain.evidence.labelling import Labelling, label_bits, label_states, label_table
from ascertain.evidence.laws import UNIT, LawEvidence, log_bounds
from ascertain.evidence.trigger import MIXTURE, Trigger
from ascertain.evidence.worlds import AbstractWorld, MachineWorld
from ascertain.model import Machine
from ascertain.model.boolean import BooleanPlant, Command
from ascertain.model.noisy import NoisyMachine, with_flip
from ascertain.policy.verdict import Abstained, Certified
from ascertain.task.bank import Bank, nominal_bank, reuse_bank, scale_weights, uniform_bank, weighted_bank
from tests.reference.evidence import Choice, Ends, e_value, every_run, least_count, trigger_value
from tests.reference.models import enumerate_noisy
from tests.reference.small_observers import lossy_plant
from tests.strategies import names, noisy_machines

FLIP = Fraction(1, 5)


def three_law_machine() -> NoisyMachine:
    """Three states, three readings, laws that share some of them and exclude others; one action merges two states."""
    half, third = Fraction(1, 2), Fraction(1, 3)
    return NoisyMachine(
        states=names("s", 3),
        actions=("a", "b"),
        readings=names("y", 3),
        successor=np.array([[1, 1], [2, 1], [0, 2]]),
        law=np.array([[0, 1], [1, 0], [2, 1]]),
        laws=(((0, half), (1, half)), ((0, third), (1, third), (2, third)), ((1, Fraction(1, 4)), (2, Fraction(3, 4)))),
    )


def adaptive(num_actions: int) -> Choice:
    """Actions that depend on everything read, the first four of them harmless, with a reading lost now and then."""

    def choose(history: tuple[Step, ...]) -> Step:
        seen = sum((i + 1) * (1 + (step.reading or 0)) for i, step in enumerate(history))
        action = (seen + len(history)) % (2 if len(history) < 4 else num_actions)
        return Step(action, None if seen % 7 == 6 else 0)

    return choose


def watch(make_world: type, *parts: object, labelling: Labelling, claimed: Fraction) -> Ends:
    """What a world says after a history, computed once for each."""

    @cache
    def ends(history: tuple[Step, ...]) -> object:
        world = make_world(*parts, claimed, labelling=labelling)
        for step in history:
            if step.certain:
                world.observe(step.action, step.reading)
            else:
                world.doubt(step.action)
        return world.verdict()

    return ends


def wrong_rates(
    make_world: type,
    model: BooleanPlant | NoisyMachine,
    bank: Bank,
    labelling: Labelling,
    alpha: Fraction,
    choose: Choice,
    budget: int,
    doubted: int = 0,
) -> list[Fraction]:
    """For every truth and every way the doubted actions may go: the exact probability of a wrong answer."""
    ends = watch(make_world, model, bank, labelling=labelling, claimed=alpha)
    rates: list[Fraction] = []
    for truth, ran in product(range(model.num_states), product((True, False), repeat=doubted)):
        right = labelling.name(labelling.code_of(truth))
        runs = list(every_run(model, truth, choose, ends, budget, ran))
        assert sum(run.probability for run in runs) == 1
        rates.append(
            sum((r.probability for r in runs if isinstance(r.end, Certified) and r.end.label != right), Fraction(0))
        )
    return rates


ALPHA = Fraction(1, 4)


@pytest.mark.parametrize(
    "bank",
    [nominal_bank(2), uniform_bank([1, 2]), weighted_bank({0: Fraction(1, 2), 3: Fraction(1, 3)})],
    ids=["nominal", "two", "weights below one"],
)
def test_no_truth_listed_or_not_is_answered_wrongly_more_often_than_alpha_on_an_irreversible_plant(bank: Bank) -> None:
    plant = lossy_plant()
    for labelling in (label_states(), label_bits(plant, [0])):
        rates = wrong_rates(BooleanWorld, plant, bank, labelling, ALPHA, adaptive(5), 8)
        assert 0 < max(rates) <= ALPHA


@pytest.mark.parametrize("bank", [nominal_bank(0), uniform_bank([0, 2])], ids=["nominal", "two"])
def test_no_truth_is_answered_wrongly_more_often_than_alpha_under_general_laws(bank: Bank) -> None:
    labelling, alpha = label_table([0, 1, 2], ("x", "y", "z")), Fraction(1, 3)
    rates = wrong_rates(MachineWorld, three_law_machine(), bank, labelling, alpha, adaptive(2), 6)
    assert 0 < max(rates) <= alpha


def test_the_bound_is_not_far_from_what_happens_and_twice_the_risk_would_break_it() -> None:
    look = BooleanPlant(("b0",), (Command("look", (), 0),), FLIP)
    bank, always = nominal_bank(0), lambda _: Step(0, 0)
    claimed = wrong_rates(BooleanWorld, look, bank, label_states(), Fraction(1, 16), always, 9)
    assert Fraction(1, 20) < max(claimed) <= Fraction(1, 16)
    looser = wrong_rates(BooleanWorld, look, bank, label_states(), Fraction(1, 4), always, 9)
    assert max(looser) > Fraction(1, 16)


def test_doubted_actions_do_not_raise_the_risk_whether_they_ran_or_not() -> None:
    plant = lossy_plant()

    def choose(history: tuple[Step, ...]) -> Step:
        if len(history) in (2, 5):
            return Step(len(history) % 4, None, certain=False)
        return adaptive(5)(history)

    rates = wrong_rates(BooleanWorld, plant, uniform_bank([1, 2]), label_states(), ALPHA, choose, 8, doubted=2)
    assert 0 < max(rates) <= ALPHA


def test_a_world_about_the_current_state_keeps_its_risk_too() -> None:
    plant = lossy_plant()
    labelling = label_bits(plant, [0, 1], about="current")
    ends = watch(BooleanWorld, plant, nominal_bank(1), labelling=labelling, claimed=ALPHA)
    rates: list[Fraction] = []
    for truth in range(4):
        wrong = Fraction(0)
        for run in every_run(plant, truth, adaptive(5), ends, 7):
            if isinstance(run.end, Certified):
                state, _ = plant.run(truth, [step.action for step in run.history])
                wrong += run.probability * (labelling.name(labelling.code_of(state)) != run.end.label)
        rates.append(wrong)
    assert 0 < max(rates) <= ALPHA


def test_reuse_keeps_the_whole_risk_although_the_bank_is_completed_late() -> None:
    plant = lossy_plant()
    rest = weighted_bank({0: Fraction(1, 4), 3: Fraction(1, 4)})

    @cache
    def ends(history: tuple[Step, ...]) -> object:
        world = BooleanWorld(plant, reuse_bank(2, ALPHA / 2, ALPHA, lambda: rest), ALPHA)
        trigger = Trigger(plant, 2)
        switched = False
        for step in history:
            world.observe(step.action, step.reading)
            trigger.observe(step.action, step.reading)
            if not switched and trigger.exceeds(Fraction(2)):
                world.complete_bank()
                switched = True
        return world.verdict()

    rates: list[Fraction] = []
    for truth in range(4):
        runs = list(every_run(plant, truth, adaptive(5), ends, 8))
        wrong = [r for r in runs if isinstance(r.end, Certified) and r.end.label != plant.name_state(truth)]
        rates.append(sum((run.probability for run in wrong), Fraction(0)))
    assert 0 < max(rates) <= ALPHA


@pytest.mark.parametrize("bound", [Fraction(3, 2), Fraction(2), Fraction(4), Fraction(11)])
def test_the_trigger_fires_on_a_true_nominal_no_more_often_than_it_says(bound: Fraction) -> None:
    plant = lossy_plant()

    def ends(history: tuple[Step, ...]) -> object:
        trigger = Trigger(plant, 2)
        for step in history:
            trigger.take(step)
        return True if trigger.exceeds(bound) else None

    runs = list(every_run(plant, 2, adaptive(5), ends, 8))
    fired = sum((run.probability for run in runs if run.end), Fraction(0))
    assert 0 < fired <= 1 / bound


def test_the_trigger_on_a_machine_and_with_doubts_keeps_its_bound() -> None:
    machine = three_law_machine()

    def choose(history: tuple[Step, ...]) -> Step:
        return Step(0, None, certain=False) if len(history) == 2 else adaptive(2)(history)

    def ends(history: tuple[Step, ...]) -> object:
        trigger = Trigger(machine, 1)
        for step in history:
            trigger.take(step)
        return True if trigger.exceeds(Fraction(2)) else None

    for ran in (True, False):
        runs = list(every_run(machine, 1, choose, ends, 6, (ran,)))
        assert sum((run.probability for run in runs if run.end), Fraction(0)) <= Fraction(1, 2)


@given(st.data(), noisy_machines(partial=False))
@settings(max_examples=60)
def test_trigger_comparisons_are_those_of_exact_rationals(data: st.DataObject, machine: NoisyMachine) -> None:
    nominal = data.draw(st.integers(0, machine.num_states - 1))
    trigger, history = Trigger(machine, nominal), []
    for action in data.draw(st.lists(st.integers(0, machine.num_actions - 1), max_size=8)):
        reading = data.draw(st.integers(0, len(machine.readings) - 1))
        history.append(Step(action, reading))
        trigger.take(history[-1])
        value = trigger_value(machine, nominal, MIXTURE, history)
        bound = data.draw(st.sampled_from((Fraction(2), Fraction(11), value or Fraction(5))))
        assert trigger.exceeds(bound) == (value is None or value > bound)
        assert trigger.reaches(bound) == (value is None or value >= bound)


WEIGHTED = st.lists(
    st.tuples(st.fractions(Fraction(1, 1000), 1, max_denominator=1000), st.integers(0, 40)), min_size=1, max_size=6
)


@given(WEIGHTED, st.fractions(Fraction(1, 1000), Fraction(49, 100), max_denominator=1000), st.integers(1, 10**7))
def test_the_least_beaten_count_is_the_first_that_satisfies_the_inequality(
    terms: list[tuple[Fraction, int]], flip: Fraction, risk: int
) -> None:
    total = sum(w for w, _ in terms)
    terms = [(w / total, k) for w, k in terms]
    alpha = Fraction(1, risk + 1)
    scale, shares = scale_weights([w for w, _ in terms])
    scaled = [(share, k) for share, (_, k) in zip(shares, terms, strict=True)]
    assert least_beaten_count(scaled, scale, flip, alpha) == least_count(terms, flip, alpha)


def test_a_tie_is_beaten_and_the_least_more_is_not() -> None:
    assert least_beaten_count([(1, 2)], 1, Fraction(1, 5), Fraction(1, 64)) == 5
    assert least_beaten_count([(1, 2)], 1, Fraction(1, 5), Fraction(1, 65)) == 6
    assert least_beaten_count([(1, 2)], 1, Fraction(1, 5), Fraction(10**30, 64 * 10**30 + 1)) == 6


@given(st.fractions(Fraction(1, 10**9), 10**9))
def test_bounds_on_logarithms_are_rigorous_and_as_near_as_integers_are(x: Fraction) -> None:
    low, high = log_bounds(x)
    context = Context(prec=60)
    value = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    assert context.exp(context.divide(Decimal(low), Decimal(UNIT))) <= context.multiply(
        value, Decimal("1") + Decimal("1e-50")
    )
    assert context.exp(context.divide(Decimal(high), Decimal(UNIT))) >= context.multiply(
        value, Decimal("1") - Decimal("1e-50")
    )
    assert high - low == (0 if x == 1 else 1)


@given(st.data())
@settings(max_examples=30)
def test_evidence_in_nats_is_the_logarithm_of_the_e_value(data: st.DataObject) -> None:
    plant = lossy_plant()
    bank = uniform_bank([1, 2])
    worlds = (BooleanWorld(plant, bank, ALPHA), MachineWorld(enumerate_noisy(plant), bank, ALPHA))
    history = []
    for action, reading in data.draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=8)):
        history.append(Step(action, reading))
        for world in worlds:
            world.observe(action, reading)
    for state in range(4):
        value = e_value(plant, bank, state, history)
        assert value is not None
        for world in worlds:
            assert np.exp(world.evidence_against(state)) == pytest.approx(float(value), rel=1e-6)


def test_an_impossible_reading_is_infinite_evidence() -> None:
    world = MachineWorld(three_law_machine(), nominal_bank(2), ALPHA)
    world.observe(0, 2)
    assert world.evidence_against(0) == float("inf")
    assert world.verdict() is None
    trigger = Trigger(three_law_machine(), 0)
    trigger.observe(0, 2)
    assert trigger.rejects() and trigger.nats == float("inf")


def test_when_no_candidate_explains_the_readings_the_world_abstains() -> None:
    world = MachineWorld(three_law_machine(), nominal_bank(0), ALPHA)
    world.observe(0, 2)
    assert world.verdict() == Abstained("no candidate of the bank explains the readings")


def test_the_weights_of_a_bank_are_checked_once() -> None:
    for states, weights in (((), ()), ((1,), (0,)), ((1, 2), (1, 1)), ((1, 1), (Fraction(1, 2),) * 2), ((-1,), (1,))):
        with pytest.raises(TaskError):
            Bank(states, tuple(Fraction(w) for w in weights))
    late = Bank((0,), (Fraction(1, 2),), lambda: nominal_bank(1))
    with pytest.raises(TaskError, match="at most 1/2"):
        late.completed()
    with pytest.raises(TaskError, match="less than the whole"):
        reuse_bank(0, Fraction(1, 2), Fraction(1, 2), lambda: nominal_bank(1))


def test_evidence_refuses_risks_and_states_that_make_no_sense() -> None:
    with pytest.raises(TaskError, match="alpha"):
        FlipEvidence(lossy_plant(), nominal_bank(0), Fraction(1))
    with pytest.raises(TaskError, match="bits"):
        FlipEvidence(lossy_plant(), nominal_bank(4), ALPHA)
    with pytest.raises(TaskError, match="states"):
        LawEvidence(three_law_machine(), nominal_bank(3), ALPHA)
    with pytest.raises(TaskError, match="ratio"):
        Doubts(1, Fraction(1))
    with pytest.raises(TaskError, match="nominal"):
        Trigger(lossy_plant(), 4)
    with pytest.raises(TaskError, match="mixture"):
        Trigger(lossy_plant(), 0, ())


def test_a_candidate_that_lacks_an_action_adds_nothing_from_then_on() -> None:
    machine = Machine(
        states=("s", "t", "u"),
        actions=("look", "go"),
        readings=("0", "1"),
        successor=np.array([[0, 0], [1, 1], [2, -1]]),
        output=np.array([[0, 0], [1, 0], [1, -1]]),
    )
    noisy = with_flip(machine, Fraction(1, 10))
    world: AbstractWorld = MachineWorld(noisy, uniform_bank([0, 2]), Fraction(1, 20))
    for _ in range(3):
        world.observe(0, 0)
    assert world.verdict() == Certified("s")
    world.observe(1, 0)
    assert world.verdict() == Certified("s")


def test_general_laws_decide_a_tie_exactly_as_well() -> None:
    machine = enumerate_noisy(BooleanPlant(("b0",), (Command("look", (), 0),), Fraction(1, 5)))
    for alpha, settled in ((Fraction(1, 64), True), (Fraction(10**30, 64 * 10**30 + 1), False)):
        world = MachineWorld(machine, nominal_bank(1), alpha)
        for _ in range(2):
            world.observe(0, 1)
            assert world.verdict() is None
        world.observe(0, 1)
        assert (world.verdict() == Certified("1")) is settled
        assert world.rivals_left(1) == (0 if settled else 1)
