"""`ascertain studio`: the page on which questions, experiments and runs can be looked at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ascertain.cli.options import AsJson

if TYPE_CHECKING:
    from ascertain.studio.server import Address


def command(
    problem: Annotated[Path | None, typer.Argument(metavar="PROBLEM", help="The problem file to begin with.")] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Serve here; 0: any port that is free.")] = 0,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Serve another interface than the loopback; it warns.")
    ] = "127.0.0.1",
    allow_exec: Annotated[
        bool, typer.Option("--allow-exec", metavar="", help="Let the page start programs as plants (exec:, python:).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Serve a page to look at a question, its experiment and runs, from the files of this folder, until Ctrl-C.

    The page is served to this machine alone, under an address that holds a token. It needs the extra `studio`. What it
    shows is what the other verbs compute; runs keep their journals in the folder runs/.

    Example:  ascertain studio problem.toml
    """
    from ascertain.cli.show.output import note, print_json, print_line
    from ascertain.studio.server import serve

    def tell(address: Address) -> None:
        if not address.is_local:
            note(
                "whoever can reach this machine and has the address can use the page and the plants behind it; the "
                "connection is not encrypted, so use a network that you trust"
            )
        if as_json:
            print_json("studio", address.facts())
        else:
            print_line(f"Open {address.url}")
            print_line(f"Files come from {address.folder}. Ctrl-C ends the page; runs can be gone on with later.")
        import sys

        sys.stdout.flush()

    serve(problem, host=host, port=port, allow_exec=allow_exec, told=tell)
