"""The census of a Boolean plant: how many readings each of its states contradicts, and how many states share a count.

Every state goes through every command, bit-sliced, and none is dropped. While they fit into memory, all states stay
where the commands have led them, with their counts, and a reading takes one pass over them. Otherwise only what is
counted is kept, and each reading leads all states through the whole history again, tile by tile. Each way that doubted
actions may have gone is a *case* and has a census of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ascertain.evidence.evidence import Step
from ascertain.kernels.evidence.census import count_states, list_counts
from ascertain.kernels.evidence.worlds import MISSING, TILE, Steps
from ascertain.kernels.model.boolean import ALL
from ascertain.model.boolean import BooleanPlant
from ascertain.types import IntArray, LongArray, WordArray

MAX_HELD = 1 << 30
"""Bytes of states and counts that are kept in memory: with 24 bits they take 65 MB, with 27 some 600."""
TILES_AT_ONCE = 64
"""Tiles that are counted in one call of the kernel: milliseconds, so that Ctrl-C is heard soon."""


@final
@dataclass(eq=False)
class Case:
    """One way that the doubts may have gone: `many[k]` states contradict k readings."""

    ran: tuple[bool, ...]
    many: list[int]
    slices: WordArray | None
    """By tile, bit and word; None where the states are not kept."""
    planes: WordArray | None
    """By tile, place of the count and word."""


@final
class Census:
    """Made before the first reading; steps go in one at a time."""

    def __init__(self, plant: BooleanPlant, max_held: int = MAX_HELD) -> None:
        self._plant, self._max_held = plant, max_held
        self._num_words = max(1, (1 << plant.num_bits) // 64)
        self._width = min(TILE, self._num_words)
        # Fewer than 64 states fill a part of the only word.
        self._present = ALL if plant.num_bits >= 6 else np.uint64((1 << (1 << plant.num_bits)) - 1)
        self._history: list[Step] = []
        self.num_readings = 0
        slices, planes = self._begin() if self._fits(1) else (None, None)
        self.cases = [Case((), [1 << plant.num_bits], slices, planes)]

    def take(self, step: Step) -> None:
        """One more step, for every state."""
        self._history.append(step)
        if not step.certain:
            self.cases = self._double(step)
            return
        self.num_readings += step.reading is not None
        for case in self.cases:
            self._advance(case, step)

    def _advance(self, case: Case, step: Step) -> None:
        counted = step.reading is not None
        if case.slices is not None and case.planes is not None:
            if self.num_readings >> case.planes.shape[1]:
                # Room for counts of twice the size.
                case.planes = np.concatenate([case.planes, np.zeros_like(case.planes[:, :1])], axis=1)
            many = self._count(case.slices, case.planes, self._encode([step], ()), None, counted)
        elif counted:
            many = np.zeros(self.num_readings + 1, dtype=np.int64)
            steps = self._encode(self._history, case.ran)
            for first in range(0, self._num_words, TILES_AT_ONCE * self._width):
                many += self._count(*self._room(first), steps, first, counted)
        else:
            return
        if counted:
            case.many = [int(number) for number in many]

    def _double(self, step: Step) -> list[Case]:
        """Both cases of a doubted action: that it ran, which leads the states on, and that it did not."""
        held = self._fits(2 * len(self.cases))
        ran: list[Case] = []
        stayed: list[Case] = []
        for case in self.cases:
            slices, planes = (case.slices, case.planes) if held else (None, None)
            stayed.append(Case((*case.ran, False), list(case.many), slices, planes))
            if slices is not None and planes is not None:
                slices, planes = slices.copy(), planes.copy()
                self._count(slices, planes, self._encode([Step(step.action, None)], ()), None, counted=False)
            ran.append(Case((*case.ran, True), list(case.many), slices, planes))
        return [*ran, *stayed]

    def strongest(self, case: Case, limit: int) -> WordArray:
        """At most `limit` states that contradict the fewest readings."""
        listed = np.empty(min(limit, 1 << self._plant.num_bits), dtype=np.uint64)
        # All that are below some count, and of those that have it as many as there is room for.
        most, below = 0, 0
        while below + case.many[most] < listed.size:
            below += case.many[most]
            most += 1
        for low, high, room in ((0, most, listed[:below]), (most, most + 1, listed[below:])):
            size = 0
            first = 0
            while size < room.size:
                planes = case.planes
                if planes is None:
                    slices, planes = self._room(first)
                    self._count(slices, planes, self._encode(self._history, case.ran), first, counted=False)
                size = int(list_counts(planes, first, low, high, self._present, room, size))
                first += planes.shape[0] * self._width
        return listed

    def _fits(self, num_cases: int) -> bool:
        # Counts of up to 255 readings take 8 places.
        return 8 * num_cases * self._num_words * (self._plant.num_bits + 8) <= self._max_held

    def _begin(self) -> tuple[WordArray, WordArray]:
        """All states before any reading, in memory."""
        tiles = self._num_words // self._width
        slices = np.empty((tiles, self._plant.num_bits, self._width), dtype=np.uint64)
        planes = np.zeros((tiles, 1, self._width), dtype=np.uint64)
        self._count(slices, planes, self._encode([], ()), 0, counted=False)
        return slices, planes

    def _room(self, first: int) -> tuple[WordArray, WordArray]:
        """Room for some tiles that begin at a word, which are to be filled."""
        tiles = min(TILES_AT_ONCE, (self._num_words - first) // self._width)
        slices = np.empty((tiles, self._plant.num_bits, self._width), dtype=np.uint64)
        return slices, np.empty((tiles, max(1, self.num_readings.bit_length()), self._width), dtype=np.uint64)

    def _count(self, slices: WordArray, planes: WordArray, steps: Steps, first: int | None, counted: bool) -> LongArray:
        """Lead tiles through steps, from their beginning where `first` is a word; how many states have each count."""
        many = np.zeros(self.num_readings + 1 if counted else 0, dtype=np.int64)
        room = np.empty((planes.shape[1] + 1, self._width), dtype=np.uint64)
        for low in range(0, slices.shape[0], TILES_AT_ONCE):
            part, counts = slices[low : low + TILES_AT_ONCE], planes[low : low + TILES_AT_ONCE]
            word = 0 if first is None else first + low * self._width
            count_states(steps, part, counts, word, first is not None, self._present, room, many)
        return many

    def _encode(self, history: Sequence[Step], ran: tuple[bool, ...]) -> Steps:
        return Steps(self._plant.circuit, *encode_steps(history, ran), np.zeros(0, dtype=np.int64))


def encode_steps(history: Sequence[Step], ran: tuple[bool, ...]) -> tuple[IntArray, IntArray]:
    """The commands that were done and what was read, MISSING where nothing was."""
    doubted = iter(ran)
    commands = [step.action if step.certain or next(doubted) else MISSING for step in history]
    readings = [MISSING if step.reading is None else step.reading for step in history]
    return np.array(commands, dtype=np.int32), np.array(readings, dtype=np.int32)
