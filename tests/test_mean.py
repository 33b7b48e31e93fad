"""The mean: proved from below by weighted rows, and least among policies of the least worst cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.certificate.claims.lower_expected import lower_expected_claim
from ascertain.model import Machine
from ascertain.pipeline.certify import certify
from ascertain.pipeline.fingerprint import fingerprint
from ascertain.pipeline.settle import settle
from ascertain.quotients.quotient import take_quotient
from ascertain.search import least_mean
from ascertain.search.exact import solve
from ascertain.search.solution import Bounded, MeanProof, MeanRow, Solved, Unsolvable
from ascertain.task.task import Task
from tests.reference.lexicographic import least_mean_of_least_worst
from tests.reference.mean_rows import best_mean_rows, replay_mean, value_as_sets
from tests.reference.optimum import optimum
from tests.reference.search import expected_optimum, walk
from tests.reference.search_tasks import hard_task
from tests.strategies import machines, tasks

F = Fraction


def draw_weights(data: st.DataObject, task: Task) -> list[Fraction]:
    h = task.num_hypotheses
    return data.draw(st.lists(st.fractions(F(1, 5), 3, max_denominator=5), min_size=h, max_size=h), label="weights")


def mean_of(weights: Sequence[Fraction], costs: Sequence[Fraction]) -> Fraction:
    return sum((w * c for w, c in zip(weights, costs, strict=True)), F(0)) / sum(weights)


def established(task: Task, proof: object) -> Fraction:
    """What a proof of a mean establishes, once the twin has replayed it."""
    assert isinstance(proof, MeanProof)
    quotient = take_quotient(task)
    reduced, total = quotient.reduced, [F(0)] * quotient.reduced.num_hypotheses
    for h, w in enumerate(proof.weights):
        total[int(quotient.hypothesis_class[h])] += w
    return replay_mean(reduced, replace(proof, weights=tuple(total)))


def verdict(task: Task, proof: MeanProof) -> str:
    return str(certify(task, [lower_expected_claim(proof)])[1])


@given(tasks(max_hypotheses=6), st.data())
@settings(max_examples=80)
def test_rows_prove_the_least_mean_of_brute_force(task: Task, data: st.DataObject) -> None:
    weights = draw_weights(data, task)
    result = settle(task, objective="expected", weights=weights)
    best = expected_optimum(task, weights)
    assert result.verdict is not None
    assert result.verdict.word == "VERIFIED"
    if best is None:
        assert isinstance(result.solution, Unsolvable)
        return
    assert isinstance(result.solution, Solved)
    assert result.is_optimal
    assert result.proved == best == established(task, result.solution.proof)


@given(tasks(machines(min_states=4, max_states=7, max_readings=2, partial=False), max_labels=7))
@settings(max_examples=50)
def test_rows_prove_the_least_mean_where_splitting_is_hard(task: Task) -> None:
    result = solve(task, objective="expected")
    best = expected_optimum(task, [F(1)] * task.num_hypotheses)
    if isinstance(result, Unsolvable):
        assert best is None
    else:
        assert isinstance(result, Solved)
        assert best == result.cost == result.mean == established(task, result.proof)


@given(tasks(max_hypotheses=6))
@settings(max_examples=40)
def test_a_search_for_a_mean_that_is_cut_short_proves_the_bound_that_it_has_reached(task: Task) -> None:
    result = solve(task, objective="expected", time_limit=0.0)
    if isinstance(result, Bounded):
        best = expected_optimum(task, [F(1)] * task.num_hypotheses)
        assert result.proof is not None
        assert established(task, result.proof) == result.lower
        assert best is None or result.lower <= best


def test_a_long_search_for_a_mean_is_proved_row_by_row() -> None:
    task = hard_task(1, 14, 6)
    result = settle(task, objective="expected")
    assert isinstance(result.solution, Solved)
    assert result.is_optimal
    proof = result.solution.proof
    assert isinstance(proof, MeanProof)
    assert any(len(row.members) > 2 for row in proof.rows)
    assert established(task, proof) == result.solution.cost


def light_and_heavy() -> tuple[Task, list[Fraction]]:
    """`go` tells the heavy state from the others and moves the light one into it; `test` tells labels, at a price."""
    machine = Machine(
        states=("heavy", "light", "other"),
        actions=("go", "test"),
        readings=("0", "1"),
        successor=np.array([[0, 0], [0, 1], [2, 2]], dtype=np.int32),
        output=np.array([[1, 0], [0, 0], [0, 1]], dtype=np.int32),
    )
    task = Task(
        model=machine,
        state=np.arange(3, dtype=np.int32),
        label=np.array([0, 0, 1], dtype=np.int32),
        labels=("good", "bad"),
        cost=(F(1), F(10)),
    )
    return task, [F(9), F(1), F(1)]


def test_as_sets_a_light_hypothesis_that_moves_into_a_heavy_ones_state_would_count_as_heavy() -> None:
    task, weights = light_and_heavy()
    # go, and go again for the two that read 0: 11 + 2; as sets the second one costs 9 + 1.
    best, as_sets = expected_optimum(task, weights), value_as_sets(task, weights)
    assert best is not None
    assert as_sets is not None
    assert best < as_sets
    result = settle(task, objective="expected", weights=weights)
    assert result.proved == best
    block = np.arange(3, dtype=np.int32)

    def claimed(weight: int, after: Fraction) -> MeanProof:
        """What is left after go and 0 is bounded by a row in which the state `heavy` has this weight."""
        left = MeanRow(((0, 0, weight), (1, 2, 1)), after, {})
        root = MeanRow(((0, 0, 9), (0, 1, 1), (1, 2, 1)), 11 + after, {0: ((0, 1, 1),)})
        return MeanProof((root, left), ((0, F(1)),), block, (11 + after) / 11, tuple(weights))

    assert verdict(task, claimed(1, F(2))) == "VERIFIED"
    why = "REFUTED: row 0: what is left after action 0 and reading 0: the parts weigh more than there is"
    assert verdict(task, claimed(9, F(10))) == why


def test_a_member_of_weight_0_costs_nothing_but_must_be_told_apart() -> None:
    task, weights = light_and_heavy()
    block = np.arange(3, dtype=np.int32)
    # go tells heavy from other at cost 1; light costs at least two of them; other is as far from light as that.
    rows = (
        MeanRow(((0, 0, 1), (1, 2, 0)), F(1), {}),
        MeanRow(((0, 1, 1), (1, 2, 0)), F(2), {0: ((0, 0, 1),)}),
        MeanRow(((0, 1, 0), (1, 2, 1)), F(2), {0: ((0, 3, 1),)}),
        MeanRow(((0, 0, 0), (1, 2, 1)), F(1), {}),
    )
    proof = MeanProof(rows, ((0, F(9)), (1, F(1)), (2, F(1))), block, F(13, 11), tuple(weights))
    assert verdict(task, proof) == "VERIFIED"
    assert expected_optimum(task, weights) == F(13, 11)
    twice = replace(proof, parts=((0, F(18)), (1, F(1)), (2, F(1))), bound=F(22, 11))
    assert verdict(task, twice) == "REFUTED: the hypotheses: the parts weigh more than there is"


@given(tasks(max_hypotheses=4), st.data())
@settings(max_examples=40)
def test_the_rows_of_brute_force_are_verified_and_replayed(task: Task, data: st.DataObject) -> None:
    weights = draw_weights(data, task)
    best = expected_optimum(task, weights)
    if best is not None:
        proof = best_mean_rows(task, weights)
        assert verdict(task, proof) == "VERIFIED"
        assert replay_mean(task, proof) == best
        assert verdict(task, replace(proof, bound=best + F(1, 100))).startswith("REFUTED")


@given(tasks(max_hypotheses=5), st.data())
@settings(max_examples=80)
def test_among_policies_of_the_least_worst_cost_one_of_the_least_mean_is_returned(
    task: Task, data: st.DataObject
) -> None:
    weights = draw_weights(data, task)
    result = solve(task, weights=weights)
    best = least_mean_of_least_worst(task, weights)
    if isinstance(result, Unsolvable):
        assert best is None
        return
    assert isinstance(result, Solved)
    costs = walk(task, result.policy)
    assert max(costs) == result.cost == optimum(task)
    assert result.mean_is_least
    assert mean_of(weights, costs) == result.mean == best


@given(tasks(machines(min_states=4, max_states=7, max_readings=2), max_labels=7), st.sampled_from([0, 5, 40, 200]))
@settings(max_examples=50)
def test_with_little_work_the_mean_is_the_best_found_and_the_worst_cost_is_kept(task: Task, work: int) -> None:
    with patch.object(least_mean, "WORK", work):
        result = solve(task)
    with patch.object(least_mean, "WORK", -(10**9)):
        plain = solve(task)
    if isinstance(result, Solved):
        assert isinstance(plain, Solved)
        costs = walk(task, result.policy)
        best = least_mean_of_least_worst(task, [F(1)] * task.num_hypotheses)
        assert max(costs) == result.cost
        assert result.mean is not None
        assert plain.mean is not None
        assert best is not None
        assert best <= result.mean <= plain.mean
        assert not result.mean_is_least or result.mean == best


@given(tasks(machines(min_states=4, max_states=7, max_readings=2), max_labels=7))
@settings(max_examples=25)
def test_the_least_mean_is_the_same_however_little_room_there_is_at_first(
    task: Task,
) -> None:
    plain = solve(task)
    with patch.multiple(least_mean, RECORDS=2, FRAMES=2, STEPS=1):
        result = solve(task)
    if isinstance(plain, Solved):
        assert isinstance(result, Solved)
        assert (result.cost, result.mean, result.mean_is_least) == (plain.cost, plain.mean, plain.mean_is_least)
        assert walk(task, result.policy) == walk(task, plain.policy)


def test_weights_beyond_the_words_of_the_search_leave_the_mean_as_found() -> None:
    task, _ = light_and_heavy()
    weights = [F(1, 10**30), F(1), F(1)]
    result = solve(task, weights=weights)
    assert isinstance(result, Solved)
    assert not result.mean_is_least
    assert result.mean == mean_of(weights, walk(task, result.policy))


@pytest.mark.parametrize("prove", ["always", "never"])
def test_only_what_is_proved_from_below_is_called_optimal(prove: str) -> None:
    task, weights = light_and_heavy()
    result = settle(task, objective="expected", weights=weights, prove=prove)  # type: ignore[arg-type]
    assert result.status == "solved"
    assert result.is_optimal == (prove == "always")
    assert result.facts()["proved_lower"] == ("13/11" if prove == "always" else None)
    assert result.facts()["mean"] == "13/11"


def test_a_fingerprint_of_least_mean_is_settled_in_the_same_way() -> None:
    task, _ = light_and_heavy()
    machine = task.model
    named = {name: replace(machine, initial=(s,)) for s, name in enumerate(machine.states)}
    found = fingerprint(named, reset_cost=None, objective="expected")
    assert found.settled.is_optimal
    assert found.expected == found.settled.proved
