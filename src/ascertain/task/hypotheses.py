"""Which states the plant may be in: all of them, the initial ones, some by name or pattern, or those that a log
leaves possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from ascertain.errors import TaskError, find_name
from ascertain.model import Model
from ascertain.model.abstract import AbstractListed
from ascertain.task.log import LogRecord
from ascertain.task.pattern import search_names
from ascertain.types import UNDEFINED, BoolArray, IntArray

StateChoice: TypeAlias = Literal["all", "initial"] | Sequence[str]
"""Which states: every one, those that the model begins in, or a list of names."""


def choose_states(model: AbstractListed, choice: StateChoice) -> IntArray:
    """The states meant by "all", by "initial", or by a list of names."""
    if choice == "all":
        return np.arange(model.num_states, dtype=np.int32)
    if choice == "initial":
        if not model.initial_states:
            raise TaskError('hypotheses = "initial", but the model names no initial state; list the states instead')
        return np.array(model.initial_states, dtype=np.int32)
    if isinstance(choice, str) or not isinstance(choice, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TaskError(f'hypotheses: {choice!r} is not understood; write "all", "initial" or a list of states')
    if not choice:
        raise TaskError("hypotheses: the list names nothing; at least one state is needed")
    states = [model.state_named(name, "hypotheses") for name in choice]
    return np.array(list(dict.fromkeys(states)), dtype=np.int32)


def states_matching(model: AbstractListed, pattern: str) -> IntArray:
    """The states in whose name the pattern finds something."""
    found = search_names(pattern, model.states, "hypotheses: pattern")
    states = [s for s, match in enumerate(found) if match is not None]
    if not states:
        raise TaskError(f"hypotheses: the pattern {pattern!r} names nothing: it matches no state of the model")
    return np.array(states, dtype=np.int32)


def states_after_log(noisy: Model, exact: Model, records: Sequence[LogRecord], where: str) -> IntArray:
    """The states that the plant may be in after the log, whatever state it started in.

    A trusted reading must be possible in `exact`, the model before noise was added; another one in `noisy`. A state in
    which a logged command is not defined cannot have been there.
    """
    now = np.arange(noisy.num_states, dtype=np.int32)
    for record in records:
        find_name(record.command, noisy.actions, f"{where}:{record.line}", "an action of the model", TaskError)
        if not is_lost(noisy, record):
            find_name(record.reading, noisy.readings, f"{where}:{record.line}", "a reading of the model", TaskError)
        possible, after = follow_record(noisy, exact, now, record)
        now = np.unique(after[possible])
        if not now.size:
            raise TaskError(f"{where}:{record.line}: no state explains the log up to here; is it of this model?")
    return now


def starts_explaining(model: Model, starts: IntArray, records: Sequence[LogRecord], where: str) -> list[int]:
    """The places in `starts` of the states from which the log is possible; an unknown reading has no explanation."""
    left, now = np.arange(len(starts)), starts
    for record in records:
        find_name(record.command, model.actions, f"{where}:{record.line}", "an action of the model", TaskError)
        if record.reading not in model.readings and not is_lost(model, record):
            return []
        possible, after = follow_record(model, model, now, record)
        left, now = left[possible], after[possible]
    return [int(h) for h in left]


def follow_record(noisy: Model, exact: Model, now: IntArray, record: LogRecord) -> tuple[BoolArray, IntArray]:
    """For each state whether the record is possible there, and where it leads."""
    a = noisy.actions.index(record.command)
    after = noisy.successor[now, a]
    if is_lost(noisy, record):
        return after != UNDEFINED, after
    believed = exact if record.trusted else noisy
    return believed.laws_giving(noisy.readings.index(record.reading))[believed.behaviour[now, a]], after


def is_lost(model: Model, record: LogRecord) -> bool:
    """Whether the reading of a record is blank, and that is no reading of the model: then it contradicts nothing."""
    return not record.reading and "" not in model.readings
