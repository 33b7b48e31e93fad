"""Pair distances against value iteration, their words, and the bound they give on the optimum."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.bounds.pairs import bound_by_pairs
from ascertain.errors import LimitError
from ascertain.kernels.quotients.pairs import INFINITE, larger_element
from ascertain.model import Machine
from ascertain.quotients.separation import measure_pairs, measure_task, pair_number
from ascertain.task.task import Task
from tests.reference.optimum import optimum
from tests.reference.pairs import distances, settles
from tests.strategies import machines, models, names, tasks


def shift_register(bits: int) -> Machine:
    """A register that is rotated and read one bit at a time."""
    size = 2**bits
    s = np.arange(size)
    rotated = ((s << 1) & (size - 1)) | (s >> (bits - 1))
    return Machine(
        states=names("s", size),
        actions=("rotate",),
        readings=("0", "1"),
        successor=rotated[:, None].astype(np.int32),
        output=(s >> (bits - 1))[:, None].astype(np.int32),
    )


def count_edges(machine: Machine) -> int:
    """The edges of the pair graph: both allow the action and it does not lead them to one state."""
    return sum(
        x >= 0 and y >= 0 and x != y
        for one, other in combinations(machine.successor.tolist(), 2)
        for x, y in zip(one, other, strict=True)
    )


@given(machines(max_states=7), st.data())
def test_pair_distances_agree_with_value_iteration(machine, data):
    n = machine.num_states
    label = None
    if data.draw(st.booleans()):
        label = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=np.int32)
    size = machine.num_actions
    cost = np.array(data.draw(st.lists(st.integers(1, 9), min_size=size, max_size=size)), dtype=np.int64)
    found = measure_pairs(machine.successor, machine.behaviour, label, cost)
    assert found.edges <= count_edges(machine)
    for (i, j), value in distances(machine.successor, machine.behaviour, label, cost).items():
        assert found.between(i, j) == (INFINITE if value is None else value)
        word = found.word(i, j)
        if value is None:
            assert word is None
        else:
            assert word is not None
            assert sum(int(cost[a]) for a in word) == value
            assert settles(word, (i, j), machine.successor, machine.behaviour, label)


@given(tasks(models()))
def test_states_are_measured_that_hypotheses_can_become(task):
    found = measure_task(task)
    states = found.states
    cost, _ = task.integer_costs()
    assert set(states.tolist()) == reach(task)
    slow = distances(task.model.successor, task.model.behaviour, task.state_label, cost)
    for i, s in enumerate(states):
        for j, t in enumerate(states[:i]):
            value = slow[int(s), int(t)]
            assert found.between(i, j) == (INFINITE if value is None else value)


def reach(task: Task) -> set[int]:
    """The states that hypotheses can become, by a search with a set."""
    reached, front = set(), task.state.tolist()
    while front:
        s = front.pop()
        if s >= 0 and s not in reached:
            reached.add(s)
            front.extend(task.model.successor[s].tolist())
    return reached


@given(tasks(machines(max_states=5, max_actions=2)))
def test_the_pair_bound_is_below_the_optimum_and_infinite_only_with_it(task):
    bound, best = bound_by_pairs(task), optimum(task)
    assert best is None or (bound.value is not None and bound.value <= best)


@given(tasks(max_hypotheses=2))
def test_for_two_hypotheses_the_pair_bound_is_the_optimum(task):
    assert bound_by_pairs(task).value == optimum(task)


@pytest.mark.parametrize("bits", [1, 3, 6])
def test_a_shift_register_is_read_in_as_many_steps_as_it_has_bits(bits):
    register = shift_register(bits)
    everything = np.arange(2**bits, dtype=np.int32)
    task = Task(
        model=register,
        state=everything,
        label=everything,
        labels=register.states,
        cost=(Fraction(1, 3),),
    )
    bound = bound_by_pairs(task)
    assert bound.value == Fraction(bits, 3)
    assert bound.word == (0,) * bits


def test_two_labels_in_one_state_are_infinitely_far_apart():
    task = Task(
        model=shift_register(1),
        state=np.array([0, 0], dtype=np.int32),
        label=np.array([0, 1], dtype=np.int32),
        labels=("a", "b"),
        cost=(Fraction(1),),
    )
    bound = bound_by_pairs(task)
    assert bound.value is None
    assert bound.pair == (0, 1)
    assert bound.word is None


def test_a_cheap_detour_beats_a_dear_action():
    machine = Machine(
        states=("p", "q", "p1", "q1"),
        actions=("dear", "step", "look"),
        readings=("0", "1"),
        successor=np.array([[0, 2, 0], [1, 3, 1], [2, 2, 2], [3, 3, 3]], dtype=np.int32),
        output=np.array([[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 1]], dtype=np.int32),
    )
    label = np.array([0, 1, 0, 1], dtype=np.int32)
    found = measure_pairs(machine.successor, machine.output, label, np.array([10, 1, 2], dtype=np.int64))
    assert found.between(0, 1) == 3
    assert found.word(0, 1) == (1, 2)


@given(st.integers(0, 2**31 - 1))
def test_the_pair_of_a_number_is_found_exactly(p):
    i = larger_element(p)
    j = p - i * (i - 1) // 2
    assert 0 <= j < i
    assert pair_number(i, j) == p


def test_costs_that_might_overflow_are_refused():
    register = shift_register(6)
    label = np.arange(64, dtype=np.int32)
    with pytest.raises(LimitError, match="overflow"):
        measure_pairs(register.successor, register.output, label, np.array([2**55], dtype=np.int64))
