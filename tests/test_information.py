"""Logarithms, divergences, the paper's pairwise bound and the chain rule."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.bounds.divergence import (
    binary_entropy,
    log_interval,
    relative_entropy,
    required_divergence,
    round_value,
)
from ascertain.bounds.information import bound_by_information
from ascertain.errors import LimitError, TaskError
from ascertain.model.noisy import NoisyMachine, make_law, total_variation, with_flip
from ascertain.policy.automaton import NOWHERE, Automaton
from ascertain.quotients.obstruction import find_obstruction
from ascertain.task.task import Task
from ascertain_check import logarithm
from ascertain_paper.studies.invariants.chain_rule import (
    divergence_by_visits,
    expected_visits,
    list_transcripts,
)
from tests.by_hand import build, identify
from tests.reference import program as reference
from tests.reference.chain_rule import divergence_by_transcripts
from tests.strategies import noisy_machines, reading_laws, tasks

RISKS = st.sampled_from((F(0), F(1, 100), F(1, 10), F(1, 4), F(2, 5)))
POSITIVE = st.fractions(min_value=F(1, 10**9), max_value=10**9)


def as_float(value: F | None) -> float:
    return math.inf if value is None else float(value)


@given(POSITIVE)
def test_both_logarithms_enclose_the_true_one_and_each_other(x: F) -> None:
    ours, theirs = log_interval(x), logarithm.log_bounds(x)
    assert float(ours.low) == pytest.approx(math.log(x), abs=1e-12)
    assert ours.low <= theirs[0] <= theirs[1] <= ours.high
    assert theirs[1] - theirs[0] < F(1, 2**180)
    assert (theirs[0] == theirs[1]) == (x == 1)


@given(POSITIVE, POSITIVE)
def test_the_logarithm_of_a_product_is_the_sum(x: F, y: F) -> None:
    (a, b), (c, d), (low, high) = (logarithm.log_bounds(z) for z in (x, y, x * y))
    assert low <= b + d and a + c <= high


def test_long_numbers_have_logarithms_too() -> None:
    x = F(10**1999 + 1, 3)
    low, high = logarithm.log_bounds(x)
    assert low < high and float(low) == pytest.approx(1999 * math.log(10) - math.log(3))
    assert log_interval(x).low <= low


@given(reading_laws(3), reading_laws(3))
def test_divergences_are_those_of_the_textbook(law, other) -> None:
    entropy, plain = relative_entropy(law, other), reference.kl(dict(law), dict(other))
    assert (entropy is None) == (plain == math.inf)
    assert total_variation(law, other) == total_variation(other, law)
    assert float(total_variation(law, other)) == pytest.approx(reference.tv(dict(law), dict(other)))
    if entropy is not None:
        assert float(entropy.low) == pytest.approx(plain, abs=1e-12)
        assert 0 <= entropy.low <= entropy.high
        assert float(entropy.high) >= 2 * float(total_variation(law, other)) ** 2 - 1e-12
        theirs = logarithm.relative_entropy(law, other)
        assert theirs is not None and entropy.low <= max(theirs[0], F(0)) and theirs[1] <= entropy.high


def test_binary_relative_entropy_knows_its_infinite_corners() -> None:
    assert binary_entropy(F(1), F(0)) is None
    assert binary_entropy(F(0), F(1)) is None
    zero = binary_entropy(F(1, 3), F(1, 3))
    assert zero is not None and zero.low == zero.high == 0
    certain = binary_entropy(F(0), F(1, 2))
    assert certain is not None and float(certain.low) == pytest.approx(math.log(2))
    assert required_divergence(F(0), F(1, 2)) is None


def test_values_are_rounded_down_and_simple_ones_kept() -> None:
    assert round_value(F(7, 3)) == F(7, 3)
    assert round_value(F(10**12 + 1, 10**12)) == 1


@given(tasks(noisy_machines(min_states=2, max_states=4, max_actions=2), max_hypotheses=4), RISKS, RISKS)
def test_the_pairwise_bound_is_the_paper_s(task: Task, alpha: F, beta: F) -> None:
    bound = bound_by_information(task, alpha, beta)
    assert as_float(bound.value) == pytest.approx(reference.pairwise(task, float(alpha), float(beta)))
    assert bound.vacuous == (2 * alpha + beta >= 1)
    if bound.pair is not None:
        h, g = bound.pair
        assert task.label[h] != task.label[g]
    if bound.place is not None and bound.rate is not None and bound.pair is not None:
        s, t, a = bound.place
        edges = reference.pair_edges(task, *(int(task.state[k]) for k in bound.pair))
        found = [kl for x, y, b, kl, _ in edges if (x, y, b) == (s, t, a)]
        assert found and found[0] / float(task.cost[a]) == pytest.approx(float(bound.rate))


@given(tasks(noisy_machines(min_states=2, max_states=4, max_actions=2), max_hypotheses=4))
def test_an_obstruction_is_an_infinite_pairwise_bound(task: Task) -> None:
    value = bound_by_information(task, F(1, 10), F(1, 10)).value
    assert (value is None) == (find_obstruction(task) is not None)


def test_a_register_bit_pays_the_divergence_of_its_coin() -> None:
    machine = with_flip(build([[0], [1]], [[0], [1]]), F(1, 10))
    bound = bound_by_information(identify(machine), F(1, 4_000_000), F(1, 1000))
    assert float(bound.value or 0) == pytest.approx(8.635149593)
    assert (bound.pair, bound.place) == ((0, 1), (0, 1, 0))


def test_cost_counts_and_the_better_action_is_taken() -> None:
    machine = with_flip(build([[0, 0], [1, 1]], [[0, 0], [1, 1]]), F(1, 10))
    dear = identify(machine)
    dear = Task(model=machine, state=dear.state, label=dear.label, labels=dear.labels, cost=(F(5), F(2)))
    bound = bound_by_information(dear, F(1, 100), F(0))
    plain = bound_by_information(identify(machine), F(1, 100), F(0))
    assert bound.place == (0, 1, 1)
    assert float(bound.value or 0) == pytest.approx(2 * float(plain.value or 0))


def test_without_error_a_noisy_pair_can_never_be_settled() -> None:
    machine = with_flip(build([[0], [1]], [[0], [1]]), F(1, 10))
    assert bound_by_information(identify(machine), F(0), F(1, 10)).value is None


def test_too_much_risk_makes_the_bound_vacuous_not_an_error() -> None:
    machine = with_flip(build([[0], [1]], [[0], [1]]), F(1, 10))
    bound = bound_by_information(identify(machine), F(2, 5), F(1, 5))
    assert (bound.value, bound.vacuous) == (0, True)


@pytest.mark.parametrize(("alpha", "beta"), [(F(1), F(0)), (F(-1, 2), F(0)), (F(1, 10), F(1))])
def test_a_risk_outside_its_range_is_refused(alpha: F, beta: F) -> None:
    with pytest.raises(TaskError, match="a probability in"):
        bound_by_information(identify(build([[0], [1]], [[0], [1]])), alpha, beta)


def test_too_many_states_are_refused_with_advice() -> None:
    size = 5_001
    machine = build([[(s + 1) % size] for s in range(size)], [[s % 2] for s in range(size)])
    with pytest.raises(LimitError, match="take the quotient first"):
        bound_by_information(identify(machine), F(1, 10), F(0))


# The chain rule.


@st.composite
def walks(draw: st.DrawFn) -> tuple[NoisyMachine, Automaton, int, int]:
    """A noisy machine without holes, a random policy on it, and two of its states."""
    model = draw(noisy_machines(min_states=2, max_states=4, max_actions=2, max_readings=2, partial=False))
    size = draw(st.integers(1, 6))
    action, label, children = [], [], []
    for v in range(size):
        asks = v < size - 1 and draw(st.integers(0, 3)) > 0
        action.append(draw(st.integers(0, model.num_actions - 1)) if asks else NOWHERE)
        label.append(NOWHERE if asks else draw(st.integers(-1, 1)))
        readings = range(len(model.readings)) if asks else ()
        children.append({y: draw(st.integers(v + 1, size - 1)) for y in readings if draw(st.integers(0, 5)) > 0})
    states = st.integers(0, model.num_states - 1)
    policy = Automaton(action=tuple(action), label=tuple(label), children=tuple(children))
    return model, policy, draw(states), draw(states)


def primes(x: F) -> dict[int, int]:
    """The exponents of the primes of a rational."""
    found: dict[int, int] = defaultdict(int)
    for whole, sign in ((x.numerator, 1), (x.denominator, -1)):
        rest, p = whole, 2
        while rest > 1:
            while rest % p == 0:
                rest //= p
                found[p] += sign
            p += 1
    return found


def add_log(total: dict[int, F], x: F, factor: F) -> None:
    """Add factor * log x, with logarithms of primes as independent unknowns (which they are over the rationals)."""
    for p, m in primes(x).items():
        total[p] += factor * m


@given(walks())
def test_stopped_transcripts_diverge_by_visits_times_divergence_exactly(walk) -> None:
    model, policy, h, g = walk
    left: dict[int, F] = defaultdict(F)
    right: dict[int, F] = defaultdict(F)
    for _, p, q in list_transcripts(model, policy, h, g):
        if q == 0:
            assert divergence_by_transcripts(model, policy, h, g) is None
            assert divergence_by_visits(model, policy, h, g) is None
            return
        add_log(left, p / q, p)
    for (s, t, a), count in expected_visits(model, policy, h, g).items():
        other = model.reading_law(t, a)
        for y, p in model.reading_law(s, a).items():
            add_log(right, p / other[y], p * count)
    assert {p: x for p, x in left.items() if x} == {p: x for p, x in right.items() if x}
    one, two = divergence_by_transcripts(model, policy, h, g), divergence_by_visits(model, policy, h, g)
    assert one is not None and two is not None
    assert one.low <= two.high and two.low <= one.high


@settings(max_examples=50)
@given(walks())
def test_every_decision_event_diverges_no_more_than_the_transcripts(walk) -> None:
    model, policy, h, g = walk
    whole = divergence_by_transcripts(model, policy, h, g)
    if whole is None:
        return
    for node in {node for node, _, _ in list_transcripts(model, policy, h, g)}:
        ends = [(p, q) for end, p, q in list_transcripts(model, policy, h, g) if end == node]
        event = binary_entropy(sum((p for p, _ in ends), F(0)), sum((q for _, q in ends), F(0)))
        assert event is not None and event.low <= whole.high


def test_a_policy_that_asks_what_is_not_allowed_is_refused() -> None:
    machine = build([[0, -1], [1, 1]], [[0, -1], [1, 1]])
    policy = Automaton(action=(1, NOWHERE), label=(NOWHERE, 0), children=({0: 1, 1: 1}, {}))
    with pytest.raises(TaskError, match="does not allow it"):
        expected_visits(machine, policy, 0, 1)


def test_laws_equal_nowhere_pay_nothing() -> None:
    law = make_law({0: F(1, 3), 1: F(2, 3)})
    same = relative_entropy(law, law)
    assert same is not None and same.low == same.high == 0
    assert np.isclose(float(total_variation(law, make_law({0: F(1)}))), 2 / 3)
