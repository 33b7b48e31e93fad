"""The plant that a text means for a problem: "simulated:7", "exec:python plant.py", "tcp://bench:50", "manual:", ..."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ascertain.errors import TaskError
from ascertain.plant import PlantContext, Prompt, find_kind
from ascertain.plant.abstract import AbstractPlant, as_plant
from ascertain.plant.replayed import Recorded
from ascertain.problem.problem import Problem, as_problem
from ascertain.problem.truth import draw_truth
from ascertain.task.log import read_log
from ascertain.task.question import AbstractQuestion

MAX_TIMEOUT = 86400.0
"""A day in seconds: whoever waits longer for one reading has made a typing mistake."""


def open_plant(
    text: str,
    problem: Problem | AbstractQuestion,
    *,
    timeout: float = 10.0,
    run: str = "0",
    ask: Prompt = input,
) -> AbstractPlant:
    """Open the plant for this problem; `run` names the run to a plant that remembers, `ask` prompts a person."""
    problem = as_problem(problem)
    if not 0 < timeout <= MAX_TIMEOUT:
        raise TaskError(f"--timeout: {timeout} is not understood; write seconds, more than 0 and at most a day")
    kind, rest = find_kind(text)
    model = problem.question.model

    def find_start(seed: int, name: str) -> Any:
        return problem.question.start_named(name, "--plant") if name else draw_truth(problem, seed).start

    def read_recording(path: Path) -> Iterator[Recorded]:
        blank = "" if "" in model.readings else None
        for record in read_log(path):
            yield Recorded(record.line, record.command, record.reading or blank)

    return as_plant(kind.open(rest, PlantContext(model, timeout, run, ask, find_start, read_recording)))
