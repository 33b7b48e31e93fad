"""Two-sided bounds: L <= AO <= U, on questions whose answer is known, and against the exact optimum of small ones."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings

from ascertain.errors import LimitError, TaskError
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.model.named import register, shift_register
from ascertain.planning import noisy_search
from ascertain.planning.belief_graph import GraphBuilder
from ascertain.planning.composition import compose, skeleton
from ascertain.planning.factors import evaluate_form, find_factors, transform
from ascertain.planning.information_state import tabulate_likelihoods
from ascertain.planning.limits import SearchLimits
from ascertain.planning.minimax import find_pruned_minimax_policy
from ascertain.planning.pruning import MostInformative
from ascertain.planning.two_sided import TwoSidedBounds, bound_both_sides
from ascertain.policy.combination import evaluate_product
from ascertain.policy.policy import Ask
from ascertain.policy.product import Product
from ascertain.problem.pose import pose
from ascertain.problem.pose_plant import pose_plant
from ascertain.search.exact import solve
from ascertain.search.solution import Solved
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task
from tests.reference.measuring import measure_wrong
from tests.reference.models import enumerate_noisy
from tests.reference.noisy_optimum import noisy_optimum
from tests.reference.optimum import optimum
from tests.reference.registers import far_sensor, lift_door, parity_register, ring_register, sensor_bank
from tests.reference.sequential_tests import walk_with_memory
from tests.reference.suite import list_instances
from tests.strategies import machines, noisy_machines, tasks

ALPHA, BETA, TENTH = Fraction(1, 4_000_000), Fraction(1, 1000), Fraction(1, 10)
QUICK = SearchLimits(
    time_limit=5.0,
    program_nodes=40,
    max_nodes=2000,
    max_bound_nodes=1000,
    weight_rounds=2,
    mixing_trials=6,
    max_work=100_000,
    max_dives=2,
    max_starts=2,
    max_changes=10,
    max_leaves=20,
    max_branches=2,
)


@given(tasks(machines(max_states=4), about="start", max_hypotheses=4))
@settings(max_examples=40)
def test_without_noise_both_sides_are_the_deterministic_optimum(task: Task) -> None:
    found = bound_both_sides(task, ALPHA, BETA)
    value = optimum(task)
    assert found.lower == found.upper == value
    assert found.is_infinite == (value is None)


@given(
    tasks(
        noisy_machines(max_states=3, max_actions=2, max_readings=2, max_laws=2),
        about="start",
        max_hypotheses=3,
        max_labels=2,
        shared_states=False,
    )
)
@settings(max_examples=8)
def test_the_two_sides_of_any_small_task_are_valid(task: Task) -> None:
    alpha, beta = Fraction(1, 20), Fraction(1, 20)
    found = bound_both_sides(task, alpha, beta, QUICK)
    if found.lower is None or found.upper is None:
        return
    assert found.lower <= found.upper
    assume(hasattr(found.policy, "decide"))
    for h in range(task.num_hypotheses):
        wrong, abstain, cost = walk_with_memory(task, found.policy, h)
        assert wrong <= alpha
        assert abstain <= beta
        assert cost <= found.upper


def two_questions() -> list[Task]:
    bit = pose(enumerate_noisy(register(1, TENTH)))
    return [bit, pose(far_sensor(3), hypotheses=["left0", "right0"], flip=TENTH)]


@pytest.mark.parametrize("task", two_questions())
def test_two_hypotheses_cost_at_most_a_twentieth_more_than_the_optimum(task: Task) -> None:
    alpha, beta = Fraction(1, 10_000), Fraction(1, 100)
    lower, upper = noisy_optimum(task, alpha, beta, 16)
    found = bound_both_sides(task, alpha, beta)
    assert found.lower is not None
    assert found.upper is not None
    assert upper is not None
    assert found.lower <= upper
    assert lower <= found.upper <= Fraction(105, 100) * upper


def test_three_sensors_cost_at_most_a_twentieth_more_than_the_best_policy_known() -> None:
    alpha, beta = Fraction(1, 50), Fraction(1, 50)
    task = pose(sensor_bank(3), flip=TENTH)
    lower, upper = noisy_optimum(task, alpha, beta, 10)
    found = bound_both_sides(task, alpha, beta, QUICK)
    assert found.lower is not None
    assert found.upper is not None
    assert upper is not None
    assert lower <= found.upper <= Fraction(105, 100) * upper
    assert found.lower <= upper


def test_what_is_obstructed_or_proved_infinite_is_infinite() -> None:
    obstructed = pose(sensor_bank(3), label={"s0": "a", "s1": "b", "s2": "b"}, actions=["look2"], flip=TENTH)
    assert bound_both_sides(obstructed, ALPHA, BETA).is_infinite
    once = pose(shift_register(2), flip=TENTH)
    found = bound_both_sides(once, ALPHA, BETA)
    assert found.is_infinite
    assert found.upper is None
    assert found.ratio is None


@pytest.mark.parametrize(
    ("name", "lower", "upper"),
    [
        ("register 24, nominal or not", "208.9", "210.1"),
        ("register 24, which state", "250.5", "258.8"),
    ],
)
def test_the_register_of_twenty_four_bits_is_read_as_well_as_promised(name: str, lower: str, upper: str) -> None:
    found = named(name)
    assert found.lower is not None
    assert found.upper is not None
    assert Fraction(lower) <= found.lower <= found.upper <= Fraction(upper)
    assert found.ratio is not None
    assert found.ratio <= Fraction(104, 100)
    assert found.risk is not None
    assert found.risk[0] <= ALPHA
    assert found.risk[1] <= BETA


@pytest.mark.parametrize(
    ("method", "remark"),
    [
        ("bound_by_information", "pairwise"),
        ("bound_by_program", "program"),
        ("compose", "tree"),
        ("search_prices", "driven"),
        ("bound_by_column_generation", "prices"),
        ("find_minimax_policy", "balanced"),
    ],
)
def test_a_limit_that_one_method_meets_is_remarked_and_takes_down_no_other(
    method: str, remark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise LimitError("too much of it")

    task = pose(enumerate_noisy(register(1, TENTH)))
    monkeypatch.setattr(noisy_search, "TIGHT_RATIO", Fraction(1))  # so that no method is left out
    monkeypatch.setattr(noisy_search, method, refuse)
    found = bound_both_sides(task, Fraction(1, 50), Fraction(1, 20), QUICK)
    assert f"{remark}: too much of it" in found.remarks
    assert found.lower is not None
    assert found.upper is not None
    assert 0 < found.lower <= found.upper


def test_an_interrupt_keeps_what_was_found_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(noisy_search, "search_prices", interrupt)
    found = bound_both_sides(pose(enumerate_noisy(register(1, TENTH))), Fraction(1, 50), Fraction(1, 20), QUICK)
    assert found.stopped_by == "interrupt"
    assert found.lower


def named(name: str) -> TwoSidedBounds:
    return bound_both_sides(
        next(instance for instance in list_instances() if instance.name == name).make(), ALPHA, BETA
    )


def test_parities_are_a_register_in_other_coordinates() -> None:
    for question in ("nominal or not", "which state"):
        plain, sums = named(f"register 4, {question}"), named(f"parities 4, {question}")
        assert (plain.lower, plain.upper) == (sums.lower, sums.upper)


def test_a_product_of_tests_has_the_risk_that_its_evaluation_gives() -> None:
    found = named("register 4, which state")
    assert isinstance(found.policy, Product)
    assert found.risk is not None
    exact = evaluate_product(found.policy)
    assert exact.alpha <= found.risk[0]
    assert exact.beta <= found.risk[1]
    assert exact.cost is not None
    assert found.upper is not None
    assert exact.cost <= found.upper


def test_forms_are_what_commands_tap_and_differences_change_one_of_them() -> None:
    plant = parity_register(5, TENTH)
    question = pose_plant(plant, label={"bits": [f"b{i}" for i in range(5)]})
    factors = find_factors(question)
    assert factors is not None
    random = Random(7)
    for _ in range(50):
        state = random.getrandbits(6)
        for action, form in zip(factors.actions, factors.forms, strict=True):
            assert evaluate_form(form, state) == plant.step(state, action)[1]
    for i, difference in enumerate(factors.differences):
        changed = [evaluate_form((mask, 0), difference) for mask, _ in factors.forms]
        assert changed == [int(j == i) for j in range(5)]


def test_pulling_a_form_back_through_gates_is_reading_it_after_them() -> None:
    gates = (Gate("xor", 0, (1, 2)), Gate("cnot", 3, (0,)), Gate("not", 1), Gate("copy", 2, (3,)), Gate("set", 0))
    plant = BooleanPlant(("a", "b", "c", "d"), (Command("go", gates, 0),))
    for state in range(16):
        after = plant.step(state, 0)[0]
        for mask in range(16):
            assert evaluate_form(transform(gates, (mask, 0)), state) == evaluate_form((mask, 0), after)


def test_a_bit_that_nothing_reads_makes_the_question_infinite() -> None:
    plant = register(3, TENTH)
    unread = pose_plant(plant, actions=["read0", "read1"])
    assert bound_both_sides(unread, ALPHA, BETA).is_infinite
    some = bound_both_sides(pose_plant(plant, actions=["read0", "read1"], label={"bits": ["b0", "b1"]}), ALPHA, BETA)
    assert not some.is_infinite
    assert some.upper is not None


def moving_plant() -> PlantTask:
    commands = (Command("turn", (Gate("cnot", 0, (1,)),), 0), Command("look", (), 1))
    return pose_plant(BooleanPlant(("a", "b"), commands, TENTH))


def test_a_plant_whose_commands_change_what_is_read_is_refused_in_one_sentence() -> None:
    with pytest.raises(LimitError, match="'turn' changes what 'turn' reads"):
        bound_both_sides(moving_plant(), ALPHA, BETA)


def test_a_risk_outside_the_unit_interval_or_of_zero_under_noise_is_refused() -> None:
    task = pose(sensor_bank(3), flip=TENTH)
    with pytest.raises(TaskError, match="alpha is 1"):
        bound_both_sides(task, Fraction(1), BETA)
    with pytest.raises(TaskError, match="must be positive"):
        bound_both_sides(task, Fraction(0), BETA)


def test_the_measured_error_of_a_policy_is_its_evaluated_one() -> None:
    task = pose(ring_register(2), flip=TENTH)
    alpha, beta = Fraction(1, 1000), Fraction(1, 100)
    found = bound_both_sides(task, alpha, beta, QUICK)
    assert found.risk is not None
    measured = measure_wrong(task, found, 1000, seed=3)
    assert measured is not None
    assert abs(measured.estimate - float(found.risk[0])) <= 4 * measured.error


def test_a_tree_is_measured_along_its_paths() -> None:
    task = pose(sensor_bank(3), flip=TENTH)
    alpha, beta = Fraction(1, 100), Fraction(1, 50)
    solution = solve(skeleton(task), prove="never")
    assert isinstance(solution, Solved)
    tree = compose(task, solution.policy, alpha, beta)["uniform"]
    assert tree is not None
    values = {"uniform tree": tree.cost}
    found = TwoSidedBounds(alpha, beta, Fraction(1), tree.cost, tree, (tree.wrong, tree.abstain), {}, values)
    measured = measure_wrong(task, found, 300, seed=1)
    assert measured is not None
    assert abs(measured.estimate - float(tree.wrong)) <= 4 * measured.error


def test_two_sided_bounds_are_the_same_every_time() -> None:
    task = pose(sensor_bank(3), flip=TENTH)
    first, second = (bound_both_sides(task, Fraction(1, 100), Fraction(1, 50), QUICK) for _ in range(2))
    assert (first.lower, first.upper) == (second.lower, second.upper)
    assert np.array_equal(first.policy.choice, second.policy.choice)


def test_every_instance_of_the_suite_can_be_posed() -> None:
    names = [instance.name for instance in list_instances()]
    assert len(names) == len(set(names)) >= 24
    for instance in list_instances():
        question = instance.make()
        assert question.alpha == 0
    policy = named("register 4, nominal or not").policy
    assert isinstance(policy.decide(policy.start()), Ask)


def test_a_question_about_the_current_state_is_bounded_closely_without_a_tree() -> None:
    task = pose(far_sensor(3), flip=Fraction(1, 10), about="current", alpha="1/100", beta="1/100")
    found = bound_both_sides(task)
    assert found.lower is not None
    assert found.upper is not None
    assert 0 < found.lower <= found.upper <= Fraction(105, 100) * found.lower
    assert "tree" not in found.upper_by_method  # there was no need to compose one
    for h in range(task.num_hypotheses):
        wrong, abstain, cost = walk_with_memory(task, found.policy, h)
        assert wrong <= Fraction(1, 100)
        assert abstain <= Fraction(1, 100)
        assert cost <= found.upper


def test_a_search_ends_when_both_sides_are_close_enough() -> None:
    task = pose(sensor_bank(3), flip=TENTH)
    heard: list[tuple[Fraction, Fraction | None]] = []
    whole = bound_both_sides(task, ALPHA, BETA, QUICK)
    found = bound_both_sides(
        task, ALPHA, BETA, replace(QUICK, enough=Fraction(3, 2)), progress=lambda *now: heard.append(now)
    )
    assert found.ratio is not None
    assert found.ratio <= Fraction(3, 2)
    assert found.stopped_by is None
    assert len(found.upper_by_method) < len(whole.upper_by_method)
    assert all(upper is None or upper > Fraction(3, 2) * lower for lower, upper in heard[:-1])


def test_policies_are_offered_as_they_are_found_the_cheapest_first() -> None:
    task = pose(sensor_bank(3), flip=TENTH)
    heard: list[Fraction | None] = []
    found = bound_both_sides(task, ALPHA, BETA, QUICK, progress=lambda _, upper: heard.append(upper))
    assert len({upper for upper in heard if upper is not None}) > 1
    costs = [cost for cost, _, _ in found.policies]
    assert costs == sorted(costs)
    assert found.policies[0][:2] == (found.upper, found.policy)


def test_when_time_is_up_a_small_policy_is_found_all_the_same() -> None:
    task = pose(far_sensor(3), hypotheses=["left0", "right0"], flip=TENTH)
    found = bound_both_sides(task, Fraction(1, 100), Fraction(1, 20), replace(QUICK, until=0.0))
    assert found.stopped_by == "time"
    assert found.policy is not None


def test_pruning_does_not_merge_rivals_that_are_likely() -> None:
    tables = tabulate_likelihoods(pose(lift_door(), flip=TENTH))
    start = GraphBuilder(tables, 20.0, 1e-9).begin(None)
    allowed = np.ones((1, 4), dtype=np.bool_)
    assert (MostInformative(tables, 4)(*start, allowed) >= 0).all()
    # Only looking moves nothing: every button brings two states into one.
    careful = MostInformative(tables, 4, alpha=float(ALPHA))(*start, allowed)
    assert careful[careful >= 0].tolist() == [tables.task.model.actions.index("look")]


def test_where_the_graph_is_too_large_a_pruned_one_gives_a_minimax_policy() -> None:
    task = pose(lift_door(), flip=Fraction(1, 20))
    alpha, beta = Fraction(1, 50), Fraction(1, 20)
    preference = np.ones((task.num_hypotheses, 4))
    found = find_pruned_minimax_policy(task, alpha, beta, replace(QUICK, max_nodes=1500, max_leaves=4), preference)
    assert found.lower is None
    assert found.best is not None
    for h in range(task.num_hypotheses):
        wrong, abstain, cost = walk_with_memory(task, found.best.policy, h)
        assert wrong <= alpha
        assert abstain <= beta
        assert cost <= found.best.cost
