"""A plant that was recorded: it answers what the log says, as long as it is asked what the log was asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from ascertain.plant import PlantContext, PlantKind
from ascertain.plant.abstract import AbstractPlant
from ascertain.plant.faults import HungUp, Missing, Refused


@final
@dataclass(frozen=True)
class Recorded:
    """One row of a recording: the line that it stands on, what was sent, and what was read; None if nothing was."""

    line: int
    action: str
    reading: str | None


@final
class ReplayedPlant(AbstractPlant):
    """Answers from a recording, in its order; anything that was not recorded is refused, with the line."""

    name = "replay"

    def __init__(self, rows: Iterable[Recorded], source: str) -> None:
        self._rows = tuple(rows)
        self._source = source
        self._next = 0

    def send(self, action: str) -> str:
        if self._next == len(self._rows):
            raise HungUp(f"{self._source}: the recording ends after {len(self._rows)} actions, before {action!r}")
        row = self._rows[self._next]
        if row.action != action:
            raise Refused(f"{self._source}:{row.line}: {action!r} was asked where {row.action!r} was recorded")
        self._next += 1
        if row.reading is None:
            raise Missing(f"{self._source}:{row.line}: nothing was read")
        return row.reading

    def skip(self, action: str) -> None:
        """Pass over the row of an action of which it is not known whether it was sent."""
        self.resume([action])

    def resume(self, actions: Sequence[str], confirmed: int | None = None) -> None:
        """Pass over the rows of the actions that were sent before."""
        for action in actions:
            try:
                self.send(action)
            except Missing:
                continue


def _open(text: str, context: PlantContext) -> ReplayedPlant:
    return ReplayedPlant(context.read_recording(Path(text)), str(Path(text)))


REPLAY = PlantKind("replay", "replay:FILE", _open, reads_file=True, needs_model=True)
"""A log that answers as the plant did."""
