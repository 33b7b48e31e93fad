"""How the result of a search is shown: as a tree on the terminal, drawn to a file, and with its certificate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ascertain.cli.show.output import note, print_line
from ascertain.errors import FileError

if TYPE_CHECKING:
    from ascertain.drawing.outline import Outline
    from ascertain.pipeline.bound import Bounds
    from ascertain.pipeline.sequence import FoundSequence
    from ascertain.pipeline.settle import Settled

NOT_PROVED = "nothing was proved before it was stopped"
"""Why a search that was stopped has no certificate."""
EXIT = {"solved": 0, "unsolvable": 1, "bounded": 3}
"""Exit codes by what became of a search."""
MAX_LINES = 60
"""A tree of more lines does not fit a terminal; it is offered as a drawing instead."""
STYLES = {"ask": "bold", "answer": "green", "abstain": "yellow", "again": "dim", "reading": "cyan", "cost": "dim"}
"""How the parts of a tree look on a terminal, by kind; what is not named here looks plain."""


def exit_code(settled: Settled) -> int:
    """How the program ends after a search; 130 where it was interrupted."""
    return 130 if settled.stopped_by == "interrupt" else EXIT[settled.status]


def say_cost(settled: Settled) -> str:
    """What the experiment that was found costs, and how much of that is proved."""
    facts = settled.facts()
    objective, upper = facts["objective"], facts["upper"]
    if settled.status == "bounded" or not settled.is_optimal:
        proved = facts["proved_lower"]
        below = f"lower bound {facts['lower']}" + ("" if proved == facts["lower"] else ", computed and not proved")
        found = "no experiment found" if upper == "inf" else f"best found: {objective} cost {upper}"
        return f"{found}; {below}"
    if objective == "expected":
        return f"optimal expected cost {upper}"
    return f"optimal worst cost {upper}, mean {facts['mean']}" + ("" if facts["mean_is_least"] else " (best found)")


def print_policy(settled: Settled) -> None:
    """The tree of the policy, when it fits."""
    policy = settled.policy
    assert policy is not None
    root = policy.outline if policy.size <= MAX_LINES else None
    if root is None or root.lines > MAX_LINES:
        print_line(f"The policy has {policy.size} nodes and depth {policy.depth}: too large to print. Use --draw.")
    else:
        print_outline(root)


def print_outline(root: Outline) -> None:
    """A tree, line by line."""
    from rich.console import Console
    from rich.text import Text

    from ascertain.drawing.tree import list_lines

    for line in list_lines(root):
        Console().print(Text.assemble(*((text, STYLES.get(kind, "")) for text, kind in line)), soft_wrap=True)


def check_drawing(
    path: Path | None, suffixes: tuple[str, ...] = (".svg", ".html", ".dot", ".txt"), what: str = "a drawing"
) -> None:
    """Refuse a drawing, or another output, that cannot be made before any work is done."""
    if path is not None and path.suffix not in suffixes:
        raise FileError(f"{path}: {what} is {', '.join(suffixes[:-1])}{' or ' * (len(suffixes) > 1)}{suffixes[-1]}")
    if path is not None and not path.parent.is_dir():
        raise FileError(f"{path}: there is no directory {path.parent}")


def save_drawing(path: Path | None, settled: Settled, title: str) -> None:
    """Draw the policy, or why there is none, where a drawing was asked for, in the format that the suffix says."""
    if path is not None and settled.status == "bounded" and settled.policy is None:
        note(f"{path}: not drawn, as no policy was found before the limit")
    elif path is not None:
        settled.draw(path, title)


def save_certificate(path: Path | None, found: Settled | Bounds | FoundSequence, why_not: str) -> None:
    """Write the certificate where one was asked for; `why_not` is said of a result that has none."""
    if path is not None and found.certificate is None:
        note(f"{path}: not written, as {why_not}")
    elif path is not None:
        try:
            written, beside = found.write_certificate(path)
        except KeyboardInterrupt:  # each file is there whole or not at all
            note(f"{path}: not written, as it was interrupted")
        else:
            note(f"wrote {written} and {beside}")
