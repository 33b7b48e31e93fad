"""`ascertain init`: a commented file to start from, a problem or the wiring of a plant."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    file: Annotated[
        Path | None, typer.Argument(help="The file to write: problem.toml, or wiring.toml with --plant.")
    ] = None,
    plant: Annotated[
        str | None, typer.Option("--plant", metavar="KIND", help="Write a wiring file: lines, python, http, ...")
    ] = None,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Write over a file that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Say what was written as JSON.")] = False,
) -> None:
    """Write a commented starter problem or, with --plant, a commented wiring file.

    Example:  ascertain init problem.toml

    Example:  ascertain init --plant http wiring.toml
    """
    from ascertain.cli.show.output import print_json, print_line
    from ascertain.problem.starter import write_starter

    file = file or Path("problem.toml" if plant is None else "wiring.toml")
    write_starter(file, plant=plant, force=force)
    if as_json:
        print_json("init", {"written": str(file)})
    else:
        print_line(f"wrote {file}; next: ascertain {'inspect' if plant is None else 'wire'} {file}")
