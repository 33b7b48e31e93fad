"""The exact solver: against brute force, on textbook machines, on real ones, and at its limits."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config as numba_config

from ascertain.certificate.claims.achieves import achieves_claim
from ascertain.certificate.claims.lower import lower_claim
from ascertain.certificate.claims.shares import shares_claim
from ascertain.certificate.write import certificate_data
from ascertain.errors import TaskError
from ascertain.interruption import OutOfTime
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.kernels.search.bounds import NEVER, value_branch
from ascertain.model import Machine
from ascertain.model.build import machine_from_transitions
from ascertain.model.noisy import with_flip
from ascertain.problem.pose import pose
from ascertain.quotients.quotient import take_quotient
from ascertain.quotients.separation import measure_task
from ascertain.search import deepening
from ascertain.search.configuration import Arena, build_arena, is_pure, price_of_next, value_next_size
from ascertain.search.deepening import Search
from ascertain.search.exact import conclude, solve
from ascertain.search.graph import SearchGraph
from ascertain.search.greedy import improve_plan, plan_greedily
from ascertain.search.plan import read_policy
from ascertain.search.solution import Bounded, Proof, SharesProof, Solution, Solved, Unsolvable
from ascertain.search.splitting import grow_splitting_tree
from ascertain.task.canonical import canonical_bytes, task_data
from ascertain.task.task import Task
from ascertain_check import check as check_certificate
from tests.reference.optimum import optimum
from tests.reference.search import expected_optimum, replay, walk
from tests.reference.search_tasks import (
    DEZYNE,
    FINGERPRINTS,
    all_states,
    fingerprint,
    hard_task,
    load,
    permutation_machine,
)
from tests.strategies import machines, tasks


def task_on(machine: Machine, states: list[int], labels: list[int], cost: list[Fraction] | None = None) -> Task:
    return Task(
        model=machine,
        state=np.array(states, dtype=np.int32),
        label=np.array(labels, dtype=np.int32),
        labels=tuple(f"l{i}" for i in range(max(labels) + 1)),
        cost=tuple(cost or [Fraction(1)] * machine.num_actions),
    )


def shift_register(bits: int) -> Machine:
    """One action: it reads the lowest bit and shifts, with a zero coming in."""
    n = 1 << bits
    s = np.arange(n)
    return Machine(
        states=tuple(format(i, f"0{bits}b") for i in range(n)),
        actions=("shift",),
        readings=("0", "1"),
        successor=(s >> 1)[:, None],
        output=(s & 1)[:, None],
    )


def check(task: Task, result: Solution) -> Fraction | None:
    """Policy and proof of a finished search say what it says; returns the optimum, None if infinite."""
    assert not isinstance(result, Bounded)
    if isinstance(result, Unsolvable):
        assert established(task, result.witness) is None
        return None
    assert max(walk(task, result.policy)) == result.cost
    assert result.proof is not None
    assert established(task, result.proof) == result.cost
    return result.cost


def established(task: Task, proof: object) -> Fraction | None:
    if isinstance(proof, SharesProof):
        data = certificate_data(task, [shares_claim(proof)])
        assert check_certificate(canonical_bytes(task_data(task)), canonical_bytes(data)).word == "VERIFIED"
        return proof.bound
    assert isinstance(proof, Proof)
    quotient = take_quotient(task)
    assert np.array_equal(proof.block, quotient.block)
    return replay(quotient.reduced, proof)


@given(tasks(max_hypotheses=6))
@settings(max_examples=300)
def test_the_optimum_is_that_of_brute_force_with_a_policy_and_a_proof(task: Task) -> None:
    assert check(task, solve(task)) == optimum(task)


@given(tasks(machines(min_states=4, max_states=7, max_readings=2, partial=False), about="start", max_labels=7))
@settings(max_examples=200)
def test_the_optimum_is_that_of_brute_force_where_splitting_is_hard(task: Task) -> None:
    assert check(task, solve(task)) == optimum(task)


@given(tasks(max_hypotheses=6))
@settings(max_examples=200)
def test_looking_for_a_first_policy_and_for_stuck_parts_first_changes_no_optimum(task: Task) -> None:
    with patch.object(deepening, "SHORT_SLICE", 0):
        assert check(task, solve(task)) == optimum(task)


@given(tasks(max_hypotheses=4))
@settings(max_examples=60)
def test_the_distance_of_two_states_is_the_optimum_of_the_pair(task: Task) -> None:
    arena = build_arena(take_quotient(task).reduced)
    for pair in itertools.combinations(range(len(arena.class_of)), 2):
        part = part_of(arena, pair)
        one, other = (int(k) for k in part.label)
        distance = 0 if one == other else arena.measure(*pair)[0]
        assert (None if distance == INFINITE else Fraction(distance, arena.scale)) == optimum(part)


@given(machines(min_states=2, max_states=6, max_actions=3, max_readings=2))
@settings(max_examples=200)
def test_for_all_states_the_splitting_tree_alone_tells_finite_from_infinite(machine: Machine) -> None:
    task = all_states(machine)
    reduced = take_quotient(task).reduced
    tree = grow_splitting_tree(build_arena(reduced))
    assert (len(tree.stuck) == 0) == (optimum(task) is not None)


@given(tasks(max_hypotheses=5), st.data())
@settings(max_examples=200)
def test_the_least_mean_cost_is_that_of_brute_force(task: Task, data: st.DataObject) -> None:
    h = task.num_hypotheses
    weights = data.draw(
        st.lists(st.fractions(Fraction(1, 5), 3, max_denominator=5), min_size=h, max_size=h), label="weights"
    )
    result = solve(task, objective="expected", weights=weights)
    if isinstance(result, Unsolvable):
        assert expected_optimum(task, weights) is None
        assert established(task, result.witness) is None
        return
    assert isinstance(result, Solved)
    spent = walk(task, result.policy)
    assert sum(w * c for w, c in zip(weights, spent, strict=True)) / sum(weights) == result.cost
    assert result.cost == expected_optimum(task, weights)


@given(tasks(max_hypotheses=6))
def test_a_greedy_policy_is_right_and_never_cheaper_than_the_optimum(task: Task) -> None:
    arena = build_arena(take_quotient(task).reduced)
    graph = SearchGraph(arena)
    plan_greedily(graph, None if arena.about_current else grow_splitting_tree(arena))
    if graph.upper(0) < INFINITE:
        best = optimum(task)
        assert best is not None
        assert max(walk(task, read_policy(graph))) >= best


@given(tasks(max_hypotheses=6))
def test_an_interrupted_search_returns_an_interval_with_policy_and_proof(task: Task) -> None:
    result = solve(task, time_limit=0.0)
    best = optimum(task)
    if isinstance(result, Bounded):
        assert result.proof is not None
        assert established(task, result.proof) == result.lower
        assert best is None or result.lower <= best
        if result.upper is not None:
            assert result.policy is not None
            assert max(walk(task, result.policy)) == result.upper
            assert best is not None
            assert best <= result.upper
    else:
        assert check(task, result) == best


def test_a_table_of_small_sets_is_made_in_slices_between_which_the_clock_is_looked_at() -> None:
    tables = build_arena(take_quotient(hard_task(1, 14, 6)).reduced).tables
    whole = value_next_size(tables, None)
    assert whole is not None
    with patch("ascertain.search.configuration.SETS_AT_ONCE", 5):
        sliced = value_next_size(tables, None)
        assert sliced is not None and np.array_equal(sliced.value, whole.value)
        assert value_next_size(tables, -math.inf) is None


@given(tasks(machines(min_states=4, max_states=6), max_hypotheses=6, shared_states=False))
@settings(max_examples=200)
def test_tables_of_small_sets_hold_their_optima(task: Task) -> None:
    arena = build_arena(take_quotient(task).reduced)
    tables = arena.tables
    for _ in range(2):
        if price_of_next(tables, 5) is None or tables.subsets.most >= len(arena.class_of):
            return
        subsets = value_next_size(tables, None)
        assert subsets is not None
        tables = tables._replace(subsets=subsets)
        size = subsets.most
        for rank, chosen in enumerate(colexicographic(len(arena.class_of), size)):
            value = int(subsets.value[subsets.first[size] + rank])
            expected = optimum(part_of(arena, chosen))
            assert (None if value == NEVER else Fraction(value, arena.scale)) == expected


@given(tasks(machines(min_states=4, max_states=6, max_readings=2), max_labels=6, max_hypotheses=6))
@settings(max_examples=200)
def test_bounds_by_small_sets_change_no_optimum_and_can_be_proved(task: Task) -> None:
    quotient = take_quotient(task)
    arena = build_arena(quotient.reduced)
    if is_pure(arena.start):
        return
    search = Search(arena)
    for _ in range(2):
        search.strengthened = -(10**9)
        search.strengthen()
    assert search.run() is None
    assert check(task, conclude(search, quotient, None, None, prove="always")) == optimum(task)


def colexicographic(n: int, size: int) -> list[tuple[int, ...]]:
    """All sets of that size, in the order of their ranks."""
    return sorted(itertools.combinations(range(n), size), key=lambda chosen: chosen[::-1])


def part_of(arena: Arena, chosen: tuple[int, ...]) -> Task:
    """The task of telling these states apart, all labels different unless they are those of the states."""
    task, states = arena.task, arena.class_of[list(chosen)]
    if task.state_label is not None:
        return replace(task, state=states, label=task.state_label[states])
    names = tuple(f"l{i}" for i in range(len(chosen)))
    return replace(task, state=states, label=np.arange(len(chosen), dtype=np.int32), labels=names)


def test_a_long_search_uses_small_sets_and_still_proves_what_it_says() -> None:
    task = hard_task(1, 30, 7)
    search = Search(build_arena(take_quotient(task).reduced))
    search.prepare()
    first = search.upper
    improve_plan(search.graph, search.tree, 16)
    assert search.lower <= search.upper <= first
    search.strengthened = -(10**9)
    search.strengthen()
    assert search.arena.tables.subsets.most == 3
    assert search.run() is None
    result = conclude(search, take_quotient(task), None, None, prove="always")
    assert isinstance(result, Solved)
    plain = solve(task, prove="never")
    assert isinstance(plain, Solved)
    assert check(task, result) == plain.cost


def test_a_search_goes_on_without_work_that_would_take_longer_than_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a strict limit such work is not begun: a second table of small sets, say, whose kernel is not compiled."""
    refused: list[str] = []

    def refuse(name: str) -> Callable[..., None]:
        def not_begun(*_: object, **__: object) -> None:
            refused.append(name)
            raise OutOfTime("the time limit of the search")

        return not_begun

    names = ("look_for_infinity", "pack", "strengthen", "improve_policy")
    for name in names:
        monkeypatch.setattr(Search, name, refuse(name))
    monkeypatch.setattr("ascertain.search.deepening.SLICE", 200)
    monkeypatch.setattr("ascertain.search.deepening.SHORT_SLICE", 200)
    result = solve(hard_task(1, 20, 6), time_limit=600, prove="never")
    assert isinstance(result, Solved) and result.cost == 10
    assert set(refused) == set(names)


@given(tasks(max_hypotheses=6, risk=True))
@settings(max_examples=100)
def test_the_independent_checker_verifies_every_answer(task: Task) -> None:
    result = solve(task)
    if isinstance(result, Unsolvable):
        claims = [lower_claim(None, result.witness.rows, result.witness.root, result.witness.block)]
    else:
        assert isinstance(result, Solved)
        assert isinstance(result.proof, Proof)
        claims = [
            achieves_claim(result.cost, result.policy),
            lower_claim(result.cost, result.proof.rows, result.proof.root, result.proof.block),
        ]
    text = canonical_bytes(certificate_data(task, claims))
    verdict = check_certificate(canonical_bytes(task_data(task)), text)
    assert verdict.word == "VERIFIED", verdict


def test_a_shift_register_is_read_in_as_many_steps_as_it_has_bits() -> None:
    for bits in range(1, 6):
        task = all_states(shift_register(bits))
        result = solve(task)
        assert check(task, result) == bits


def test_the_same_task_gives_the_same_policy_and_proof() -> None:
    task = all_states(permutation_machine(3, 9))
    one, other = solve(task), solve(task)
    assert isinstance(one, Solved)
    assert isinstance(other, Solved)
    assert one.policy == other.policy
    assert isinstance(one.proof, Proof)
    assert isinstance(other.proof, Proof)
    assert one.proof.rows == other.proof.rows


def test_distances_that_are_known_already_change_nothing() -> None:
    task = all_states(permutation_machine(3, 9))
    distances = measure_task(take_quotient(task).reduced)
    with patch("ascertain.search.configuration.measure_task", side_effect=AssertionError):
        known = solve(task, distances=distances)
    anew = solve(task)
    assert isinstance(known, Solved)
    assert isinstance(anew, Solved)
    assert (known.cost, known.policy) == (anew.cost, anew.policy)


def test_one_state_under_two_labels_is_unsolvable_and_the_witness_is_that_pair() -> None:
    task = task_on(shift_register(2), [1, 1, 2], [0, 1, 2])
    result = solve(task)
    assert isinstance(result, Unsolvable)
    assert [k for k, _ in result.members] == [0, 1]


def test_one_label_costs_nothing() -> None:
    result = solve(task_on(shift_register(2), [0, 1, 2], [0, 0, 0]))
    assert isinstance(result, Solved)
    assert (result.cost, result.policy.size, result.policy.depth) == (0, 1, 0)


def test_equal_subtrees_are_shared() -> None:
    # Two bits under one label each way: the parity needs both bits, and only two subtrees differ after the first.
    machine = shift_register(3)
    parity = [format(s, "b").count("1") % 2 for s in range(8)]
    result = solve(task_on(machine, list(range(8)), parity))
    assert isinstance(result, Solved)
    assert result.policy.depth == 3
    assert result.policy.size == 7


def test_noise_and_bad_weights_are_refused() -> None:
    machine = shift_register(2)
    task = task_on(machine, [0, 1], [0, 1])
    with pytest.raises(TaskError, match="without noise"):
        solve(
            Task(
                model=with_flip(machine, Fraction(1, 10)),
                state=task.state,
                label=task.label,
                labels=task.labels,
                cost=task.cost,
            )
        )
    with pytest.raises(TaskError, match="1 weights for 2 hypotheses"):
        solve(task, weights=[Fraction(1)])
    with pytest.raises(TaskError, match="1 weights for 2 hypotheses"):
        solve(task, objective="expected", weights=[Fraction(1)])
    with pytest.raises(TaskError, match="must be positive"):
        solve(task, objective="expected", weights=[Fraction(1), Fraction(0)])


def test_a_time_limit_returns_the_interval_reached_with_a_policy_and_a_proof() -> None:
    task = hard_task(2, 60, 12)
    told: list[tuple[Fraction, Fraction | None]] = []
    result = solve(task, time_limit=0.2, progress=lambda lower, upper, _: told.append((lower, upper)))
    assert isinstance(result, Bounded)
    assert result.why == "time"
    assert result.upper is not None
    assert result.policy is not None
    assert result.proof is not None
    assert 0 < result.lower < result.upper
    assert max(walk(task, result.policy)) == result.upper
    assert established(task, result.proof) == result.lower
    assert all(a[0] <= b[0] for a, b in itertools.pairwise(told))


def test_a_memory_limit_returns_the_interval_reached() -> None:
    result = solve(hard_task(1, 40, 10), memory_limit=2_000_000, prove="never")
    assert isinstance(result, Bounded)
    assert result.why == "memory"
    assert result.stats.bytes <= 2_000_000


def test_an_interrupt_returns_the_interval_reached() -> None:
    def interrupt(lower: Fraction, upper: Fraction | None, _: object) -> None:
        if upper is not None:
            raise KeyboardInterrupt

    result = solve(hard_task(1, 40, 10), progress=interrupt, prove="never")
    assert isinstance(result, Bounded)
    assert result.why == "interrupt"
    assert result.upper is not None


@pytest.mark.parametrize("name", FINGERPRINTS)
def test_real_protocol_servers_are_told_apart_at_the_published_optimum(models_dir: Path, name: str) -> None:
    pattern, best = FINGERPRINTS[name]
    task = fingerprint(models_dir, pattern)
    assert check(task, solve(task)) == best


@pytest.mark.parametrize(("reset", "best"), [(1, 12), (3, 16), (10, 30), (50, 110)])
def test_a_dearer_reset_is_used_less(models_dir: Path, reset: int, best: int) -> None:
    task = fingerprint(models_dir, FINGERPRINTS["tlsprint TLS10"][0], reset=reset)
    assert check(task, solve(task)) == best


def test_bank_cards_over_all_actions_depend_on_what_an_undefined_action_means(models_dir: Path) -> None:
    pattern = FINGERPRINTS["Bankcard"][0]
    task = fingerprint(models_dir, pattern, all_actions=True, completed=True)
    assert check(task, solve(task)) == 5
    task = fingerprint(models_dir, pattern, all_actions=True)
    assert check(task, solve(task)) is None


def test_every_state_of_the_dezyne_model_is_identified_in_eleven_steps(models_dir: Path) -> None:
    task = all_states(load(models_dir / DEZYNE))
    assert check(task, solve(task)) == 11


def manifest(models: Path) -> list[dict[str, str]]:
    with (models / "MANIFEST.tsv").open() as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_all_states_of_every_real_machine_cost_what_the_manifest_says(models_dir: Path) -> None:
    for entry in manifest(models_dir):
        if not entry["D_all_states_unit_cost"]:
            continue
        task = all_states(load(models_dir.parent / entry["path"]))
        best = check(task, solve(task))
        assert ("inf" if best is None else str(best)) == entry["D_all_states_unit_cost"], entry["path"]


@pytest.mark.skipif(vars(numba_config)["DISABLE_JIT"], reason="a minute without compiled kernels")
def test_no_experiment_identifies_every_state_of_the_printer_controller(models_dir: Path) -> None:
    task = all_states(load(models_dir / "esm" / "esm-0.dot"))
    result = solve(task)
    assert check(task, result) is None
    assert isinstance(result, Unsolvable)
    assert len(result.members) == 12


def test_costs_in_the_thousands_of_millions_do_not_turn_into_infinity() -> None:
    huge = Fraction(10**9)
    for seed in range(3):
        small = hard_task(seed, 12, 5)
        large = replace(small, cost=tuple(c * huge + i for i, c in enumerate(small.cost)))
        cheap, dear = solve(small), solve(large)
        assert isinstance(cheap, Solved)
        assert isinstance(dear, Solved)
        assert cheap.cost * huge <= dear.cost <= cheap.cost * (huge + len(small.cost))


@pytest.mark.parametrize("distance", [NEVER - 2, NEVER - 1, NEVER, 2**40])
def test_a_finite_distance_of_a_pair_is_finite_in_the_table_of_small_sets(distance: int) -> None:
    key = np.array([0, 1], dtype=np.int64)
    apart = np.array([distance], dtype=np.int64)
    tables = build_arena(hard_task(0, 4, 2)).tables._replace(distance=apart)
    assert value_branch(tables, key, 0, 2) == min(distance, NEVER - 1)
    apart[0] = INFINITE
    assert value_branch(tables, key, 0, 2) == NEVER


def test_what_cannot_be_settled_is_so_for_mean_costs_too() -> None:
    m = machine_from_transitions([("a", "go", "x", "c"), ("b", "go", "x", "c"), ("c", "go", "x", "c")])
    result = solve(pose(m), objective="expected", time_limit=60)
    assert isinstance(result, Unsolvable)
    assert result.objective == "expected"
