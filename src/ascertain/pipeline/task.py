"""Task: a question in its canonical JSON form, which is what certificates are checked against."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import final

from ascertain.problem.problem import Problem, find_question
from ascertain.task.canonical import canonical_bytes, task_data
from ascertain.task.question import AbstractQuestion


@final
@dataclass(frozen=True)
class CanonicalTask:
    """A question as bytes: equal questions have equal bytes."""

    data: bytes

    @property
    def text(self) -> str:
        """The JSON text."""
        return self.data.decode()

    @property
    def sha256(self) -> str:
        """The hash that certificates name the question by, in hexadecimal."""
        return sha256(self.data).hexdigest()


def canonicalise(question: AbstractQuestion | Problem | str | Path, *, observed: bool = False) -> CanonicalTask:
    """The canonical form of a question, or of a problem's with every state listed.

    With `observed` it is the form that a run is certified for, in which a Boolean plant is not enumerated.
    """
    asked, _ = find_question(question, lambda problem: problem.question if observed else problem.listed_question)
    return CanonicalTask(canonical_bytes(task_data(asked)))
