"""`ascertain task`: the canonical JSON of a problem, which is what certificates are checked against."""

from __future__ import annotations

from typing import Annotated

import typer

from ascertain.cli.options import ProblemFile

Json = Annotated[bool, typer.Option("--json", help="The same: the canonical form is JSON already.")]


def command(
    problem: ProblemFile,
    digest: Annotated[bool, typer.Option("--sha256", help="Print the hash of the canonical form instead.")] = False,
    observed: Annotated[
        bool, typer.Option("--observed", help="The form that observe certifies: a Boolean plant is not enumerated.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the canonical JSON form of a problem.

    Example:  ascertain task problem.toml > problem.task.json
    """
    from ascertain.cli.show.problems import load_problem
    from ascertain.pipeline.task import canonicalise

    form = canonicalise(load_problem(problem, hidden=True), observed=observed)
    typer.echo(form.sha256 if digest else form.text)
