"""From the section [operation] of a problem file and its log to an operation, every name checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from ascertain.bank.operation import MAX_WORD, Operation, Word
from ascertain.errors import AscertainError, FileError, TaskError, did_you_mean, find_name
from ascertain.model import Model
from ascertain.model.boolean import BooleanPlant
from ascertain.problem.problem import Problem
from ascertain.problem.sections import OperationSection
from ascertain.task.log import LogRecord
from ascertain.types import UNDEFINED, State


def pose_operation(problem: Problem) -> Operation:
    """The operation that a problem file describes."""
    model, records, section = problem.operated, problem.log, problem.operation
    assert model is not None and section is not None  # else there is no log
    if section.replaced > len(records):
        raise TaskError(
            f"{problem.path}: [operation] replaced is {section.replaced}, but {section.log} has {len(records)} commands"
        )
    where, index = f"{problem.path}: [operation] ", {name: a for a, name in enumerate(model.actions)}
    return Operation(
        model=model,
        start=_start(model, section, where),
        sent=np.array(
            [_command(index, r.command, f"{section.log}:{r.line}", FileError) for r in records], dtype=np.int32
        ),
        readings=np.array([_reading(model, section.log, record) for record in records], dtype=np.int32),
        trusted=np.array([record.trusted for record in records]),
        alternatives=read_alternatives(model.actions, section.alternatives, f"{where}alternatives"),
        max_replaced=section.replaced,
        replacement_window=section.replacement_window,
        flip_window=section.flip_window,
    )


def read_alternatives(
    actions: tuple[str, ...], table: Mapping[str, Iterable[str | tuple[str, ...]]], where: str
) -> tuple[tuple[Word, ...], ...]:
    """For every command the words that may replace it; commands that are not named have those of "*", or none."""
    index = {name: a for a, name in enumerate(actions)}
    for command in table:
        if command != "*":
            _command(index, command, where)
    default = tuple(table.get("*", ()))
    return tuple(
        tuple(dict.fromkeys(_word(index, word, where) for word in table.get(command, default))) for command in actions
    )


def _word(index: Mapping[str, int], word: str | tuple[str, ...], where: str) -> Word:
    names = (word,) if isinstance(word, str) and word in index else word.split() if isinstance(word, str) else word
    if len(names) > MAX_WORD:
        raise TaskError(f"{where}: a word has {len(names)} commands; at most {MAX_WORD} are read")
    return tuple(_command(index, name, where) for name in names)


def _command(index: Mapping[str, int], name: str, where: str, error: type[AscertainError] = TaskError) -> int:
    return find_name(name, index, where, "a command of the model", error)


def _start(model: Model | BooleanPlant, section: OperationSection, where: str) -> State:
    if section.start is not None:
        return model.state_named(section.start, f"{where}start")
    if len(model.initial_states) != 1:
        raise TaskError(f'{where}start: the state that the operation started in is needed, such as start = "s0"')
    return model.initial_states[0]


def _reading(model: Model | BooleanPlant, path: Path, record: LogRecord) -> int:
    """The reading's index; a blank says that nothing was read."""
    names = model.readings
    if record.reading in names:
        return names.index(record.reading)
    if record.reading == "":
        return UNDEFINED
    hint = did_you_mean(record.reading, names) or f"; readings are {', '.join(names[:8])}"
    raise FileError(f"{path}:{record.line}: {record.reading!r} is not a reading of the model{hint}")
