"""Sets of states as bit masks: what an action reads in them, and where it leads them.

Throughout: e is an *element*, a state among those that the hypotheses of a task can become, numbered by its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import numpy as np

from ascertain.errors import LimitError, TaskError
from ascertain.quotients.separation import list_reachable, successors_within
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, Action

MOST_ELEMENTS = 3_000
"""Elements that sets are made of: their pairs take a quarter of a gigabyte."""


@final
class Subsets:
    """The part of a machine that the hypotheses of a task can reach, for searches over sets."""

    def __init__(self, task: Task) -> None:
        if not task.model.is_exact:
            raise TaskError("words of state identification are for machines without noise, and this one has noise")
        self.states = list_reachable(task.model, task.state)
        if len(self.states) > MOST_ELEMENTS:
            raise LimitError(
                f"hypotheses can become {len(self.states)} states; words are sought on up to {MOST_ELEMENTS}, and "
                "splitting trees on millions"
            )
        self.successor = successors_within(task.model, self.states)
        self.behaviour = task.model.behaviour[self.states]
        price, _ = task.integer_costs()
        self.cost: list[int] = price.tolist()
        self.is_total = not bool((self.successor == UNDEFINED).any())
        self.start = [int(e) for e in np.searchsorted(self.states, task.state)]
        """The element of each hypothesis."""
        self.allowed = [_mask(np.flatnonzero(column != UNDEFINED)) for column in self.successor.T]
        """The elements that allow each action."""
        self.reading = [
            tuple(_mask(np.flatnonzero(column == y)) for y in np.unique(column) if y != UNDEFINED)
            for column in self.behaviour.T
        ]
        """For each action the sets of elements that read alike."""
        self._lead: list[list[int]] = self.successor.T.tolist()
        self._images: list[dict[tuple[int, int], int]] = [{} for _ in self.cost]
        self._num_bytes = (len(self.states) + 7) // 8

    def image(self, mask: int, action: Action) -> int:
        """Where an action that all of them allow leads the elements of a set."""
        found, images = 0, self._images[action]
        for k, byte in enumerate(mask.to_bytes(self._num_bytes, "little")):
            if byte:
                part = images.get((k, byte))
                if part is None:  # eight elements at a time, each combination once
                    lead = self._lead[action]
                    part = 0
                    for i in range(8):
                        if byte >> i & 1:
                            part |= 1 << lead[8 * k + i]
                    images[k, byte] = part
                found |= part
        return found

    def parts(self, mask: int, action: Action) -> Iterator[int]:
        """The set, divided by what is read."""
        for alike in self.reading[action]:
            if mask & alike:
                yield mask & alike

    def everything(self) -> int:
        """The set of what hypotheses begin in."""
        return _mask(np.array(self.start))


def members(mask: int) -> list[int]:
    """The elements of a set, ascending."""
    return [e for e in range(mask.bit_length()) if mask >> e & 1]


def _mask(elements: np.ndarray) -> int:
    found = 0
    for e in elements.tolist():
        found |= 1 << e
    return found
