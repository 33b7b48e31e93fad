"""Check an answer: the plant was found to be one of the hypotheses; is it what the answer names at all?

method -> refused if no words from reset can check it -> the run, answered -> conformance to what it named
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from ascertain.conformance.suite import check_size
from ascertain.errors import FileError, TaskError
from ascertain.live.journal import Journal
from ascertain.live.session import Run
from ascertain.pipeline import Tell
from ascertain.pipeline.conform import Conformed, conform, read_method
from ascertain.plant.abstract import AbstractPlant
from ascertain.policy.verdict import Certified, Verdict
from ascertain.problem.conformance import as_conformable, check_answers, find_reset
from ascertain.problem.problem import Problem
from ascertain.task.task import Task

RESET = "RESET"
"""What leads back to the start, unless another action is named."""


@final
@dataclass(frozen=True)
class AnswerCheck:
    """How an answer is to be checked, where that is known to be possible."""

    task: Task
    how: dict[str, int]
    reset: str

    def run(
        self, run: Run, plant: AbstractPlant, journal: str | Path | None, resume: bool, note: Tell, **words: Any
    ) -> Conformed:
        """Conformance to what a run has answered, with a journal beside that of the run; `note` hears the price."""
        assert isinstance(run.verdict, Certified)
        beside = _beside(journal)
        return conform(
            self.task,
            plant,
            **self.how,
            hypothesis=run.verdict.label,
            reset=self.reset,
            before=_list_steps(run),
            journal=beside,
            resume=resume and beside is not None and beside.exists(),
            announce=lambda planned: note(f"conformance: {planned.price}"),
            **words,
        )

    def is_over(self, verdict: Verdict | None, journal: str | Path | None) -> bool:
        """Whether a run with this verdict leaves nothing to be checked, or nothing that is not recorded."""
        beside = _beside(journal)
        if not isinstance(verdict, Certified):
            return True
        if beside is None or not beside.exists():
            return False
        with Journal(beside, read_only=True) as recorder:
            return bool(recorder.records) and recorder.records[-1]["record"] == "end"


def pose_check(
    method: str | None,
    problem: Problem,
    reset: str,
    approve: Callable[[str], bool] | None,
    journal: str | Path | None,
    resume: bool,
) -> AnswerCheck | None:
    """How answers to this problem are to be checked; what cannot be is refused before anything is sent."""
    if method is None:
        if reset != RESET:
            raise TaskError(f"--reset {reset!r} is for conformance; add --conform complete:0, or leave it out")
        return None
    how = read_method(method)
    if approve is not None:
        raise TaskError(
            "--approve asks before each action, and --conform may send thousands; leave one of them out, or see what "
            "it would send with `ascertain conform --plan-only`"
        )
    if problem.observe.silence != "evidence":
        raise TaskError(
            "--conform compares every reading, silence too, and [observe] silence says that it is no evidence; leave "
            "one of them out"
        )
    beside = _beside(journal)
    if beside is not None and beside.exists() and not resume:
        raise FileError(f"{beside}: this journal has begun already; add --resume to go on with it")
    task = as_conformable(problem.question)
    num_states = check_answers(task, find_reset(task, reset))
    if "complete" in how:
        check_size(num_states, len(task.actions) - 1, how["complete"])
    return AnswerCheck(task, how, reset)


def _beside(journal: str | Path | None) -> Path | None:
    """The journal of the words, beside that of the run."""
    return None if journal is None else Path(f"{journal}.conformance")


def _list_steps(run: Run) -> tuple[tuple[str, str], ...]:
    """What the experiment did and read; nothing where a reading was lost or an action is in doubt."""
    model, steps = run.observer.settings.model, run.observer.transcript
    read = [(model.actions[s.action], model.readings[s.reading]) for s in steps if s.reading is not None and s.certain]
    return tuple(read) if len(read) == len(steps) else ()
