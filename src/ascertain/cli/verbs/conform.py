"""`ascertain conform`: is the plant the model at all?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ascertain.cli.options import (
    AsJson,
    CertificateFile,
    Identity,
    JournalFile,
    ResetAction,
    Resume,
    Retries,
    Timeout,
)
from ascertain.problem import list_kinds

if TYPE_CHECKING:
    from ascertain.pipeline.conform import Conformed


def command(
    model: Annotated[Path, typer.Argument(help="A machine with an initial state, or a problem with a reset.")],
    plant: Annotated[str | None, typer.Option("--plant", metavar="PLANT", help=f"{list_kinds()}.")] = None,
    complete: Annotated[
        int | None,
        typer.Option(
            "--complete", min=0, metavar="K", help="A suite that exposes every other machine of up to K more states."
        ),
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, metavar="N", help="N words, drawn from a declared distribution.")
    ] = None,
    plan_only: Annotated[
        bool, typer.Option("--plan-only", metavar="", help="Say what it would cost, and send nothing.")
    ] = False,
    label: Annotated[
        str | None, typer.Option("--label", metavar="NAME", help="Which label of a problem is to be confirmed.")
    ] = None,
    reset: ResetAction = "RESET",
    reset_cost: Annotated[
        str, typer.Option("--reset-cost", metavar="R", help="Its cost, where the model does not have it.")
    ] = "1",
    seed: Annotated[
        str | None, typer.Option("--seed", metavar="TEXT", help="Draw this sample again; else a new one is drawn.")
    ] = None,
    confidence: Annotated[
        str, typer.Option("--confidence", metavar="P", help="Of the bound that a sample gives.")
    ] = "19/20",
    journal: JournalFile = None,
    resume: Resume = False,
    certificate: CertificateFile = None,
    timeout: Timeout = 10.0,
    retries: Retries = 2,
    identity: Identity = None,
    as_json: AsJson = False,
) -> None:
    """Find out whether a plant is the model at all: run words from reset, and compare what is read.

    A complete suite shows that no other machine of the fault domain reads like this; a sample bounds how probable a
    disagreement is. The plan says first what it will cost. Exit code 0 when the plant conforms, 1 when it is none of
    these (with the word that shows it), 3 when it does not repeat itself, 4 when it fails.

    Example:  ascertain conform server.dot --plant "exec:python server.py" --complete 0
    """
    from ascertain.cli.show import asking
    from ascertain.cli.show.output import note, print_json, print_line
    from ascertain.cli.show.problems import refuse_overwriting
    from ascertain.cli.show.progress import counting
    from ascertain.errors import TaskError
    from ascertain.pipeline.certify import certificate_files
    from ascertain.pipeline.conform import conform

    if plant is None and not plan_only:
        raise TaskError("--plant: name the plant, or add --plan-only to see what it would cost")
    refuse_overwriting([journal, *certificate_files(certificate)], [model])
    how: dict[str, Any] = {"complete": complete, "sample": sample, "hypothesis": label, "seed": seed}
    how |= {"reset": reset, "reset_cost": reset_cost, "confidence": confidence}
    if plan_only:
        planned = conform(model, **how)
        print_json("conform", planned.facts()) if as_json else print_line(planned.price)
        return
    with counting("words") as progress:
        found = conform(
            model,
            plant,
            **how,
            journal=journal,
            resume=resume,
            certificate=certificate,
            timeout=timeout,
            retries=retries,
            identity=identity,
            ask=asking.ask,
            announce=lambda planned: note(planned.price),
            progress=progress,
        )
    print_json("conform", found.facts()) if as_json else _print(found)
    if found.certificate not in {None, "VERIFIED"}:
        note(f"{certificate}: the certificate of this run does not verify; this is a fault of ours, not of the plant")
        raise typer.Exit(5)
    raise typer.Exit(found.exit_code)


def _print(found: Conformed) -> None:
    from ascertain.cli.show.output import print_line, print_table, print_verdict

    facts = found.facts()
    print_line(f"{facts['verdict']}: {facts['label'] if found.statement else facts['reason']}")
    if found.statement is not None:
        print_line(f"What is shown: {found.statement}.")
    if facts["witness"] is not None:
        print_table("what shows it", facts["witness"], ("action", "reading"))
    if facts["faults"]:
        print_line(f"faults met and mended: {len(facts['faults'])}, the last: {facts['faults'][-1]}")
    if facts["certificate"] is not None:
        print_verdict(facts["certificate"])
