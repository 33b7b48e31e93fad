"""Openings: bounds for policies that draw nothing at random, and policies that follow a plan after each history."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from ascertain.errors import LimitError
from ascertain.model.noisy import NoisyMachine
from ascertain.planning.balancing import Pains, balance, mix_plans
from ascertain.planning.belief_graph import narrow, spread
from ascertain.planning.branch_and_bound import IDLE, OPEN, Opening, Openings, bound_by_openings, find_idle
from ascertain.planning.column_generation import Columns, Mixture
from ascertain.planning.controller import ABSTAIN
from ascertain.planning.following import Following
from ascertain.planning.information_state import open_book
from ascertain.policy.policy import Ask
from ascertain.task.pose import pose
from ascertain.task.task import Task
from tests.reference.enumerated import cheapest
from tests.reference.nodes import walk_with_memory
from tests.reference.registers import sensor_bank
from tests.strategies import noisy_machines, tasks

TENTH, FIFTH = Fraction(1, 10), Fraction(1, 5)
FEW = Pains(max_memories=300, max_bounded=300, work=20_000, dives=2, starts=2, changes=10, ends=12, branches=2)
tiny = noisy_machines(max_states=3, max_actions=2, max_readings=2, max_laws=2)


def open_columns(task: Task, alpha: Fraction, beta: Fraction, pains: Pains = FEW) -> tuple[Columns, Mixture]:
    return mix_plans(task, alpha, beta, pains, named=True, most=pains.max_memories)


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
def test_no_policy_of_two_actions_is_cheaper_than_the_bound_of_openings(task: Task) -> None:
    try:
        columns, mixture = open_columns(task, FIFTH, FIFTH)
    except LimitError:
        return
    lower = bound_by_openings(columns, mixture, branches=4, rounds=8)
    best = cheapest(task, FIFTH, FIFTH, 2)
    assert mixture.lower <= lower
    assert best is None or lower <= best


@pytest.mark.parametrize("costs", [(1,), (1, 3), (2, 1)])
@pytest.mark.parametrize("beta", [Fraction(1, 3), Fraction(1, 7)])
def test_no_policy_that_begins_with_an_action_is_cheaper_than_the_bound_of_that_opening(
    costs: tuple[int, ...], beta: Fraction
) -> None:
    alpha = Fraction(1, 50)
    task = lamp(*(TENTH,) * len(costs), costs=costs)
    columns, mixture = open_columns(task, alpha, beta)
    pool = Openings(columns, mixture)
    for action in range(len(costs)):
        proved = pool.bound(Opening().decide(columns, 0, action), 10, mixture.prices)
        best = cheapest(task, alpha, beta, 2, first=action)
        assert best is None or proved.lower <= best
    least = bound_by_openings(columns, mixture, branches=1, rounds=10)
    best = cheapest(task, alpha, beta, 2)
    assert best is None or mixture.lower <= least <= best


def test_where_the_first_memory_is_met_again_the_policy_is_free() -> None:
    alpha, beta = Fraction(1, 500), Fraction(1, 100)
    task = lamp(TENTH, TENTH)
    columns, mixture = open_columns(task, alpha, beta)
    ban = np.zeros((columns.ledgers.size, 3), dtype=np.bool_)
    ban[0] = True
    ban[0, 2] = False
    always = columns.solve(mixture.prices, ban)
    dear = Opening().decide(columns, 0, 1)
    once = columns.bound(dear.value(columns, columns.appraise(mixture.prices)), mixture.prices)
    assert always.visits[0] > 1.01, "two looks that disagree lead back to where the first was taken"
    assert mixture.lower < once < always.lower
    # The same policy with the dear look at first, and the cheap one whenever it is back, costs just two more: it begins
    # with the dear look, and to bind the memory at every visit would prove that there is no such policy.
    driven = balance(task, alpha, beta, FEW)
    assert driven.risk is not None
    assert driven.policy is not None
    assert driven.policy.decide(driven.policy.start()) == Ask(0)
    assert once <= driven.risk.worst[2] + 2 < columns.generate(60, (), ban).lower


def test_a_look_that_tells_nothing_is_a_coin_that_openings_leave_room_for() -> None:
    task = lamp(TENTH, Fraction(1, 2), costs=(1, 1))
    columns, mixture = open_columns(task, Fraction(1, 50), Fraction(1, 50))
    assert find_idle(columns, 0) == 1.0
    pool = Openings(columns, mixture)
    assert pool.list_decisions(Opening(), 0) == [0, IDLE]
    idle = Opening().decide(columns, 0, IDLE)
    assert idle.ends == [1]
    proved = pool.bound(idle, 10, mixture.prices)
    assert pool.find_end(idle, proved.mixed) is None
    assert float(proved.lower) == pytest.approx(float(mixture.lower) + 1, rel=1e-3)


def test_of_sensors_that_are_alike_one_stands_for_all() -> None:
    task = pose(sensor_bank(3), flip=TENTH)
    columns, mixture = open_columns(task, Fraction(1, 100), Fraction(1, 20), Pains(max_memories=2000))
    pool = Openings(columns, mixture)
    assert pool.list_decisions(Opening(), 0) == [0]
    asked = Opening().decide(columns, 0, 0)
    assert pool.list_decisions(asked, 1) == [0, 1]
    pool.symmetric = False
    assert pool.list_decisions(asked, 1) == [0, 1, 2]
    bounds = [
        float(pool.bound(Opening().decide(columns, 0, a), 30, mixture.prices, enough=1e-5).lower) for a in range(3)
    ]
    assert max(bounds) <= min(bounds) * 1.001


def test_an_opening_decides_histories_and_what_it_pays_is_what_it_says() -> None:
    task = lamp(TENTH)
    columns, mixture = open_columns(task, FIFTH, FIFTH)
    opening = Opening().decide(columns, 0, 0).decide(columns, 1, -1).decide(columns, 2, ABSTAIN)
    assert opening.ends == []
    assert opening.decision[0] != OPEN
    paid = Openings(columns, mixture).paid(opening)
    assert paid[:2] == pytest.approx([1.0, 1.0])
    assert paid[2:4] == pytest.approx([0.0, 0.5], abs=1e-6)
    assert paid[4:] == pytest.approx([0.5, 4.5], abs=1e-5)


def test_ledgers_with_fewer_memories_prove_no_less_of_the_policies_they_leave_room_for() -> None:
    task = pose(sensor_bank(3), flip=TENTH)
    alpha, beta = Fraction(1, 1000), Fraction(1, 100)
    ledgers = spread(open_book(task, by_rank=False), cap=9.0, close=1e-4, max_nodes=3000)
    keep = np.arange(ledgers.size) < ledgers.size // 4
    whole, fewer = Columns(ledgers, alpha, beta), Columns(narrow(ledgers, keep)[0], alpha, beta)
    prices = whole.even(1.0)
    assert whole.solve(prices).lower <= fewer.solve(prices).lower


def test_a_policy_that_follows_a_plan_after_each_history_keeps_to_the_risk_when_walked() -> None:
    task, alpha, beta = pose(sensor_bank(3), flip=TENTH), Fraction(1, 100), Fraction(1, 20)
    columns, mixture = open_columns(task, alpha, beta, Pains(max_memories=2000))
    found = Following(columns, mixture, ends=100, rounds=10).make()
    assert found is not None
    policy, risk = found
    lower = bound_by_openings(columns, mixture, branches=2, rounds=10)
    assert mixture.lower < lower <= risk.worst[2]
    for h in range(3):
        wrong, abstain, cost = walk_with_memory(task, policy, h)
        assert wrong <= risk.wrong[h] <= alpha
        assert abstain <= risk.abstain[h] <= beta
        assert cost <= risk.cost[h]


@pytest.mark.slow
def test_four_sensors_are_read_for_at_most_a_fiftieth_more_than_any_policy_must_pay() -> None:
    found = balance(pose(sensor_bank(4), flip=TENTH), Fraction(1, 4_000_000), Fraction(1, 1000))
    assert found.risk is not None
    assert found.lower <= found.opened <= found.risk.worst[2] <= Fraction(102, 100) * found.opened
