"""`ascertain solve`: the cheapest experiment that settles a problem, and the proof that none is cheaper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ascertain.cli.options import AsJson, CertificateFile, Drawing, ProblemFile, TimeLimit

if TYPE_CHECKING:
    from ascertain.pipeline.settle import Settled
    from ascertain.search.solution import Unsolvable
    from ascertain.task.task import Task


def command(
    problem: ProblemFile,
    as_json: AsJson = False,
    certificate: CertificateFile = None,
    draw: Drawing = None,
    time: TimeLimit = None,
    memory: Annotated[
        float | None, typer.Option("--memory", min=0, metavar="GB", help="Use at most so much memory for the search.")
    ] = None,
    objective: Annotated[
        Literal["worst", "expected"],
        typer.Option("--objective", help="Minimise the worst cost, or the mean under the weights of the problem file."),
    ] = "worst",
) -> None:
    """Find the cheapest experiment that settles the problem, and prove that none is cheaper.

    Exit code 0 solved, 1 unsolvable (proved), 3 when a limit was met first: then the interval reached is the answer.

    Example:  ascertain solve problem.toml --certificate proof.json --draw tree.html
    """
    from ascertain.cli.show.output import note, print_json
    from ascertain.cli.show.problems import certificate_files, load_problem, refuse_overwriting
    from ascertain.cli.show.progress import bounds_closing_in
    from ascertain.cli.show.solutions import EXIT, check_drawing, draw_policy, policy_of, solution_facts, status_of
    from ascertain.pipeline.settle import settle

    check_drawing(draw)
    posed = load_problem(problem)
    task = posed.task
    refuse_overwriting([draw, *certificate_files(certificate)], posed.sources)
    if task.alpha or task.beta:
        note("the exact solver answers without risk: alpha and beta are not used")
    with bounds_closing_in() as progress:
        settled = settle(
            task,
            objective=objective,
            weights=posed.weights if objective == "expected" else None,
            time_limit=time,
            memory_limit=None if memory is None else int(min(memory, 2**30) * 2**30),
            progress=progress,
            prove="always" if certificate is not None else "when solved",
        )
    solution = settled.solution
    save_certificate(certificate, task, settled)
    if draw is not None and policy_of(solution) is not None:
        draw_policy(draw, task, policy_of(solution), problem.stem, facts_for_page(settled))
    if as_json:
        print_json("solve", {**solution_facts(task, solution), "certificate": verdict_text(settled)})
    else:
        _print(task, settled, problem)
    code = EXIT[status_of(solution)]
    raise typer.Exit(130 if getattr(solution, "why", None) == "interrupt" else code)


def save_certificate(path: Path | None, task: Task, settled: Settled) -> None:
    """Write the certificate where one was asked for; a search that proved nothing has none."""
    from ascertain.certificate.write import write_certificate
    from ascertain.cli.show.output import note

    if path is not None and settled.certificate is None:
        note(f"{path}: not written, as nothing was proved before the limit")
    elif path is not None and settled.certificate is not None:
        written = write_certificate(path, task, settled.certificate["claims"])
        note(f"wrote {written[0]} and {written[1]}")


def verdict_text(settled: Settled) -> str | None:
    """What the checker says of the certificate; None where there is none."""
    return None if settled.verdict is None else str(settled.verdict)


def facts_for_page(settled: Settled) -> list[tuple[str, str]]:
    """What stands above a drawing."""
    from ascertain.cli.show.solutions import interval_of, policy_of
    from ascertain.task.canonical import fraction_text

    solution = settled.solution
    lower, upper = interval_of(solution)
    policy = policy_of(solution)
    return [
        ("objective", f"{solution.objective} cost"),
        ("cost of this experiment", fraction_text(upper)),
        ("no experiment is cheaper than", fraction_text(lower)),
        ("nodes, depth", "" if policy is None else f"{policy.size}, {policy.depth}"),
        ("certificate", verdict_text(settled) or "none"),
    ]


def _print(task: Task, settled: Settled, problem: Path) -> None:
    from ascertain.cli.show.output import print_line, shorten
    from ascertain.cli.show.solutions import interval_of, print_policy
    from ascertain.search.solution import Solved, Unsolvable
    from ascertain.task.canonical import fraction_text

    solution = settled.solution
    kind = "worst" if solution.objective == "worst" else "expected"
    if isinstance(solution, Unsolvable):
        names = witness_names(task, solution)
        print_line(f"{problem}: unsolvable: no experiment settles the question, whatever it may cost.")
        if settled.obstruction is not None:
            print_line(f"Obstructed: {settled.obstruction.sentence}.")
        else:
            print_line(f"Already these cannot be settled among themselves: {shorten(names, 12)}.")
    elif isinstance(solution, Solved):
        print_line(f"{problem}: optimal {kind} cost {solution.cost}")
        print_policy(task, solution.policy)
        print_line(f"{solution.policy.size} nodes, depth {solution.policy.depth}; found in {_seconds(settled)}.")
    else:
        lower, upper = interval_of(solution)
        print_line(f"{problem}: {fraction_text(lower)} <= optimal {kind} cost <= {fraction_text(upper)}")
        print_line(f"Undecided: stopped by {solution.why} after {_seconds(settled)}.")
        if solution.policy is not None:
            print_policy(task, solution.policy)
    if settled.verdict is not None:
        print_line(f"Certificate: {settled.verdict}")


def _seconds(settled: Settled) -> str:
    return f"{settled.solution.stats.seconds:.2f} s"


def witness_names(task: Task, solution: Unsolvable) -> list[str]:
    """The states of hypotheses that cannot be settled even among themselves, one for each member of the witness."""
    members = set(solution.members)
    found: dict[tuple[int, int], str] = {}
    for s, k in zip(task.state, task.label, strict=True):
        key = (int(k), int(solution.witness.block[s]))
        if key in members:
            found.setdefault(key, task.model.states[int(s)])
    return list(found.values())
