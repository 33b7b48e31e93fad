"""Certified trees, controllers and price searches: what they claim against exact evaluation and brute force."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ascertain.errors import LimitError
from ascertain.model import NoisyMachine
from ascertain.model.noisy import make_law
from ascertain.planning import composition
from ascertain.planning.belief_graph import GraphBuilder
from ascertain.planning.composition import (
    GRID,
    NODE_LIMITS,
    PARTS,
    CertifiedTree,
    Split,
    cheapest_return,
    compose,
    skeleton,
)
from ascertain.planning.controller import ABSTAIN, CertifiedController, FiniteStateController, evaluate_controller
from ascertain.planning.information_state import Slots, is_exchangeable, tabulate_likelihoods
from ascertain.planning.lagrangian import LagrangianProgram, search_prices, start_penalties
from ascertain.planning.limits import SearchLimits
from ascertain.planning.minimax import bound_by_column_generation
from ascertain.planning.pruning import MostInformative, build_likely_graph
from ascertain.policy.automaton import Automaton
from ascertain.policy.evaluate import Evaluation, evaluate
from ascertain.policy.policy import Answer, Ask
from ascertain.problem.pose import pose
from ascertain.search.exact import solve
from ascertain.search.solution import Solved
from ascertain.task.task import Task
from ascertain.types import UNDEFINED
from tests.reference.composition import evaluate_tree, sum_over_paths
from tests.reference.controllers import as_automaton
from tests.reference.registers import far_sensor, permutation_automaton, ring_register, sensor_bank
from tests.reference.sequential_tests import walk_with_memory
from tests.strategies import names, noisy_machines, tables, tasks

ALPHA, BETA, TENTH = Fraction(1, 100), Fraction(1, 50), Fraction(1, 10)
ROUNDED = 1 + Fraction(1, 10**9)
"""What is rounded upwards is at most this factor too large."""
FLIPS, RISKS = (TENTH, Fraction(1, 5)), (Fraction(1, 5), Fraction(1, 20))
SPLITS: tuple[Split, Split] = ("uniform", "best")
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


def compose_tree(task: Task, alpha: Fraction, beta: Fraction, split: Split) -> CertifiedTree | None:
    """The tree that the two-sided bounds would compose."""
    solution = solve(skeleton(task), prove="never")
    return compose(task, solution.policy, alpha, beta)[split] if isinstance(solution, Solved) else None


def check_theorem(task: Task, tree: CertifiedTree, alpha: Fraction, beta: Fraction) -> Evaluation:
    """Theorem 3.3: the tree, walked and evaluated under every hypothesis, against its claims and against the twins."""
    found = evaluate(task, tree, exact=True)
    for h in range(task.num_hypotheses):
        assert (found.wrong[h], found.abstain[h], found.costs[h]) == evaluate_tree(task, tree, h)
    assert found.cost is not None
    assert found.alpha <= tree.wrong <= alpha
    assert found.beta <= tree.abstain <= beta
    assert found.cost <= tree.cost
    # The claims are the sums of the theorem and no more: nothing is added but the rounding of the nodes' evaluation.
    sums = sum_over_paths(task, tree)
    assert sums.wrong <= tree.wrong <= sums.wrong * ROUNDED
    assert sums.cost <= tree.cost <= sums.cost * ROUNDED
    assert tree.abstain <= (sums.abstain + sums.wrong) * ROUNDED
    for node in tree.node:
        if node.test is not None:
            assert node.test.risk.worst[0] <= alpha
    return found


@st.composite
def turning_machines(draw: st.DrawFn) -> NoisyMachine:
    """Every action permutes a few states, so that there are loops; one flip, so that tests are small."""
    n, num_actions = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    turns = [draw(st.one_of(st.just(range(n)), st.permutations(range(n)))) for _ in range(num_actions)]
    flips = (Fraction(0), draw(st.sampled_from(FLIPS)))
    peaks = {make_law({y: 1 - flip, z: flip}) for y in range(3) for z in range(3) if y != z for flip in flips}
    laws = draw(st.lists(st.sampled_from(sorted(peaks)), min_size=2, max_size=4, unique=True))
    return NoisyMachine(
        states=names("s", n),
        actions=names("a", num_actions),
        readings=names("y", 3),
        successor=np.array(turns, dtype=np.int32).T.copy(),
        law=draw(tables(n, num_actions, len(laws))),
        laws=tuple(laws),
    )


@given(
    tasks(turning_machines(), shared_states=False),
    st.sampled_from(RISKS),
    st.sampled_from(RISKS),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.filter_too_much])
def test_any_tree_keeps_what_theorem_3_3_claims_under_every_hypothesis(
    task: Task, alpha: Fraction, beta: Fraction
) -> None:
    tree = compose_tree(task, alpha, beta, "uniform")
    assume(tree is not None and any(node.test is not None for node in tree.node))
    assert tree is not None
    check_theorem(task, tree, alpha, beta)


def blind_branches() -> Task:
    """`side` tells {a, b} from {c, d}, `left` a from b, `right` c from d, and each reads 2 on the other side."""
    laws = ({0: 1 - TENTH, 1: TENTH}, {0: TENTH, 1: 1 - TENTH}, {2: Fraction(1)})
    model = NoisyMachine(
        states=("a", "b", "c", "d"),
        actions=("side", "left", "right"),
        readings=("0", "1", "2"),
        successor=np.repeat(np.arange(4, dtype=np.int32)[:, None], 3, axis=1),
        law=np.array([[0, 0, 2], [0, 1, 2], [1, 2, 0], [1, 2, 1]], dtype=np.int32),
        laws=tuple(make_law(law) for law in laws),
    )
    return pose(model, cost={"side": 1, "left": 2, "right": 2})


def unequal_members() -> Task:
    """Two states of one label; `lit` is dearer to tell than `bright` and `dark`, which sometimes read as no other."""
    laws = ({0: 6, 1: 4}, {0: 6, 2: 4}, {0: 1, 1: 5, 3: 4})  # in tenths
    model = NoisyMachine(
        states=("lit", "bright", "dark"),
        actions=("look",),
        readings=("0", "1", "2", "3"),
        successor=np.arange(3, dtype=np.int32)[:, None],
        law=np.arange(3, dtype=np.int32)[:, None],
        laws=tuple(make_law({y: p * TENTH for y, p in law.items()}) for law in laws),
    )
    return pose(model, label={"lit": "on", "bright": "on", "dark": "off"})


NAMED: dict[str, Callable[[], Task]] = {
    "two sensors": lambda: pose(sensor_bank(2), flip=TENTH),
    "four sensors, of different costs": lambda: pose(
        sensor_bank(4), flip=TENTH, cost={"look0": 3, "look1": "1/2", "look2": 2}
    ),
    "a ring": lambda: pose(ring_register(3), flip=TENTH),
    "the far sensor": lambda: pose(far_sensor(3), hypotheses=["left0", "right0"], flip=TENTH),
    "the far sensor, now": lambda: pose(far_sensor(3), about="current", flip=TENTH),
    "permutations": lambda: pose(permutation_automaton(4, 2, 1), flip=TENTH, cost={"a0": 2}),
    "blind branches": blind_branches,
}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", NAMED)
def test_a_certified_tree_keeps_what_theorem_3_3_claims(name: str, split: Split) -> None:
    task = NAMED[name]()
    tree = compose_tree(task, Fraction(1, 20), Fraction(1, 20), split)
    assert tree is not None
    check_theorem(task, tree, Fraction(1, 20), Fraction(1, 20))


def test_the_dearest_member_of_a_part_is_what_its_node_costs() -> None:
    task, risk = unequal_members(), Fraction(1, 20)
    tree = compose_tree(task, risk, risk, "uniform")
    assert tree is not None
    lit, bright, dark = check_theorem(task, tree, risk, risk).costs
    assert lit is not None and bright is not None and dark is not None
    assert max(bright, dark) < lit <= tree.cost


def test_at_a_small_risk_the_claims_of_a_tree_are_nearly_attained() -> None:
    task, alpha, beta = pose(permutation_automaton(4, 2, 1), flip=TENTH), Fraction(1, 10**5), Fraction(1, 100)
    tree = compose_tree(task, alpha, beta, "uniform")
    assert tree is not None
    assert max(len(node.loop) for node in tree.node) > 1
    found = evaluate(task, tree)
    assert found.cost is not None
    assert found.cost <= tree.cost <= found.cost * (1 + Fraction(1, 500))
    assert found.alpha <= tree.wrong <= found.alpha * (1 + Fraction(1, 50))
    assert found.beta <= tree.abstain <= found.beta * (1 + Fraction(1, 50))


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_tree_of_one_test_attains_its_claims_but_for_the_horizon(length: int) -> None:
    """There is nothing off the path, so the cost is that of walking there and of the test."""
    names = ["left0", "right0"]
    task = pose(far_sensor(length), hypotheses=names, flip=TENTH, cost={"walk": 5, "look": 2})
    tree = compose_tree(task, ALPHA, BETA, "uniform")
    assert tree is not None
    (test,) = (node.test for node in tree.node if node.test is not None)
    found = evaluate(task, tree, exact=True)
    assert found.cost is not None
    assert found.alpha <= tree.wrong <= found.alpha * ROUNDED
    assert found.beta <= tree.abstain <= found.beta * ROUNDED
    off_path = tree.wrong * (5 * (length - 1) + 2 * test.policy.horizon)
    assert found.cost <= tree.cost - off_path <= found.cost * ROUNDED


def test_a_truth_on_a_wrong_branch_abstains_and_the_tree_counts_it() -> None:
    """The paper sums beta over the truth's path; a branch whose test does not know the truth abstains for certain."""
    task, alpha = blind_branches(), Fraction(1, 20)
    loose = compose_tree(task, alpha, alpha, "uniform")
    assert loose is not None
    found = check_theorem(task, loose, alpha, alpha)
    assert sum_over_paths(task, loose).abstain == 0 < found.beta <= loose.abstain <= found.beta * ROUNDED
    # With less abstention allowed than that, the tests must err less too.
    beta = found.beta / 3
    strict = compose_tree(task, alpha, beta, "uniform")
    assert strict is not None
    assert strict.cost > loose.cost
    check_theorem(task, strict, alpha, beta)


def test_where_a_wrong_branch_may_ask_what_is_not_allowed_there_is_no_tree() -> None:
    task = blind_branches()
    model = task.model
    assert isinstance(model, NoisyMachine)
    forbidden = np.array([[False, False, True]] * 2 + [[False, True, False]] * 2)
    successor, law = (np.where(forbidden, UNDEFINED, table).astype(np.int32) for table in (model.successor, model.law))
    task = replace(task, model=replace(model, successor=successor, law=law))
    assert isinstance(solve(skeleton(task), prove="never"), Solved)
    assert all(compose_tree(task, Fraction(1, 20), Fraction(1, 20), split) is None for split in SPLITS)


def test_abstention_that_the_bound_overrates_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    task, alpha, beta = pose(permutation_automaton(5, 2, 1), flip=TENTH), Fraction(1, 20), Fraction(1, 2000)
    tree = compose_tree(task, alpha, beta, "uniform")
    assert tree is not None
    check_theorem(task, tree, alpha, beta)
    # Where the tree is too large for that, the tests keep to risks that are small enough whatever happens.
    monkeypatch.setattr(composition, "MAX_PLACES", 10)
    careful = compose_tree(task, alpha, beta, "uniform")
    assert careful is not None
    assert careful.cost > tree.cost
    assert evaluate(task, careful).beta <= careful.abstain <= beta


def test_a_walk_asks_round_the_loop_and_leaves_it_with_the_answer_of_the_test() -> None:
    task = pose(ring_register(3), flip=TENTH)
    tree = compose_tree(task, Fraction(1, 20), Fraction(1, 20), "uniform")
    assert tree is not None
    node = tree.node[0]
    assert node.test is not None
    assert len(node.loop) == 3
    memory, inner, asked = tree.start(), node.test.policy.start(), 0
    while memory[0] == 0:
        assert tree.decide(memory) == Ask(node.loop[asked % 3])
        # What is read on the way back is nothing to the test.
        if asked % 3 == 0:
            inner = node.test.policy.next(inner, 1)
        memory, asked = tree.next(memory, 1 if asked % 3 == 0 else asked % 2), asked + 1
    decision = node.test.policy.decide(inner)
    assert isinstance(decision, Answer)
    assert asked % 3 == 1
    assert memory[0] == tree.children[0][decision.label]


@pytest.mark.parametrize("split", SPLITS)
def test_a_certified_tree_sums_its_risk_along_paths(split: Split) -> None:
    tree = compose_tree(pose(sensor_bank(4), flip=TENTH), ALPHA, BETA, split)
    assert tree is not None
    assert tree.wrong <= ALPHA
    assert tree.abstain <= BETA
    tests = [node.test for node in tree.node if node.test is not None]
    assert len(tests) == 3
    assert tree.wrong == sum(test.risk.worst[0] for test in tests)


def test_the_best_split_is_the_cheapest_of_all_choices() -> None:
    alpha = Fraction(1, 30)
    task = pose(sensor_bank(4), flip=TENTH, cost={"look0": 9, "look3": 9})
    uniform, best = (compose_tree(task, alpha, BETA, split) for split in SPLITS)
    assert uniform is not None
    assert best is not None
    assert best.cost < uniform.cost
    # One sensor after the other: the dearest path asks all three, and no loop is longer than its action.
    tests = [node.test for node in best.node if node.test is not None]
    assert len(tests) == 3
    assert all(len(node.loop) <= 1 for node in best.node)

    def price(test: CertifiedController, part: int) -> Fraction | None:
        question = test.policy.graph.tables.task
        found = search_prices(question, alpha * part / GRID, BETA / 3, limits=NODE_LIMITS).best
        return None if found is None else found.cost

    prices = [{part: price(test, part) for part in PARTS} for test in tests]
    totals: list[Fraction] = []
    for parts in product(PARTS, repeat=3):
        paid = [prices[i][part] for i, part in enumerate(parts)]
        known = [cost for cost in paid if cost is not None]
        if sum(parts) <= GRID and len(known) == 3:
            totals.append(sum(known, Fraction(0)))
    chosen = sum((test.cost for test in tests), Fraction(0))
    # The dynamic program adds floats: equal up to their rounding.
    assert abs(chosen - min(totals)) <= min(totals) / 10**9


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
    lower = bound_by_column_generation(task, ALPHA, ALPHA).lower
    assert lower is not None and lower <= cost
    found = search_prices(task, ALPHA, ALPHA, limits=SMALL)
    assert found.lower is not None
    assert found.lower <= cost
    assert found.best is not None
    assert found.best.cost < cost + Fraction(1, 1000)
