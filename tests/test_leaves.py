"""Bounds by the number of labels: three ways to compute them, never above brute force; and policies by the largest."""

from __future__ import annotations

import runpy
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascertain.certificate.claims.lower import lower_claim
from ascertain.pipeline.certify import certify
from ascertain.pipeline.settle import settle
from ascertain.search.exact import solve
from ascertain.search.first_policy import find_first_policy
from ascertain.search.leaves import bound_by_leaves
from ascertain.search.solution import Proof, ProofRow, Solved
from ascertain.task.canonical import canonical_bytes, task_data
from ascertain.task.task import Task
from ascertain_check.claims.lower import cost_of_leaves
from ascertain_check.claims.quotient import read_classes
from ascertain_check.reading import read_json
from ascertain_check.task import read_task
from tests.reference.greedy import greedy_cost
from tests.reference.optimum import optimum
from tests.reference.scaling_tasks import (
    identify,
    mastermind,
    odd_permutations,
    random_machine,
    random_union,
    shift_register,
)
from tests.reference.search import most_leaves, walk
from tests.strategies import machines, tasks
from tests.test_search import check

EXAMPLE = Path(__file__).parent.parent / "examples" / "mastermind" / "make.py"


def judge(task: Task, claim: dict[str, Any]) -> str:
    return certify(task, [claim])[1].word


@given(tasks(machines(max_states=6, max_actions=3, max_readings=4), about="start", max_labels=6))
def test_search_and_checker_and_all_trees_agree_on_what_leaves_cost(task: Task) -> None:
    table, scale = bound_by_leaves(task), task.integer_costs()[1]
    plain = read_task(read_json(canonical_bytes(task_data(task)), "task"))
    least = cost_of_leaves(plain, read_classes(plain, {}))
    for n in range(1, len(task.labels) + 1):
        cost = least(n)
        if len(table) == 0:
            assert n == 1 or cost is None
            continue
        assert cost is not None
        assert cost == Fraction(int(table[n])) / scale
        # No tree below that cost has n leaves, and some tree of that cost does.
        assert n == 1 or most_leaves(task, cost) < n
        assert most_leaves(task, cost + Fraction(1, 10**9)) >= n


@given(
    tasks(machines(max_states=5, max_readings=3), max_labels=5),
    st.fractions(min_value=0, max_value=6, max_denominator=4),
)
def test_a_row_without_moves_proves_nothing_above_the_optimum(task: Task, bound: Fraction) -> None:
    members = sorted({(int(k), int(s)) for k, s in zip(task.label, task.state, strict=True)})
    claim = lower_claim(bound, [ProofRow(tuple(members), bound, {})], 0)
    best = optimum(task)
    if judge(task, claim) == "VERIFIED":
        assert best is None or bound <= best


def test_bits_that_are_read_one_by_one_are_bounded_by_the_number_of_values_alone() -> None:
    value = np.arange(32)
    task = identify(np.column_stack([value] * 5), np.column_stack([value >> i & 1 for i in range(5)]), range(32))
    result = solve(task)
    assert isinstance(result, Solved)
    assert isinstance(result.proof, Proof)
    assert result.cost == 5
    (row,) = result.proof.rows
    assert (len(row.members), row.moves) == (17, {})  # sixteen values would be told apart by four bits


def test_a_long_proof_outgrows_the_room_that_rows_have_at_first() -> None:
    task = odd_permutations(24, 7)
    result = solve(task, least_mean=False)
    assert isinstance(result, Solved)
    assert isinstance(result.proof, Proof)
    assert sum(len(row.moves) for row in result.proof.rows) > 3_000
    assert check(task, result) == 11


@pytest.mark.parametrize("task", [shift_register(6, 64), random_union(40), random_machine(500, 20)])
def test_a_policy_by_the_largest_branch_is_that_of_plain_greedy_or_better(task: Task) -> None:
    policy = find_first_policy(task, eager=True, by_largest=True)
    assert policy is not None
    assert max(walk(task, policy)) <= greedy_cost(task, by_largest=True)


def test_the_code_of_a_small_mastermind_is_known_after_three_guesses_and_not_after_two(tmp_path: Path) -> None:
    runpy.run_path(str(EXAMPLE))["write"](3, 3, tmp_path)
    settled = settle(tmp_path / "which.toml")
    assert solve(mastermind(3, 3)).cost == 3  # type: ignore[union-attr]
    assert settled.is_optimal
    assert settled.interval == (3, 3)
    assert optimum(settled.task) == 3
