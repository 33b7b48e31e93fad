"""Reading the problem that a verb was given."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ascertain.cli.show.output import note
from ascertain.cli.show.progress import announce_compilation
from ascertain.errors import FileError
from ascertain.problem.problem import Problem, read_any_problem, read_problem


def load_problem(path: Path, *, hidden: bool = False) -> Problem:
    """The problem of a file; one about a hidden model is refused unless it may be `hidden`."""
    announce_compilation()
    problem = read_any_problem(path) if hidden else read_problem(path)
    for remark in problem.notes:
        note(remark)
    return problem


def _resolve(path: Path) -> Path:
    """Where a path leads; one that no file can have, as with a null character, is refused when it is opened."""
    try:
        return path.resolve()
    except ValueError:
        return path


def refuse_overwriting(outputs: Iterable[Path | None], inputs: Iterable[Path]) -> None:
    """An answer must not be written over what it is an answer to."""
    taken = {_resolve(path) for path in inputs}
    for path in outputs:
        if path is not None and _resolve(path) in taken:
            raise FileError(f"{path}: this file is an input of the question; choose another name for the output")
