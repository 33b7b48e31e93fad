"""Reading the problem that a verb was given."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ascertain.cli.show.output import note
from ascertain.cli.show.progress import announce_compilation
from ascertain.errors import FileError
from ascertain.problem.problem import Problem, read_any_problem, read_problem
from ascertain.writing import check_place


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
    """An answer must not be written over what it is an answer to, nor over another one.

    What could not be written at all is refused too, before a search or a run on a plant that would be lost.
    """
    taken, given = {_resolve(path) for path in inputs}, set[Path]()
    for path in outputs:
        if path is None:
            continue
        place = _resolve(path)
        if place in taken:
            raise FileError(f"{path}: this file is an input of the question; choose another name for the output")
        if place in given:
            raise FileError(f"{path}: two outputs of this call have that name; choose another for one of them")
        check_place(path)
        given.add(place)
