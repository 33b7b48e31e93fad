"""What is true of a simulated plant: drawn from the problem and a seed, so that "simulated:7" is a whole story.

Where the problem tells of an operation, the truth is where a run of it ended in which up to `replaced` commands were
replaced: how many, where and by what is drawn, and a run that contradicts a trusted reading of the log is drawn again.
Without an operation the truth is a hypothesis, all alike, or, half of the time, the nominal if the problem names one.
On a hidden model a hypothesis is a belief, and the plant itself draws from it where it begins.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, final

from ascertain.bank.operation import Operation, Replacement, Word
from ascertain.errors import TaskError
from ascertain.model.boolean import BooleanPlant
from ascertain.problem.operation import pose_operation
from ascertain.problem.problem import Problem
from ascertain.types import UNDEFINED, State

DRAWS = 1000
"""Runs that are drawn before one without replacements is taken: by then the trusted readings rule out nearly all."""


@final
@dataclass(frozen=True)
class Truth:
    """What the plant begins with, before the first fresh reading, and what was replaced in the operation."""

    start: Any
    """A state, or on a hidden model a belief."""
    replacements: tuple[Replacement, ...] = ()


def draw_truth(problem: Problem, seed: int) -> Truth:
    """The truth that belongs to a seed."""
    chance = random.Random(f"truth {seed}")  # noqa: S311  a simulation must be repeatable, not secret
    if problem.operation is not None:
        return draw_run(pose_operation(problem), chance)
    question, nominal = problem.question, problem.observe.nominal
    if nominal is not None and chance.random() < 0.5:
        return Truth(question.start_named(nominal, f"{problem.path}: [observe] nominal"))
    return Truth(question.start_of(chance.randrange(question.num_hypotheses)))


def draw_run(operation: Operation, chance: random.Random) -> Truth:
    """A run of the operation, disturbed as declared, that agrees with the trusted readings."""
    replaceable = [t for t, c in enumerate(operation.sent.tolist()) if operation.alternatives[c]]
    most = min(operation.max_replaced, len(replaceable))
    for _ in range(DRAWS):
        places = sorted(chance.sample(replaceable, chance.randint(0, most)))
        replacements = tuple((t, chance.choice(operation.alternatives[int(operation.sent[t])])) for t in places)
        end = end_of_run(operation, replacements)
        if end is not None:
            return Truth(end, replacements)
    end = end_of_run(operation, (), trust=False)
    if end is None:
        raise TaskError("the log of the operation cannot have happened: one of its commands is not defined there")
    return Truth(end)


def end_of_run(operation: Operation, replacements: tuple[Replacement, ...], trust: bool = True) -> State | None:
    """Where a run with these replacements ends; None when it is impossible, or contradicts a trusted reading.

    Without `trust` no reading is looked at, and without replacements the run is the log as it was sent.
    """
    instead, state = dict(replacements), operation.start
    for t, sent in enumerate(operation.sent.tolist()):
        word = instead.get(t, (sent,))
        expected = int(operation.readings[t]) if trust and operation.trusted[t] else UNDEFINED
        after = _follow(operation, state, sent, word, expected)
        if after is None:
            return None
        state = after
    return state


def _follow(operation: Operation, state: State, sent: int, word: Word, expected: int) -> State | None:
    """The state after what was done in place of a command; None when it cannot be done, or `expected` is not read."""
    model = operation.model
    # A plant shows the bit that the command sent is about, whatever was done in its place. A machine shows what the
    # last command done reads, and nothing where none was.
    if isinstance(model, BooleanPlant):
        state, _ = model.run(state, word)
        return state if expected in (UNDEFINED, state >> model.commands[sent].tap & 1) else None
    for i, command in enumerate(word):
        law = model.reading_law(state, command)
        if not law or (i == len(word) - 1 and expected != UNDEFINED and law.get(expected, 0) < max(law.values())):
            return None
        state = int(model.successor[state, command])
    return state
