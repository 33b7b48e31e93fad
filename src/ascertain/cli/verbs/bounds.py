"""`ascertain bounds`: what no experiment can beat, what a certified one achieves, and what makes it hard."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ascertain.cli.options import AsJson, CertificateFile, ProblemFile
from ascertain.errors import FileError, import_extra

if TYPE_CHECKING:
    from ascertain.pipeline.bound import Bounds
    from ascertain.report.record import Figure
    from ascertain.task.plant_task import PlantTask
    from ascertain.task.task import Task
    from ascertain_check import Verdict

POWERS = (-4, -2, 0, 2, 4)
"""Of ten: the factors by which alpha is varied in a drawing, as far as the question stays one."""


def command(
    problem: ProblemFile,
    alpha: Annotated[
        str | None,
        typer.Option("--alpha", metavar="P", help='How often it may be wrong, such as "1/1000"; else the file\'s.'),
    ] = None,
    beta: Annotated[
        str | None, typer.Option("--beta", metavar="P", help="How often it may abstain; else the file's.")
    ] = None,
    as_json: AsJson = False,
    certificate: CertificateFile = None,
    draw: Annotated[
        Path | None, typer.Option("--draw", metavar="FILE.svg", help="Draw both sides against alpha; takes longer.")
    ] = None,
) -> None:
    """Say what every experiment must cost at a given risk, what a certified one costs, and what makes it hard.

    The cost is the expected cost, for the hypothesis that is worst off. Exit code 0, or 1 when no experiment keeps to
    the risk, whatever it costs: then the pair that cannot be told apart is named.

    Example:  ascertain bounds problem.toml --alpha 1/1000 --beta 1/100
    """
    from ascertain.cli.show.output import print_json
    from ascertain.cli.show.problems import certificate_files, load_problem, refuse_overwriting
    from ascertain.cli.show.waiting import waiting
    from ascertain.pipeline.bound import check_question, choose_question, find_bounds

    _check_drawing(draw)
    risks = _read_risk("alpha", alpha, zero=False), _read_risk("beta", beta, zero=True)
    posed = load_problem(problem)
    refuse_overwriting([draw, *certificate_files(certificate)], posed.sources)
    question = choose_question(posed, *risks)
    check_question(question)
    with waiting("bounding the cost from below and from above") as tell:
        found = find_bounds(question, tell)
    verdict = None if certificate is None else _certify(certificate, found)
    if draw is not None:
        _draw(draw, question, found)
    if as_json:
        print_json("bounds", {**found.facts(), "certificate": None if verdict is None else str(verdict)})
    else:
        _print(problem, found, verdict)
    raise typer.Exit(1 if found.is_infinite else 0)


def _check_drawing(path: Path | None) -> None:
    if path is None:
        return
    if path.suffix != ".svg":
        raise FileError(f"{path}: the drawing is an .svg")
    if not path.parent.is_dir():
        raise FileError(f"{path}: there is no directory {path.parent}")
    import_extra("matplotlib", "plots")  # before the bounds are computed, not after


def _read_risk(name: str, text: str | None, *, zero: bool) -> Fraction | None:
    from ascertain.errors import TaskError
    from ascertain.rational import rational_field

    if text is None:
        return None
    risk = rational_field(text, f"--{name}", TaskError)
    if not 0 <= risk < 1 or (risk == 0 and not zero):
        raise TaskError(f"--{name}: {text} is not a probability in {'[' if zero else '('}0, 1)")
    return risk


def _certify(path: Path, found: Bounds) -> Verdict | None:
    """Write what can be certified, after the checker has looked at it."""
    from ascertain.certificate.write import certificate_data, write_certificate
    from ascertain.cli.show.output import note
    from ascertain.cli.show.waiting import waiting
    from ascertain.pipeline.bound import list_claims
    from ascertain.task.canonical import canonical_bytes, task_data
    from ascertain_check import check

    with waiting("certifying"):
        claims, remarks = list_claims(found)
        for remark in remarks:
            note(remark)
        if not claims:
            note(f"{path}: not written, as there is nothing to certify")
            return None
        data = certificate_data(found.question, claims)
        verdict = check(canonical_bytes(task_data(found.question)), canonical_bytes(data))
    written = write_certificate(path, found.question, claims)
    note(f"wrote {written[0]} and {written[1]}")
    return verdict


def _draw(path: Path, question: Task | PlantTask, found: Bounds) -> None:
    from ascertain.cli.show.output import note
    from ascertain.model.files.text import write_whole
    from ascertain.report.figures import draw_svg

    if found.vacuous or found.is_infinite or not question.alpha:
        note(f"{path}: not drawn, as nothing here depends on alpha")
        return
    write_whole(path, draw_svg(_plot(question, found)).encode())


def _plot(question: Task | PlantTask, found: Bounds) -> Figure:
    """Both sides at a few risks, the asked one among them."""
    from dataclasses import replace

    from ascertain.cli.show.counting import counting
    from ascertain.pipeline.bound import find_bounds
    from ascertain.report.record import Figure, Series

    risks = [question.alpha * Fraction(10) ** power for power in POWERS]
    risks = [risk for risk in risks if 2 * risk + question.beta < 1]
    points: list[tuple[float, Bounds]] = []
    with counting("points of the drawing") as progress:
        for k, risk in enumerate(risks):
            progress(k, len(risks))
            here = found if risk == question.alpha else find_bounds(replace(question, alpha=risk))
            points.append((float(risk), here))
    lines = {
        "achieved (certified)": [(x, b.upper) for x, b in points],
        "no experiment beats": [(x, b.best) for x, b in points],
        "pairwise bound": [(x, b.lower.get("pairwise")) for x, b in points],
    }
    series = [
        Series(
            name,
            tuple(x for x, y in line if y is not None),
            tuple(float(y) for _, y in line if y is not None),
            mark="line",
        )
        for name, line in lines.items()
    ]
    title = f"Cost against risk, beta = {question.beta}"
    return Figure("bounds", title, "alpha", "expected cost, worst hypothesis", tuple(series), log_x=True)


def _print(problem: Path, found: Bounds, verdict: Verdict | None) -> None:
    from ascertain.cli.show.output import print_line, print_table

    risk = f"alpha = {found.question.alpha}, beta = {found.question.beta}"
    if found.vacuous:
        print_line(
            f"{problem}: vacuous at {risk}: 2 alpha + beta >= 1, so that a valid experiment need settle nothing."
        )
        return
    if found.obstruction is not None:
        print_line(f"{problem}: no experiment keeps to {risk}, whatever it may cost.")
        print_line(f"Obstructed: {found.obstruction.sentence}.")
    elif found.is_infinite:
        print_line(f"{problem}: no experiment keeps to {risk}, whatever it may cost: this is proved.")
    else:
        print_table(f"{problem}: the expected cost at {risk}", _rows(found), ("side", "by", "cost"))
        if found.ratio is not None:
            print_line(f"What is achieved is at most {float(found.ratio):.3f} times what no experiment beats.")
        if found.risk is not None:
            wrong, abstain = (f"{float(part):.3g}" for part in found.risk)
            print_line(f"Wrong with probability at most {wrong}, abstains with at most {abstain}.")
    if found.hardest is not None and found.obstruction is None:
        (h, g), labels = found.hardest.states, found.hardest.labels
        print_line(f"Hardest pair: {h!r} (label {labels[0]!r}) against {g!r} (label {labels[1]!r}).")
        print_line(f"Why: {found.hardest.why}.")
    if verdict is not None:
        print_line(f"Certificate: {verdict}")


def _rows(found: Bounds) -> list[tuple[str, str, str]]:
    """Both sides by method, each with its best last."""
    lower = [("no experiment beats", name, _show(value, floor)) for name, value in found.lower.items()]
    known = [(name, value) for name, value in found.upper_by_method.items() if value is not None]
    return [
        *lower,
        ("no experiment beats", "best", _show(found.best, floor)),
        *(("achieved", name, _show(value, ceil)) for name, value in known),
        ("achieved", "best", "no policy found" if found.upper is None else _show(found.upper, ceil)),
    ]


def _show(value: Fraction | None, rounded: Callable[[Fraction], int]) -> str:
    """Three decimals, on the safe side."""
    if value is None:
        return "infinite"
    return str(value) if value.denominator == 1 else f"{rounded(value * 1000) / 1000:.3f}"
