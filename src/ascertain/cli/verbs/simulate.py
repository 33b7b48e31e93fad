"""`ascertain simulate`: walk a policy on simulated plants and see what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ascertain.cli.options import AsJson, ProblemFile


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
    from ascertain.pipeline.simulate import simulate

    simulated = simulate(load_problem(problem), policy, state=state, seed=seed)
    print_json("simulate", simulated.facts()) if as_json else _print(simulated.facts()["walks"])
    if any(walk.right is False for walk in simulated.walks):
        raise typer.Exit(1)
    if not all(walk.is_certified for walk in simulated.walks):
        raise typer.Exit(3)


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
