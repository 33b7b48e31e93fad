"""The whole road: whatever a task is, its answer is right and its certificate passes the checker."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given

from ascertain.errors import TaskError
from ascertain.model.build import machine_from_transitions
from ascertain.pipeline.settle import settle
from ascertain.problem.pose import pose
from ascertain.search.solution import Solved, Unsolvable
from ascertain.task.task import Task
from tests.reference.optimum import optimum
from tests.reference.search import expected_optimum
from tests.strategies import machines, tasks


@given(tasks(machines(max_states=5)))
def test_every_answer_is_right_and_certified(task: Task) -> None:
    result, best = settle(task), optimum(task)
    assert str(result.verdict) == "VERIFIED"
    if best is None:
        assert isinstance(result.solution, Unsolvable)
    else:
        assert isinstance(result.solution, Solved)
        assert result.solution.cost == best
        assert result.obstruction is None


@given(tasks(machines(max_states=4)))
def test_every_mean_is_right_and_its_policy_certified(task: Task) -> None:
    weights = [Fraction(h + 1) for h in range(task.num_hypotheses)]
    result, best = settle(task, objective="expected", weights=weights), expected_optimum(task, weights)
    assert str(result.verdict) == "VERIFIED"
    assert result.solution.objective == "expected"
    assert (result.solution.cost if isinstance(result.solution, Solved) else None) == best


def test_a_noisy_task_is_refused_with_a_reason() -> None:
    m = machine_from_transitions([("a", "look", "0", "a"), ("b", "look", "1", "b")])
    with pytest.raises(TaskError, match="machines without noise"):
        settle(pose(m, flip="1/10"))
