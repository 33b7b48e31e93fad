"""`ascertain observe`: run the experiment on a plant, and answer or abstain."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ascertain.cli.options import (
    AsJson,
    CertificateFile,
    ConformBy,
    Hosts,
    Identity,
    JournalFile,
    Parallel,
    ProblemFile,
    ResetAction,
    Resume,
    Retries,
    Timeout,
)
from ascertain.errors import TaskError
from ascertain.problem import list_kinds

if TYPE_CHECKING:
    from ascertain.pipeline.observed import Observed


def command(
    problem: ProblemFile,
    plant: Annotated[str | None, typer.Option("--plant", metavar="PLANT", help=f"{list_kinds()}.")] = None,
    conform_by: ConformBy = None,
    reset: ResetAction = "RESET",
    hosts: Hosts = None,
    parallel: Parallel = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            metavar="NAME|FILE",
            help="eager, staged, readwise, reuse, incremental, certified (found first), or a policy file.",
        ),
    ] = None,
    plan_time: Annotated[
        float, typer.Option("--plan-time", min=0, metavar="S", help="Seconds for finding a certified policy.")
    ] = 10.0,
    alpha: Annotated[
        str | None, typer.Option("--alpha", metavar="P", help="The risk of a wrong answer, such as 1/1000000.")
    ] = None,
    probing: Annotated[
        str | None,
        typer.Option(
            "--probing",
            metavar="NAME",
            help="Next action: look-ahead, planned, planned-mean, round-robin or separating.",
        ),
    ] = None,
    budget: Annotated[int | None, typer.Option("--budget", min=0, metavar="N", help="The most actions.")] = None,
    shells: Annotated[
        int | None, typer.Option("--shells", min=1, metavar="J", help="Keep the best J shells of the bank, not all.")
    ] = None,
    deadline: Annotated[
        float | None, typer.Option("--deadline", metavar="S", help="Abstain when so many seconds have passed.")
    ] = None,
    speculate: Annotated[
        bool, typer.Option("--speculate", metavar="", help="Compile the bank while reading, in another process.")
    ] = False,
    journal: JournalFile = None,
    resume: Resume = False,
    certificate: CertificateFile = None,
    timeout: Timeout = 10.0,
    retries: Retries = 2,
    strict: Annotated[
        bool, typer.Option("--strict", metavar="", help="Abstain at the first missing reading or action in doubt.")
    ] = False,
    identity: Identity = None,
    approve: Annotated[bool, typer.Option("--approve", metavar="", help="Ask before each action is sent.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", metavar="", help="Show the next action and send nothing.")
    ] = False,
    risk_file: Annotated[
        Path | None,
        typer.Option("--risk-file", metavar="FILE", help="Take alpha from the total risk of many runs, kept here."),
    ] = None,
    total_alpha: Annotated[
        str | None, typer.Option("--total-alpha", metavar="P", help="Begin the risk file with this total.")
    ] = None,
    risk_schedule: Annotated[
        str | None,
        typer.Option("--risk-schedule", metavar="S", help="Shares of the total: equal:N, geometric or geometric:R."),
    ] = None,
    witness: Annotated[
        str | None,
        typer.Option(
            "--witness", metavar="CMD", help="Run CMD with the hash of the first record before the first action."
        ),
    ] = None,
    print_commitment: Annotated[
        bool,
        typer.Option(
            "--print-commitment", metavar="", help="Print the hash of the first record before the first action."
        ),
    ] = False,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.html", help="Tell the run on a page of its own.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the experiment on a plant until the question is settled at the stated risk, or abstain and say why.

    An answer holds if the plant is one of the hypotheses. On a plant without noise that has a reset, --conform checks
    that too. Exit code 0 when an answer is certified, 1 when the plant is none of these, 3 when the observer abstains,
    4 when it does because of the plant. A session that breaks off goes on with --resume. docs/plants.md tells how to
    make a plant of a program. With --hosts many plants are observed at once: --journal and --certificate are folders
    then, --json prints a line for each host, and the exit code is the worst of the hosts'.

    Example:  ascertain observe problem.toml --plant "exec:python plant.py" --journal run.journal
    """
    from ascertain.cli.show import asking
    from ascertain.cli.show.fleets import end_fleet, refuse_alone
    from ascertain.cli.show.output import note, print_json
    from ascertain.cli.show.panel import show_session
    from ascertain.cli.show.problems import load_problem, refuse_overwriting
    from ascertain.cli.show.progress import counting
    from ascertain.cli.starting import restore_threads
    from ascertain.pipeline.certify import certificate_files
    from ascertain.pipeline.fleet import observe_fleet
    from ascertain.pipeline.observe import observe
    from ascertain.problem.plants import find_kind

    kind, told = (None, "") if plant is None else find_kind(plant)
    posed = load_problem(problem, hidden=True)
    if hosts is None and parallel is not None:
        raise TaskError("--parallel is for many plants at once; name them with --hosts")
    taken = [*posed.sources, *([Path(told)] if kind is not None and kind.reads_file else [])]
    files = (journal, *certificate_files(certificate)) if hosts is None else ()
    refuse_overwriting([*files, risk_file, report], taken)
    by_person = kind is not None and kind.asks_person
    if by_person:
        asking.offer_completion(posed.question.model.readings)
    restore_threads()
    witnesses: list[str | Callable[[str], object]] = [] if witness is None else [witness]
    if print_commitment:
        witnesses.append(lambda digest: note(f"commitment {digest}"))
    words: dict[str, Any] = {
        "witnesses": witnesses,
        "policy": policy,
        "plan_time": plan_time,
        "alpha": alpha,
        "probing": probing,
        "budget": budget,
        "shells": shells,
        "conform_by": conform_by,
        "reset": reset,
        "resume": resume,
        "timeout": timeout,
        "retries": retries,
        "strict": strict,
        "identity": identity,
        "deadline": deadline,
        "speculate": speculate,
        "risk_file": risk_file,
        "total_alpha": total_alpha,
        "risk_schedule": risk_schedule,
    }
    if hosts is not None:
        alone = {"--approve": approve, "--dry-run": dry_run, "--report": report}
        refuse_alone(plant, {word: bool(value) for word, value in alone.items()})
        words |= {"folder": journal, "certificates": certificate, "parallel": parallel}
        end_fleet(observe_fleet, "observe", as_json, (posed, plant, hosts), words)
    watched = sys.stderr.isatty() and not (by_person or approve)
    with show_session(watched) as watch, counting("words") as progress:
        observed = observe(
            posed,
            plant,
            **words,
            journal=journal,
            certificate=certificate,
            approve=asking.approve if approve else None,
            ask=asking.ask,
            watch=watch,
            note=note,
            dry_run=dry_run,
            report=report,
            progress=progress,
        )
    print_json("observe", observed.facts()) if as_json else _print(observed, dry_run)
    if observed.certificate not in {None, "VERIFIED"}:
        note(f"{certificate}: the certificate of this run does not verify; this is a fault of ours, not of the plant")
        raise typer.Exit(5)
    if not dry_run and observed.exit_code:
        raise typer.Exit(observed.exit_code)


def _print(observed: Observed, dry_run: bool) -> None:
    from ascertain.cli.show.faults import print_faults
    from ascertain.cli.show.output import print_line, print_table, print_verdict

    facts = observed.facts()
    if dry_run and facts["verdict"] is None:
        print_line(f"next action: {facts['next_action']}")
        return
    print_line(f"{facts['verdict']}: {facts['label'] if observed.is_certified else facts['reason']}")
    if observed.conformed is not None and observed.conformed.statement is not None:
        print_line(f"What is shown: {observed.conformed.statement}.")
    # Without noise a reading decides, and neither alpha nor the stages say anything about a run.
    settings = observed.run.observer.settings
    misfit = ("misfit",) if settings.misfit else ()
    chance = ("alpha", *misfit, "policy", "stage") if settings.model.is_noisy else ()
    rows = [(key, facts[key]) for key in ("readings", "actions", "cost", *chance)]
    rows += [("shells kept", str(observed.shells))] if observed.shells is not None else []
    rows += [("generalised cost", facts["generalised_cost"])] if "generalised_cost" in facts else []
    rows += [(key, facts[key]) for key in ("identity", "address") if facts["identity"] is not None]
    rows += [("holds", facts["assumed"])] if facts["assumed"] is not None else []
    if facts["conformance"] is not None:
        done = facts["conformance"]["done"]
        rows += [("conformance", f"{done['words']} words, cost {done['cost']}")]
    rows += [("state now (certified)", facts["current_state"])] if facts["current_state"] is not None else []
    rows += [("began as (simulated)", facts["truth"])] if "truth" in facts else []
    if observed.risk_file is not None:
        risk = observed.risk_file
        rows += [("total risk", f"{risk['total']}, of which {risk['spent']} is spent and {risk['left']} is left")]
    print_table("run", rows)
    print_faults(facts["faults"])
    if facts["witness"] is not None:
        print_table("what shows it", facts["witness"], ("action", "reading"))
    if facts["certificate"] is not None:
        print_verdict(facts["certificate"])
