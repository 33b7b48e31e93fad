"""An operation: a logged run of commands from a known start, some of which may have been replaced by others.

Throughout: t is a position in the log, from 0. `sent[t]` is the command that was sent there and `readings[t]` what the
log says was read, UNDEFINED where it says nothing. At most `max_replaced` of the commands were replaced, each by one
of the words `alternatives[sent[t]]`: the empty word when it was dropped, two commands when it was doubled. *Trusted*
readings are exact; the others may be wrong. What is read at position t is

- on a Boolean plant the tap of the *sent* command, after all that was done in its place (nothing, for the empty word);
- on a machine the output of the last command that was done; nothing, for the empty word.

A reading is *contradicted* when the plant would have shown another one. On a noisy machine that is: one that is not
among the likeliest there. A path whose command is not defined where it is done has not happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, final

import numpy as np
import numpy.typing as npt

from ascertain.drawing.shown import Shown
from ascertain.errors import TaskError
from ascertain.model import Model
from ascertain.model.boolean import BooleanPlant
from ascertain.types import UNDEFINED, Action, BoolArray, IntArray, State

Word: TypeAlias = tuple[Action, ...]
"""Commands done one after the other."""
Window: TypeAlias = tuple[int, int]
"""The least and the greatest number that is expected, both included."""
Replacement: TypeAlias = tuple[int, Word]
"""A position in the log, and what was done there instead of the command that was sent."""

T = TypeVar("T", bound=np.generic)

MAX_LENGTH = 1_000_000
"""Counts of readings then fit the 20 bits that packed scores have for them (`kernels/bank/best.py`)."""
MAX_WORD = 16
"""What may have been done instead of one command is short; longer words are taken for a mistake in the declaration."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Operation(Shown):
    """What was logged and what is declared about it; nothing here depends on what truly happened."""

    model: Model | BooleanPlant
    start: State
    sent: IntArray
    readings: IntArray
    trusted: BoolArray
    alternatives: tuple[tuple[Word, ...], ...]
    """For every command of the model the words that may have been done in its place."""
    max_replaced: int
    replacement_window: Window
    flip_window: Window

    def __post_init__(self) -> None:
        model = self.model
        num_commands, num_readings = len(model.actions), len(model.readings)
        object.__setattr__(self, "sent", _column(self.sent, np.int32, "command", 0, num_commands))
        object.__setattr__(self, "readings", _column(self.readings, np.int32, "reading", UNDEFINED, num_readings))
        object.__setattr__(self, "trusted", _column(self.trusted, np.bool_, "trust", 0, 2))
        if not 0 < self.length <= MAX_LENGTH or not self.length == self.readings.size == self.trusted.size:
            raise TaskError(f"an operation has 1 to {MAX_LENGTH} commands, each with reading and trust")
        if not 0 <= self.start < model.num_states:
            raise TaskError(f"the operation starts in state {self.start}; states are 0 .. {model.num_states - 1}")
        if not 0 <= self.max_replaced <= self.length:
            raise TaskError(f"replaced is {self.max_replaced}; it must be from 0 to {self.length}, the log's length")
        for name, (low, high) in (("replacements", self.replacement_window), ("flips", self.flip_window)):
            if not 0 <= low <= high:
                raise TaskError(f"window: {name} is [{low}, {high}]; write the least number first, from 0 on")
        self._check_alternatives(num_commands)

    def _check_alternatives(self, num_commands: int) -> None:
        if len(self.alternatives) != num_commands:
            raise TaskError(f"there are alternatives for {len(self.alternatives)} of {num_commands} commands")
        for command, words in zip(self.model.actions, self.alternatives, strict=True):
            if len(set(words)) < len(words):
                raise TaskError(f"alternatives: a word is listed twice for {command!r}")
            if any(len(word) > MAX_WORD or not all(0 <= c < num_commands for c in word) for word in words):
                raise TaskError(f"alternatives: words of at most {MAX_WORD} commands of the model, for {command!r}")

    def shown(self) -> Mapping[str, object]:
        return {"model": repr(self.model), "commands": self.length, "max_replaced": self.max_replaced}

    @property
    def length(self) -> int:
        return self.sent.size


def _column(values: npt.ArrayLike, dtype: type[T], name: str, low: int, high: int) -> npt.NDArray[T]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and not (low <= int(array.min()) and int(array.max()) < high)):
        raise TaskError(f"every {name} of an operation must be a number in {low} .. {high - 1}")
    column = np.array(array, dtype=dtype)
    column.setflags(write=False)
    return column
