"""Obstructions against all words, their coarsenings and their sentences."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from ascertain.errors import LimitError
from ascertain.model import Machine
from ascertain.model.noisy import with_flip
from ascertain.quotients import separation
from ascertain.quotients.obstruction import coarsen, find_obstruction
from ascertain.quotients.separation import measure_pairs
from tests.by_hand import build, identify
from tests.reference.optimum import optimum
from tests.reference.quotient import is_obstructed, number
from tests.strategies import models, names, tasks

SMALL = {"max_states": 4, "max_actions": 2, "max_readings": 2}


@given(tasks(models(**SMALL), max_hypotheses=4))
def test_an_obstruction_is_found_exactly_when_no_word_settles_a_pair(task):
    # A shortest word that settles a pair passes through no pair twice.
    longest = task.model.num_states * (task.model.num_states - 1) // 2
    obstructed = [(h, g) for h, g in combinations(range(task.num_hypotheses), 2) if is_obstructed(task, h, g, longest)]
    found = find_obstruction(task)
    assert (found is None) == (not obstructed)
    if found is not None:
        assert found.pair == min(obstructed)
        assert found.num_pairs == len(obstructed)
        assert optimum(task) is None
        joined = {(int(task.label[h]), int(task.label[g])) for h, g in obstructed}
        assert found.coarse_label.tolist() == number(components(joined, len(task.labels)))


def components(edges: set[tuple[int, int]], size: int) -> list[int]:
    """The least label that each label is joined to."""
    group = list(range(size))
    for _ in range(size):
        for k, m in edges:
            group[k] = group[m] = min(group[k], group[m])
    return group


@given(tasks(models(), max_labels=4))
def test_a_coarsened_task_has_no_obstruction(task):
    coarse = coarsen(task)
    assert find_obstruction(coarse) is None
    assert (coarse is task) == (find_obstruction(task) is None)


@given(tasks(models(max_states=5), max_labels=3, max_hypotheses=4, about="start"))
def test_no_finer_coarsening_of_a_task_about_the_start_is_without_obstruction(task):
    found = find_obstruction(task)
    if found is None:
        return
    # Whatever splits a group of joined labels in two leaves an obstructed pair across.
    for group in found.groups:
        rest = [task.labels.index(name) for name in group]
        for size in range(1, len(rest)):
            for part in combinations(rest, size):
                side = np.array([2 * int(g) for g in found.coarse_label])
                side[list(part)] += 1
                sides = number(side.tolist())
                label = np.array([sides[k] for k in task.label], dtype=np.int32)
                kept = np.unique(np.column_stack((task.state, label)), axis=0, return_index=True)[1]
                finer = replace(task, state=task.state[kept], label=label[kept], labels=names("m", 1 + max(sides)))
                assert find_obstruction(finer) is not None


def test_obstruction_with_forbidden_actions_is_not_transitive():
    # p and r differ under a0, which q forbids; q agrees with both under a1.
    machine = build([[0, 0], [-1, 1], [2, 2]], [[0, 0], [-1, 0], [1, 0]])
    found = find_obstruction(identify(machine))
    assert found is not None
    assert found.pair == (0, 1)
    assert found.num_pairs == 2
    assert found.reason == "forbidden"
    assert "forbidden for one of them" in found.sentence
    assert found.groups == (("l0", "l1", "l2"),)
    assert find_obstruction(coarsen(identify(machine), found)) is None
    assert coarsen(identify(machine), found).labels == ("l0|l1|l2",)


def test_equivalent_states_and_shared_states_say_so():
    machine = build([[0], [1], [2]], [[0], [1], [1]])
    found = find_obstruction(identify(machine))
    assert found is not None
    assert (found.pair, found.reason, found.num_pairs) == ((1, 2), "equivalent", 1)
    assert "no experiment tells them apart" in found.sentence
    assert found.groups == (("l0",), ("l1", "l2"))
    shared = replace(identify(machine), state=np.array([0, 0], dtype=np.int32), label=np.array([0, 1], dtype=np.int32))
    twice = find_obstruction(shared)
    assert twice is not None
    assert twice.reason == "same state"
    assert "two labels, 'l0' and 'l1'" in twice.sentence
    assert coarsen(shared, twice).num_hypotheses == 1


def test_states_that_meet_are_settled_in_a_task_about_the_current_state():
    machine = build([[2], [2], [2]], [[0], [0], [0]])
    start = identify(machine)
    assert find_obstruction(start) is not None
    current = replace(start, state_label=np.arange(3, dtype=np.int32))
    assert find_obstruction(current) is None
    circling = build([[1], [0]], [[0], [0]])
    turning = replace(identify(circling), state_label=np.arange(2, dtype=np.int32))
    found = find_obstruction(turning)
    assert found is not None
    assert found.reason == "equivalent"
    assert "or brings them to one label" in found.sentence


def test_an_obstruction_rules_out_small_risks_only():
    machine = build([[0], [1]], [[0], [0]])
    found = find_obstruction(identify(machine, alpha=Fraction(1, 4), beta=Fraction(1, 4)))
    assert found is not None
    assert found.rules_out()
    assert found.rules_out(Fraction(0), Fraction(99, 100))
    assert not found.rules_out(Fraction(1, 2), Fraction(0))
    assert not found.rules_out(beta=Fraction(1, 2))


def test_joined_names_that_are_taken_are_told_apart():
    machine = build([[0], [1], [2]], [[0], [0], [1]])
    task = replace(identify(machine), labels=("a", "b", "a|b"))
    assert coarsen(task).labels == ("a|b", "a|b|")


def test_noise_does_not_obstruct_what_readings_tell_apart():
    machine = build([[0], [1]], [[0], [1]])
    assert find_obstruction(identify(with_flip(machine, Fraction(1, 10)))) is None
    assert find_obstruction(identify(with_flip(machine, Fraction(1, 2)))) is not None


def test_too_many_classes_of_a_partial_machine_are_refused(monkeypatch):
    machine = build([[0, 0], [-1, 1], [2, 2]], [[0, 0], [-1, 0], [1, 0]])
    monkeypatch.setattr(separation, "MOST_CLASSES", 2)
    with pytest.raises(LimitError, match="3 classes of states"):
        find_obstruction(identify(machine))
    monkeypatch.setattr(separation, "MOST_CLASSES", 3)
    monkeypatch.setattr(separation, "MOST_OPEN", 1)
    with pytest.raises(LimitError, match="agree in every action"):
        find_obstruction(identify(machine))


def test_many_equivalent_hypotheses_are_counted_without_listing_their_pairs():
    n = 20_000
    zeros = np.zeros((n, 1), dtype=np.int32)
    machine = Machine(states=names("s", n), actions=("a",), readings=("y",), successor=zeros, output=zeros)
    found = find_obstruction(identify(machine))
    assert found is not None
    assert found.num_pairs == n * (n - 1) // 2
    assert len(found.groups) == 1


def test_bits_and_distances_agree_on_a_machine_with_holes():
    rng = np.random.default_rng(5)
    n = 60
    successor = rng.integers(0, n, (n, 3)).astype(np.int32)
    successor[rng.random((n, 3)) < 0.4] = -1
    output = np.where(successor < 0, -1, rng.random((n, 3)) < 0.05).astype(np.int32)
    task = identify(build(successor.tolist(), output.tolist()))
    found = find_obstruction(task)
    cost = np.ones(3, dtype=np.int64)
    table = measure_pairs(task.model.successor, task.model.behaviour, None, cost)
    assert found is not None
    assert found.num_pairs == int(np.sum(table.choice == -1))
