"""`ascertain learn`: what machine is this plant?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ascertain.cli.options import AsJson, Identity, Retries, Timeout
from ascertain.problem import list_kinds

if TYPE_CHECKING:
    from ascertain.pipeline.learn import Learned


def command(
    plant: Annotated[str, typer.Option("--plant", metavar="PLANT", help=f"{list_kinds()}.")],
    actions: Annotated[str, typer.Option("--actions", metavar="A,B,...", help="The actions that words are made of.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="NAME.dot", help="The model; its certificate, NAME.json, stands beside it.")
    ],
    conform_by: Annotated[
        str,
        typer.Option(
            "--conform", metavar="HOW,...", help="How hypotheses are checked, one after another: sample:N, complete:K."
        ),
    ] = "sample:100,complete:0",
    reset: Annotated[str, typer.Option("--reset", metavar="ACTION", help="Leads back to the start.")] = "RESET",
    votes: Annotated[
        int, typer.Option("--votes", min=1, max=1000, metavar="N", help="By how many votes an answer must lead.")
    ] = 2,
    max_votes: Annotated[
        int, typer.Option("--max-votes", min=1, max=1000, metavar="N", help="Runs of a word until it is unstable.")
    ] = 10,
    cache: Annotated[
        Path | None, typer.Option("--cache", metavar="FILE", help="Keeps every answer; NAME.cache unless set.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", metavar="", help="Go on with the answers that the cache holds.")
    ] = False,
    time: Annotated[
        float | None, typer.Option("--time", min=0, metavar="S", help="Stop after so many seconds.")
    ] = None,
    max_queries: Annotated[
        int | None, typer.Option("--max-queries", min=1, metavar="N", help="Stop after so many words on the plant.")
    ] = None,
    max_states: Annotated[
        int | None, typer.Option("--max-states", min=1, metavar="N", help="Stop at a hypothesis with more states.")
    ] = None,
    seed: Annotated[
        str | None, typer.Option("--seed", metavar="TEXT", help="Draw these samples again; else new ones are drawn.")
    ] = None,
    confidence: Annotated[
        str, typer.Option("--confidence", metavar="P", help="Of the bounds that samples give, all rounds together.")
    ] = "19/20",
    timeout: Timeout = 10.0,
    retries: Retries = 2,
    identity: Identity = None,
    as_json: AsJson = False,
) -> None:
    """Learn a machine from a plant that can be reset, and say how well it was checked.

    Answers are voted on and kept in a cache; after a crash, Ctrl-C or a limit --resume goes on with them. Hypotheses
    are checked by conformance, and the model carries what the last check shows, with a certificate. Exit code 0 when
    a model was learned, 3 when the plant does not repeat itself or a limit was met, 4 when the plant fails.

    Example:  ascertain learn --plant "exec:python server.py" --actions HELO,AUTH,SEND,QUIT --out server.dot
    """
    from ascertain.cli.show.output import note, print_json
    from ascertain.cli.show.problems import refuse_overwriting
    from ascertain.cli.show.progress import waiting
    from ascertain.pipeline.certify import certificate_files
    from ascertain.pipeline.learn import learn
    from ascertain.writing import check_place

    check_place(out)
    keep = out.with_suffix(".cache") if cache is None else cache
    refuse_overwriting([out, *certificate_files(out.with_suffix(".json"))], [keep])
    with waiting("learning") as tell:
        found = learn(
            plant,
            actions.split(","),
            out=out,
            conform_by=conform_by.split(","),
            reset=reset,
            votes=votes,
            max_votes=max_votes,
            cache=keep,
            resume=resume,
            time_limit=time,
            max_queries=max_queries,
            max_states=max_states,
            seed=seed,
            confidence=confidence,
            timeout=timeout,
            retries=retries,
            identity=identity,
            progress=tell,
        )
    print_json("learn", found.facts()) if as_json else _print(found, keep)
    if found.exit_code == 5:
        note(f"{out}: the certificate of this model does not verify; this is a fault of ours, not of the plant")
    raise typer.Exit(found.exit_code)


def _print(found: Learned, cache: Path) -> None:
    from ascertain.cli.show.output import print_line, print_table, print_verdict

    sent = f"{found.queries} queries and {found.actions} actions"
    before = f", and {found.known} queries before" if found.known else ""
    if found.status == "learned":
        assert found.machine is not None
        print_line(f"learned: {found.machine.num_states} states, {found.claim}; {sent}{before}")
        for statement in found.statements:
            print_line(f"What is shown: {statement}.")
    else:
        print_line(f"{found.status}: {found.reason}; {sent}{before}")
        print_line(f"No model was written. What was read is kept in {cache}; --resume goes on with it.")
    if found.num_disputed:
        rows = [(" ".join(item.word), ", ".join(f"{y} {n}" for y, n in item.votes.items())) for item in found.disputed]
        print_table(f"{found.num_disputed} answers that votes decided", rows, ("word", "votes"))
    if found.faults:
        print_line(f"faults met and mended: {len(found.faults)}")
    if found.certificate is not None:
        print_verdict(found.certificate)
