"""`ascertain quotient`: which states no experiment tells apart, and what tells the others apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ascertain.cli.options import AsJson, ProblemFile

if TYPE_CHECKING:
    from ascertain.pipeline.quotient import Reduced

SHOWN = 200
"""Classes in the table; --json lists them all."""


def command(
    problem: ProblemFile,
    as_json: AsJson = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the reduced model to this file (.json, .dot, .pomdp).")
    ] = None,
) -> None:
    """Merge the states that no experiment tells apart.

    Example:  ascertain quotient problem.toml --out reduced.json
    """
    from ascertain.cli.show.output import print_json
    from ascertain.cli.show.problems import load_problem, refuse_overwriting
    from ascertain.pipeline.quotient import reduce_question

    posed = load_problem(problem, hidden=True)
    refuse_overwriting([out], posed.sources)
    found = reduce_question(posed)
    if out is not None:
        found.write_model(out)
    print_json("quotient", found.facts()) if as_json else _print(problem, found)


def _print(problem: Path, found: Reduced) -> None:
    from ascertain.cli.show.output import print_line, print_table, shorten

    quotient, classes = found.quotient, found.classes
    rows = [(g, label, len(members), shorten(members)) for g, (label, members) in enumerate(classes[:SHOWN])]
    print_table(f"{problem}: classes of hypotheses", rows, ("class", "label", "size", "members"))
    if len(classes) > SHOWN:
        print_line(f"and {len(classes) - SHOWN} more classes; --json lists them all")
    print_line(f"{quotient.task.num_hypotheses} hypotheses in {len(classes)} classes,")
    states = f"{quotient.task.model.num_states} states of the"
    if found.dimension is None:
        print_line(f"{states} model in {quotient.num_classes} classes.")
    else:
        spanned = f"word probabilities span {found.dimension} dimensions"
        print_line(f"{states} hidden model in {quotient.num_classes} classes; {spanned}.")
    if found.obstructed is not None:
        first, second = found.obstructed
        apart = f"no experiment tells class {first} from class {second}, and their labels differ"
        print_line(f"Obstructed: {apart}; `ascertain inspect` says more.")
