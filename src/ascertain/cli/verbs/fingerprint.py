"""`ascertain fingerprint`: which of several machines is it, in as few actions as possible?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ascertain.cli.options import AsJson, CertificateFile, Drawing, TimeLimit

if TYPE_CHECKING:
    from ascertain.pipeline.fingerprint import Explained, Fingerprinted


def command(
    models: Annotated[list[Path], typer.Argument(help="Two or more machines, each with an initial state.")],
    reset_cost: Annotated[
        str,
        typer.Option(
            "--reset-cost", metavar="R", help="Cost of RESET, which leads back to the start; 'none': no reset."
        ),
    ] = "1",
    transcript: Annotated[
        Path | None,
        typer.Option(
            "--transcript", metavar="LOG", help="Say which machines explain this log instead (command,reading)."
        ),
    ] = None,
    objective: Annotated[
        Literal["worst", "expected"],
        typer.Option("--objective", help="Minimise the worst cost (and then the mean), or the mean over machines."),
    ] = "worst",
    certificate: CertificateFile = None,
    draw: Drawing = None,
    time: TimeLimit = None,
    as_json: AsJson = False,
) -> None:
    """Find the cheapest experiment that tells machines apart, on the actions that all of them know and a reset.

    Machines that nobody can tell apart form a class. A reading that no machine explains means none of these.
    Exit code 0 solved, 1 unsolvable, 3 undecided, or for a transcript: explained by several classes or by none.

    Example:  ascertain fingerprint alder.dot birch.dot cedar.dot --reset-cost 3
    """
    from ascertain.cli.show.output import print_json
    from ascertain.cli.show.problems import refuse_overwriting
    from ascertain.cli.show.progress import announce_compilation, bounds_closing_in
    from ascertain.cli.show.solutions import NOT_PROVED, check_drawing, exit_code, save_certificate, save_drawing
    from ascertain.pipeline.certify import certificate_files
    from ascertain.pipeline.fingerprint import explain_transcript, fingerprint

    check_drawing(draw)
    refuse_overwriting([draw, *certificate_files(certificate)], models)
    announce_compilation()
    cost = None if reset_cost == "none" else reset_cost
    if transcript is not None:
        explained = explain_transcript(models, transcript, reset_cost=cost)
        print_json("fingerprint", explained.facts()) if as_json else _print_explained(explained)
        raise typer.Exit(0 if len(explained.classes) == 1 else 3)
    with bounds_closing_in() as progress:
        prove = "always" if certificate is not None else "when solved"
        found = fingerprint(
            models, reset_cost=cost, objective=objective, time_limit=time, progress=progress, prove=prove
        )
    save_certificate(certificate, found.settled, NOT_PROVED)
    save_drawing(draw, found.settled, "fingerprint")
    print_json("fingerprint", found.facts()) if as_json else _print(found)
    raise typer.Exit(exit_code(found.settled))


def _print(found: Fingerprinted) -> None:
    from ascertain.cli.show.output import print_line, print_table, print_verdict
    from ascertain.cli.show.solutions import print_policy, say_cost

    settled = found.settled
    labels = settled.task.labels
    rows = [(label, len(names), ", ".join(names)) for label, names in zip(labels, found.classes, strict=True)]
    print_table("classes that can be told apart", rows, ("class", "size", "machines"))
    if settled.status == "unsolvable":
        print_line("unsolvable: no experiment tells all classes apart")
    else:
        print_line(f"{say_cost(settled)} over machines")
    if settled.policy is not None:
        print_policy(settled)
        if settled.policy.depth:
            print_line("Any other reading: none of these.")
    if settled.verdict is not None:
        print_verdict(settled.verdict)


def _print_explained(explained: Explained) -> None:
    from ascertain.cli.show.output import print_line

    named = f"explained by: {', '.join(explained.classes)}"
    print_line(named if explained.classes else "none of these: no machine explains the transcript")
