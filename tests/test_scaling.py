"""The exact solver at scale: pairs measured when they are met, first policies, limits, bounds on large starts."""

from __future__ import annotations

import itertools
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import NoReturn
from unittest.mock import Mock, patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.certificate.solution import solution_claims
from ascertain.certificate.write import certificate_data
from ascertain.kernels import _jit
from ascertain.kernels._jit import Kernel
from ascertain.kernels.quotients.pairs import INFINITE
from ascertain.kernels.search.graph import DONE, FULL, PAUSED, expand
from ascertain.pipeline import settle as settling
from ascertain.pipeline.settle import settle
from ascertain.policy.automaton import Automaton
from ascertain.quotients.quotient import take_quotient
from ascertain.search import configuration, exact, first_policy, first_step, limits, pair_table
from ascertain.search.configuration import build_arena, is_pure
from ascertain.search.exact import solve
from ascertain.search.first_policy import find_first_policy
from ascertain.search.graph import SearchGraph
from ascertain.search.solution import Bounded, Solved
from ascertain.task.canonical import canonical_bytes, task_data
from ascertain.task.task import Task
from ascertain_check import check as check_certificate
from tests.reference.greedy import greedy_cost
from tests.reference.optimum import optimum
from tests.reference.pairs import distances
from tests.reference.scaling_tasks import (
    counter,
    locks,
    mastermind,
    mutants,
    odd_permutations,
    random_machine,
    random_union,
    shift_register,
)
from tests.reference.search import walk
from tests.strategies import tasks
from tests.test_search import check
from tests.tiers import forget_changes


def interrupt(*_: object, **__: object) -> NoReturn:
    """In place of some work: Ctrl-C while it is done."""
    raise KeyboardInterrupt


@contextmanager
def pairs_met(room: int) -> Generator[None]:
    """Within, no table of all pairs is made, and a query may explore so many pairs (or some for each action)."""
    with patch.object(configuration, "MOST_PASSES", 0), patch.object(pair_table, "ROOM", room):
        yield


@given(tasks(max_hypotheses=4), st.sampled_from((1, 20, 10_000)))
@settings(max_examples=60)
def test_distances_that_are_found_forwards_are_those_of_value_iteration(task: Task, room: int) -> None:
    with pairs_met(room):
        arena = build_arena(take_quotient(task).reduced)
    tables, label = arena.tables, arena.tables.state_label if arena.about_current else None
    truth = distances(tables.successor, tables.reading, label, tables.cost)
    for s, t in itertools.combinations(range(len(arena.class_of)), 2):
        if label is not None and label[s] == label[t]:
            continue
        found, action, known = arena.measure(s, t)
        best = INFINITE if truth[s, t] is None else truth[s, t]
        assert best is not None
        assert found == best if known else found <= best
        assert known or room < 10_000
        if action is not None:
            p, q = (int(tables.successor[x, action]) for x in (s, t))
            apart = tables.reading[s, action] != tables.reading[t, action]
            rest = 0 if apart else truth[p, q]
            assert rest is not None
            assert int(tables.cost[action]) + rest == best


@given(tasks(max_hypotheses=6), st.sampled_from((1, 10_000)))
@settings(max_examples=120)
def test_the_optimum_is_that_of_brute_force_where_pairs_are_measured_when_they_are_met(task: Task, room: int) -> None:
    with pairs_met(room):
        assert check(task, solve(task)) == optimum(task)


def test_a_table_of_pairs_that_is_too_small_grows() -> None:
    task = random_machine(200, 12)
    with pairs_met(1):
        arena = build_arena(take_quotient(task).reduced)
        size = len(arena.tables.pairs.key)
        for s, t in itertools.combinations(range(len(arena.class_of)), 2):
            arena.measure(s, t)
        assert len(arena.tables.pairs.key) > size
        few = solve(task)
    many = solve(task)
    assert isinstance(few, Solved)
    assert isinstance(many, Solved)
    assert few.cost == many.cost


@pytest.mark.parametrize("hypotheses", [3, 40])
def test_a_large_shift_register_needs_no_table_of_all_pairs(hypotheses: int) -> None:
    result = solve(shift_register(12, hypotheses), least_mean=False)
    assert isinstance(result, Solved)
    assert result.cost <= Fraction(12)


@given(tasks(max_hypotheses=6), st.sampled_from((1, 100)), st.booleans())
@settings(max_examples=150)
def test_a_first_policy_is_right_and_no_cheaper_than_the_optimum(task: Task, width: int, eager: bool) -> None:
    policy, best = find_first_policy(task, width, eager=eager), optimum(task)
    if policy is not None:
        assert best is not None
        assert max(walk(task, policy)) >= best


@given(tasks(max_hypotheses=6))
@settings(max_examples=150)
def test_a_first_policy_is_the_same_where_its_kernel_is_interpreted(task: Task) -> None:
    _check_that_arrays_make_the_same_policy(task)


@pytest.mark.parametrize(
    "task",
    [counter(30), shift_register(6, 64), random_union(40), random_machine(500, 20), locks(4), mastermind(3, 3)],
)
def test_a_larger_first_policy_is_the_same_too(task: Task) -> None:
    _check_that_arrays_make_the_same_policy(task)


def _check_that_arrays_make_the_same_policy(task: Task) -> None:
    found: list[Automaton | None] = []
    for at_hand in (True, False):
        with patch.object(first_policy, "is_at_hand", lambda _, here=at_hand: here), patch.object(first_step, "FEW", 0):
            found.append(find_first_policy(task, eager=True))
    assert found[0] == found[1]


@pytest.mark.parametrize("task", [mutants(12), locks(4), random_union(40), shift_register(6, 64), mastermind(3, 3)])
def test_what_would_not_end_in_time_is_not_begun(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are interpreted, a pass is said to take a second and compiling an hour: only a policy is to be had."""
    with forget_changes():
        monkeypatch.setattr(_jit.TIERS, "mode", "auto")
        monkeypatch.setattr(_jit, "SECONDS_PER_PASS", 1.0)
        monkeypatch.setattr(_jit, "SECONDS_PER_INSTRUCTION", 3600.0)
        monkeypatch.setattr(Kernel, "has_files", False)
        monkeypatch.setattr(first_policy, "plan_first", first_policy.plan_first.interpreted)
        result = solve(replace(task), time_limit=20.0, prove="never", least_mean=False)
    assert isinstance(result, Bounded)
    assert result.why == "time"
    assert result.policy is not None
    assert result.upper == max(walk(task, result.policy)) <= greedy_cost(task)


@pytest.mark.parametrize("task", [counter(30), shift_register(6, 64), random_union(40), random_machine(500, 20)])
def test_a_first_policy_is_that_of_plain_greedy_or_better(task: Task) -> None:
    policy = find_first_policy(task, eager=True)
    assert policy is not None
    assert max(walk(task, policy)) <= greedy_cost(task)


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_a_limit_on_a_large_machine_still_returns_a_policy(seconds: float) -> None:
    task = random_machine(60_000, 20)
    with patch.object(exact, "find_first_policy", lambda task, **_: find_first_policy(task, eager=True)):
        result = solve(replace(task), time_limit=seconds)
    if isinstance(result, Bounded):
        assert result.policy is not None
        assert result.proof is not None
        assert max(walk(task, result.policy)) == result.upper


def test_what_is_stopped_before_there_are_tables_is_certified_as_far_as_it_goes() -> None:
    task = random_machine(40_000, 5)
    result = solve(replace(task), time_limit=0.0)
    assert isinstance(result, Bounded)
    assert result.lower == 1
    claims = solution_claims(result, [Fraction(1)] * 5)
    data = certificate_data(task, claims)
    assert check_certificate(canonical_bytes(task_data(task)), canonical_bytes(data)).word == "VERIFIED"


def test_ctrl_c_leaves_a_policy_and_a_proof() -> None:
    def stop(lower: Fraction, upper: Fraction | None, _: object) -> None:
        if upper is not None:
            raise KeyboardInterrupt

    result = solve(odd_permutations(40, 10), progress=stop)
    assert isinstance(result, Bounded)
    assert result.why == "interrupt"
    assert result.proof is not None
    assert result.proof.bound == result.lower


def test_ctrl_c_before_there_are_tables_leaves_a_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    task = random_machine(40_000, 5)
    finding = Mock(side_effect=[KeyboardInterrupt, find_first_policy(task, eager=True)])
    monkeypatch.setattr(exact, "find_first_policy", finding)
    result = solve(task)
    assert isinstance(result, Bounded)
    assert result.why == "interrupt"
    assert result.policy is not None
    assert max(walk(task, result.policy)) == result.upper


def test_ctrl_c_while_the_mean_is_lowered_leaves_what_was_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "lower_mean", interrupt)
    result = solve(counter(5))
    assert isinstance(result, Solved)
    assert (result.cost, result.mean_is_least) == (4, False)
    assert result.proof is not None


def test_ctrl_c_while_a_certificate_is_made_leaves_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "certify", interrupt)
    settled = settle(counter(5))
    assert (settled.status, settled.interval, settled.certificate, settled.verdict) == ("solved", (4, 4), None, None)


def test_a_large_expansion_is_made_in_pieces() -> None:
    arena = build_arena(take_quotient(mastermind(3, 4)).reduced)
    graph, pauses = SearchGraph(arena), 0
    while (status := expand(arena.tables, graph.data, graph.scratch, 0)) != DONE:
        assert graph.data.num_edges[0] == -1
        pauses += status == PAUSED
        if status == FULL:
            graph.grow()
    assert pauses > 1

    def members(v: int) -> tuple[int, ...]:
        return tuple(graph.data.members[graph.data.first_member[v] : graph.data.first_member[v + 1]].tolist())

    data, first = graph.data, int(graph.data.first_edge[0])
    families: list[frozenset[tuple[int, ...]]] = []
    for e in range(first, first + int(data.num_edges[0])):
        families.append(frozenset(map(members, data.child[data.first_child[e] : data.first_child[e + 1]].tolist())))
    expected: set[frozenset[tuple[int, ...]]] = set()
    for a in range(arena.num_actions):
        branches = arena.branches(arena.start, a)
        assert branches is not None
        expected.add(frozenset(tuple(arena.encode(b).tolist()) for b in branches.values() if not is_pure(b)))
    assert len(families) == len(expected)  # each once
    assert set(families) == expected


def test_what_was_begun_of_another_node_is_given_up() -> None:
    arena = build_arena(take_quotient(mastermind(3, 4)).reduced)
    graph = SearchGraph(arena)
    assert expand(arena.tables, graph.data, graph.scratch, 0) == PAUSED
    later = int(graph.data.child[0])
    while (status := expand(arena.tables, graph.data, graph.scratch, later)) != DONE:
        if status == FULL:
            graph.grow()
    assert graph.data.num_edges[0] == -1
    assert graph.data.num_edges[later] > 0
    while (status := expand(arena.tables, graph.data, graph.scratch, 0)) != DONE:
        if status == FULL:
            graph.grow()
    first = int(graph.data.first_edge[0])
    assert first >= graph.data.first_edge[later] + graph.data.num_edges[later]
    assert graph.data.edge_action[first] == 0


def test_by_default_three_quarters_of_the_free_memory_may_be_used(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 100 kB\nMemAvailable: 80 kB\n")
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("10\n")
    with patch.object(limits, "MEMINFO", tmp_path / "meminfo"), patch.object(limits, "GROUP", tmp_path):
        assert limits.default_memory_limit() == 60 * 1024
        (tmp_path / "memory.max").write_text("1034\n")
        assert limits.default_memory_limit() == 768
    with patch.object(limits, "MEMINFO", tmp_path / "none"), patch.object(limits, "GROUP", tmp_path / "none"):
        assert limits.default_memory_limit() is None
