"""`ascertain wire`: does the wiring of a plant hold?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ascertain.cli.options import AsJson

if TYPE_CHECKING:
    from ascertain.pipeline.wire import CheckedWiring


def command(
    file: Annotated[
        Path, typer.Argument(metavar="WIRING", help="A wiring file (TOML); `init --plant KIND` writes one.")
    ],
    attempt: Annotated[
        str | None, typer.Option("--try", metavar="ACTION", help="Carry out this action, and show what is read.")
    ] = None,
    timeout: Annotated[
        float,
        typer.Option("--timeout", min=0.001, metavar="S", help="Seconds that a step may take, unless WIRING says."),
    ] = 10.0,
    as_json: AsJson = False,
) -> None:
    """Check the wiring of a plant: read the file, connect, read the identity, and list what each action would do.

    Nothing is sent beyond that, unless an action is tried. Exit code 2 when the file is wrong, 4 when the plant cannot
    be reached or fails. docs/wiring.md tells what the file says.

    Example:  ascertain wire wiring.toml --try look
    """
    from ascertain.cli.show.output import print_json
    from ascertain.pipeline.wire import check_wiring

    wired = check_wiring(file, attempt=attempt, timeout=timeout)
    print_json("wire", wired.facts()) if as_json else _print(wired)


def _print(wired: CheckedWiring) -> None:
    from ascertain.cli.show.output import print_line, print_table, shorten

    facts = wired.facts()
    print_line(f"connected: {facts['kind']} at {facts['address']}")
    print_line("identity: not asked for" if wired.identity is None else f"identity: {wired.identity}")
    rows = [
        (
            action["name"],
            "; ".join(action["steps"]),
            "the plant's own text" if action["readings"] is None else shorten(action["readings"]),
            "yes" if action["retry_safe"] else "no",
        )
        for action in facts["actions"]
    ]
    if rows:
        print_table(facts["file"], rows, ("action", "what is done", "what can be read", "may be repeated"))
    else:
        print_line("actions go by their names")
    if wired.tried is not None:
        print_line(f"{wired.tried} -> {wired.reading}")
