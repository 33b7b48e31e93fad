"""`ascertain journal`: what was done and read in a recorded run, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ascertain.cli.options import AsJson


def command(
    journal: Annotated[Path, typer.Argument(metavar="FILE", help="The journal of a run.")],
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write what was done and read: command,reading.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a run as its journal tells it: the plant, the times, every action with its reading, and how it ended.

    The records are checked by their hashes; a journal that was changed is refused. Nothing is sent to a plant, and the
    journal stays as it is.

    Example:  ascertain journal run.journal --csv run.csv
    """
    from ascertain.cli.show.output import print_json, print_line, print_table
    from ascertain.cli.show.problems import refuse_overwriting
    from ascertain.pipeline.journal import read_journal

    refuse_overwriting([csv], [journal, Path(f"{journal}.head")])
    found = read_journal(journal)
    if csv is not None:
        found.write_csv(csv)
    if as_json:
        print_json("journal", found.facts())
        return
    facts = found.facts()
    header, rows = found.listing()
    print_table("steps", rows, header)
    named = {"plant": facts["identity"], "address": facts["address"], "began": facts["began"], "ended": facts["ended"]}
    about = [("of", found.kind), *((key, value) for key, value in named.items() if value is not None)]
    print_table("run", [*about, ("made by", facts["made_by"]), ("task, SHA-256", facts["task_sha256"])])
    if facts["verdict"] is not None:
        print_line(f"{facts['verdict']}: {facts['label'] or facts['reason']}")
    elif facts["ended"] is None:
        print_line("The run has not ended; the verb that began it goes on with --resume.")
