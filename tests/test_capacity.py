"""The capacity bound: its formula in floats, never above what a valid policy costs, and in the road of bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain import bound
from ascertain.bounds.capacity import DIVISIONS, bound_by_capacity, bound_by_one_reading, count_labels
from ascertain.bounds.information import bound_by_information
from ascertain.errors import LimitError
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.model.named import register
from ascertain.planning.two_sided import bound_both_sides
from ascertain.problem.pose import pose
from ascertain.problem.pose_plant import pose_plant
from ascertain.task.plant_task import PlantTask
from tests.reference.models import enumerate_noisy
from tests.reference.noisy_optimum import noisy_optimum
from tests.strategies import names

FIFTIETH, TENTH = Fraction(1, 50), Fraction(1, 10)
ALPHA, BETA = Fraction(1, 4_000_000), Fraction(1, 1000)


def entropy(p: float) -> float:
    return -sum(q * math.log(q) for q in (p, 1 - p) if q > 0)


def divergence(p: float, q: float) -> float:
    return sum(x * math.log(x / y) for x, y in ((p, q), (1 - p, 1 - q)) if x > 0)


def bound_in_floats(num_labels: int, f: float, alpha: float, beta: float, division: float | None) -> float:
    """The formula of the module: one phase without a division, else two."""
    message, capacity = math.log(num_labels), math.log(2) - entropy(f)
    if division is None:
        error = alpha + beta
        return ((1 - error) * message - entropy(error)) / capacity if error <= 1 - 1 / num_labels else 0.0
    g = 1 - alpha / division - beta
    if g <= 0:
        return 0.0
    finding = max(0.0, ((g - division) * message - entropy(division)) / capacity)
    a = (alpha + beta) / (1 - division)
    b = alpha * (division * f + (1 - division) * (1 - f)) / (division * f)
    if a + b > g:
        return finding
    return finding + (1 - division) * g * divergence(1 - a / g, b / g) / divergence(1 - f, f)


def mixing_question(num_bits: int, flip: Fraction, seed: int = 0) -> PlantTask:
    """Which state, on a plant whose commands move bits reversibly and read all of them."""
    random = Random(seed)
    commands: list[Command] = []
    for i in range(num_bits):
        target, source = random.sample(range(num_bits), 2)
        commands.append(Command(f"c{i}", (Gate("cnot", target, (source,)),), i))
    return pose_plant(BooleanPlant(names("b", num_bits), tuple(commands), flip))


@given(
    st.integers(1, 64),
    st.fractions(Fraction(1, 1000), Fraction(49, 100), max_denominator=1000),
    st.integers(1, 40),
    st.integers(2, 20),
)
@settings(max_examples=15, deadline=None)
def test_it_is_the_formula_rounded_down(num_bits: int, flip: Fraction, small: int, less: int) -> None:
    alpha, beta = Fraction(1, 2 << small), Fraction(1, less)
    if 2 * alpha + beta >= 1:
        return
    found = bound_by_capacity(pose_plant(register(num_bits, flip), alpha=alpha, beta=beta))
    formulas = [
        bound_in_floats(1 << num_bits, float(flip), float(alpha), float(beta), None if d is None else float(d))
        for d in (None, *DIVISIONS)
    ]
    assert float(found) == pytest.approx(max(0.0, *formulas), rel=1e-9, abs=2e-9)


@pytest.mark.parametrize("num_bits", [1, 24])
@pytest.mark.parametrize(("alpha", "beta"), [("1/100", "1/20"), (ALPHA, BETA)])
def test_it_is_not_above_what_a_register_is_certified_to_cost(num_bits: int, alpha: str, beta: str) -> None:
    for flip in (FIFTIETH, TENTH):
        found = bound(pose_plant(register(num_bits, flip), alpha=alpha, beta=beta))
        assert found.upper is not None
        assert isinstance(found.question, PlantTask)
        assert 0 < bound_by_capacity(found.question) <= found.upper
        assert bound_by_one_reading(found.question) <= found.upper


@pytest.mark.slow
def test_it_is_not_above_what_a_plant_that_moves_bits_is_certified_to_cost() -> None:
    question = replace(mixing_question(2, TENTH), alpha=Fraction(1, 100), beta=Fraction(1, 20))
    upper = bound_both_sides(pose(enumerate_noisy(question.model), alpha="1/100", beta="1/20")).upper
    assert upper is not None
    assert 0 < bound_by_capacity(question) <= upper
    assert bound_by_one_reading(question) <= upper


def test_it_is_not_above_the_exact_optimum_of_one_noisy_bit() -> None:
    for alpha in (Fraction(1, 20), Fraction(1, 1000), ALPHA):
        question = pose_plant(register(1, TENTH), alpha=alpha, beta=alpha)
        task = pose(enumerate_noisy(question.model), alpha=alpha, beta=alpha)
        _, optimum = noisy_optimum(task, alpha, alpha, 20)
        if optimum is not None:
            assert bound_by_capacity(question) <= optimum
        assert bound_by_one_reading(question) == bound_by_information(task).value


def test_without_noise_and_risk_it_is_one_reading_for_every_bit() -> None:
    for num_bits in (1, 5, 24):
        assert bound_by_capacity(pose_plant(register(num_bits))) == pytest.approx(num_bits, abs=1e-8)
        assert bound_by_capacity(pose_plant(register(num_bits))) <= num_bits


def test_costs_scale_it_and_fewer_labels_lower_it() -> None:
    question = mixing_question(24, FIFTIETH)
    question = replace(question, alpha=ALPHA, beta=BETA)
    whole = bound_by_capacity(question)
    assert 29 < whole < 30  # 24 bits at 0.86 bit a reading, and something to be sure
    dear = replace(question, cost=tuple(3 * c for c in question.cost))
    assert float(bound_by_capacity(dear)) == pytest.approx(3 * float(whole), abs=1e-8)
    few = pose_plant(question.model, label={"bits": ["b0", "b1", "b2"]}, alpha=ALPHA, beta=BETA)
    one = pose_plant(question.model, label={"nominal": "0" * 24}, alpha=ALPHA, beta=BETA)
    assert [count_labels(each) for each in (question, few, one)] == [1 << 24, 8, 2]
    assert bound_by_capacity(one) < bound_by_capacity(few) < whole


def test_the_road_of_bounds_gives_it_where_commands_move_bits() -> None:
    question = replace(mixing_question(24, FIFTIETH), alpha=ALPHA, beta=BETA)
    found = bound(question)
    assert found.lower == {
        "pairwise": bound_by_one_reading(question),
        "capacity": bound_by_capacity(question),
    }
    assert found.best == found.lower["capacity"]
    assert found.upper is None and not found.is_infinite
    assert found.facts()["lower"]["best"] == str(found.best)


def test_questions_about_the_current_state_are_refused() -> None:
    question = replace(mixing_question(24, FIFTIETH), about="current", alpha=ALPHA, beta=BETA)
    with pytest.raises(LimitError, match="questions about the start"):
        bound_by_capacity(question)
    with pytest.raises(LimitError):
        bound(question)


def test_a_risk_that_settles_nothing_and_a_single_label_cost_nothing() -> None:
    question = mixing_question(4, TENTH)
    rash = replace(question, alpha=Fraction(1, 2), beta=Fraction(0))
    assert bound_by_capacity(rash) == bound_by_one_reading(rash) == 0
    alone = replace(question, states=(3,), alpha=ALPHA, beta=BETA)
    assert bound_by_capacity(alone) == bound_by_one_reading(alone) == 0
