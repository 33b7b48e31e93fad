"""`ascertain fingerprint`: which of several machines is it, in as few actions as possible?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from ascertain.cli.options import (
    AsJson,
    CertificateFile,
    ConformBy,
    Costs,
    Drawing,
    Hosts,
    Identity,
    JournalFile,
    Parallel,
    Resume,
    Retries,
    TimeLimit,
    Timeout,
    read_costs,
)
from ascertain.errors import TaskError
from ascertain.problem import list_kinds

if TYPE_CHECKING:
    from ascertain.pipeline.fingerprint import Explained, Fingerprinted
    from ascertain.pipeline.identify import Identified


def command(
    models: Annotated[
        list[Path],
        typer.Argument(help="Two or more machines with an initial state, or folders with NAME/learnedModel.dot."),
    ],
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
    plant: Annotated[str | None, typer.Option("--plant", metavar="PLANT", help=f"{list_kinds()}.")] = None,
    hosts: Hosts = None,
    parallel: Parallel = None,
    conform_by: ConformBy = None,
    actions: Annotated[
        str | None, typer.Option("--actions", metavar="A,B,...", help="Use only these of the common actions.")
    ] = None,
    cost: Costs = None,
    journal: JournalFile = None,
    resume: Resume = False,
    timeout: Timeout = 10.0,
    retries: Retries = 2,
    identity: Identity = None,
    objective: Annotated[
        Literal["worst", "expected"],
        typer.Option("--objective", help="Minimise the worst cost (and then the mean), or the mean over machines."),
    ] = "worst",
    weights: Annotated[
        Path | None,
        typer.Option("--weights", metavar="FILE", help="How often each machine is met, for means (machine,weight)."),
    ] = None,
    certificate: CertificateFile = None,
    draw: Drawing = None,
    decision_graph: Annotated[
        Path | None,
        typer.Option("--decision-graph", metavar="FILE.dot", help="Write the experiment for protocol-state-fuzzer."),
    ] = None,
    time: TimeLimit = None,
    as_json: AsJson = False,
) -> None:
    """Find the cheapest experiment that tells machines apart, on the actions that all of them know and a reset.

    Machines that nobody can tell apart form a class. A reading that no machine explains means none of these. With
    --plant the experiment is run; the answer holds if the plant is one of the machines, unless --conform checks that
    too. With --hosts many plants are named at once (docs/how-to/run-a-fleet.md). Exit code 0 solved or named, 1
    unsolvable or none of these, 3 undecided, 4 when the plant fails; of many the worst.

    Example:  ascertain fingerprint alder.dot birch.dot --plant "exec:python server.py" --conform complete:0
    """
    from ascertain.cli.show.output import note, print_json
    from ascertain.cli.show.problems import refuse_overwriting
    from ascertain.cli.show.progress import announce_compilation, bounds_closing_in
    from ascertain.cli.show.solutions import NOT_PROVED, check_drawing, exit_code, save_certificate, save_drawing
    from ascertain.pipeline.certify import certificate_files
    from ascertain.pipeline.fingerprint import explain_transcript, fingerprint

    check_drawing(draw)
    check_drawing(decision_graph, (".dot",), "a decision graph")
    files = certificate_files(certificate) if hosts is None else []
    refuse_overwriting([draw, decision_graph, *files], [*models, *([] if weights is None else [weights])])
    if weights is not None and (transcript or plant or hosts):
        raise TaskError("--weights are for finding an experiment; leave out --transcript, --plant and --hosts")
    if objective != "worst" and transcript is not None:
        raise TaskError("--objective is for finding an experiment; a transcript is explained without one")
    announce_compilation()
    price = None if reset_cost == "none" else reset_cost
    if (plant or hosts or transcript) and (draw or decision_graph or time is not None):
        raise TaskError(
            "--draw, --decision-graph and --time are about the experiment alone; leave them out with --plant, --hosts "
            "and --transcript"
        )
    if transcript is not None:
        if plant is not None or hosts is not None or conform_by is not None or journal is not None or resume:
            raise TaskError("--transcript explains a log, and runs nothing; leave it out for a run on a plant")
        explained = explain_transcript(models, transcript, reset_cost=price, certificate=certificate)
        if certificate is not None and explained.certificate != "VERIFIED":
            reason = "that takes a transcript that no machine explains, and every reading of it"
            note(f"no certificate is written: {explained.certificate or reason}")
        print_json("fingerprint", explained.facts()) if as_json else _print_explained(explained)
        raise typer.Exit({0: 1, 1: 0}.get(len(explained.classes), 3))
    chosen: dict[str, Any] = {
        "reset_cost": price,
        "actions": None if actions is None else actions.split(","),
        "cost": read_costs(cost or []),
        "objective": objective,
    }
    run: dict[str, Any] = {
        **chosen,
        "conform_by": conform_by,
        "resume": resume,
        "timeout": timeout,
        "retries": retries,
        "identity": identity,
    }
    if hosts is None and parallel is not None:
        raise TaskError("--parallel is for many plants at once; name them with --hosts")
    if hosts is not None:
        from ascertain.cli.show.fleets import end_fleet, refuse_alone
        from ascertain.pipeline.fleet import identify_fleet

        refuse_alone(plant, {})
        run |= {"folder": journal, "certificates": certificate, "parallel": parallel}
        end_fleet(identify_fleet, "fingerprint", as_json, (models, plant, hosts), run)
    if plant is not None:
        _identify(models, plant, {**run, "journal": journal, "certificate": certificate}, as_json)
    if conform_by is not None or journal is not None or resume or identity is not None:
        raise TaskError("--conform, --journal, --resume and --identity are for a run on a plant; name it with --plant")
    with bounds_closing_in() as progress:
        prove = "always" if certificate is not None else "when solved"
        found = fingerprint(models, **chosen, weights=weights, time_limit=time, progress=progress, prove=prove)
    save_certificate(certificate, found.settled, NOT_PROVED)
    save_drawing(draw, found.settled, "fingerprint")
    if decision_graph is not None and found.settled.policy is not None:
        found.write_decision_graph(decision_graph)
    elif decision_graph is not None:
        note(f"{decision_graph}: not written, as no experiment was found")
    print_json("fingerprint", found.facts()) if as_json else _print(found)
    raise typer.Exit(exit_code(found.settled))


def _identify(models: list[Path], plant: str, words: dict[str, Any], as_json: bool) -> NoReturn:
    """Name a plant, and check that it is one of the machines if that is asked for."""
    from ascertain.cli.show import asking
    from ascertain.cli.show.output import note, print_json
    from ascertain.cli.show.panel import show_session
    from ascertain.cli.show.progress import counting
    from ascertain.pipeline.identify import identify
    from ascertain.problem.plants import find_kind

    quiet = find_kind(plant)[0].asks_person or not sys.stderr.isatty()
    with show_session(not quiet) as watch, counting("words") as progress:
        found = identify(models, plant, **words, ask=asking.ask, watch=watch, note=note, progress=progress)
    print_json("fingerprint", found.facts()) if as_json else _print_identified(found)
    raise typer.Exit(5 if found.certificate not in {None, "VERIFIED"} else found.exit_code)


def _print_identified(found: Identified) -> None:
    from ascertain.cli.show.faults import print_faults
    from ascertain.cli.show.output import print_line, print_table, print_verdict

    facts = found.facts()
    print_line(f"{facts['verdict']}: {facts['label'] or facts['reason']}")
    if found.assumed is not None:
        print_line(f"This holds {found.assumed}. Nothing has checked that: add --conform complete:0, or sample:100.")
    if found.conformed is not None and found.conformed.statement is not None:
        print_line(f"What is shown: {found.conformed.statement}.")
    if facts["witness"] is not None:
        print_table("what shows it", facts["witness"], ("action", "reading"))
    print_line(f"cost {facts['cost']}")
    print_faults(facts["identification"]["faults"])
    if found.conformed is not None and facts["conformance"]["faults"]:
        mended = facts["conformance"]["faults"]
        print_line(f"faults met and mended in the conformance run: {len(mended)}, the last: {mended[-1]}")
    if facts["certificate"] is not None:
        print_verdict(facts["certificate"])


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
    from ascertain.cli.show.output import print_line, print_verdict

    found = explained.verdict
    print_line(f"explained by: {', '.join(explained.classes)}" if found is None else f"none of these: {found.reason}")
    if explained.certificate == "VERIFIED":
        print_verdict(explained.certificate)
