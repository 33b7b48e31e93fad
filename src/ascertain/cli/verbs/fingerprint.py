"""`ascertain fingerprint`: which of several machines is it, in as few actions as possible?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ascertain.cli.options import AsJson, CertificateFile, Drawing, TimeLimit

if TYPE_CHECKING:
    from ascertain.pipeline.settle import Settled
    from ascertain.policy.automaton import Automaton
    from ascertain.task.task import Task


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
    from ascertain.cli.show.problems import certificate_files, refuse_overwriting
    from ascertain.cli.show.progress import bounds_closing_in
    from ascertain.cli.show.solutions import EXIT, check_drawing, draw_policy, policy_of, solution_facts, status_of
    from ascertain.cli.verbs.solve import facts_for_page, save_certificate, verdict_text
    from ascertain.pipeline.settle import settle
    from ascertain.quotients.fingerprint import pose_fingerprint

    check_drawing(draw)
    refuse_overwriting([draw, *certificate_files(certificate)], models)
    task = pose_fingerprint(_read_models(models), reset_cost=_cost(reset_cost))
    if transcript is not None:
        _explain(task, transcript, as_json)
        return
    with bounds_closing_in() as progress:
        prove = "always" if certificate is not None else "when solved"
        settled = settle(task, time_limit=time, progress=progress, prove=prove)
    solution = settled.solution
    policy = policy_of(solution)
    save_certificate(certificate, task, settled)
    if draw is not None and policy is not None:
        draw_policy(draw, task, policy, "fingerprint", facts_for_page(settled))
    expected = None if policy is None else _mean_cost(task, policy)
    if as_json:
        facts = solution_facts(task, solution)
        facts |= {"expected": expected, "classes": _classes(task), "certificate": verdict_text(settled)}
        print_json("fingerprint", facts)
    else:
        _print(task, settled, expected)
    raise typer.Exit(130 if getattr(solution, "why", None) == "interrupt" else EXIT[status_of(solution)])


def _read_models(paths: list[Path]) -> dict[str, Any]:
    from ascertain.cli.show.progress import announce_compilation
    from ascertain.errors import FileError
    from ascertain.model.files import read_listed

    announce_compilation()
    models = {path.stem: read_listed(path) for path in paths}
    if len(models) < len(paths):
        raise FileError("two files have the same name; rename one, as machines are called after their files")
    return models


def _cost(text: str) -> Any:
    from ascertain.errors import TaskError
    from ascertain.rational import rational_field

    return None if text == "none" else rational_field(text, "--reset-cost", TaskError)


def _classes(task: Task) -> list[list[str]]:
    """The machines of each class."""
    classes: list[list[str]] = [[] for _ in task.labels]
    for s, k in zip(task.state, task.label, strict=True):
        classes[int(k)].append(task.model.origin[int(s)])
    return classes


def _mean_cost(task: Task, policy: Automaton) -> str:
    """The mean cost of the policy over machines, all equally likely."""
    from fractions import Fraction

    from ascertain.policy.evaluate import cost_by_hypothesis

    costs = cost_by_hypothesis(task, policy)
    return str(sum(costs, Fraction(0)) / len(costs))


def _print(task: Task, settled: Settled, expected: str | None) -> None:
    from ascertain.cli.show.output import print_line, print_table
    from ascertain.cli.show.solutions import interval_of, policy_of, print_policy
    from ascertain.task.canonical import fraction_text

    rows = [(label, len(names), ", ".join(names)) for label, names in zip(task.labels, _classes(task), strict=True)]
    print_table("classes that can be told apart", rows, ("class", "size", "machines"))
    lower, upper = interval_of(settled.solution)
    if lower == upper:
        print_line(f"optimal worst cost {fraction_text(upper)}, mean {expected or 'none'} over machines")
    else:
        print_line(f"{fraction_text(lower)} <= optimal worst cost <= {fraction_text(upper)}")
    policy = policy_of(settled.solution)
    if policy is not None:
        print_policy(task, policy)
        if policy.depth:
            print_line("Any other reading: none of these.")
    if settled.verdict is not None:
        print_line(f"Certificate: {settled.verdict}")


def _explain(task: Task, path: Path, as_json: bool) -> None:
    """Which classes explain a transcript from the initial state on."""
    from ascertain.cli.show.output import print_json, print_line
    from ascertain.task.hypotheses import starts_explaining
    from ascertain.task.log import read_log

    left = starts_explaining(task.model, task.state, read_log(path), str(path))
    names = sorted({task.labels[int(task.label[h])] for h in left})
    if as_json:
        print_json("fingerprint", {"explained_by": names})
    else:
        print_line(
            "none of these: no machine explains the transcript" if not names else f"explained by: {', '.join(names)}"
        )
    if len(names) != 1:
        raise typer.Exit(3)
