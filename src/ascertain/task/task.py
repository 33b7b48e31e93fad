"""A task: the whole question. Which states may the plant be in, what is asked about them, at what cost and risk.

Throughout: h is a hypothesis. `state[h]` is the state that the plant is in if h is true and `label[h]` the answer that
is then right. Labels belong to hypotheses: two hypotheses may share a state and differ in label (then nothing can
settle the question). A task is usually about the *start*: the label stays with the hypothesis while the experiment
moves the plant. A task about the *current* state asks for the label of the state that the plant is in when the
experiment ends; then every state has a label, `state_label[s]`, and hypotheses take theirs from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ascertain.errors import TaskError
from ascertain.model import Model
from ascertain.model.abstract import set_fields
from ascertain.task.question import AbstractQuestion
from ascertain.types import IntArray, LongArray, State


@dataclass(frozen=True, eq=False, kw_only=True)
class Task(AbstractQuestion):
    """Hypotheses on a model, their labels, the cost of each action and the risk; validated once."""

    model: Model
    state: IntArray
    label: IntArray
    labels: tuple[str, ...]
    state_label: IntArray | None = None
    """For a task about the current state: the label of every state. None for a task about the start."""

    def __post_init__(self) -> None:
        state = _indices(self.state, "state", self.model.num_states)
        set_fields(self, state=state, label=_indices(self.label, "label", len(self.labels)))
        if len(self.state) == 0 or len(self.state) != len(self.label):
            raise TaskError("a task needs at least one hypothesis, each with a state and a label")
        pairs = self.label.astype(np.int64) * self.model.num_states + self.state
        if len(np.unique(pairs)) < len(pairs):
            raise TaskError("a hypothesis (state and label) is listed twice")
        if len(set(self.labels)) < len(self.labels):
            raise TaskError("a label is listed twice; labels must differ")
        super().__post_init__()
        if self.state_label is not None:
            set_fields(self, state_label=_indices(self.state_label, "state label", len(self.labels)))
            if not np.array_equal(self.state_label[self.state], self.label):
                raise TaskError("in a task about the current state each hypothesis has the label of its state")

        about = "start" if self.state_label is None else "current"
        set_fields(self, about=about, actions=tuple(range(self.model.num_actions)))

    @property
    def num_hypotheses(self) -> int:
        return len(self.state)

    def start_of(self, hypothesis: int) -> State:
        return int(self.state[hypothesis])

    @property
    def candidates(self) -> tuple[State, ...]:
        return tuple(self.state.tolist())

    def true_labels(self, start: State, end: State) -> set[str]:
        if self.state_label is not None:
            return {self.labels[int(self.state_label[end])]}
        return {self.labels[int(k)] for k in self.label[self.state == start]}

    def question_data(self) -> dict[str, Any]:
        return {
            "hypotheses": [[int(s), int(k)] for s, k in zip(self.state, self.label, strict=True)],
            "labels": list(self.labels),
            "current": None if self.state_label is None else [int(k) for k in self.state_label],
        }

    def integer_costs(self) -> tuple[LongArray, Fraction]:
        """Costs as integers, the smallest in their ratio, and what they were multiplied by: `cost[a] * scale`."""
        cost, scale = self._integer_costs
        return cost.copy(), scale

    @cached_property
    def _integer_costs(self) -> tuple[LongArray, Fraction]:
        ratios = [c.as_integer_ratio() for c in self.cost]
        whole = math.lcm(*[d for _, d in ratios])
        multiples = [n * (whole // d) for n, d in ratios]
        divisor = math.gcd(*multiples)
        costs = [c // divisor for c in multiples]
        if max(costs) > 2**40:
            raise TaskError("the costs need more than 40 bits once written over one denominator; use simpler ratios")
        return np.array(costs, dtype=np.int64), Fraction(whole, divisor)


def check_task(task: object) -> Task:
    """The task itself; a question of another kind, whose plant is not a machine with listed states, is refused."""
    # The public functions that need tables call this on what a user gave them, which can be anything.
    if not isinstance(task, Task):
        raise TaskError(
            f"a {type(task).__name__} is not a Task on a machine; hidden models have quotients and obstructions, "
            "the states of a Boolean plant are listed by pose, and observers take all of them"
        )
    return task


def _indices(values: IntArray, name: str, bound: int) -> IntArray:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and (int(array.min()) < 0 or int(array.max()) >= bound)):
        raise TaskError(f"every {name} must be an index in 0 .. {bound - 1}")
    result = array.astype(np.int32)
    result.setflags(write=False)
    return result
