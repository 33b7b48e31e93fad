"""Lower bounds on a grid: parts add up, values are those of plain Python, and no policy is cheaper."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import LimitError
from ascertain.planning.column_generation import ColumnGeneration
from ascertain.planning.information_state import (
    ELIMINATED,
    UNIT,
    smallest_slots,
    tabulate_likelihoods,
    weights_of,
)
from ascertain.planning.interpolation import GridBuilder, bound_by_interpolation
from ascertain.planning.limits import SearchLimits
from ascertain.planning.minimax import find_best_mixture
from ascertain.problem.pose import pose
from ascertain.task.task import Task
from tests.reference.interpolation import Grid
from tests.reference.registers import permutation_automaton, ring_register, sensor_bank
from tests.reference.short_optimum import random_small_task, short_optimum

TENTH, LIMITS = F(1, 10), SearchLimits(max_bound_nodes=1_000, max_work=20_000)
TASKS = {
    "sensors": pose(sensor_bank(3), flip=TENTH),
    "permutations": pose(permutation_automaton(3, 2, 1), flip=F(1, 5)),
    "ring": pose(ring_register(2), label={"00": "low", "01": "low", "10": "high", "11": "high"}, flip=TENTH),
}
"""Complete machines; in the last one hypotheses share a label."""


def grid_of(task: Task, step: int, last: int) -> GridBuilder:
    return GridBuilder(tabulate_likelihoods(task), step, last, 1e-3, LIMITS)


@given(
    st.lists(st.lists(st.integers(0, 25 * UNIT) | st.just(ELIMINATED), min_size=3, max_size=3), min_size=1, max_size=5),
    st.integers(UNIT // 4, 3 * UNIT),
    st.integers(1, 12),
)
@settings(max_examples=60, deadline=None)
def test_the_parts_of_an_information_state_lie_on_the_grid_and_add_up_to_it(
    rows: list[list[int]], step: int, last: int
) -> None:
    penalty = np.array([[0, *row] for row in rows], dtype=np.int64)
    state = np.zeros(penalty.shape, dtype=np.int32)
    builder = grid_of(pose(sensor_bank(4), flip=TENTH), step, last)
    total = np.zeros(penalty.shape)
    for part, (left, corner), share in builder.split(state, penalty):
        kept = corner < ELIMINATED
        assert (corner[kept] % step == 0).all()
        assert (corner[kept] <= last * step).all()
        assert ((left >= 0) == kept).all()
        assert (corner[:, 0] == 0).all()  # the likeliest stays the likeliest
        total[part] += share[:, None] * weights_of(corner)
    assert np.abs(total - weights_of(penalty)).max() < 1e-8


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("nats", [1.1, 2.0])
def test_values_on_a_grid_are_those_of_plain_python(name: str, nats: float) -> None:
    task, step, last = TASKS[name], int(nats * UNIT), 2 if name == "ring" else 3
    graph = grid_of(task, step, last).build()
    program = ColumnGeneration(graph, F(1, 100), F(1, 10))
    w = np.arange(1.0, 1.0 + len(program.group_size))
    prices = np.array([w / (w * program.group_size).sum(), 60.0 * w[::-1], np.full(len(w), 40.0)])
    by_hypothesis = [(prices[0, g], prices[1, g], prices[2, g]) for g in program.group.tolist()]
    found = float(program.value_nodes(prices).value[0])
    slow = Grid(task, step / UNIT, last, 1e-3, by_hypothesis).value(60)
    assert found == pytest.approx(slow, rel=1e-6)


@pytest.mark.parametrize("seed", [15, 19, 21, 22, 24, 25, 28])
def test_no_policy_costs_less_than_the_bound_on_a_grid(seed: int) -> None:
    task, alpha, beta = random_small_task(seed)
    best = short_optimum(task, alpha, beta, 2, 40)
    assert best is not None
    assert 0 < bound_by_interpolation(task, alpha, beta, LIMITS) <= best


def test_nothing_is_lost_where_readings_lead_from_point_to_point() -> None:
    task, alpha, beta = TASKS["sensors"], F(1, 1000), F(1, 100)
    _, mixture = find_best_mixture(task, alpha, beta, SearchLimits(), smallest_slots(task), 10_000)
    lower = bound_by_interpolation(task, alpha, beta, SearchLimits(max_bound_nodes=3_000))
    assert F(99, 100) * mixture.lower <= lower <= F(10_001, 10_000) * F(mixture.value)


def test_a_finer_grid_is_tried_and_what_is_too_large_is_said() -> None:
    task = TASKS["permutations"]
    with pytest.raises(LimitError, match="more than 5 points"):
        bound_by_interpolation(task, F(1, 1000), F(1, 100), SearchLimits(max_bound_nodes=5))
    with pytest.raises(LimitError, match="more than 5 hypotheses"):
        bound_by_interpolation(pose(sensor_bank(6), flip=TENTH), F(1, 1000), F(1, 100), LIMITS)
