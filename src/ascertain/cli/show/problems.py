"""Reading the problem that a verb was given."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from ascertain.cli.show.output import note
from ascertain.cli.show.progress import announce_compilation
from ascertain.errors import FileError
from ascertain.problem.problem import AnyProblem, Problem, read_any_problem, read_problem

Read = TypeVar("Read", Problem, AnyProblem)


def load_problem(path: Path) -> Problem:
    """The problem of a file."""
    announce_compilation()
    return _tell(read_problem(path))


def load_any_problem(path: Path) -> AnyProblem:
    """The problem of a file, about a hidden model too."""
    announce_compilation()
    return _tell(read_any_problem(path))


def _tell(problem: Read) -> Read:
    for remark in problem.notes:
        note(remark)
    return problem


def refuse_overwriting(outputs: Iterable[Path | None], inputs: Iterable[Path]) -> None:
    """An answer must not be written over what it is an answer to."""
    taken = {path.resolve() for path in inputs}
    for path in outputs:
        if path is not None and path.resolve() in taken:
            raise FileError(f"{path}: this file is an input of the question; choose another name for the output")


def certificate_files(path: Path | None) -> list[Path]:
    """The two files that a certificate of this name becomes."""
    from ascertain.certificate.write import name_files

    return [] if path is None else list(name_files(path))
