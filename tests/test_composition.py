"""Certified trees and driven policies: what they claim against exact evaluation and brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import LimitError, TaskError
from ascertain.model import NoisyMachine
from ascertain.planning.balancing import bound_by_columns
from ascertain.planning.belief_graph import spread
from ascertain.planning.composition import cheapest_return, compose, skeleton
from ascertain.planning.controller import ABSTAIN, Remembering, as_automaton, evaluate_remembering
from ascertain.planning.driven import Effort, drive
from ascertain.planning.guiding import Informative
from ascertain.planning.information_state import is_exchangeable, open_book
from ascertain.planning.likely import spread_likely
from ascertain.planning.pricing import Pricing, start_penalties
from ascertain.policy.automaton import Automaton
from ascertain.policy.evaluate import evaluate
from ascertain.search.exact import solve
from ascertain.search.solution import Solved
from ascertain.task.pose import pose
from ascertain.task.task import Task
from tests.reference.nodes import walk_with_memory
from tests.reference.registers import far_sensor, permutation_automaton, ring_register, sensor_bank
from tests.strategies import noisy_machines, tasks

ALPHA, BETA, TENTH = Fraction(1, 100), Fraction(1, 50), Fraction(1, 10)
SMALL = Effort(max_nodes=3000, max_likely=3000, rounds=2, trials=6)


@given(tasks(noisy_machines(max_states=3, max_actions=2, max_readings=2), about="start", max_hypotheses=3), st.data())
@settings(max_examples=40)
def test_any_policy_on_ledgers_is_evaluated_as_its_transcripts_say(task: Task, data: st.DataObject) -> None:
    book = open_book(task)
    try:
        ledgers = spread(book, cap=4.0, close=0.01, max_nodes=400)
    except LimitError:
        return
    choice = np.empty(ledgers.size, dtype=np.int64)
    for v in range(ledgers.size):
        options = [k for k in range(ledgers.option.shape[1]) if ledgers.option[v, k] >= 0]
        ends = [ABSTAIN, *(-1 - k for k in range(len(task.labels)))]
        choice[v] = data.draw(st.sampled_from(options * 3 + ends)) if v < 12 else (options or ends)[0]
    policy = Remembering(ledgers, choice, data.draw(st.integers(0, 6)))
    risk = evaluate_remembering(policy)
    for h in range(task.num_hypotheses):
        exact = walk_with_memory(task, policy, h)
        for bound, value in zip((risk.wrong[h], risk.abstain[h], risk.cost[h]), exact, strict=True):
            assert value <= bound <= value + Fraction(1, 10**9) * (1 + value)


@pytest.mark.parametrize("by_rank", [False, True])
def test_three_sensors_are_settled_within_the_risk_by_rank_or_by_name(by_rank: bool) -> None:
    task = pose(sensor_bank(3), flip=TENTH)
    assert is_exchangeable(task)
    found = drive(task, ALPHA, BETA, effort=SMALL, by_rank=by_rank)
    assert found.policy is not None
    assert found.risk is not None
    assert found.lower is not None
    exact = [walk_with_memory(task, found.policy, h) for h in range(3)]
    assert max(wrong for wrong, _, _ in exact) <= ALPHA
    assert max(abstain for _, abstain, _ in exact) <= BETA
    worst = max(cost for _, _, cost in exact)
    assert found.lower <= worst <= found.risk.worst[2]


def test_a_driven_policy_written_out_as_an_automaton_has_the_risk_it_claims() -> None:
    task = pose(far_sensor(3), hypotheses=["left0", "right0"], flip=TENTH)
    found = drive(task, ALPHA, BETA, effort=SMALL)
    assert found.policy is not None
    assert found.risk is not None
    evaluation = evaluate(task, as_automaton(found.policy))
    assert evaluation.alpha <= found.risk.worst[0] <= ALPHA
    assert evaluation.beta <= found.risk.worst[1] <= BETA
    assert evaluation.cost is not None
    assert evaluation.cost <= found.risk.worst[2] <= evaluation.cost * (1 + Fraction(1, 10**9))


def test_the_bound_of_prices_never_exceeds_the_cost_of_a_policy_that_keeps_to_the_risk() -> None:
    for task in (pose(ring_register(2), flip=TENTH), pose(permutation_automaton(3, 2, 5), flip=TENTH)):
        found = drive(task, ALPHA, BETA, effort=SMALL)
        assert found.lower is not None
        assert found.cost is not None
        assert 0 < found.lower <= found.cost


def test_raising_the_price_of_errors_never_lowers_the_value() -> None:
    book = open_book(pose(sensor_bank(3), flip=TENTH))
    start, total = start_penalties(np.ones(3) / 3)
    pricing = Pricing(spread(book, cap=9.0, close=1e-3, start=start), total)
    values = [pricing.solve(price, 30.0, ALPHA, BETA).value for price in (10.0, 100.0, 1000.0)]
    assert all((more >= less * (1 - 1e-6)).all() for less, more in pairwise(values))


def test_likely_memories_are_among_all_memories() -> None:
    book = open_book(pose(permutation_automaton(3, 2, 5), flip=TENTH))
    guide = Informative(book, 2)
    every = spread(book, cap=6.0, close=0.01, guide=guide)
    likely = spread_likely(book, cap=6.0, close=0.01, guide=guide, least=1e-3, remaining=1e-3)
    known = {(s.tobytes(), p.tobytes()) for s, p in zip(every.state, every.penalty, strict=True)}
    assert {(s.tobytes(), p.tobytes()) for s, p in zip(likely.state, likely.penalty, strict=True)} <= known
    assert likely.size < every.size


@pytest.mark.parametrize("split", ["uniform", "best"])
def test_a_certified_tree_sums_its_risk_along_paths(split: str) -> None:
    task = pose(sensor_bank(4), flip=TENTH)
    solution = solve(skeleton(task), prove="never")
    assert isinstance(solution, Solved)
    tree = compose(task, solution.policy, ALPHA, BETA, split)  # type: ignore[arg-type]
    assert tree is not None
    assert tree.wrong <= ALPHA
    assert tree.abstain <= BETA
    tests = [node.test for node in tree.node if node is not None and node.test is not None]
    assert len(tests) == 3
    assert tree.wrong == sum(test.risk.worst[0] for test in tests if test.risk is not None)


def test_an_optimised_split_costs_no_more_than_the_uniform_one() -> None:
    task = pose(sensor_bank(5), flip=TENTH)
    solution = solve(skeleton(task), prove="never")
    assert isinstance(solution, Solved)
    alpha = Fraction(1, 50)
    uniform = compose(task, solution.policy, alpha, BETA, "uniform")
    best = compose(task, solution.policy, alpha, BETA, "best")
    assert uniform is not None
    assert best is not None
    assert best.wrong <= alpha
    assert best.cost <= uniform.cost * (1 + Fraction(1, 1000))


def test_a_loop_brings_every_state_back_and_there_is_none_where_states_merge() -> None:
    machine = permutation_automaton(4, 2, 1)
    home = (0, 1, 3)
    loop = cheapest_return(machine, home, 0, (Fraction(1), Fraction(1)))
    assert loop is not None
    for s in home:
        at = s
        for a in loop:
            at = int(machine.successor[at, a])
        assert at == s
    from ascertain.model.named import shift_register

    assert cheapest_return(shift_register(2), (0, 1), 0, (Fraction(1),)) is None


def test_ledgers_refuse_questions_about_the_current_state() -> None:
    with pytest.raises(TaskError, match="about the start"):
        open_book(pose(sensor_bank(3), about="current", flip=TENTH))


def test_ruling_out_a_dead_hypothesis_can_free_an_action_and_no_bound_forgets_that() -> None:
    """`meet` hardly leaves 'odd' alive; only `look` rules it out and so frees `tell`; `weigh` is dear."""
    hardly = Fraction(1, 10**9)
    laws = (
        ((0, Fraction(1, 2)), (1, Fraction(1, 2))),
        ((0, hardly), (1, 1 - hardly)),
        ((0, Fraction(1)),),
        ((1, Fraction(1)),),
        ((0, Fraction(999, 1000)), (1, Fraction(1, 1000))),
        ((0, Fraction(1, 1000)), (1, Fraction(999, 1000))),
    )
    law = [[0, -1, -1, -1], [0, -1, -1, -1], [1, -1, -1, -1], [-1, 2, 4, 4], [-1, 2, 5, 5], [-1, 3, -1, 5]]
    after = [[3, -1, -1, -1], [4, -1, -1, -1], [5, -1, -1, -1], [-1, 3, 3, 3], [-1, 4, 4, 4], [-1, 5, -1, 5]]
    model = NoisyMachine(
        states=("left", "right", "odd", "left met", "right met", "odd met"),
        actions=("meet", "look", "tell", "weigh"),
        readings=("0", "1"),
        successor=np.array(after, dtype=np.int32),
        law=np.array(law, dtype=np.int32),
        laws=laws,
    )
    costs = {"meet": 1, "look": 1, "tell": 1, "weigh": 100}
    task = pose(model, hypotheses=["left", "right", "odd"], cost=costs, alpha=ALPHA, beta=ALPHA)
    achieved = Automaton(
        (0, 1, 1, 2, -1, -1, -1),
        (-1, -1, -1, -1, 0, 1, 2),
        ({0: 1, 1: 2}, {0: 3, 1: 6}, {0: 3, 1: 6}, {0: 4, 1: 5}, {}, {}, {}),
    )
    assert max(evaluate(task, achieved).wrong) <= ALPHA
    cost = max(evaluate(task, achieved).costs)
    assert cost == 3
    assert bound_by_columns(task, ALPHA, ALPHA) <= cost
    found = drive(task, ALPHA, ALPHA, effort=SMALL)
    assert found.lower is not None
    assert found.lower <= cost
    assert found.cost is not None
    assert found.cost < cost + Fraction(1, 1000)
