"""`ascertain observe`: run the experiment on a plant, and answer or abstain."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ascertain.cli.options import AsJson, CertificateFile, ProblemFile
from ascertain.cli.show.observed import Ended, exit_code, run_facts, tell_run
from ascertain.errors import FileError, TaskError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascertain.certificate.chain import Cause
    from ascertain.live.journal import Journal
    from ascertain.live.notebook import Notebook
    from ascertain.live.session import Run
    from ascertain.observer.staged import Observer
    from ascertain.plant.abstract import AbstractPlant
    from ascertain.problem.problem import AnyProblem
    from ascertain.task.question import AbstractQuestion


MAX_OBSTRUCTED = 200
"""States of a question that is looked through for obstruction before a run."""


def command(
    problem: ProblemFile,
    plant: Annotated[
        str,
        typer.Option(
            "--plant",
            metavar="PLANT",
            help="simulated:SEED[:STATE], exec:COMMAND, tcp://HOST:PORT, replay:FILE, or manual: (you type readings).",
        ),
    ],
    policy: Annotated[
        str | None, typer.Option("--policy", metavar="NAME", help="eager, staged, readwise or reuse.")
    ] = None,
    alpha: Annotated[
        str | None, typer.Option("--alpha", metavar="P", help="The risk of a wrong answer, such as 1/1000000.")
    ] = None,
    probing: Annotated[
        str | None, typer.Option("--probing", metavar="NAME", help="Next action: round-robin, separating or planned.")
    ] = None,
    budget: Annotated[int | None, typer.Option("--budget", min=0, metavar="N", help="The most actions.")] = None,
    journal: Annotated[
        Path | None, typer.Option("--journal", metavar="FILE", help="Keep a journal that outlives a crash.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where the journal ends.")] = False,
    certificate: CertificateFile = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="S", help="Seconds that the plant may take to answer.")
    ] = 10.0,
    retries: Annotated[
        int,
        typer.Option("--retries", min=0, max=1000, metavar="N", help="How often a retry-safe plant is asked again."),
    ] = 2,
    strict: Annotated[
        bool, typer.Option("--strict", help="Abstain at the first missing reading or action in doubt.")
    ] = False,
    identity: Annotated[
        str | None, typer.Option("--identity", metavar="NAME", help="Refuse a plant of another name.")
    ] = None,
    approve: Annotated[bool, typer.Option("--approve", help="Ask before each action is sent.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the next action and send nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run the experiment on a plant until the question is settled at the stated risk, or abstain and say why.

    Exit code 0 when an answer is certified, 3 when the observer abstains, 4 when it does because of the plant. A
    session that breaks off goes on with --resume. docs/plants.md tells how to make a plant of a program.

    Example:  ascertain observe problem.toml --plant "exec:python plant.py" --journal run.journal
    """
    options = _Options(plant, timeout, retries, strict, identity, approve, dry_run)
    from ascertain.cli.show.output import note
    from ascertain.cli.show.problems import certificate_files, load_any_problem, refuse_overwriting
    from ascertain.live.journal import Journal
    from ascertain.live.notebook import Notebook

    if resume and journal is None:
        raise TaskError("--resume needs --journal FILE, the journal to go on with")
    if resume and journal is not None and not journal.exists():
        raise FileError(f"{journal}: there is no such journal to resume; leave --resume out to begin one")
    posed = load_any_problem(problem)
    inputs = [*posed.sources, *([Path(plant.removeprefix("replay:"))] if plant.startswith("replay:") else [])]
    refuse_overwriting([journal, *certificate_files(certificate)], inputs)
    refuse_overwriting(certificate_files(certificate), [] if journal is None else [journal])
    with ExitStack() as stack:
        recorder = Notebook() if journal is None or (dry_run and not resume) else stack.enter_context(Journal(journal))
        begun = _begin(
            posed, recorder, resume, {"policy": policy, "alpha": alpha, "probing": probing, "budget": budget}
        )
        ended = _run(stack, posed, begun, recorder, options)
        facts = run_facts(begun.observer.settings.question, ended)
        facts["certificate"] = _certify(certificate, ended.run, recorder)
    tell_run(facts, as_json, dry_run)
    if facts["certificate"] not in {None, "VERIFIED"}:
        note(f"{certificate}: the certificate of this run does not verify; this is a fault of ours, not of the plant")
        raise typer.Exit(5)
    if code := exit_code(ended.run, dry_run):
        raise typer.Exit(code)


@dataclass(frozen=True)
class _Options:
    plant: str
    timeout: float
    retries: int
    strict: bool
    identity: str | None
    approve: bool
    dry_run: bool


@dataclass(frozen=True)
class _Begun:
    """A run that is to go on, from its beginning or from where its journal ends."""

    observer: Observer
    commitment: Mapping[str, Any] | None
    """None when it was recorded before."""
    pending: int | None = None
    recorded_events: int = 0
    cause: Cause | None = "observer"


def _begin(problem: AnyProblem, recorder: Journal | Notebook, resume: bool, words: dict[str, Any]) -> _Begun:
    from ascertain.certificate.chain import commitment_record
    from ascertain.live.journal import Journal
    from ascertain.live.resume import resume_observer
    from ascertain.observer.staged import start_observer
    from ascertain.problem.observer import pose_observer

    settings, make_bank = pose_observer(problem, **words)
    _warn(settings.question)
    commitment = commitment_record(settings, make_bank)
    if recorder.records and not resume:
        raise FileError(
            f"{getattr(recorder, 'path', '')}: this journal has begun already; add --resume to go on with it"
        )
    observer = start_observer(settings, recorder.watch_bank(settings, make_bank))
    if not isinstance(recorder, Journal) or not recorder.records:
        return _Begun(observer, commitment)
    resumed = resume_observer(recorder, observer, commitment)
    return _Begun(resumed.observer, None, resumed.pending, resumed.recorded_events, resumed.cause)


def _run(
    stack: ExitStack, problem: AnyProblem, begun: _Begun, recorder: Journal | Notebook, options: _Options
) -> Ended:
    from ascertain.cli.show.asking import approve
    from ascertain.cli.show.panel import show_session
    from ascertain.live.faults import FaultPolicy
    from ascertain.live.session import run_session
    from ascertain.plant.replayed import ReplayedPlant

    nothing = ReplayedPlant((), "nothing is sent")
    if options.dry_run:
        return Ended(run_session(begun.observer, nothing, pending=begun.pending, dry_run=True), None)
    if begun.commitment is None and begun.observer.verdict is not None:  # all that may be missing is its record
        events, cause = begun.recorded_events, begun.cause
        run = run_session(begun.observer, nothing, recorder=recorder, recorded_events=events, cause=cause)
        return Ended(run, None)
    plant = _open(stack, problem, begun, recorder, options)
    by_hand = options.approve or options.plant.startswith("manual")
    watch = stack.enter_context(show_session(sys.stderr.isatty() and not by_hand))
    run = run_session(
        begun.observer,
        plant,
        recorder=recorder,
        commitment=begun.commitment,
        pending=begun.pending,
        recorded_events=begun.recorded_events,
        approve=approve if options.approve else None,
        watch=watch,
        policy=FaultPolicy(options.retries, options.strict),
    )
    return Ended(run, plant)


def _open(
    stack: ExitStack, problem: AnyProblem, begun: _Begun, recorder: Journal | Notebook, options: _Options
) -> AbstractPlant:
    """The plant, known to be the one meant, and told of what went before."""
    from ascertain.cli.show.asking import ask, offer_completion
    from ascertain.live.session import resume_plant
    from ascertain.plant.abstract import check_identity
    from ascertain.problem.plants import open_plant

    if options.plant.startswith("manual"):
        offer_completion(problem.question.model.readings)
    plant = open_plant(options.plant, problem, timeout=options.timeout, run=_name_run(recorder), ask=ask)
    stack.callback(plant.close)
    check_identity(plant, options.identity)
    if begun.commitment is None:
        resume_plant(plant, begun.observer)
    return plant


def _name_run(recorder: Journal | Notebook) -> str:
    """What a plant that remembers runs is told: the same again when a journal is resumed."""
    from hashlib import sha256
    from secrets import token_hex

    path = getattr(recorder, "path", None)
    return token_hex(8) if path is None else sha256(str(path).encode()).hexdigest()[:16]


def _warn(question: AbstractQuestion) -> None:
    from ascertain.cli.show.output import note
    from ascertain.model import BooleanPlant, NoisyMachine
    from ascertain.model.hidden import HiddenModel

    model = question.model
    noisy = isinstance(model, NoisyMachine | HiddenModel) or (isinstance(model, BooleanPlant) and bool(model.flip))
    if question.alpha == 0 and noisy:
        note("alpha is 0, so a rival is beaten only by a reading that it can never show; set [risk] alpha, or --alpha")
    if sentence := _obstruction(question):
        note(f"{sentence}; if either is true, this run will not settle it")


def _obstruction(question: AbstractQuestion) -> str | None:
    """Why the question cannot be settled whatever is true; not looked for where that would take long."""
    from ascertain.quotients.hidden import find_hidden_obstruction
    from ascertain.quotients.obstruction import find_obstruction
    from ascertain.task.hidden_task import HiddenTask
    from ascertain.task.task import Task

    if isinstance(question, HiddenTask) and question.model.num_states <= MAX_OBSTRUCTED:
        found = find_hidden_obstruction(question)
    elif isinstance(question, Task) and question.model.num_states <= MAX_OBSTRUCTED:
        found = find_obstruction(question)
    else:
        return None
    return None if found is None else found.sentence


def _certify(path: Path | None, run: Run, recorder: Journal | Notebook) -> str | None:
    """Write the certificate of an answer and have it checked; returns the checker's verdict."""
    from ascertain.certificate import write_certificate
    from ascertain.certificate.claims.run import run_claim
    from ascertain.cli.show.output import note
    from ascertain_check import check

    if path is None:
        return None
    question, acceptance = run.observer.settings.question, run.observer.acceptance
    if acceptance is None:
        note("no certificate is written: only an answer is certified")
        return None
    written, beside = write_certificate(path, question, [run_claim(question, acceptance, recorder.records)])
    return str(check(beside.read_bytes(), written.read_bytes()))
