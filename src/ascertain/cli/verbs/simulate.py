"""`ascertain simulate`: walk a policy on simulated plants and see what it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ascertain.cli.options import AsJson, ProblemFile
from ascertain.errors import FileError, TaskError

if TYPE_CHECKING:
    from ascertain.live.walk import Walk
    from ascertain.policy.automaton import Automaton
    from ascertain.task.task import Task

MOST = 1000
"""Hypotheses that are walked when none is named."""


def command(
    problem: ProblemFile,
    policy: Annotated[
        Path, typer.Option("--policy", metavar="FILE", help="What `ascertain solve PROBLEM --json` printed.")
    ],
    state: Annotated[
        str | None, typer.Option("--state", help="The true state; without it every hypothesis is tried in turn.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="For noisy readings.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Walk a policy on simulated plants: what it asks, what it reads, what it answers, what that costs.

    Exit code 1 when an answer is wrong, 3 when the policy abstains somewhere.

    Example:  ascertain solve problem.toml --json > plan.json;  ascertain simulate problem.toml --policy plan.json
    """
    from ascertain.cli.show.output import print_json
    from ascertain.cli.show.problems import load_problem
    from ascertain.live.walk import walk_policy
    from ascertain.plant.simulated import SimulatedPlant
    from ascertain.policy.verdict import Certified

    task = load_problem(problem).task
    plan = _read_policy(policy, task)
    chosen = task.state[:MOST].tolist() if state is None else [task.model.state_named(state, "--state")]
    try:
        walks = [(s, walk_policy(task, plan, SimulatedPlant(task.model, s, seed))) for s in chosen]
    except TaskError as reason:
        raise FileError(f"{policy}: {reason}; it is not a policy for {problem}") from None
    rows = [_facts(task, s, walk) for s, walk in walks]
    if as_json:
        print_json("simulate", {"walks": rows})
    else:
        _print(rows)
    if any(row["right"] is False for row in rows):
        raise typer.Exit(1)
    if any(not isinstance(walk.verdict, Certified) for _, walk in walks):
        raise typer.Exit(3)


def _read_policy(path: Path, task: Task) -> Automaton:
    from ascertain.model.files.json_text import NotStrict, decode_json
    from ascertain.model.files.text import read_text
    from ascertain.policy.plain import parse_policy

    try:
        data: Any = decode_json(read_text(path))
    except NotStrict as reason:
        raise FileError(f"{path}: {reason}") from None
    except (ValueError, RecursionError):
        raise FileError(f"{path}: not JSON; what `ascertain solve --json` prints is needed") from None
    policy: Any = cast("dict[str, Any]", data).get("policy", data) if isinstance(data, dict) else data
    if policy is None:
        raise FileError(f"{path}: this result has no policy to walk")
    return parse_policy(policy, task, str(path))


def _facts(task: Task, state: int, walk: Walk) -> dict[str, Any]:
    """One walk as plain data; `right` is null where the state is no hypothesis, or the policy abstains."""
    from ascertain.policy.verdict import Certified

    certified = isinstance(walk.verdict, Certified)
    label = walk.verdict.label if isinstance(walk.verdict, Certified) else None
    truths = {task.labels[int(k)] for s, k in zip(task.state, task.label, strict=True) if int(s) == state}
    if task.state_label is not None:
        truths = {task.labels[int(task.state_label[_end(task, state, walk)])]}
    return {
        "state": task.model.states[state],
        "transcript": [list(step) for step in walk.transcript],
        "verdict": "certified" if certified else "abstained",
        "label": label,
        "reason": None if isinstance(walk.verdict, Certified) else walk.verdict.reason,
        "cost": str(walk.cost),
        "right": label in truths if certified and truths else None,
    }


def _end(task: Task, state: int, walk: Walk) -> int:
    """The state that the plant is in when the walk ends."""
    for action, _ in walk.transcript:
        state = int(task.model.successor[state, task.model.actions.index(action)])
    return state


def _print(rows: list[dict[str, Any]]) -> None:
    from ascertain.cli.show.output import print_line, print_table

    if len(rows) == 1:
        for action, reading in rows[0]["transcript"]:
            print_line(f"  {action} -> {reading}")
    table = [
        (row["state"], len(row["transcript"]), row["cost"], row["label"] or row["reason"], _mark(row["right"]))
        for row in rows
    ]
    print_table("walks", table, ("true state", "actions", "cost", "answer", "right"))


def _mark(right: bool | None) -> str:
    return {True: "yes", False: "NO", None: "-"}[right]
