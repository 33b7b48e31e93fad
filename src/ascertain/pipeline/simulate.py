"""Simulate: walk a policy on simulated plants and see what it asks, reads, answers and costs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, final

from ascertain.errors import FileError, TaskError
from ascertain.live.walk import Walk, walk_policy
from ascertain.model.files.json_text import decode_or_refuse
from ascertain.model.files.text import read_text
from ascertain.plant.simulated import SimulatedPlant
from ascertain.policy.plain import parse_policy
from ascertain.policy.policy import AbstractPolicy
from ascertain.policy.verdict import Abstained, Certified
from ascertain.problem.problem import Problem, find_question
from ascertain.task.task import Task

MAX_WALKS = 1000
"""Hypotheses that are walked when none is named: more would fill the screen for minutes."""


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
    task: Task | Problem | str | Path,
    policy: AbstractPolicy[Any] | str | Path,
    *,
    state: str | None = None,
    seed: int = 0,
) -> Simulated:
    """Walk a policy on a plant that begins in `state`, or on one for each hypothesis in turn.

    `policy` is a policy, or the file that `ascertain solve --json` wrote. Noisy readings are drawn with `seed`.
    """
    task, problem = find_question(task, lambda problem: problem.task)
    where = "this task" if problem is None else str(problem.path)
    plan = read_policy_file(Path(policy), task) if isinstance(policy, str | Path) else policy
    starts: list[int] = task.state[:MAX_WALKS].tolist()
    if state is not None:
        starts = [task.model.state_named(state, "--state")]
    try:
        return Simulated(tuple(_walk(task, plan, start, seed) for start in starts))
    except TaskError as reason:
        if not isinstance(policy, str | Path):
            raise
        raise FileError(f"{policy}: {reason}; it is not a policy for {where}") from None


def _walk(task: Task, policy: AbstractPolicy[Any], start: int, seed: int) -> SimulatedWalk:
    plant = SimulatedPlant(task.model, start, seed)
    walk = walk_policy(task, policy, plant)
    truths = task.true_labels(start, plant.state)
    right = walk.verdict.label in truths if isinstance(walk.verdict, Certified) and truths else None
    return SimulatedWalk(task.model.states[start], walk, right)


def read_policy_file(path: Path, task: Task) -> AbstractPolicy[Any]:
    """The policy of a file: by itself, or within what `ascertain solve --json` prints."""
    data = decode_or_refuse(read_text(path), str(path), "what `ascertain solve --json` prints is needed")
    policy: Any = cast("dict[str, Any]", data).get("policy", data) if isinstance(data, dict) else data
    if policy is None:
        raise FileError(f"{path}: this result has no policy to walk")
    return parse_policy(policy, task, str(path))
