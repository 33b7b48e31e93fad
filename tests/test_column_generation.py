"""Prices for each hypothesis, nameless slots and minimax policies, against slow twins and the reference optimum."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import LimitError, TaskError
from ascertain.kernels.planning.controllers import accumulate_outcomes, accumulate_visits
from ascertain.planning.belief_graph import GraphBuilder, restrict_graph
from ascertain.planning.column_generation import ColumnGeneration
from ascertain.planning.information_state import may_be_nameless, tabulate_likelihoods
from ascertain.planning.lagrangian import search_prices
from ascertain.planning.limits import SearchLimits
from ascertain.planning.minimax import bound_by_column_generation, find_minimax_policy
from ascertain.problem.pose import pose
from ascertain.task.task import Task
from tests.reference.noisy_optimum import lower_at_prices, noisy_optimum
from tests.reference.registers import far_sensor, permutation_automaton, ring_register, sensor_bank
from tests.reference.sequential_tests import walk_with_memory
from tests.strategies import noisy_machines, tasks

TENTH = Fraction(1, 10)
LOOSE = Fraction(1, 20)
SMALL = SearchLimits(
    max_nodes=400,
    max_bound_nodes=400,
    max_work=20_000,
    max_dives=2,
    max_starts=2,
    max_changes=10,
    max_leaves=20,
    max_branches=2,
)
tiny = noisy_machines(max_states=3, max_actions=2, max_readings=2, max_laws=2)


@given(tasks(tiny, about="start", max_hypotheses=3, max_labels=3, shared_states=False))
@settings(max_examples=15)
def test_no_policy_that_the_reference_knows_is_cheaper_than_the_bound_of_column_generation(task: Task) -> None:
    try:
        lower = bound_by_column_generation(task, LOOSE, LOOSE, SMALL).lower
    except LimitError:
        return
    upper = noisy_optimum(task, LOOSE, LOOSE, 5)[1]
    assert upper is None or (lower is not None and lower <= upper)


@given(tasks(tiny, about="start", max_hypotheses=3, max_labels=2, shared_states=False))
@settings(max_examples=6)
def test_a_minimax_policy_keeps_to_the_risk_when_walked_reading_by_reading(task: Task) -> None:
    try:
        found = find_minimax_policy(task, LOOSE, LOOSE, SMALL)
    except LimitError:
        return
    if found.best is None:
        return
    assert found.lower is not None
    for h in range(task.num_hypotheses):
        wrong, abstain, cost = walk_with_memory(task, found.best.policy, h)
        assert wrong <= LOOSE
        assert abstain <= LOOSE
        assert found.lower * (1 - Fraction(1, 10**6)) <= found.best.cost
        assert cost <= found.best.cost


@given(st.lists(st.floats(0.01, 10.0), min_size=9, max_size=9))
@settings(max_examples=5)
def test_at_whatever_prices_the_bound_is_about_that_of_the_reference(numbers: list[float]) -> None:
    task = pose(sensor_bank(3), flip=TENTH)
    alpha, beta = Fraction(1, 20), Fraction(1, 20)
    graph = GraphBuilder(tabulate_likelihoods(task), cap=9.0, rival_part=1e-3, max_nodes=2000).build()
    table = np.array(numbers).reshape(3, 3) * np.array([[1.0], [20.0], [20.0]])
    ours = ColumnGeneration(graph, alpha, beta).solve(table).lower
    theirs = lower_at_prices(task, alpha, beta, 9, (table[0], table[1], table[2]))
    assert float(ours) == pytest.approx(max(0.0, float(theirs)), rel=0.1, abs=0.1)


def chains(data: st.DataObject) -> tuple[np.ndarray, np.ndarray]:
    """Three nodes that each lead to two, with factors that sum to less than one."""
    child = np.array(data.draw(st.lists(st.lists(st.integers(-1, 2), min_size=2, max_size=2), min_size=3, max_size=3)))
    factor = np.array(data.draw(st.lists(st.lists(st.floats(0, 0.45), min_size=2, max_size=2), min_size=3, max_size=3)))
    return child.astype(np.int32), factor


@given(st.data())
@settings(max_examples=30)
def test_what_comes_to_each_node_and_what_follows_it_solve_their_linear_equations(data: st.DataObject) -> None:
    child, factor = chains(data)
    matrix = np.zeros((3, 3))
    for v in range(3):
        for y in range(2):
            if child[v, y] >= 0:
                matrix[v, child[v, y]] += factor[v, y]
    total, now, own = np.zeros(3), np.array([1.0, 0.0, 0.0]), np.array([[1.0, 0.5], [2.0, 0.0], [0.0, 3.0]])
    accumulate_visits(child, factor, np.ones(3), now, total, 1e-13, 4000)
    worth = np.zeros((3, 2))
    accumulate_outcomes(child, factor, own, worth, 1e-13, 4000)
    inverse = np.linalg.inv(np.eye(3) - matrix)
    assert np.allclose(total, inverse[0])
    assert np.allclose(worth, inverse @ own)


@pytest.mark.parametrize("task", [pose(ring_register(2), flip=TENTH), pose(permutation_automaton(3, 2, 1), flip=TENTH)])
def test_without_names_information_states_are_fewer_and_policies_keep_to_the_risk_all_the_same(task: Task) -> None:
    named, nameless = (
        GraphBuilder(tabulate_likelihoods(task, slots), cap=6.0, rival_part=1e-2, max_nodes=20_000).build()
        for slots in ("named", "nameless")
    )
    assert nameless.size < named.size
    alpha = beta = Fraction(1, 50)
    found = search_prices(task, alpha, beta, slots="nameless")
    assert found.best is not None
    assert found.lower is not None
    assert found.lower <= found.best.cost
    for h in range(task.num_hypotheses):
        wrong, abstain, cost = walk_with_memory(task, found.best.policy, h)
        assert wrong <= found.best.risk.wrong[h] <= alpha
        assert abstain <= found.best.risk.abstain[h] <= beta
        assert cost <= found.best.risk.cost[h]


def test_hypotheses_that_share_a_label_keep_their_names() -> None:
    task = pose(sensor_bank(3), label={"s0": "a", "s1": "b", "s2": "b"}, flip=TENTH)
    assert not may_be_nameless(task)
    with pytest.raises(TaskError, match="labels of their own"):
        tabulate_likelihoods(task, "nameless")


def test_by_rank_by_name_and_without_names_the_bound_is_the_same() -> None:
    task, alpha, beta = pose(sensor_bank(3), flip=TENTH), Fraction(1, 1000), Fraction(1, 100)
    bounds = [
        float(ColumnGeneration(GraphBuilder(tables, cap=12.0, rival_part=1e-5).build(), alpha, beta).generate(60).lower)
        for tables in (tabulate_likelihoods(task, slots) for slots in ("ranked", "named", "nameless"))
    ]
    assert max(bounds) <= min(bounds) * 1.001


@pytest.mark.slow
def test_four_sensors_are_read_by_a_minimax_policy_for_less_than_in_their_order() -> None:
    task, alpha, beta = pose(sensor_bank(4), flip=TENTH), Fraction(1, 4_000_000), Fraction(1, 1000)
    minimax = find_minimax_policy(task, alpha, beta)
    ranked = search_prices(task, alpha, beta, slots="ranked")
    assert minimax.best is not None
    assert ranked.best is not None
    assert minimax.lower is not None
    assert minimax.lower <= minimax.best.cost < ranked.best.cost


def test_what_is_left_out_of_a_restricted_graph_is_not_asked_about() -> None:
    task = pose(far_sensor(3), hypotheses=["left0", "right0"], flip=TENTH)
    graph = GraphBuilder(tabulate_likelihoods(task), cap=6.0, rival_part=1e-2).build()
    keep = np.zeros(graph.size, dtype=np.bool_)
    keep[0] = True
    smaller, node = restrict_graph(graph, keep)
    assert node[0] == 0
    assert (smaller.option[1:] == -1).all()
    assert set(node[1:]) == {int(w) for w in graph.child[0].ravel() if w > 0}
    assert not smaller.has_all_actions
