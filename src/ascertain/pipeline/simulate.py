"""Simulate: walk a policy on simulated plants and see what it asks, reads, answers and costs.

question -> policy, given or found -> one walk for each hypothesis, or many runs with drawn truths and their statistics
"""

from __future__ import annotations

import random
from bisect import bisect
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any, cast, final

from ascertain.errors import FileError, TaskError, did_you_mean
from ascertain.live.walk import Walk, walk_policy
from ascertain.pipeline.bound import bound, check_risks
from ascertain.pipeline.settle import settle
from ascertain.pipeline.simulated_runs import Rate, SimulatedRuns
from ascertain.pipeline.simulation_page import describe_runs
from ascertain.planning.exported import Controller, export_policy
from ascertain.planning.policy_file import CERTIFIED, is_path, read_policy
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.policy import AbstractPolicy
from ascertain.policy.verdict import Abstained, Certified
from ascertain.problem.problem import Problem, as_problem
from ascertain.report.page import check_page, write_page
from ascertain.search.solution import Unsolvable
from ascertain.task.plant_task import PlantTask
from ascertain.task.task import Task

MAX_WALKS = 1000
"""Hypotheses that are walked when none is named: more would fill the screen for minutes."""
MAX_RUNS = 10**7
"""Some hours of runs; whoever asks for more has made a typing mistake."""


@final
class NoPolicyError(TaskError):
    """A question without a policy that could be simulated: none can be (exit code 1), or none was found (3)."""

    def __init__(self, where: str, is_proved: bool) -> None:
        reason = "no experiment settles the question" if is_proved else "no policy was found that settles the question"
        super().__init__(f"{where}: {reason}, so there is nothing to simulate; `ascertain inspect` says more")
        self.exit_code = 1 if is_proved else 3


@final
@dataclass(frozen=True)
class SimulatedWalk:
    """What a policy does on a plant that begins in one state."""

    state: str
    walk: Walk
    right: bool | None
    """Whether the answer is true of the plant; None where the state is no hypothesis, or the policy abstains."""

    @property
    def is_certified(self) -> bool:
        """Whether the policy answers."""
        return isinstance(self.walk.verdict, Certified)

    def facts(self) -> dict[str, Any]:
        """The walk as plain data."""
        verdict = self.walk.verdict
        return {
            "state": self.state,
            "transcript": [list(step) for step in self.walk.transcript],
            "verdict": "certified" if self.is_certified else "abstained",
            "label": verdict.label if isinstance(verdict, Certified) else None,
            "reason": verdict.reason if isinstance(verdict, Abstained) else None,
            "cost": str(self.walk.cost),
            "right": self.right,
        }


@final
@dataclass(frozen=True)
class Simulated:
    """What a policy does on every plant that was tried."""

    walks: tuple[SimulatedWalk, ...]

    def facts(self) -> dict[str, Any]:
        """The walks as plain data, which is what `simulate --json` prints."""
        return {"walks": [walk.facts() for walk in self.walks]}


def simulate(
    task: Task | PlantTask | Problem | str | Path,
    policy: AbstractPolicy[Any] | Controller | str | Path | None = None,
    *,
    state: str | None = None,
    seed: int = 0,
) -> Simulated:
    """Walk a policy on a plant that begins in `state`, or on one for each hypothesis in turn.

    `policy` is a policy, or a policy file (`planning/policy_file.py`; `ascertain solve --json` writes one too); without
    one, or with "certified", it is looked for: the cheapest without noise, the best that `bound` certifies with noise.
    Noisy readings are drawn with `seed`.
    """
    posed = _pose(task, policy)
    starts = [posed.task.start_of(h) for h in range(min(posed.task.num_hypotheses, MAX_WALKS))]
    if state is not None:
        starts = [posed.task.model.state_named(state, "--state")]
    return Simulated(tuple(posed.walk(start, seed) for start in starts))


def simulate_runs(
    task: Task | PlantTask | Problem | str | Path,
    policy: AbstractPolicy[Any] | Controller | str | Path | None = None,
    *,
    runs: int,
    state: str | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    report: str | Path | None = None,
) -> SimulatedRuns:
    """Walk a policy in many runs, and count what they cost and how often they were wrong or abstained.

    Each run draws its truth from the hypotheses, by the weights of the problem where it has some, or begins in `state`;
    it draws truth and noise by `seed` and its number. The other parameters are those of `simulate`. `progress` hears
    how many runs of how many are done. The runs are told on a page in the file `report` (HTML; the extra `plots`).
    """
    if report is not None:
        check_page(report)
    if not 1 <= runs <= MAX_RUNS:
        raise TaskError(f"--runs: {runs} is not understood; write a number from 1 to {MAX_RUNS}")
    problem = as_problem(task)
    posed = _pose(problem, policy)
    reached = list(accumulate(map(float, posed.weights)))
    costs: Counter[Fraction] = Counter()
    wrong = abstained = 0
    start = None if state is None else posed.task.model.state_named(state, "--state")
    for k in range(runs):
        chance = random.Random(f"run {k} of {seed}")  # noqa: S311  a simulation must be repeatable, not secret
        drawn = posed.draw(chance, reached) if start is None else start
        done = posed.walk(drawn, chance.getrandbits(63))
        costs[done.walk.cost] += 1
        wrong += done.right is False
        abstained += not done.is_certified
        if progress is not None:
            progress(k + 1, runs)
    truths = "drawn from the hypotheses, by their weights" if state is None else f"always {state}"
    counted = SimulatedRuns(dict(sorted(costs.items())), Rate(wrong, runs), Rate(abstained, runs), truths)
    if report is not None:
        chosen = str(policy) if isinstance(policy, str | Path) else "given" if policy else "the best that is known"
        write_page(report, describe_runs(counted, posed.task, str(problem.path), chosen, seed))
    return counted


@final
@dataclass(frozen=True)
class _Posed:
    """A question, a policy for it, how likely each hypothesis is, and what a misfit between the first two is called."""

    task: Task | PlantTask
    policy: AbstractPolicy[Any]
    weights: tuple[Fraction, ...]
    """Empty where hypotheses are too many to be weighed: then all are alike."""
    misfit: str | None
    label: Callable[[int], str] | None = None

    def draw(self, chance: random.Random, reached: list[float]) -> int:
        """The state that a hypothesis begins in, drawn by the weights, whose sums are given."""
        if not reached:
            return self.task.start_of(chance.randrange(self.task.num_hypotheses))
        return self.task.start_of(bisect(reached, chance.random() * reached[-1]))

    def walk(self, start: int, seed: int) -> SimulatedWalk:
        try:
            return self._walk(start, seed)
        except TaskError as reason:
            if self.misfit is None:
                raise
            raise FileError(self.misfit.format(reason)) from None

    def _walk(self, start: int, seed: int) -> SimulatedWalk:
        plant = SimulatedPlant(self.task.model, start, seed)
        walk = walk_policy(self.task, self.policy, plant, self.label)
        truths = self.task.true_labels(start, plant.state)
        right = walk.verdict.label in truths if isinstance(walk.verdict, Certified) and truths else None
        return SimulatedWalk(self.task.model.name_state(start), walk, right)


def _pose(
    task: Task | PlantTask | Problem | str | Path, policy: AbstractPolicy[Any] | Controller | str | Path | None
) -> _Posed:
    problem = as_problem(task)
    misfit = None
    if isinstance(policy, str) and not is_path(policy):
        if policy != CERTIFIED:
            raise TaskError(
                f"policy: {policy!r} is not known{did_you_mean(policy, (CERTIFIED,))}; {CERTIFIED} (found first), "
                "or a policy file; observe runs those that collect evidence"
            )
        policy = None
    if isinstance(policy, str | Path):
        misfit = f"{policy}: {{}}; it is not a policy for {problem.path}"
        policy = read_policy(policy, list_questions(problem))
    elif policy is None:
        policy = _find_policy(problem.task, str(problem.path))
    if isinstance(policy, Controller):
        weights = _weigh(problem, policy.question)
        return _Posed(policy.question, policy.policy, weights, misfit, policy.label)
    return _Posed(problem.task, policy, _weigh(problem, problem.task), None)


def list_questions(problem: Problem) -> list[Task | PlantTask]:
    """The questions that a policy file may be about: the one with its states listed last, where it can be put so."""
    posed = [problem.require_machine().question, problem.listed]
    return cast("list[Task | PlantTask]", list(dict.fromkeys(q for q in posed if q is not None)))


def _weigh(problem: Problem, question: Task | PlantTask) -> tuple[Fraction, ...]:
    """The weights of the hypotheses, all alike where nothing is said; none where they are not listed."""
    if question.model.listed is None:
        return ()
    return problem.weights or (Fraction(1),) * question.num_hypotheses


def _find_policy(task: Task | PlantTask, where: str) -> Controller:
    """The best policy that is known for a task."""
    check_risks(task, "in [risk] {name} of the problem file")
    if task.model.is_noisy:
        bounds = bound(task)
        found, is_proved = bounds.policy, bounds.obstruction is not None
    else:
        settled = settle(cast("Task", task), prove="never")
        found, is_proved = settled.policy, isinstance(settled.solution, Unsolvable)
    if found is None:
        raise NoPolicyError(where, is_proved)
    return export_policy(task, found)
