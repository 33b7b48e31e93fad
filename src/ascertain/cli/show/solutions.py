"""How the result of a search is shown: as JSON, as a tree on the terminal, or drawn to a file."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascertain.errors import FileError

if TYPE_CHECKING:
    from ascertain.policy.automaton import Automaton
    from ascertain.search.solution import Solution
    from ascertain.task.task import Task

EXIT = {"solved": 0, "unsolvable": 1, "bounded": 3}
LINES = 60
"""A tree of more lines does not fit a terminal; it is offered as a drawing instead."""
DEPTH = 300
"""A deeper tree is not drawn."""


def status_of(solution: Solution) -> str:
    return type(solution).__name__.lower()


def interval_of(solution: Solution) -> tuple[Fraction | None, Fraction | None]:
    """Lower and upper bound; None stands for infinity."""
    from ascertain.search.solution import Bounded, Solved

    if isinstance(solution, Solved):
        return solution.cost, solution.cost
    return (solution.lower, solution.upper) if isinstance(solution, Bounded) else (None, None)


def policy_of(solution: Solution) -> Automaton | None:
    from ascertain.search.solution import Unsolvable

    return None if isinstance(solution, Unsolvable) else solution.policy


def solution_facts(task: Task, solution: Solution) -> dict[str, Any]:
    """The result as plain data."""
    from ascertain.policy.plain import named_policy_data
    from ascertain.task.canonical import fraction_text

    lower, upper = interval_of(solution)
    policy = policy_of(solution)
    return {
        "status": status_of(solution),
        "objective": solution.objective,
        "lower": fraction_text(lower),
        "upper": fraction_text(upper),
        "policy": None if policy is None else named_policy_data(task, policy),
        "stats": {
            **asdict(solution.stats),
            "nodes": None if policy is None else policy.size,
            "depth": None if policy is None else policy.depth,
        },
    }


def print_policy(task: Task, policy: Automaton) -> None:
    """The tree, when it fits."""
    from rich.console import Console

    from ascertain.cli.show.output import print_line
    from ascertain.report.drawing import draw_terminal
    from ascertain.report.outline import outline_policy

    outline = outline_policy(task, policy) if policy.depth <= DEPTH else None
    if outline is None or outline.lines > LINES:
        print_line(f"The policy has {policy.size} nodes and depth {policy.depth}: too large to print. Use --draw.")
    else:
        Console().print(draw_terminal(outline))


def draw_policy(path: Path, task: Task, policy: Automaton | None, title: str, facts: list[tuple[str, str]]) -> None:
    """Write a drawing in the format that the suffix says."""
    from ascertain.model.files.text import write_whole
    from ascertain.report import drawing
    from ascertain.report.outline import outline_policy

    if policy is None:
        raise FileError(f"{path}: there is no policy to draw")
    if policy.depth > DEPTH:
        raise FileError(f"{path}: the policy is {policy.depth} actions deep; at most {DEPTH} are drawn")
    outline = outline_policy(task, policy)
    if path.suffix == ".dot":
        text = drawing.draw_dot(outline)
    elif path.suffix == ".svg":
        text = drawing.draw_svg(outline, title)
    else:
        text = drawing.draw_html(outline, title, facts)
    write_whole(path, text.encode())


def check_drawing(path: Path | None) -> None:
    """Refuse a drawing that cannot be made before any work is done."""
    if path is not None and path.suffix not in {".svg", ".html", ".dot"}:
        raise FileError(f"{path}: a drawing is .svg, .html or .dot")
    if path is not None and not path.parent.is_dir():
        raise FileError(f"{path}: there is no directory {path.parent}")
