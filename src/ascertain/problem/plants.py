"""The plant that a text means: "simulated:7", "exec:python plant.py", "tcp://bench:50", "replay:run.csv", "manual:"."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from ascertain.errors import TaskError, did_you_mean
from ascertain.model.hidden import certain
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.channel import open_program, open_socket
from ascertain.plant.line_plant import LinePlant
from ascertain.plant.manual import ManualPlant
from ascertain.plant.replayed import Recorded, ReplayedPlant
from ascertain.plant.simulated import SimulatedPlant
from ascertain.plant.simulated_hidden import SimulatedHiddenPlant
from ascertain.problem.problem import AnyProblem, HiddenProblem
from ascertain.problem.truth import draw_belief, draw_truth
from ascertain.task.log import read_log

KINDS = ("simulated:SEED", "simulated:SEED:STATE", "exec:COMMAND", "tcp://HOST:PORT", "replay:FILE", "manual:")
MAX_TIMEOUT = 86400.0


def open_plant(
    text: str, problem: AnyProblem, *, timeout: float = 10.0, run: str = "0", ask: Callable[[str], str] = input
) -> AbstractPlant:
    """Open the plant for this problem; `run` names the run to a plant that remembers, `ask` prompts a person."""
    if not 0 < timeout <= MAX_TIMEOUT:
        raise TaskError(f"--timeout: {timeout} is not understood; write seconds, more than 0 and at most a day")
    kind, _, rest = text.partition(":")
    match kind:
        case "simulated":
            return _simulate(rest, problem)
        case "exec":
            return LinePlant(lambda: open_program(rest), timeout=timeout, run=run, begins=True)
        case "tcp":
            host, port = _read_address(text)
            return LinePlant(lambda: open_socket(host, port, timeout), timeout=timeout, run=run)
        case "replay":
            return _replay(Path(rest), problem)
        case "manual":
            return ManualPlant(_readings_of(problem), ask)
        case _:
            hint = did_you_mean(kind, [known.partition(":")[0] for known in KINDS])
            raise TaskError(f"--plant: {text[:80]!r} is not understood{hint or '; write ' + ', '.join(KINDS)}")


def _readings_of(problem: AnyProblem) -> Mapping[str, tuple[str, ...]]:
    """By action, what it can give."""
    model = problem.question.model
    return {name: tuple(model.readings[y] for y in model.possible_readings(a)) for a, name in enumerate(model.actions)}


def _simulate(text: str, problem: AnyProblem) -> AbstractPlant:
    digits, _, name = text.partition(":")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
        raise TaskError(f"--plant: the seed {digits[:40]!r} is not a whole number; write for example simulated:7")
    seed = int(digits)
    if isinstance(problem, HiddenProblem):
        return _simulate_hidden(problem, seed, name)
    model = problem.question.model
    state = model.state_named(name, "--plant") if name else draw_truth(problem, seed).state
    return SimulatedPlant(model, state, f"readings {seed}")


def _simulate_hidden(problem: HiddenProblem, seed: int, name: str) -> SimulatedHiddenPlant:
    """From the hypothesis, or else the state, of that name; where there is no name, from the one of the seed."""
    task = problem.task
    if not name:
        belief = draw_belief(problem, seed)
    elif name in task.name or name not in task.model.index:
        belief = task.belief[task.candidate_named(name, "--plant")]
    else:
        belief = certain(task.model.index[name])
    return SimulatedHiddenPlant(task.model, belief, f"readings {seed}")


def _read_address(text: str) -> tuple[str, int]:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not port or text.partition("://")[2].rpartition(":")[2] != str(port):
        raise TaskError(
            f"--plant: {text[:80]!r} is not an address; write tcp://HOST:PORT, such as tcp://localhost:5000"
        )
    return host, port


def _replay(path: Path, problem: AnyProblem) -> ReplayedPlant:
    blank = "" if "" in problem.question.model.readings else None
    rows = [Recorded(record.line, record.command, record.reading or blank) for record in read_log(path)]
    return ReplayedPlant(rows, str(path))
