"""How the result of a search is shown: as a tree on the terminal, drawn to a file, and with its certificate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ascertain.cli.show.output import note, print_line
from ascertain.errors import FileError

if TYPE_CHECKING:
    from ascertain.pipeline.settle import Settled

EXIT = {"solved": 0, "unsolvable": 1, "bounded": 3}
"""Exit codes by what became of a search."""
MAX_LINES = 60
"""A tree of more lines does not fit a terminal; it is offered as a drawing instead."""
MAX_DEPTH = 300
"""A deeper tree is not drawn: trees are drawn by recursion, and nobody could read it."""


def exit_code(settled: Settled) -> int:
    """How the program ends after a search; 130 where it was interrupted."""
    return 130 if settled.stopped_by == "interrupt" else EXIT[settled.status]


def print_policy(settled: Settled) -> None:
    """The tree of the policy, when it fits."""
    from rich.console import Console

    from ascertain.report.drawing import draw_terminal
    from ascertain.report.outline import outline_policy

    policy = settled.policy
    assert policy is not None
    outline = outline_policy(settled.task, policy) if policy.depth <= MAX_DEPTH else None
    if outline is None or outline.lines > MAX_LINES:
        print_line(f"The policy has {policy.size} nodes and depth {policy.depth}: too large to print. Use --draw.")
    else:
        Console().print(draw_terminal(outline))


def check_drawing(path: Path | None, suffixes: tuple[str, ...] = (".svg", ".html", ".dot")) -> None:
    """Refuse a drawing that cannot be made before any work is done."""
    if path is not None and path.suffix not in suffixes:
        raise FileError(f"{path}: a drawing is {', '.join(suffixes[:-1])}{' or ' * (len(suffixes) > 1)}{suffixes[-1]}")
    if path is not None and not path.parent.is_dir():
        raise FileError(f"{path}: there is no directory {path.parent}")


def save_drawing(path: Path | None, settled: Settled, title: str) -> None:
    """Draw the policy where a drawing was asked for, in the format that the suffix says."""
    policy = settled.policy
    if path is None or policy is None:
        return
    from ascertain.report.drawing import write_drawing
    from ascertain.report.outline import outline_policy

    if policy.depth > MAX_DEPTH:
        raise FileError(f"{path}: the policy is {policy.depth} actions deep; at most {MAX_DEPTH} are drawn")
    facts = settled.facts()
    above = [
        ("objective", f"{facts['objective']} cost"),
        ("cost of this experiment", facts["upper"]),
        ("lower bound", facts["lower"]),
        ("nodes, depth", f"{policy.size}, {policy.depth}"),
        ("certificate", facts["certificate"] or "none"),
    ]
    write_drawing(path, outline_policy(settled.task, policy), title, above)


def save_certificate(path: Path | None, settled: Settled) -> None:
    """Write the certificate where one was asked for; a search that proved nothing has none."""
    if path is not None and settled.certificate is None:
        note(f"{path}: not written, as nothing was proved before the limit")
    elif path is not None:
        written, beside = settled.write_certificate(path)
        note(f"wrote {written} and {beside}")
