"""The quotient against Moore's rounds, the three parts of its theorem, lifting and separating words."""

from __future__ import annotations

import csv
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.errors import LimitError, ModelError, TaskError
from ascertain.model import Machine, NoisyMachine
from ascertain.model.files import read_model
from ascertain.model.noisy import total_variation
from ascertain.policy.automaton import Automaton
from ascertain.quotients import refinement as refinement_module
from ascertain.quotients.quotient import take_quotient
from ascertain.quotients.refinement import join_laws, refine, refine_tables
from ascertain.quotients.separation import separating_word, separating_words
from ascertain.task.task import Task
from tests.by_hand import build, identify
from tests.reference.lift import lift_policy
from tests.reference.optimum import optimum
from tests.reference.pairs import distances, settles
from tests.reference.quotient import end_label, naive_partition, number, transcript_law, words
from tests.strategies import machines, models, names, noisy_machines, tasks

SMALL = {"max_states": 4, "max_actions": 2, "max_readings": 2}


def countdown(n: int) -> Machine:
    """A chain that Moore's rounds split one state at a time: only the last step reads 1."""
    s = np.arange(n)
    return Machine(
        states=names("s", n),
        actions=("down", "stay"),
        readings=("0", "1"),
        successor=np.column_stack((np.maximum(s - 1, 0), s)).astype(np.int32),
        output=np.column_stack((s == 0, np.zeros(n))).astype(np.int32),
    )


# --- refinement


@given(models(max_states=9), st.data())
def test_refinement_agrees_with_naive_rounds(model, data):
    seed = None
    if data.draw(st.booleans()):
        size = model.num_states
        seed = np.array(data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)), dtype=np.int32)
    partition = refine(model, seed=seed)
    assert partition.block.tolist() == naive_partition(model, seed)
    assert partition.num_classes == 1 + int(partition.block.max())
    assert partition.certified
    assert partition.representative.tolist() == [
        partition.block.tolist().index(c) for c in range(partition.num_classes)
    ]


@given(machines(max_states=12), st.integers(0, 1))
def test_halving_agrees_with_naive_rounds(machine, poor):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refinement_module, "POOR_ROUNDS", poor)
        patch.setattr(refinement_module, "SLICE", 1)
        assert refine(machine).block.tolist() == naive_partition(machine)


@given(models(max_states=9))
def test_hashes_that_all_collide_change_nothing(model):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refinement_module, "hash_rows", lambda *arrays: arrays[-1].fill(0))
        assert refine(model).block.tolist() == naive_partition(model)


@pytest.mark.parametrize("seed", range(6))
def test_larger_random_machines_refine_as_naive_rounds_do(seed):
    rng = np.random.default_rng(seed)
    n, num_actions = 150, 1 + seed % 3
    successor = rng.integers(-1 if seed % 2 else 0, n, (n, num_actions)).astype(np.int32)
    output = np.where(successor < 0, -1, rng.random((n, num_actions)) < 0.03).astype(np.int32)
    machine = build(successor.tolist(), output.tolist())
    assert refine(machine).block.tolist() == naive_partition(machine)


def test_real_machines_have_as_many_classes_as_their_manifest_says(models_dir):
    with (models_dir / "MANIFEST.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) > 100
    for row in rows:
        model = read_model(models_dir.parent / row["path"])
        assert isinstance(model, Machine | NoisyMachine)
        assert refine(model).num_classes == int(row["min_states"]), row["path"]


def test_a_long_chain_is_refined_without_a_round_for_each_state():
    n = 300
    partition = refine(countdown(n))
    assert partition.num_classes == n
    assert partition.edge_visits <= 2 * n * 2 * np.log2(n)


def test_a_shift_register_needs_as_many_rounds_as_it_has_bits():
    size = 64
    s = np.arange(size)
    successor = ((s << 1) % size)[:, None].astype(np.int32)
    output = (s >= size // 2).astype(np.int32)[:, None]
    block, count, visits = refine_tables(successor, output, np.zeros(size, dtype=np.int32))
    assert count == size
    assert visits <= size * 6
    assert block.tolist() == list(range(size))


def test_a_seed_of_the_wrong_length_is_refused():
    with pytest.raises(ModelError, match="seed"):
        refine(countdown(3), seed=np.zeros(2, dtype=np.int32))


# --- tolerance


def leaning(*tenths: int) -> NoisyMachine:
    """One action that stays; state i reads 1 with probability tenths[i] / 10."""
    n = len(tenths)
    laws = tuple(((0, 1 - Fraction(k, 10)), (1, Fraction(k, 10))) for k in tenths)
    return NoisyMachine(
        states=names("s", n),
        actions=("look",),
        readings=("0", "1"),
        successor=np.arange(n, dtype=np.int32)[:, None],
        law=np.arange(n, dtype=np.int32)[:, None],
        laws=laws,
    )


def test_a_tolerance_joins_laws_by_chains_and_is_not_certified():
    model = leaning(1, 5, 2, 3)
    assert refine(model).num_classes == 4
    rough = refine(model, tolerance=Fraction(1, 10))
    assert rough.block.tolist() == [0, 1, 0, 0]
    assert not rough.certified
    assert refine(model, tolerance=Fraction(1, 11)).block.tolist() == [0, 1, 2, 3]
    assert refine(leaning(1, 4, 3, 2), tolerance=Fraction(1, 10)).num_classes == 1


def test_a_tolerance_never_joins_certain_readings():
    machine = countdown(4)
    rough = refine(machine, tolerance=Fraction(99, 100))
    assert rough.block.tolist() == refine(machine).block.tolist()
    assert not rough.certified


def test_a_tolerance_of_one_or_of_too_many_laws_is_refused(monkeypatch):
    with pytest.raises(ModelError, match="total variation"):
        refine(leaning(1, 2), tolerance=Fraction(1))
    monkeypatch.setattr(refinement_module, "MOST_LAWS", 1)
    with pytest.raises(LimitError, match="laws"):
        refine(leaning(1, 2), tolerance=Fraction(1, 2))


@given(noisy_machines(max_laws=6), st.sampled_from([Fraction(1, 6), Fraction(1, 3), Fraction(2, 3)]))
def test_joined_laws_are_the_classes_of_nearness(model, tolerance):
    near = {
        (i, j) for i, p in enumerate(model.laws) for j, q in enumerate(model.laws) if total_variation(p, q) <= tolerance
    }
    joined = {(i, i) for i in range(len(model.laws))}
    while (more := joined | {(i, k) for i, j in joined for jj, k in near if j == jj}) != joined:
        joined = more
    group = join_laws(model, tolerance)
    assert joined == {(i, j) for i in range(len(group)) for j in range(len(group)) if group[i] == group[j]}


# --- the theorem


@given(tasks(models(**SMALL)))
def test_members_of_a_class_give_every_word_the_same_law(task):
    quotient = take_quotient(task)
    for s in range(task.model.num_states):
        c = int(quotient.block[s])
        for word in words(task.model, task.model.num_states - 1):
            assert transcript_law(task.model, s, word) == transcript_law(quotient.reduced.model, c, word)
        if task.state_label is not None:
            reduced_label = quotient.reduced.state_label
            assert reduced_label is not None and task.state_label[s] == reduced_label[c]


@given(tasks(models(**SMALL)))
def test_merging_any_two_classes_loses_a_law_an_action_or_a_label(task):
    reduced = take_quotient(task).reduced
    for p, q in combinations(range(reduced.model.num_states), 2):
        assert any(
            transcript_law(reduced.model, p, word) != transcript_law(reduced.model, q, word)
            or ends_in_two_labels(reduced, p, q, word)
            for word in words(reduced.model, reduced.model.num_states - 1)
        )


def ends_in_two_labels(task: Task, p: int, q: int, word) -> bool:
    """About the current state: a word that both allow ends in different labels."""
    if task.state_label is None or transcript_law(task.model, p, word) is None:
        return False
    return end_label(task, p, word) != end_label(task, q, word)


@given(tasks(models(**SMALL)))
def test_the_optimum_is_that_of_the_quotient(task):
    assert optimum(take_quotient(task).reduced) == optimum(task)


@given(tasks(models()))
def test_the_maps_of_a_quotient_fit_together(task):
    quotient = take_quotient(task)
    reduced, block = quotient.reduced, quotient.block
    assert quotient.num_classes == reduced.model.num_states == 1 + int(block.max())
    assert block[quotient.representative].tolist() == list(range(quotient.num_classes))
    assert reduced.model.states == tuple(task.model.states[s] for s in quotient.representative)
    assert reduced.model.initial == tuple(dict.fromkeys(int(block[s]) for s in task.model.initial))
    key = [(int(block[s]), int(k)) for s, k in zip(task.state, task.label, strict=True)]
    assert quotient.hypothesis_class.tolist() == number(key)
    assert take_quotient(reduced).num_classes == quotient.num_classes


def test_an_origin_survives_unless_a_class_mixes_two():
    machine = build([[0], [1], [2]], [[0], [1], [1]], origin=("left", "right", "right"))
    assert take_quotient(identify(machine)).reduced.model.origin == ("left", "right")
    mixed = replace(machine, origin=("left", "left", "right"))
    assert take_quotient(identify(mixed)).reduced.model.origin == ()


# --- lifting


def test_a_policy_lifts_unchanged_and_verdicts_get_their_names_back():
    machine = build([[0], [1], [2]], [[0], [1], [1]])
    quotient = take_quotient(identify(machine, [0, 1, 1]))
    policy = Automaton(action=(0, -1, -1), label=(-1, 0, 1), children=({0: 1, 1: 2}, {}, {}))
    assert lift_policy(quotient, policy) is policy
    assert quotient.members(1) == [1, 2]
    assert quotient.class_names == [["s0"], ["s1", "s2"]]


@given(tasks(models()))
def test_every_exact_quotient_lifts(task):
    policy = Automaton(action=(-1,), label=(0,), children=({},))
    assert lift_policy(take_quotient(task), policy) is policy


def test_a_wrong_quotient_does_not_lift():
    machine = build([[0], [1], [2]], [[0], [1], [1]])
    quotient = take_quotient(identify(machine, [0, 1, 1]))
    policy = Automaton(action=(-1,), label=(0,), children=({},))
    wrong = replace(quotient, block=np.array([0, 1, 0], dtype=np.int32))
    with pytest.raises(TaskError, match="'s2' and its class 's0' differ in action 'a0'"):
        lift_policy(wrong, policy)
    with pytest.raises(TaskError, match="hypothesis"):
        lift_policy(replace(quotient, hypothesis_class=np.array([0, 1, 0], dtype=np.int32)), policy)
    with pytest.raises(TaskError, match="costs"):
        lift_policy(replace(quotient, reduced=replace(quotient.reduced, cost=(Fraction(2),))), policy)
    with pytest.raises(TaskError, match="tolerance"):
        lift_policy(take_quotient(quotient.task, tolerance=Fraction(1, 2)), policy)


# --- separating words


@given(models(max_states=6), st.data())
def test_a_separating_word_is_as_cheap_as_the_distance(model, data):
    size = model.num_actions
    cost = np.array(data.draw(st.lists(st.integers(1, 5), min_size=size, max_size=size)), dtype=np.int64)
    slow = distances(model.successor, model.behaviour, None, cost)
    for (p, q), table_word in separating_words(model, cost=cost):
        word = separating_word(model, p, q, cost=cost)
        if slow[p, q] is None:
            assert word is None
            assert table_word is None
            continue
        for found in (word, table_word):
            assert found is not None
            assert sum(int(cost[a]) for a in found) == slow[p, q]
            assert settles(found, (p, q), model.successor, model.behaviour, None)


@given(machines(max_states=6, partial=False))
def test_in_a_total_quotient_every_two_classes_have_a_word_shorter_than_their_number(machine):
    reduced = take_quotient(identify(machine)).reduced.model
    for _, word in separating_words(reduced):
        assert word is not None
        assert len(word) < reduced.num_states


def test_classes_that_differ_by_availability_alone_have_no_word():
    machine = build([[0, 0], [1, -1]], [[0, 0], [0, -1]])
    assert take_quotient(identify(machine)).num_classes == 2
    assert separating_word(machine, 0, 1) is None
    assert list(separating_words(machine)) == [((0, 1), None)]


def test_a_pair_reached_again_more_cheaply_is_left_more_cheaply():
    # a0 leads from 0 and 1 to 4 and 5 at once, a1 by way of 2 and 3; only there does a2 tell them apart.
    machine = build(
        [[4, 2, 0], [5, 3, 1], [2, 4, 2], [3, 5, 3], [4, 4, 4], [5, 5, 5]],
        [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]],
    )
    assert separating_word(machine, 0, 1) == (0, 2)
    assert separating_word(machine, 0, 1, cost=np.array([5, 1, 1], dtype=np.int64)) == (1, 1, 2)


def test_a_search_for_a_word_gives_up_at_its_limit():
    with pytest.raises(LimitError, match="5 pairs"):
        separating_word(countdown(50), 40, 49, limit=5)
    assert separating_word(countdown(50), 40, 49) == (0,) * 41
