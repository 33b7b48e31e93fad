"""`ascertain solve`: the cheapest experiment that settles a problem, and the proof that none is cheaper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ascertain.cli.options import AsJson, CertificateFile, Drawing, PolicyOut, ProblemFile, TimeLimit

if TYPE_CHECKING:
    from ascertain.pipeline.settle import Settled


def command(
    problem: ProblemFile,
    as_json: AsJson = False,
    certificate: CertificateFile = None,
    draw: Drawing = None,
    time: TimeLimit = None,
    memory: Annotated[
        float | None,
        typer.Option(
            "--memory", min=0, metavar="GB", help="Use at most so much memory for the search; else 3/4 of what is free."
        ),
    ] = None,
    objective: Annotated[
        Literal["worst", "expected"],
        typer.Option(
            "--objective",
            help="Minimise the worst cost (and then the mean), or the mean, under the weights of the problem file.",
        ),
    ] = "worst",
    policy_out: PolicyOut = None,
) -> None:
    """Find the cheapest experiment that settles the problem, and prove that none is cheaper.

    Exit code 0 solved, 1 unsolvable (proved), 3 when a limit was met first, 130 after Ctrl-C: then the interval reached
    is the answer, and certified if that is asked for. --time counts from the beginning of the search.

    Example:  ascertain solve problem.toml --certificate proof.json --draw tree.html
    """
    from ascertain.cli.show.output import note, print_json
    from ascertain.cli.show.problems import load_problem, refuse_overwriting
    from ascertain.cli.show.progress import bounds_closing_in
    from ascertain.cli.show.solutions import NOT_PROVED, check_drawing, exit_code, save_certificate, save_drawing
    from ascertain.pipeline.certify import certificate_files
    from ascertain.pipeline.settle import settle

    check_drawing(draw)
    posed = load_problem(problem)
    refuse_overwriting([draw, policy_out, *certificate_files(certificate)], posed.sources)
    if (posed.task.alpha or posed.task.beta) and not posed.task.model.is_noisy:
        note("the exact solver answers without risk: alpha and beta are not used")
    with bounds_closing_in() as progress:
        settled = settle(
            posed,
            objective=objective,
            time_limit=time,
            memory_limit=None if memory is None else int(min(memory, 2**30) * 2**30),
            progress=progress,
            prove="always" if certificate is not None else "when solved",
        )
    save_certificate(certificate, settled, NOT_PROVED)
    save_drawing(draw, settled, problem.stem)
    if policy_out is not None and settled.policy is not None:
        note(f"wrote {settled.write_policy(policy_out)}")
    print_json("solve", settled.facts()) if as_json else _print(settled, problem)
    raise typer.Exit(exit_code(settled))


def _print(settled: Settled, problem: Path) -> None:
    from ascertain.cli.show.output import print_line, print_verdict, shorten
    from ascertain.cli.show.solutions import print_policy, say_cost

    policy = settled.policy
    stats = settled.solution.stats
    seconds = f"{stats.seconds - stats.compiling_seconds:.2f} s"
    if stats.compiling_seconds >= 0.01:
        seconds += f", and {stats.compiling_seconds:.2f} s of compiling"
    if settled.status == "unsolvable":
        print_line(f"{problem}: unsolvable: no experiment settles the question, whatever it may cost.")
        if settled.obstruction is not None:
            print_line(f"Obstructed: {settled.obstruction.sentence}.")
        else:
            among = f"Already these {len(settled.unsettled)} states cannot be settled among themselves"
            print_line(f"{among}: {shorten(settled.unsettled)}.")
    elif settled.status == "bounded":
        print_line(f"{problem}: {say_cost(settled)}")
        print_line(f"Undecided: stopped by {settled.stopped_by} after {seconds}.")
        if policy is not None:
            print_policy(settled)
    else:
        assert policy is not None
        print_line(f"{problem}: {say_cost(settled)}")
        print_policy(settled)
        print_line(f"{policy.size} nodes, depth {policy.depth}; found in {seconds}.")
    if settled.verdict is not None:
        print_verdict(settled.verdict)
