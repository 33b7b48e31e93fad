"""A plant that is a person: it is told what to do and types what it reads.

What is typed must be a reading that the action can give; anything else is asked again, and when it is typed the third
time it is taken at its word, as it would be from a program: the plant is none of these. The marks of the line protocol
mean here what they mean there: `?` nothing could be read, `!` the action was not done, `~` it is not known whether it
was done. End of input is a hang-up. Escapes are understood as well: `%3F` should a reading be called `?`, `%` if it is
empty.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import final

from ascertain.errors import did_you_mean
from ascertain.plant import PlantContext, PlantKind, Prompt
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import Garbled, HungUp, Refused
from ascertain.plant.lines import MARKS, read_answer, read_name

TRIES = 3
"""How often a person may type what is no reading: enough for slips of the finger, and something new is heard."""
SHOWN = 12
"""Readings that a prompt lists: what fits a line or two."""


@final
class ManualPlant(AbstractPlant):
    """Asks a person for each reading; `ask` is how to talk to them."""

    name = "manual"

    def __init__(self, readings: Mapping[str, Sequence[str]], ask: Prompt) -> None:
        self._readings_of = {action: tuple(names) for action, names in readings.items()}
        self._readings: tuple[str, ...] = ()
        self._ask = ask

    def send(self, action: str) -> str:
        if action not in self._readings_of:
            raise Refused(f"{action!r} is not an action that readings are known for")
        self._readings = self._readings_of[action]
        question = f"do {action}, then type what you read ({self._shown()}; ? nothing, ! not done, ~ unsure): "
        prompt, typed = question, ""
        for left in reversed(range(TRIES)):
            try:
                typed = self._ask(prompt).strip()
            except EOFError:
                raise HungUp(f"the input ended where a reading for {action!r} was expected") from None
            if (reading := self._understand(typed, action)) is not None:
                return reading
            if left == 0:
                break
            hint = did_you_mean(typed, self._readings)
            again = "try again, twice" if left > 1 else "try once more; what you type then counts as read"
            prompt = f"{typed[:80]!r} is not a reading that {action!r} can give{hint}; {again}\n{question}"
        if not typed:
            raise Garbled(f"nothing was typed where a reading for {action!r} was expected, {TRIES} times")
        return typed

    def _understand(self, typed: str, action: str) -> str | None:
        """The reading that was typed; None when it is none, and the fault that was typed is raised."""
        if typed[:1] in MARKS:
            return read_answer(typed, action)
        if typed in self._readings:
            return typed
        with contextlib.suppress(Garbled):  # a '%' that escapes nothing is a typing mistake here
            if read_name(typed) in self._readings:
                return read_name(typed)
        return None

    def _shown(self) -> str:
        rest = len(self._readings) - SHOWN
        return ", ".join(self._readings[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _open(_: str, context: PlantContext) -> ManualPlant:
    model = context.model
    readings = {name: [model.readings[y] for y in model.possible_readings(a)] for a, name in enumerate(model.actions)}
    return ManualPlant(readings, context.ask)


MANUAL = PlantKind("manual", "manual: (you type readings)", _open, asks_person=True, needs_model=True)
"""A person at the terminal."""
