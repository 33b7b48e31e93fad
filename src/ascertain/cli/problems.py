"""Reading the problem that a verb was given."""

from __future__ import annotations

from pathlib import Path

from ascertain.cli.output import note
from ascertain.cli.progress import announce_compilation
from ascertain.task.problem import Problem, read_problem


def load_problem(path: Path) -> Problem:
    """The problem of a file; sections that this version does not read are mentioned, not passed over."""
    announce_compilation()
    problem = read_problem(path)
    for section in problem.unread:
        note(f"{path}: section [{section}] is not read by this version and was not checked")
    return problem
