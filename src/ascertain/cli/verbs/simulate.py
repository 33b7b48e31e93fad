"""`ascertain simulate`: walk a policy on simulated plants and see what it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ascertain.cli.options import AsJson, ProblemFile
from ascertain.errors import TaskError

if TYPE_CHECKING:
    from ascertain.pipeline.simulated_runs import SimulatedRuns


BARS, WIDTH = 20, 40
"""Lines of the histogram and characters of its longest bar: it fits a terminal of 80 columns without scrolling."""


def command(
    problem: ProblemFile,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            metavar="NAME|FILE",
            help="A policy file (--policy-out of bounds and solve), or certified: the best is looked for first.",
        ),
    ] = None,
    state: Annotated[
        str | None, typer.Option("--state", help="The true state; without it every hypothesis is tried in turn.")
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option("--runs", metavar="N", help="Do N runs with truths drawn from the hypotheses, and count."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="For noisy readings and drawn truths.")] = 0,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE.html", help="With --runs: tell them on a page of their own."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Walk a policy on simulated plants: what it asks, what it reads, what it answers, what that costs.

    With --runs: the mean cost, how often it is wrong or abstains, and a histogram of costs; the exit code is then 0 in
    any case. Else it is 1 when an answer is wrong, 3 when the policy abstains somewhere. Without a policy to walk it is
    1 where no experiment settles the question, 3 where none was found.

    Example:  ascertain simulate problem.toml --runs 10000
    """
    from ascertain.cli.show.output import print_json
    from ascertain.cli.show.problems import load_problem, refuse_overwriting
    from ascertain.cli.show.progress import counting
    from ascertain.pipeline.simulate import simulate, simulate_runs

    posed = load_problem(problem)
    refuse_overwriting([report], [*posed.sources, *([] if policy is None else [Path(policy)])])
    if report is not None and runs is None:
        raise TaskError("--report: a page is drawn of many runs; add --runs N")
    if runs is not None:
        with counting("runs") as progress:
            counted = simulate_runs(posed, policy, runs=runs, state=state, seed=seed, progress=progress, report=report)
        print_json("simulate", counted.facts()) if as_json else _print_runs(counted)
        return
    simulated = simulate(posed, policy, state=state, seed=seed)
    print_json("simulate", simulated.facts()) if as_json else _print(simulated.facts()["walks"])
    if any(walk.right is False for walk in simulated.walks):
        raise typer.Exit(1)
    if not all(walk.is_certified for walk in simulated.walks):
        raise typer.Exit(3)


def _print_runs(counted: SimulatedRuns) -> None:
    from ascertain.cli.show.output import print_line, print_table

    error = counted.standard_error
    rows = [("mean cost", f"{float(counted.mean_cost):.4g}", f"± {1.96 * error:.2g}")]
    for name, rate in (("wrong answers", counted.wrong), ("abstentions", counted.abstained)):
        low, high = rate.interval
        rows.append((name, f"{rate.count:,}", f"{low:.2g} to {high:.2g}"))
    print_table(f"{counted.num_runs:,} runs", rows, ("", "measured", "95 % interval"))
    bars = [
        (str(low) if low == high else f"{float(low):.4g} to {float(high):.4g}", n)
        for low, high, n in counted.histogram(BARS)
    ]
    most = max(n for _, n in bars)
    width = max(len(cost) for cost, _ in bars)
    print_line("Runs by cost:")
    for cost, n in bars:
        print_line(f"  {cost:>{width}} {'█' * round(WIDTH * n / most):<{WIDTH}} {n:,}".rstrip())


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
