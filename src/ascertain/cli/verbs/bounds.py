"""`ascertain bounds`: a lower and an upper bound on the cost at a given risk, and what makes the question hard."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ascertain.cli.options import AsJson, CertificateFile, PolicyOut, ProblemFile, TimeLimit
from ascertain.errors import import_extra

if TYPE_CHECKING:
    from ascertain.pipeline.bound import Bounds


def command(
    problem: ProblemFile,
    alpha: Annotated[
        str | None,
        typer.Option("--alpha", metavar="P", help='Probability of a wrong answer, such as "1/1000"; else the file\'s.'),
    ] = None,
    beta: Annotated[
        str | None, typer.Option("--beta", metavar="P", help="Probability of an abstention; else the file's.")
    ] = None,
    time: TimeLimit = None,
    as_json: AsJson = False,
    certificate: CertificateFile = None,
    draw: Annotated[
        Path | None, typer.Option("--draw", metavar="FILE.svg", help="Draw both sides against alpha; takes longer.")
    ] = None,
    policy_out: PolicyOut = None,
    draw_policy: Annotated[
        Path | None,
        typer.Option("--draw-policy", metavar="FILE", help="Draw the policy found: .svg, .html, .dot or .txt."),
    ] = None,
) -> None:
    """Bound the cost of an experiment at a given risk from below and from above, and name the hardest pair.

    The cost is the expected cost under the worst hypothesis. The upper bound is that of an experiment that keeps to
    both risks. With --certificate each row says what the checker has verified of it. Exit code 0, or 1 when no
    experiment keeps to the risk at any cost: then the pair that cannot be told apart is named. When time is up, or
    after Ctrl-C (exit code 130), the best of both sides so far is the answer.

    Example:  ascertain bounds problem.toml --alpha 1/1000 --beta 1/100 --time 10
    """
    from ascertain.cli.show.output import note, print_json
    from ascertain.cli.show.problems import load_problem, refuse_overwriting
    from ascertain.cli.show.progress import waiting
    from ascertain.cli.show.solutions import check_drawing, save_certificate
    from ascertain.pipeline.bound import bound
    from ascertain.pipeline.certify import certificate_files

    if draw is not None:
        check_drawing(draw, (".svg",))
        import_extra("matplotlib", "plots")  # before the bounds are computed, not after
    check_drawing(draw_policy)
    posed = load_problem(problem)
    refuse_overwriting([draw, draw_policy, policy_out, *certificate_files(certificate)], posed.sources)
    with waiting("bounding the cost from below and from above") as tell:
        found = bound(posed, alpha, beta, certified=certificate is not None, time_limit=time, tell=tell)
    for remark in found.remarks:
        note(remark)
    save_certificate(certificate, found, "there is nothing to certify")
    if draw is not None and found.stopped_by != "interrupt":
        _draw(draw, found, time)
    _save_policy(found, policy_out, draw_policy, problem.stem)
    print_json("bounds", found.facts()) if as_json else _print(problem, found)
    raise typer.Exit(130 if found.stopped_by == "interrupt" else 1 if found.is_infinite else 0)


def _save_policy(found: Bounds, file: Path | None, drawing: Path | None, title: str) -> None:
    """Write and draw the policy, where that was asked for and there is one."""
    from ascertain.cli.show.output import note

    for path in (file, drawing):
        if path is not None and found.policy is None:
            note(f"{path}: not written, as no policy was found")
    if file is not None and found.policy is not None:
        note(f"wrote {found.write_policy(file)}")
    if drawing is not None and found.policy is not None:
        found.draw_policy(drawing, title)


def _draw(path: Path, found: Bounds, time: float | None) -> None:
    """Both sides at a few risks, the asked one among them."""
    from ascertain.cli.show.output import note
    from ascertain.cli.show.progress import counting
    from ascertain.pipeline.bound import bound_around
    from ascertain.report.svg import write_lines

    if found.vacuous or found.is_infinite or not found.question.alpha:
        note(f"{path}: not drawn, as nothing here depends on alpha")
        return
    with counting("points of the drawing") as progress:
        points = [(float(point.question.alpha), point) for point in bound_around(found, progress, time)]
    lines = {
        "achieved": [(x, b.upper) for x, b in points],
        "lower bound": [(x, b.best) for x, b in points],
        "pairwise bound": [(x, b.lower.get("pairwise")) for x, b in points],
    }
    known = {name: [(x, float(y)) for x, y in line if y is not None] for name, line in lines.items()}
    write_lines(path, known, "alpha", "expected cost, worst hypothesis")


def _print(problem: Path, found: Bounds) -> None:
    from ascertain.cli.show.output import print_line, print_table, print_verdict

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
        columns = ("side", "by", "cost") if found.verdict is None else ("side", "by", "cost", "certified")
        print_table(f"{problem}: the expected cost at {risk}", _rows(found), columns)
        if found.ratio is not None:
            sure = "" if found.verdict is None or _is_certified(found) else " (not certified)"
            print_line(f"What is achieved is at most {_show(found.ratio, ceil)} times the lower bound{sure}.")
        if found.risk is not None:
            wrong, abstain = (f"{float(part):.3g}" for part in found.risk)
            print_line(f"Wrong with probability at most {wrong}, abstains with at most {abstain}.")
        if found.stopped_by is not None:
            print_line(f"Stopped by {found.stopped_by}: with more time both sides may come closer.")
    if found.hardest is not None and found.obstruction is None:
        (h, g), labels = found.hardest.states, found.hardest.labels
        print_line(f"Hardest pair: {h!r} (label {labels[0]!r}) against {g!r} (label {labels[1]!r}).")
        print_line(f"Why: {found.hardest.why}.")
    if found.verdict is not None:
        print_verdict(found.verdict, _headline(found))


def _is_certified(found: Bounds) -> bool:
    """Whether the certificate proves the ratio, as far as it is printed."""
    sure = None if found.certified is None else found.certified.ratio
    return sure is not None and found.ratio is not None and ceil(sure * 1000) <= ceil(found.ratio * 1000)


def _headline(found: Bounds) -> str:
    """What the certificate proves of both sides, in one sentence."""
    sure = found.certified
    if sure is None:
        return "Nothing is certified."
    lower = "no lower bound" if not sure.has_lower else f"at least {_show(sure.best, floor)}"
    if sure.has_lower and sure.best is None:
        return "Certified: no experiment keeps to the risk, whatever it may cost."
    upper = "no policy" if sure.upper is None else f"at most {_show(sure.upper, ceil)}"
    ratio = "" if sure.ratio is None else f", within a factor of {_show(sure.ratio, ceil)}"
    return f"Certified: {lower}, {upper}{ratio}."


def _rows(found: Bounds) -> list[tuple[str, ...]]:
    """Both sides by method, each with its best last; with a certificate, what it proves of each row."""
    lower = [*found.lower.items(), ("best", found.best)]
    rows = [("lower bound", name, _show(value, floor), _sure_lower(found, name, value)) for name, value in lower]
    known = [(name, value) for name, value in found.upper_by_method.items() if value is not None]
    rows += [("achieved", name, _show(value, ceil), _sure_upper(found.certified_upper(name))) for name, value in known]
    best = "no policy found" if found.upper is None else _show(found.upper, ceil)
    rows.append(("achieved", "best", best, _sure_upper(None if found.certified is None else found.certified.upper)))
    return rows if found.verdict is not None else [row[:3] for row in rows]


def _sure_lower(found: Bounds, name: str, value: Fraction | None) -> str:
    covered, proved = (False, None) if found.certified is None else found.certified.covers(name, value)
    return _show(proved, floor) if covered else "no"


def _sure_upper(proved: Fraction | None) -> str:
    return "no" if proved is None else _show(proved, ceil)


def _show(value: Fraction | None, rounded: Callable[[Fraction], int]) -> str:
    """Three decimals, on the safe side."""
    if value is None:
        return "infinite"
    return str(value) if value.denominator == 1 else f"{rounded(value * 1000) / 1000:.3f}"
