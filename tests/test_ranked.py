"""Exchangeable hypotheses with ranked slots: equals that take turns, and bounds from how policies begin."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from ascertain.errors import TaskError
from ascertain.planning.belief_graph import BeliefGraph, GraphBuilder, alternate_ties
from ascertain.planning.controller import CertifiedController, fit_horizon
from ascertain.planning.information_state import tabulate_likelihoods
from ascertain.planning.lagrangian import LagrangianProgram, search_prices
from ascertain.planning.limits import SearchLimits
from ascertain.planning.ranked_openings import bound_by_ranked_openings
from ascertain.planning.two_sided import bound_both_sides
from ascertain.problem.pose import pose
from ascertain.task.task import Task
from tests.reference.registers import far_sensor, sensor_bank
from tests.reference.sequential_tests import walk_with_memory

ALPHA, BETA, TENTH = Fraction(1, 50), Fraction(1, 20), Fraction(1, 10)
QUICK = SearchLimits(
    max_nodes=3000, max_work=100_000, max_dives=2, max_starts=2, max_changes=10, max_leaves=20, max_branches=2
)


def sensors(count: int, flip: Fraction = TENTH) -> Task:
    return pose(sensor_bank(count), flip=flip)


def ranked_graph(task: Task, alpha: Fraction) -> BeliefGraph:
    n = task.num_hypotheses
    return GraphBuilder(
        tabulate_likelihoods(task, "ranked"), math.log(n / alpha) + 1.0, float(alpha) / (4 * n), max_nodes=50_000
    ).build()


def best_policy(graph: BeliefGraph, alpha: Fraction, beta: Fraction) -> CertifiedController:
    """What is best at a price that is high enough."""
    program = LagrangianProgram(graph, float(graph.tables.num_slots), alpha, beta)
    choice = program.solve(3 / float(alpha), 60.0).choice
    found = fit_horizon(graph, choice, alpha, beta)
    assert found is not None
    return found


def test_equals_that_take_turns_are_evaluated_as_they_are_walked() -> None:
    task = sensors(4)
    found = best_policy(alternate_ties(ranked_graph(task, ALPHA)), ALPHA, BETA)
    for h in range(4):
        wrong, abstain, cost = walk_with_memory(task, found.policy, h)
        assert wrong <= found.risk.wrong[h] <= wrong * (1 + Fraction(1, 10**6))
        assert abstain <= found.risk.abstain[h] <= abstain * (1 + Fraction(1, 10**6))
        assert cost <= found.risk.cost[h] <= cost * (1 + Fraction(1, 10**6))


def test_equals_that_take_turns_cost_the_last_less_and_all_together_the_same() -> None:
    graph = ranked_graph(sensors(6), ALPHA)
    plain, turned = best_policy(graph, ALPHA, BETA), best_policy(alternate_ties(graph), ALPHA, BETA)
    assert turned.cost < plain.cost
    # Up to where their horizons end them.
    assert math.isclose(float(sum(turned.risk.cost)), float(sum(plain.risk.cost)), rel_tol=1e-2)


def test_turns_permute_slots_within_equals_and_change_nothing_else() -> None:
    graph = ranked_graph(sensors(5), ALPHA)
    other = alternate_ties(graph)
    assert graph.slot is not None
    assert other.slot is not None
    changed = 0
    for v, k, y in np.argwhere(graph.child >= 0).tolist():
        before, after, child = graph.slot[v, k, y], other.slot[v, k, y], graph.child[v, k, y]
        assert sorted(after.tolist()) == list(range(5))
        assert (graph.penalty[child, before] == graph.penalty[child, after]).all()
        changed += int((before != after).any())
    assert changed
    assert other.child is graph.child


@pytest.mark.parametrize(
    ("count", "flip", "alpha"),
    [(3, Fraction(1, 5), Fraction(1, 10)), (4, TENTH, Fraction(1, 100))],
)
def test_no_policy_costs_less_than_the_bound_from_how_policies_begin(
    count: int, flip: Fraction, alpha: Fraction
) -> None:
    task = sensors(count, flip)
    known = bound_both_sides(task, alpha, BETA, QUICK)
    assert known.upper is not None
    lower = bound_by_ranked_openings(task, alpha, BETA, 3 * float(known.upper))
    assert 0 < lower <= known.upper


def test_the_bound_from_how_policies_begin_is_above_what_prices_prove_of_mixtures() -> None:
    task, alpha, beta = sensors(6), Fraction(1, 4_000_000), Fraction(1, 1000)
    found = search_prices(task, alpha, beta, slots="ranked")
    assert found.best is not None
    assert found.lower is not None
    assert found.lower < bound_by_ranked_openings(task, alpha, beta, 3 * float(found.best.cost)) <= found.best.cost


def test_hypotheses_that_are_not_exchangeable_have_no_ranked_openings() -> None:
    with pytest.raises(TaskError, match="exchangeable"):
        bound_by_ranked_openings(pose(far_sensor(3), flip=TENTH), ALPHA, BETA, 30.0)
