"""`ascertain inspect`: what a model or a problem is, before anything is spent on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ascertain.cli.options import AsJson

if TYPE_CHECKING:
    from ascertain.pipeline.inspect import Inspected


def command(
    file: Annotated[
        Path,
        typer.Argument(help="A model (.dot, .json, .pomdp and others, see docs/formats.md) or a problem (.toml)."),
    ],
    as_json: AsJson = False,
) -> None:
    """Say what a model or a problem is: its size, its classes, and whether something rules every experiment out.

    Exit code 1 when two hypotheses with different labels can never be told apart.

    Example:  ascertain inspect problem.toml
    """
    from ascertain.cli.show.output import note, print_json
    from ascertain.cli.show.progress import announce_compilation
    from ascertain.pipeline.inspect import inspect

    announce_compilation()
    inspected = inspect(file)
    for remark in inspected.notes if inspected.quotient is not None else ():
        note(remark)
    print_json("inspect", inspected.facts()) if as_json else _print(file, inspected)
    if inspected.obstruction is not None:
        raise typer.Exit(1)


def _print(file: Path, inspected: Inspected) -> None:
    from ascertain.cli.show.output import print_line, print_table, shorten

    facts = inspected.facts()
    rows = [(name.replace("_", " "), _show(value)) for name, value in facts.items() if name not in _APART]
    print_table(str(file), rows)
    missing = [f"{action} in {state}" for state, action in facts.get("first_missing", ())]
    for what, names in (("missing transitions", missing), ("stuck states", facts.get("first_stuck", ()))):
        if names:
            rest = facts[what.replace(" ", "_")] - len(names)
            print_line(f"{what.capitalize()}: {shorten([*names, *[''] * rest])}.")
    for remark in inspected.notes if inspected.quotient is None else ():
        print_line(f"Note: {remark}.")
    if inspected.obstruction is not None:
        print_line(f"Obstructed: {inspected.obstruction.sentence}.")
        groups = inspected.obstruction.groups
        names = [f"{{{' or '.join(group)}}}" for group in groups]
        finest = "The finest question" if facts["about"] == "start" else "A question"
        print_line(f"{finest} that is not obstructed has the labels: {shorten(names)}.")
    elif inspected.quotient is not None:
        rest = _NEXT.get(facts["kind"], "what an answer costs at a stated risk is for `ascertain bounds` to say")
        print_line(f"No two hypotheses with different labels are obstructed; {rest}.")


_NEXT = {
    "hidden": "whether its readings suffice for the stated risk, only a run can say (observe)",
    "machine": "whether an experiment settles them all is for `ascertain solve` to say",
}
"""What is still open where nothing is obstructed, by the kind of the model; other kinds have noise."""
_APART = {"obstruction", "notes", "first_missing", "first_stuck"}
"""What is told below the table."""


def _show(value: Any) -> str:
    from ascertain.cli.show.output import shorten

    if isinstance(value, bool):
        return "yes" if value else "no"
    return shorten(value) or "none" if isinstance(value, list) else str(value)  # pyright: ignore
