"""A problem as a Gymnasium environment: for agents that learn what to ask and when to answer.

    action        0 .. A-1 are the actions that an experiment may use, A .. A+L-1 answer with one of the L labels
    observation   0 .. R-1 are the readings; R: nothing was read, as at the start
    reward        minus what the action costs; of an answer 0 if it is right, and minus `wrong` if not
    terminated    after an answer

Each episode draws a hypothesis, by the weights of the problem, and simulates the plant that begins there. An action
that is not defined where the plant is costs what it costs, reads nothing and changes nothing. What is true is not
shown: an agent has to remember what it did and read.
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from ascertain.errors import TaskError, import_extra
from ascertain.plant.faults import Refused
from ascertain.plant.simulated import SimulatedPlant
from ascertain.problem.problem import Problem, as_problem
from ascertain.rational import Number, rational_field
from ascertain.task.question import AbstractQuestion

DEAR = 100
"""Dearest actions that a wrong answer costs unless said otherwise: more than most experiments, so that guessing does
not pay."""


def as_environment(
    problem: AbstractQuestion | Problem | str | Path, *, wrong: Number | None = None, max_actions: int | None = None
) -> Any:
    """A `gymnasium.Env` of the problem, a question made in Python, or the problem file of that name.

    `wrong` is what a wrong answer costs; if left out, 100 times the dearest action. After `max_actions` actions without
    an answer the episode is truncated. The environment's `actions`, `labels` and `readings` are the names of what its
    numbers stand for; `info` has the `reading` by its name (None: nothing was read), the exact `cost` so far as text,
    and after an answer whether it is `right`. The extra `gymnasium` is needed.
    """
    gymnasium = import_extra("gymnasium", "gymnasium")
    posed = as_problem(problem)
    question: Any = posed.listed_question  # either kind: what a plant began with fits the question that drew it
    model, labels, usable = question.model, question.labels, question.actions
    lost = max(question.cost) * DEAR if wrong is None else rational_field(wrong, "wrong", TaskError)
    if lost < 0:
        raise TaskError(f"wrong: {lost} is negative; a wrong answer costs 0 or more")
    if max_actions is not None and max_actions < 1:
        raise TaskError(f"max_actions: {max_actions} is not understood; write 1 or more, or leave it out")
    weights = posed.weights or (Fraction(1),) * question.num_hypotheses
    whole = math.lcm(*(w.denominator for w in weights))
    tickets = [int(w * whole) for w in weights]
    base: Any = gymnasium.Env

    class ProblemEnvironment(base):
        """One experiment after another, each on a plant of its own."""

        metadata: ClassVar[dict[str, Any]] = {"render_modes": []}
        actions = tuple(model.actions[a] for a in usable)
        readings = tuple(model.readings)

        def __init__(self) -> None:
            self.labels = labels
            self.action_space = gymnasium.spaces.Discrete(len(usable) + len(labels))
            self.observation_space = gymnasium.spaces.Discrete(len(model.readings) + 1)
            self._plant: SimulatedPlant | None = None

        def reset(
            self, *, seed: int | None = None, options: dict[str, Any] | None = None
        ) -> tuple[int, dict[str, Any]]:
            base.reset(self, seed=seed, options=options)
            ticket, hypothesis = _draw(self.np_random, sum(tickets)), 0
            while ticket >= tickets[hypothesis]:
                ticket, hypothesis = ticket - tickets[hypothesis], hypothesis + 1
            self._plant = SimulatedPlant(model, question.start_of(hypothesis), _draw(self.np_random, 2**62))
            self._cost, self._done = Fraction(0), 0
            return len(model.readings), {"reading": None, "cost": "0"}

        def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
            plant, chosen = self._plant, int(action)
            if plant is None or not 0 <= chosen < len(usable) + len(labels):
                raise TaskError("the environment is reset before a step, and a step is one of its actions")
            if chosen >= len(usable):
                right = labels[chosen - len(usable)] in question.true_labels(plant.start, plant.state)
                self._plant = None
                info = {"reading": None, "cost": str(self._cost), "right": right}
                return len(model.readings), 0.0 if right else -float(lost), True, False, info
            try:
                reading = plant.send(model.actions[usable[chosen]])
            except Refused:
                reading = None
            self._cost, self._done = self._cost + question.cost[usable[chosen]], self._done + 1
            number = len(model.readings) if reading is None else model.readings.index(reading)
            is_over = max_actions is not None and self._done >= max_actions
            info = {"reading": reading, "cost": str(self._cost)}
            return number, -float(question.cost[usable[chosen]]), False, is_over, info

    made: Any = ProblemEnvironment()
    words = {"problem": problem, "wrong": wrong, "max_actions": max_actions}
    made.spec = gymnasium.envs.registration.EnvSpec(
        "ascertain/Problem-v0", entry_point=f"{__name__}:as_environment", kwargs=words
    )
    return made


def _draw(chance: Any, end: int) -> int:
    """A whole number below `end`, of any size: NumPy's generators stop at 64 bits."""
    size = (end.bit_length() + 71) // 8  # 64 bits more than needed: all numbers are alike but for one part in 2^64
    return int.from_bytes(chance.bytes(size), "big") % end
