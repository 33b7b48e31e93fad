"""A fleet in the terminal: how far it is, a table of all hosts, or a line of JSON for each."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from ascertain.cli.show.output import note, print_line, print_table
from ascertain.cli.show.progress import counting
from ascertain.errors import TaskError
from ascertain.report.answers import head_of

if TYPE_CHECKING:
    from ascertain.pipeline.fleet import Fleet


def refuse_alone(plant: str | None, given: Mapping[str, bool]) -> None:
    """Refuse a fleet without a plant, and options that are about one run."""
    if plant is None:
        raise TaskError("--hosts: say with --plant how each host is reached, such as tcp://{host}:{port}")
    for word, is_given in given.items():
        if is_given:
            raise TaskError(f"{word} is about one run; leave it out, or --hosts")


def end_fleet(
    road: Callable[..., Fleet], verb: str, as_json: bool, what: tuple[Any, ...], words: Mapping[str, Any]
) -> NoReturn:
    """Run the fleet, show what became of it, and end with its exit code."""
    with counting("hosts") as progress:
        found = road(*what, **{k: v for k, v in words.items() if v is not None}, note=note, progress=progress)
    if as_json:
        head = head_of(f"{verb}-host")
        for run in found.runs:
            sys.stdout.write(json.dumps({**head, **run.line()}, allow_nan=False) + "\n")
    else:
        header, rows = found.listing()
        print_table("hosts", rows, header)
        counts = ", ".join(f"{number} {outcome}" for outcome, number in found.counts().items())
        print_line(f"{len(found.runs)} hosts in {found.seconds:.1f} s: {counts}")
    raise typer.Exit(found.exit_code)
