"""Certified trees, controllers and price searches: what they claim against exact evaluation and brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import LimitError, TaskError
from ascertain.model import NoisyMachine
from ascertain.planning import composition
from ascertain.planning.belief_graph import GraphBuilder
from ascertain.planning.composition import cheapest_return, compose, skeleton
from ascertain.planning.controller import ABSTAIN, FiniteStateController, evaluate_controller
from ascertain.planning.information_state import Slots, is_exchangeable, tabulate_likelihoods
from ascertain.planning.lagrangian import LagrangianProgram, search_prices, start_penalties
from ascertain.planning.limits import SearchLimits
from ascertain.planning.minimax import bound_by_column_generation
from ascertain.planning.pruning import MostInformative, build_likely_graph
from ascertain.policy.automaton import Automaton
from ascertain.policy.evaluate import evaluate
from ascertain.search.exact import solve
from ascertain.search.solution import Solved
from ascertain.task.pose import pose
from ascertain.task.task import Task
from tests.reference.controllers import as_automaton
from tests.reference.registers import far_sensor, permutation_automaton, ring_register, sensor_bank
from tests.reference.sequential_tests import walk_with_memory
from tests.strategies import noisy_machines, tasks

ALPHA, BETA, TENTH = Fraction(1, 100), Fraction(1, 50), Fraction(1, 10)
SMALL = SearchLimits(max_nodes=3000, weight_rounds=2, mixing_trials=6)


@given(tasks(noisy_machines(max_states=3, max_actions=2, max_readings=2), about="start", max_hypotheses=3), st.data())
@settings(max_examples=40)
def test_any_controller_is_evaluated_as_its_transcripts_say(task: Task, data: st.DataObject) -> None:
    tables = tabulate_likelihoods(task)
    try:
        graph = GraphBuilder(tables, cap=4.0, rival_part=0.01, max_nodes=400).build()
    except LimitError:
        return
    choice = np.empty(graph.size, dtype=np.int64)
    for v in range(graph.size):
        options = [k for k in range(graph.option.shape[1]) if graph.option[v, k] >= 0]
        ends = [ABSTAIN, *(-1 - k for k in range(len(task.labels)))]
        choice[v] = data.draw(st.sampled_from(options * 3 + ends)) if v < 12 else (options or ends)[0]
    policy = FiniteStateController(graph, choice, data.draw(st.integers(0, 6)))
    risk = evaluate_controller(policy)
    for h in range(task.num_hypotheses):
        exact = walk_with_memory(task, policy, h)
        for bound, value in zip((risk.wrong[h], risk.abstain[h], risk.cost[h]), exact, strict=True):
            assert value <= bound <= value + Fraction(1, 10**9) * (1 + value)


@pytest.mark.parametrize("slots", ["named", "ranked"])
def test_three_sensors_are_settled_within_the_risk_by_rank_or_by_name(slots: Slots) -> None:
    task = pose(sensor_bank(3), flip=TENTH)
    assert is_exchangeable(task)
    found = search_prices(task, ALPHA, BETA, limits=SMALL, slots=slots)
    assert found.best is not None
    assert found.lower is not None
    exact = [walk_with_memory(task, found.best.policy, h) for h in range(3)]
    assert max(wrong for wrong, _, _ in exact) <= ALPHA
    assert max(abstain for _, abstain, _ in exact) <= BETA
    worst = max(cost for _, _, cost in exact)
    assert found.lower <= worst <= found.best.cost


def test_a_controller_written_out_as_an_automaton_has_the_risk_it_claims() -> None:
    task = pose(far_sensor(3), hypotheses=["left0", "right0"], flip=TENTH)
    found = search_prices(task, ALPHA, BETA, limits=SMALL)
    assert found.best is not None
    evaluation = evaluate(task, as_automaton(found.best.policy))
    assert evaluation.alpha <= found.best.risk.worst[0] <= ALPHA
    assert evaluation.beta <= found.best.risk.worst[1] <= BETA
    assert evaluation.cost is not None
    assert evaluation.cost <= found.best.cost <= evaluation.cost * (1 + Fraction(1, 10**9))


def test_the_bound_of_prices_never_exceeds_the_cost_of_a_policy_that_keeps_to_the_risk() -> None:
    for task in (pose(ring_register(2), flip=TENTH), pose(permutation_automaton(3, 2, 5), flip=TENTH)):
        found = search_prices(task, ALPHA, BETA, limits=SMALL)
        assert found.lower is not None
        assert found.best is not None
        assert 0 < found.lower <= found.best.cost


def test_raising_the_price_of_errors_never_lowers_the_value() -> None:
    tables = tabulate_likelihoods(pose(sensor_bank(3), flip=TENTH), "ranked")
    start, total = start_penalties(np.ones(3) / 3)
    program = LagrangianProgram(GraphBuilder(tables, cap=9.0, rival_part=1e-3).build(start), total, ALPHA, BETA)
    values = [program.solve(price, 30.0).value for price in (10.0, 100.0, 1000.0)]
    assert all((more >= less * (1 - 1e-6)).all() for less, more in pairwise(values))


def test_likely_information_states_are_among_all() -> None:
    tables = tabulate_likelihoods(pose(permutation_automaton(3, 2, 5), flip=TENTH))
    action_filter = MostInformative(tables, 2)
    every = GraphBuilder(tables, cap=6.0, rival_part=0.01, action_filter=action_filter).build()
    likely = build_likely_graph(
        GraphBuilder(tables, 6.0, 0.01, action_filter, 100_000), None, least=1e-3, remaining=1e-3
    )
    known = {(s.tobytes(), p.tobytes()) for s, p in zip(every.state, every.penalty, strict=True)}
    assert {(s.tobytes(), p.tobytes()) for s, p in zip(likely.state, likely.penalty, strict=True)} <= known
    assert likely.size < every.size


@pytest.mark.parametrize("split", ["uniform", "best"])
def test_a_certified_tree_sums_its_risk_along_paths(split: str) -> None:
    task = pose(sensor_bank(4), flip=TENTH)
    solution = solve(skeleton(task), prove="never")
    assert isinstance(solution, Solved)
    tree = compose(task, solution.policy, ALPHA, BETA)[split]  # type: ignore[arg-type]
    assert tree is not None
    assert tree.wrong <= ALPHA
    assert tree.abstain <= BETA
    tests = [node.test for node in tree.node if node.test is not None]
    assert len(tests) == 3
    assert tree.wrong == sum(test.risk.worst[0] for test in tests)


def test_an_optimised_split_costs_no_more_than_the_uniform_one() -> None:
    task = pose(sensor_bank(5), flip=TENTH)
    solution = solve(skeleton(task), prove="never")
    assert isinstance(solution, Solved)
    alpha = Fraction(1, 50)
    uniform = compose(task, solution.policy, alpha, BETA)["uniform"]
    best = compose(task, solution.policy, alpha, BETA)["best"]
    assert uniform is not None
    assert best is not None
    assert best.wrong <= alpha
    assert best.cost <= uniform.cost * (1 + Fraction(1, 1000))


def test_where_a_node_has_no_test_within_the_limits_there_is_no_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    task = pose(sensor_bank(3), flip=TENTH)
    solution = solve(skeleton(task), prove="never")
    assert isinstance(solution, Solved)
    monkeypatch.setattr(composition, "NODE_LIMITS", SearchLimits(max_nodes=2))
    assert compose(task, solution.policy, ALPHA, BETA)["uniform"] is None


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


def test_information_states_refuse_questions_about_the_current_state() -> None:
    with pytest.raises(TaskError, match="about the start"):
        tabulate_likelihoods(pose(sensor_bank(3), about="current", flip=TENTH))


def test_ruling_out_an_eliminated_hypothesis_can_free_an_action_and_no_bound_forgets_that() -> None:
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
    costs_met = [c for c in evaluate(task, achieved).costs if c is not None]
    cost = max(costs_met)
    assert len(costs_met) == task.num_hypotheses and cost == 3
    assert bound_by_column_generation(task, ALPHA, ALPHA) <= cost
    found = search_prices(task, ALPHA, ALPHA, limits=SMALL)
    assert found.lower is not None
    assert found.lower <= cost
    assert found.best is not None
    assert found.best.cost < cost + Fraction(1, 1000)
