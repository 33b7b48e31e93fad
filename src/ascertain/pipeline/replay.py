"""Replay: a recorded run step by step, with what the observer knew after each step.

problem and journal -> the observer, told all that was recorded -> its history beside the journal's steps
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from ascertain.errors import AscertainError
from ascertain.observer.staged import View
from ascertain.pipeline.journal import RecordedRun, RecordedStep, read_journal
from ascertain.pipeline.observe import observe
from ascertain.problem.problem import Problem


@final
@dataclass(frozen=True)
class Replayed:
    """A recorded run, and what was known after each of its steps."""

    recorded: RecordedRun
    views: tuple[View, ...]
    """After step 0, 1, ... as far as the observer can be taken; fewer than the steps where the last was no evidence."""
    without: str | None = None
    """Why there is nothing to be known: the journal is of another problem, or of a conformance run; None: there is."""

    def at(self, number: int) -> tuple[RecordedStep, View | None]:
        """The step of this number, from 0, and what was known after it."""
        return self.recorded.steps[number], self.views[number] if number < len(self.views) else None


def replay(journal: str | Path, problem: Problem | str | Path | None = None) -> Replayed:
    """The run of a journal; with the problem that it is of, what the observer knew. Nothing is sent to anyone."""
    recorded = read_journal(journal)
    if problem is None or recorded.kind != "run":
        why = "no problem was named" if recorded.kind == "run" else "a conformance run compares, and knows no more"
        return Replayed(recorded, (), why)
    try:
        observer = observe(problem, journal=journal, resume=True, dry_run=True).run.observer
    except AscertainError as reason:
        return Replayed(recorded, (), str(reason))
    return Replayed(recorded, tuple(view for _, view in observer.history()))
