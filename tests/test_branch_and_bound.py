"""Branch and bound: bounds for policies that draw nothing at random; derandomised policies keep to the risk."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from ascertain.errors import LimitError
from ascertain.model.noisy import NoisyMachine
from ascertain.planning.belief_graph import GraphBuilder, restrict_graph
from ascertain.planning.branch_and_bound import (
    IDLE,
    UNDECIDED,
    ColumnPool,
    PartialPolicy,
    bound_by_branching,
    idle_cost,
)
from ascertain.planning.column_generation import ColumnGeneration, Mixture
from ascertain.planning.controller import ABSTAIN
from ascertain.planning.derandomisation import Derandomisation
from ascertain.planning.information_state import tabulate_likelihoods
from ascertain.planning.limits import SearchLimits
from ascertain.planning.minimax import find_best_mixture, find_minimax_policy
from ascertain.policy.policy import Ask
from ascertain.problem.pose import pose
from ascertain.task.task import Task
from tests.reference.enumerated import cheapest
from tests.reference.registers import sensor_bank
from tests.reference.sequential_tests import walk_with_memory
from tests.strategies import noisy_machines, tasks

TENTH, FIFTH = Fraction(1, 10), Fraction(1, 5)
FEW = SearchLimits(
    max_nodes=300,
    max_bound_nodes=300,
    max_work=20_000,
    max_dives=2,
    max_starts=2,
    max_changes=10,
    max_leaves=12,
    max_branches=2,
)
tiny = noisy_machines(max_states=3, max_actions=2, max_readings=2, max_laws=2)


def mix(task: Task, alpha: Fraction, beta: Fraction, limits: SearchLimits = FEW) -> tuple[ColumnGeneration, Mixture]:
    return find_best_mixture(task, alpha, beta, limits, "named", limits.max_nodes)


def lamp(*flips: Fraction, costs: tuple[int, ...] = (1, 3)) -> Task:
    """One bit and some ways of reading it, each with its flip and its cost."""
    rows = [[((0, 1 - f), (1, f)) for f in flips], [((0, f), (1, 1 - f)) for f in flips]]
    laws = tuple(dict.fromkeys(row for of_state in rows for row in of_state))
    law = np.array([[laws.index(row) for row in of_state] for of_state in rows], dtype=np.int32)
    model = NoisyMachine(
        states=("dark", "lit"),
        actions=tuple(f"look{a}" for a in range(len(flips))),
        readings=("0", "1"),
        successor=np.array([[0] * len(flips), [1] * len(flips)], dtype=np.int32),
        law=law,
        laws=laws,
    )
    ends = np.arange(2, dtype=np.int32)
    cost = tuple(map(Fraction, costs[: len(flips)]))
    return Task(model=model, state=ends, label=ends, labels=("dark", "lit"), cost=cost, alpha=FIFTH, beta=FIFTH)


@given(tasks(tiny, about="start", max_hypotheses=2, max_labels=2, shared_states=False))
@settings(max_examples=12)
def test_no_policy_of_two_actions_is_cheaper_than_the_bound_of_branching(task: Task) -> None:
    try:
        program, mixture = mix(task, FIFTH, FIFTH)
    except LimitError:
        return
    lower = bound_by_branching(program, mixture, branches=4, rounds=8).lower
    best = cheapest(task, FIFTH, FIFTH, 2)
    assert mixture.lower <= lower
    assert best is None or lower <= best


@pytest.mark.parametrize("costs", [(1,), (1, 3), (2, 1)])
@pytest.mark.parametrize("beta", [Fraction(1, 3), Fraction(1, 7)])
def test_no_policy_that_begins_with_an_action_is_cheaper_than_the_bound_of_that_beginning(
    costs: tuple[int, ...], beta: Fraction
) -> None:
    alpha = Fraction(1, 50)
    task = lamp(*(TENTH,) * len(costs), costs=costs)
    program, mixture = mix(task, alpha, beta)
    pool = ColumnPool(program, mixture)
    for action in range(len(costs)):
        proved = pool.bound(PartialPolicy().decide(program, 0, action), 10, mixture.prices)
        best = cheapest(task, alpha, beta, 2, first=action)
        assert best is None or proved.lower <= best
    least = bound_by_branching(program, mixture, branches=1, rounds=10).lower
    best = cheapest(task, alpha, beta, 2)
    assert best is None or mixture.lower <= least <= best


def test_where_the_first_information_state_is_met_again_the_policy_is_free() -> None:
    alpha, beta = Fraction(1, 500), Fraction(1, 100)
    task = lamp(TENTH, TENTH)
    program, mixture = mix(task, alpha, beta)
    forbidden = np.zeros((program.graph.size, 3), dtype=np.bool_)
    forbidden[0] = True
    forbidden[0, 2] = False
    always = program.solve(mixture.prices, forbidden)
    dear = PartialPolicy().decide(program, 0, 1)
    once = program.bound(dear.value(program, program.value_nodes(mixture.prices)), mixture.prices)
    assert always.visits[0] > 1.01, "two looks that disagree lead back to where the first was taken"
    assert mixture.lower < once < always.lower
    # The same policy with the dear look at first, and the cheap one whenever it is back, costs just two more: it begins
    # with the dear look, and to bind the information state at every visit would prove that there is no such policy.
    best = find_minimax_policy(task, alpha, beta, FEW).best
    assert best is not None
    assert best.policy.decide(best.policy.start()) == Ask(0)
    assert once <= best.cost + 2 < program.generate(60, (), forbidden).lower


def test_a_look_that_tells_nothing_is_a_coin_that_branching_leaves_room_for() -> None:
    task = lamp(TENTH, Fraction(1, 2), costs=(1, 1))
    program, mixture = mix(task, Fraction(1, 50), Fraction(1, 50))
    assert idle_cost(program, 0) == 1.0
    pool = ColumnPool(program, mixture)
    assert pool.list_decisions(PartialPolicy(), 0) == [0, IDLE]
    idle = PartialPolicy().decide(program, 0, IDLE)
    assert idle.leaves == [1]
    proved = pool.bound(idle, 10, mixture.prices)
    assert pool.find_leaf(idle, proved.mixed) is None
    assert float(proved.lower) == pytest.approx(float(mixture.lower) + 1, rel=1e-3)


def test_of_sensors_that_are_alike_one_stands_for_all() -> None:
    task = pose(sensor_bank(3), flip=TENTH)
    program, mixture = mix(task, Fraction(1, 100), Fraction(1, 20), SearchLimits(max_nodes=2000))
    pool = ColumnPool(program, mixture)
    assert pool.list_decisions(PartialPolicy(), 0) == [0]
    asked = PartialPolicy().decide(program, 0, 0)
    assert pool.list_decisions(asked, 1) == [0, 1]
    pool.symmetric = False
    assert pool.list_decisions(asked, 1) == [0, 1, 2]
    bounds = [
        float(pool.bound(PartialPolicy().decide(program, 0, a), 30, mixture.prices, enough=1e-5).lower)
        for a in range(3)
    ]
    assert max(bounds) <= min(bounds) * 1.001


def test_a_partial_policy_decides_histories_and_spends_what_it_says() -> None:
    task = lamp(TENTH)
    program, mixture = mix(task, FIFTH, FIFTH)
    partial = PartialPolicy().decide(program, 0, 0).decide(program, 1, -1).decide(program, 2, ABSTAIN)
    assert partial.leaves == []
    assert partial.decision[0] != UNDECIDED
    spent = ColumnPool(program, mixture).spent(partial)
    assert spent[:2] == pytest.approx([1.0, 1.0])
    assert spent[2:4] == pytest.approx([0.0, 0.5], abs=1e-6)
    assert spent[4:] == pytest.approx([0.5, 4.5], abs=1e-5)


def test_graphs_with_fewer_nodes_prove_no_less_of_the_policies_they_leave_room_for() -> None:
    task = pose(sensor_bank(3), flip=TENTH)
    alpha, beta = Fraction(1, 1000), Fraction(1, 100)
    graph = GraphBuilder(tabulate_likelihoods(task), cap=9.0, rival_part=1e-4, max_nodes=3000).build()
    keep = np.arange(graph.size) < graph.size // 4
    whole, fewer = ColumnGeneration(graph, alpha, beta), ColumnGeneration(restrict_graph(graph, keep)[0], alpha, beta)
    prices = whole.uniform_prices(1.0)
    assert whole.solve(prices).lower <= fewer.solve(prices).lower


def test_a_derandomised_policy_keeps_to_the_risk_when_walked() -> None:
    task, alpha, beta = pose(sensor_bank(3), flip=TENTH), Fraction(1, 100), Fraction(1, 20)
    program, mixture = mix(task, alpha, beta, SearchLimits(max_nodes=2000))
    found = Derandomisation(program, mixture, max_leaves=100, rounds=10).run()
    assert found is not None
    policy, risk = found.policy, found.risk
    lower = bound_by_branching(program, mixture, branches=2, rounds=10).lower
    assert mixture.lower < lower <= risk.worst[2]
    for h in range(3):
        wrong, abstain, cost = walk_with_memory(task, policy, h)
        assert wrong <= risk.wrong[h] <= alpha
        assert abstain <= risk.abstain[h] <= beta
        assert cost <= risk.cost[h]


@pytest.mark.slow
def test_four_sensors_are_read_for_at_most_a_fiftieth_more_than_any_policy_must_pay() -> None:
    found = find_minimax_policy(pose(sensor_bank(4), flip=TENTH), Fraction(1, 4_000_000), Fraction(1, 1000))
    assert found.best is not None
    assert found.lower is not None
    assert found.branched is not None
    assert found.lower <= found.branched <= found.best.cost <= Fraction(102, 100) * found.branched
