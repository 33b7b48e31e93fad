"""The plant that a text means for a problem: "simulated:7", "exec:python plant.py", "wiring.toml", "manual:", ..."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any

from ascertain.errors import TaskError
from ascertain.model.build import machine_from_transitions
from ascertain.plant import PlantContext, PlantKind, Prompt, find_kind
from ascertain.plant.abstract import AbstractPlant, as_plant
from ascertain.plant.replayed import Recorded
from ascertain.problem.hosts import Host
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
    host: Host | None = None,
) -> AbstractPlant:
    """Open the plant for this problem; `run` names the run to a plant that remembers, `ask` prompts a person.

    What the text, or the address in a wiring file, names in braces is filled in by what is known of the `host`.
    """
    problem = as_problem(problem)
    _check_timeout(timeout)
    if host is not None:
        text = host.fill(text)
    kind, rest = find_kind(text)
    model = problem.question.model

    def find_start(seed: int, name: str) -> Any:
        return problem.question.start_named(name, "--plant") if name else draw_truth(problem, seed).start

    def read_recording(path: Path) -> Iterator[Recorded]:
        blank = "" if "" in model.readings else None
        for record in read_log(path):
            yield Recorded(record.line, record.command, record.reading or blank)

    fill = str if host is None else host.fill
    return _open(text, kind, rest, PlantContext(model, timeout, run, ask, find_start, read_recording, fill))


def open_unmodelled(text: str, actions: Sequence[str], *, timeout: float = 10.0) -> AbstractPlant:
    """Open a plant of which no more is known than its actions: it is to be learned."""
    _check_timeout(timeout)
    kind, rest = find_kind(text)
    if kind.needs_model:
        raise TaskError(
            f"--plant: {kind.written} answers by a model, which is what is to be learned; name another plant"
        )
    shell = machine_from_transitions([("unknown", action, "unknown", "unknown") for action in actions], "unknown")

    def refuse(*_: object) -> Any:
        raise TaskError(f"--plant: {text[:80]!r} needs a problem, and there is none yet; name another plant")

    return _open(text, kind, rest, PlantContext(shell, timeout, token_hex(8), refuse, refuse, refuse))


def _open(text: str, kind: PlantKind, rest: str, context: PlantContext) -> AbstractPlant:
    assert kind.open is not None, "a kind that cannot be opened by its name is refused when it is looked for"
    plant = as_plant(kind.open(rest, context))
    plant.address = plant.address or text
    return plant


def _check_timeout(timeout: float) -> None:
    if not 0 < timeout <= MAX_TIMEOUT:
        raise TaskError(f"--timeout: {timeout} is not understood; write seconds, more than 0 and at most a day")
