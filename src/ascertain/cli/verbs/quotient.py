"""`ascertain quotient`: which states no experiment tells apart, and what tells the others apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ascertain.cli.options import AsJson, ProblemFile

if TYPE_CHECKING:
    from ascertain.quotients.quotient import Quotient

SHOWN = 200
"""Separating words are listed for all pairs of at most this many classes."""


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
    from ascertain.cli.show.hidden import print_quotient, quotient_facts
    from ascertain.cli.show.output import print_json
    from ascertain.cli.show.problems import load_any_problem, refuse_overwriting
    from ascertain.model.files import write_model
    from ascertain.problem.problem import HiddenProblem
    from ascertain.quotients.quotient import take_quotient

    posed = load_any_problem(problem)
    refuse_overwriting([out], posed.sources)
    if isinstance(posed, HiddenProblem):
        hidden = take_quotient(posed.task)
        if out is not None:
            write_model(hidden.reduced.model, out)
        print_json("quotient", quotient_facts(hidden)) if as_json else print_quotient(problem, hidden)
        return
    quotient = take_quotient(posed.task)
    if out is not None:
        write_model(quotient.reduced.model, out)
    print_json("quotient", _facts(quotient)) if as_json else _print(problem, quotient)


def _facts(quotient: Quotient) -> dict[str, Any]:
    task, reduced = quotient.task, quotient.reduced
    return {
        "certified": quotient.certified,
        "states": task.model.num_states,
        "state_classes": quotient.num_classes,
        "hypotheses": task.num_hypotheses,
        "classes": [
            {"label": reduced.labels[reduced.label[g]], "members": members}
            for g, members in enumerate(quotient.class_names)
        ],
        "block": quotient.block.tolist(),
        "separating": _words(quotient),
    }


def _words(quotient: Quotient) -> list[dict[str, Any]] | None:
    """A separating word for every pair of state classes, null where only availability differs; None when too many."""
    if quotient.num_classes > SHOWN:
        return None
    return [{"pair": [p, q], "word": word} for (p, q), word in quotient.named_words()]


def _print(problem: Path, quotient: Quotient) -> None:
    from ascertain.cli.show.output import print_line, print_table, shorten

    task, reduced = quotient.task, quotient.reduced
    rows = [
        (g, reduced.labels[int(reduced.label[g])], len(members), shorten(members))
        for g, members in enumerate(quotient.class_names)
    ]
    print_table(f"{problem}: classes of hypotheses", rows[:SHOWN], ("class", "label", "size", "members"))
    if len(rows) > SHOWN:
        print_line(f"and {len(rows) - SHOWN} more classes; --json lists them all")
    print_line(f"{task.num_hypotheses} hypotheses in {reduced.num_hypotheses} classes,")
    print_line(f"{task.model.num_states} states of the model in {quotient.num_classes} classes.")
