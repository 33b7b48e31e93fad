"""`ascertain verify`: whether a certificate proves what it says about a task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ascertain.cli.options import AsJson


def command(
    task: Annotated[
        Path, typer.Argument(metavar="PROBLEM|TASK", help="A problem (.toml) or a canonical task (.json).")
    ],
    certificate: Annotated[Path, typer.Argument(help="The certificate (.json).")],
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require", metavar="CLAIM", help="What it must say: optimal, identifies, answer=LABEL, alpha<=P, ..."
        ),
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=0, metavar="N", help="The most steps of work, then UNDECIDED.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a certificate against the task it is about: VERIFIED, REFUTED, MALFORMED or UNDECIDED (exit code 0 to 3).

    What is verified is printed, and what has to be trusted. With --require, which can be repeated, a certificate that
    is right and does not say what is required is INSUFFICIENT (exit code 1); docs/certificate-format.md lists what can
    be required. The same verdict comes from `ascertain-check TASK.json CERTIFICATE.json`, which needs nothing but
    Python.

    Example:  ascertain verify problem.toml proof.json --require optimal
    """
    from ascertain.cli.show.output import print_json, print_line
    from ascertain.cli.show.problems import load_problem
    from ascertain.pipeline.verify import verify

    posed = load_problem(task, hidden=True) if task.suffix == ".toml" else task
    verdict = verify(posed, certificate, require=require or (), budget=budget)
    if as_json:
        print_json("verify", {"verdict": verdict.word, "reason": verdict.reason, "proved": list(verdict.proved)})
    else:
        print_line(str(verdict))
        for sentence in verdict.proved:
            print_line(f"  {sentence}")
        if verdict.proved:
            print_line("What this means and what it assumes: docs/guarantees.md")
    raise typer.Exit(verdict.exit_code)
