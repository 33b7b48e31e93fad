"""What policies achieve: against every transcript, dense linear systems and simulation, and in products."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ascertain.errors import LimitError, ModelError, TaskError
from ascertain.live.walk import walk_policy
from ascertain.model.build import machine_from_transitions
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy import combination
from ascertain.policy.absorption import find_fates
from ascertain.policy.automaton import NOWHERE, Automaton, PolicyTable
from ascertain.policy.chain import Chain, follow, tabulate
from ascertain.policy.combination import chances_by_factor, evaluate_product, worst_case
from ascertain.policy.enclosure import enclose
from ascertain.policy.evaluate import cost_by_hypothesis, evaluate, value_places
from ascertain.policy.product import LOST, Factor, Product
from ascertain.policy.verdict import Abstained, Certified
from ascertain.problem.pose import pose
from ascertain.search.exact import solve
from ascertain.search.solution import Solved
from ascertain.task.task import Task
from tests.reference.transcripts import Forbidden, count_visits, list_transcripts, whole_task
from tests.strategies import machines, models, noisy_machines, tasks

BIT = machine_from_transitions([("0", "look", "0", "0"), ("1", "look", "1", "1")])
small = noisy_machines(max_states=3, max_actions=2, max_readings=2, partial=False)


def bit(flip: Fraction = Fraction(1, 10)) -> Task:
    return pose(BIT, flip=flip)


def stepping(low: int, high: int, cap: int | None = None) -> PolicyTable:
    """Count readings, 1 up and 0 down, until `-low` or `high` is reached; abstain after `cap` readings."""
    order, number = [(0, 0)], {(0, 0): 0}
    action, label, children = [], [], []
    for d, t in order:
        stop = d in (-low, high) or t == cap
        action.append(NOWHERE if stop else 0)
        label.append(0 if d == -low else 1 if d == high else NOWHERE)
        after = {} if stop else {y: (d + 2 * y - 1, 0 if cap is None else t + 1) for y in (0, 1)}
        for place in after.values():
            if place not in number:
                number[place] = len(order)
                order.append(place)
        children.append({y: number[place] for y, place in after.items()})
    return PolicyTable(tuple(action), tuple(label), tuple(children))


@st.composite
def tables(draw: st.DrawFn, task: Task, *, loops: bool, max_nodes: int = 4) -> PolicyTable:
    """Policies of any shape for a task; readings may be forgotten, and without `loops` children come after parents."""
    size = draw(st.integers(1, max_nodes))
    action, label, children = [], [], []
    for v in range(size):
        asks = draw(st.integers(0, 3)) > 0 and (loops or v + 1 < size)
        action.append(draw(st.integers(0, task.model.num_actions - 1)) if asks else NOWHERE)
        label.append(NOWHERE if asks else draw(st.integers(NOWHERE, len(task.labels) - 1)))
        child = st.integers(0 if loops else v + 1, size - 1)
        following = {y: draw(child) for y in range(len(task.model.readings)) if draw(st.integers(0, 7))} if asks else {}
        children.append(following)
    return PolicyTable(tuple(action), tuple(label), tuple(children))


def drawn(data: st.DataObject, *, loops: bool, model: st.SearchStrategy = small) -> tuple[Task, PolicyTable]:
    task = data.draw(tasks(model, max_hypotheses=3))
    return task, data.draw(tables(task, loops=loops))


@given(st.data())
def test_a_policy_that_ends_achieves_what_its_transcripts_add_up_to(data: st.DataObject) -> None:
    task, policy = drawn(data, loops=False)
    found = evaluate(task, policy)
    assert found.is_exact
    for h, tally in enumerate(list_transcripts(task, policy, policy.size)):
        assert (found.wrong[h], found.abstain[h], found.costs[h]) == (tally.wrong, tally.abstain, tally.cost)
        assert tally.left == 0


@given(st.data())
def test_a_policy_with_loops_achieves_what_its_transcripts_tend_to(data: st.DataObject) -> None:
    task, policy = drawn(data, loops=True)
    found = evaluate(task, policy)
    for h, tally in enumerate(list_transcripts(task, policy, 7)):
        assert tally.wrong <= found.wrong[h] <= tally.wrong + tally.left
        assert tally.abstain <= found.abstain[h] <= tally.abstain + tally.left
        cost = found.costs[h]
        assert cost is None or cost >= tally.cost + tally.left * min(task.cost)


@given(st.data())
def test_loops_are_solved_exactly_and_endless_ones_are_found(data: st.DataObject) -> None:
    task, policy = drawn(data, loops=True)
    found = evaluate(task, policy)
    for h in range(task.num_hypotheses):
        assert (found.wrong[h], found.abstain[h], found.costs[h]) == count_visits(task, policy, h)


@given(st.data())
def test_an_action_is_refused_exactly_when_a_hypothesis_that_may_be_true_forbids_it(data: st.DataObject) -> None:
    task, policy = drawn(data, loops=False, model=models(max_states=3, max_readings=2, partial=True))
    try:
        list_transcripts(task, policy, policy.size)
    except Forbidden:
        with pytest.raises(TaskError, match="does not allow it"):
            evaluate(task, policy)
    else:
        evaluate(task, policy)


def check_supersolution(
    chain: Chain, upper: list[tuple[Fraction, Fraction, Fraction]], endless: frozenset[int]
) -> None:
    for i, arrows in enumerate(chain.arrows):
        for column in range(3) if arrows else ():
            step = chain.cost[i] if column == 2 else 0
            if column < 2 or i not in endless:
                assert upper[i][column] >= step + sum(p * upper[j][column] for j, p in arrows)


@given(st.data())
def test_an_enclosure_holds_the_truth_at_every_place_and_is_a_supersolution(data: st.DataObject) -> None:
    task, policy = drawn(data, loops=True)
    chain = follow(task, policy)
    fates = find_fates(chain)
    truth = value_places(chain, fates, exact=True)
    found = enclose(chain, fates)
    check_supersolution(chain, truth.upper, fates.endless)
    check_supersolution(chain, found.upper, fates.endless)
    for i in range(chain.size):
        assert found.width[i] < Fraction(1, 10**30)
        for column in range(2 if i in fates.endless else 3):
            assert 0 <= found.upper[i][column] - truth.upper[i][column] <= found.width[i]


@given(st.data())
def test_a_tabulated_policy_is_the_same_policy(data: st.DataObject) -> None:
    task, policy = drawn(data, loops=data.draw(st.booleans()))
    again = tabulate(follow(task, policy))
    assert evaluate(task, again) == evaluate(task, policy)
    if policy.is_ordered:
        assert again.is_ordered


@given(tasks(machines(max_states=5)))
def test_without_noise_the_optimal_policy_is_never_wrong_and_costs_what_its_walks_cost(task: Task) -> None:
    result = solve(task)
    assume(isinstance(result, Solved))
    assert isinstance(result, Solved)
    found = evaluate(task, result.policy)
    assert (found.alpha, found.beta, found.cost) == (0, 0, result.cost)
    assert list(found.costs) == cost_by_hypothesis(task, result.policy)
    assert found.meets(Fraction(0), Fraction(0))


@pytest.mark.parametrize("threshold", [1, 2, 3, 8])
@pytest.mark.parametrize("exact", [True, False])
def test_the_test_that_walks_until_it_is_sure_has_the_risk_and_cost_of_the_gamblers_ruin(
    threshold: int, exact: bool
) -> None:
    found = evaluate(bit(), stepping(threshold, threshold), exact=exact)
    alpha = Fraction(1, 1 + 9**threshold)
    cost = threshold * (1 - 2 * alpha) / Fraction(8, 10)
    for value, truth in ((found.alpha, alpha), (found.beta, Fraction(0)), (found.cost, cost)):
        assert value is not None
        assert truth <= value <= truth + found.error
    assert found.is_exact == exact
    assert found.error < Fraction(1, 10**38)


def test_large_chains_are_enclosed_without_being_asked() -> None:
    policy = stepping(3, 60, 300)
    found = evaluate(bit(), policy)
    assert not found.is_exact
    assert found.error < Fraction(1, 10**35)
    assert abs(found.wrong[1] - Fraction(1, 9**3)) < Fraction(1, 10**9)


def test_looking_for_ever_counts_as_no_answer_and_costs_without_end() -> None:
    policy = PolicyTable(action=(0, 0, NOWHERE), label=(NOWHERE, NOWHERE, 1), children=({0: 1, 1: 2}, {0: 1, 1: 1}, {}))
    for exact in (True, False):
        found = evaluate(bit(), policy, exact=exact)
        assert found.costs == (None, None)
        assert found.cost is None
        assert found.wrong[0] - Fraction(1, 10) <= found.error
        assert found.abstain[0] - Fraction(9, 10) <= found.error
        assert not found.meets(Fraction(1, 2), Fraction(99, 100))


def test_a_loop_that_hardly_ever_ends_is_an_error_when_floats_are_asked_for_and_solved_when_not() -> None:
    task = bit(Fraction(1, 10**30))
    policy = PolicyTable(action=(0, NOWHERE), label=(NOWHERE, 1), children=({0: 0, 1: 1}, {}))
    assert evaluate(task, policy, exact=True).costs == (Fraction(10**30), Fraction(10**30, 10**30 - 1))
    with pytest.raises(LimitError, match="look for so long"):
        evaluate(task, policy, exact=False)


def test_a_policy_for_another_task_or_without_end_of_memories_is_refused() -> None:
    with pytest.raises(TaskError, match="asks action 5"):
        evaluate(bit(), Automaton(action=(5,), label=(-1,), children=({},)))
    with pytest.raises(TaskError, match="answers label 2"):
        evaluate(bit(), Automaton(action=(-1,), label=(2,), children=({},)))
    with pytest.raises(LimitError, match="more than 100 places"):
        evaluate(bit(), stepping(50, 50, 1000), max_places=100)
    with pytest.raises(ModelError, match="leads to node 3"):
        PolicyTable(action=(0,), label=(-1,), children=({0: 3},))


def tail(runs: int, p: Fraction, count: int, *, above: bool) -> Fraction:
    """The probability that a binomial variable is at least (or at most) so much, exactly."""
    ks = range(count, runs + 1) if above else range(count + 1)
    return sum((comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in ks), Fraction(0))


@pytest.mark.parametrize("h", [0, 1])
def test_simulation_agrees_within_exact_binomial_limits(h: int) -> None:
    task, policy, runs = bit(Fraction(1, 4)), stepping(2, 1, 5), 400
    found = evaluate(task, policy)
    walks = [walk_policy(task, policy, SimulatedPlant(task.model, h, seed)) for seed in range(runs)]
    wrong = sum(isinstance(w.verdict, Certified) and w.verdict.label != str(h) for w in walks)
    none = sum(isinstance(w.verdict, Abstained) for w in walks)
    for count, p in ((wrong, found.wrong[h]), (none, found.abstain[h])):
        assert tail(runs, p, count, above=True) > Fraction(1, 10**4)
        assert tail(runs, p, count, above=False) > Fraction(1, 10**4)
    mean = sum((w.cost for w in walks), Fraction(0)) / runs
    # Costs lie in [1, 5]: by Hoeffding's inequality a mean of 400 is 0.5 off once in 10,000,000 times.
    assert abs(mean - (found.costs[h] or 0)) < Fraction(1, 2)


@st.composite
def products(draw: st.DrawFn, *, max_factors: int = 3) -> Product:
    nominal = draw(st.booleans())
    about = "start" if nominal else draw(st.sampled_from(("start", "current")))
    factors, actions = [], 0
    for _ in range(draw(st.integers(1, max_factors))):
        model = noisy_machines(max_states=2, max_actions=2, max_readings=2, partial=False)
        task = draw(tasks(model, about=about, max_labels=2, max_hypotheses=2, shared_states=False))
        policy = draw(tables(task, loops=True, max_nodes=3))
        own = tuple(range(actions, actions + task.model.num_actions))
        actions += len(own)
        readings = draw(st.permutations(range(3)))[: len(task.model.readings)]
        label = draw(st.integers(0, len(task.labels) - 1)) if nominal else None
        factors.append(Factor(task, policy, own, tuple(readings), label))
    return Product(tuple(factors))


def evaluate_combination(product: Product, truth: Sequence[int]) -> tuple[Fraction, Fraction, Fraction | None]:
    """(wrong, abstain, cost) if hypothesis `truth[i]` of each factor is true."""
    only = [[factor[h][1]] for h, factor in zip(truth, chances_by_factor(product), strict=True)]
    return worst_case(only, product.asks_nominal, outward=True)


@given(products())
def test_a_product_achieves_factor_by_factor_what_it_achieves_on_the_whole(whole: Product) -> None:
    task = whole_task(whole)
    truth = evaluate(task, whole, exact=True)
    shape = [f.task.num_hypotheses for f in whole.factors]
    for h, combined in enumerate(np.ndindex(*shape)):
        assert evaluate_combination(whole, combined) == (truth.wrong[h], truth.abstain[h], truth.costs[h])
    found = evaluate_product(whole)
    assert (found.alpha, found.beta, found.cost, found.error) == (truth.alpha, truth.beta, truth.cost, 0)
    loose = evaluate_product(whole, exact=False)
    assert 0 <= loose.alpha - found.alpha <= loose.error
    assert 0 <= loose.beta - found.beta <= loose.error
    assert loose.error < Fraction(1, 10**28)


@given(products())
def test_a_short_front_only_raises_the_bound_and_says_by_how_much(whole: Product) -> None:
    truth = evaluate_product(whole)
    before = combination.MAX_FRONT
    combination.MAX_FRONT = 1
    try:
        found = evaluate_product(whole)
    finally:
        combination.MAX_FRONT = before
    assert truth.alpha <= found.alpha <= truth.alpha + found.error
    assert (truth.beta, truth.cost) == (found.beta, found.cost)


def register(*tests: PolicyTable, nominal: int | None = None) -> Product:
    task = bit()
    return Product(tuple(Factor(task, policy, (i,), (0, 1), nominal) for i, policy in enumerate(tests)))


def test_a_register_of_24_bits_is_told_at_the_cost_of_the_prototype() -> None:
    eight, nine = stepping(8, 8), stepping(9, 9)
    found = evaluate_product(register(*[eight] * 9, *[nine] * 15))
    alpha = 1 - (1 - Fraction(1, 1 + 9**8)) ** 9 * (1 - Fraction(1, 1 + 9**9)) ** 15
    assert (found.alpha, found.beta, found.error) == (alpha, 0, 0)
    assert alpha <= Fraction(25, 10**8)
    assert found.cost is not None
    assert Fraction(25874, 100) < found.cost < Fraction(25875, 100)


def test_a_test_of_nominal_or_not_stops_at_the_first_part_that_is_not() -> None:
    whole = register(*[stepping(7, 9)] * 24, nominal=0)
    found, one = evaluate_product(whole), evaluate(bit(), stepping(7, 9))
    go = 1 - one.wrong[0]
    assert found.alpha == max(1 - go**24, one.wrong[1] * go**23)
    # It takes longest when the last bit alone is off: all are read, and 9 steps up take longer than 7 down.
    assert found.cost == (one.costs[0] or 0) * (1 - go**23) / (1 - go) + go**23 * (one.costs[1] or 0)
    assert evaluate_combination(whole, [0] * 23 + [1])[2] == found.cost
    assert evaluate_combination(whole, [1] + [0] * 23)[2] == (one.costs[1] or 0) + one.wrong[1] * (
        (one.costs[0] or 0) * (1 - go**23) / (1 - go)
    )
    assert found.meets(Fraction(1, 10**6), Fraction(0))
    assert not found.meets(Fraction(1, 10**9), Fraction(0))


def test_a_product_is_walked_like_any_policy_and_abstains_at_a_reading_it_does_not_know() -> None:
    whole = register(stepping(1, 1), stepping(1, 1))
    assert whole.next(whole.next(whole.start(), 1), 0) == (2, None, 1)
    assert whole.next(whole.start(), 7) == LOST
    assert whole.next(LOST, 0) == LOST
    assert "does not know" in str(whole.decide(LOST))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"actions": ()}, "needs the number"),
        ({"readings": (0, 0)}, "the same number"),
        ({"nominal": 2}, "the nominal label of a factor is 2"),
    ],
)
def test_a_factor_that_does_not_fit_is_refused(change: dict, sentence: str) -> None:
    given_ = {"actions": (0,), "readings": (0, 1), "nominal": 0} | change
    with pytest.raises(ModelError, match=sentence):
        Factor(bit(), stepping(1, 1), **given_)


def test_a_product_that_does_not_fit_is_refused() -> None:
    plain, nominal = (Factor(bit(), stepping(1, 1), (0,), (0, 1), k) for k in (None, 0))
    with pytest.raises(ModelError, match="at least one factor"):
        Product(())
    with pytest.raises(ModelError, match="or none has"):
        Product((plain, nominal))
    with pytest.raises(ModelError, match="share an action"):
        Product((plain, plain))


@given(tasks(noisy_machines(max_states=2, max_actions=1, max_readings=2, partial=False), about="current", max_labels=2))
@settings(max_examples=5)
def test_a_product_about_the_nominal_is_about_the_start(task: Task) -> None:
    policy = PolicyTable(action=(-1,), label=(0,), children=({},))
    with pytest.raises(ModelError, match="nominal or not is about the start"):
        Product((Factor(task, policy, (0,), tuple(range(len(task.model.readings))), 0),))
