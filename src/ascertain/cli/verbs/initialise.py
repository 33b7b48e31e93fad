"""`ascertain init`: a commented problem file to start from, with a small machine inside."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    problem: Annotated[Path, typer.Argument(help="The file to write.")] = Path("problem.toml"),
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was written as JSON.")] = False,
) -> None:
    """Write a commented starter problem.

    Example:  ascertain init problem.toml
    """
    from ascertain.cli.show.output import print_json, print_line
    from ascertain.problem.starter import write_starter

    write_starter(problem, force=force)
    if as_json:
        print_json("init", {"written": str(problem)})
    else:
        print_line(f"wrote {problem}; next: ascertain inspect {problem}")
