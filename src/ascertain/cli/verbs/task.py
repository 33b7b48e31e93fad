"""`ascertain task`: the canonical JSON of a problem, which is what certificates are checked against."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ascertain.cli.options import ProblemFile

Json = Annotated[bool, typer.Option("--json", metavar="", help="The same: the canonical form is JSON already.")]


def command(
    problem: ProblemFile,
    digest: Annotated[
        bool, typer.Option("--sha256", metavar="", help="Print the hash of the canonical form instead.")
    ] = False,
    observed: Annotated[
        bool,
        typer.Option(
            "--observed", metavar="", help="The form that observe certifies: a Boolean plant is not enumerated."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the canonical JSON form of a problem; on a terminal controls are escaped, which is the same JSON.

    Example:  ascertain task problem.toml > problem.task.json
    """
    from ascertain.cli.show.problems import load_problem
    from ascertain.pipeline.task import canonicalise
    from ascertain.report.answers import escape_json

    form = canonicalise(load_problem(problem, hidden=True), observed=observed)
    shown = escape_json(form.text) if sys.stdout.isatty() else form.text
    typer.echo(form.sha256 if digest else shown)
