"""Fresh streams: the probing commands that may follow an operation, and the noise of every reading.

The schedule taps every bit once in each block of as many commands as there are bits, in a random order, by a random
one of the commands that tap it. Noise belongs to the operation and the position in the stream, and not to what is done
there: whatever policies do, their readings are wrong at the same positions, so that all are compared on identical
streams.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ascertain.kernels.model.boolean import BitArray
from ascertain.types import Action, IntArray
from ascertain_paper.testbed.draws import Draws, draw_words, happens
from ascertain_paper.testbed.operations import DrawnOperation
from ascertain_paper.testbed.plants import DrawnPlant
from ascertain_paper.testbed.settings import Settings


@final
@dataclass(frozen=True, eq=False)
class Stream:
    """`schedule[t]` is the command that is foreseen at position t, and `noise[t]` is 1 where the reading is wrong."""

    schedule: IntArray
    noise: BitArray

    def read(self, drawn: DrawnPlant, state: int, commands: IntArray | None = None) -> tuple[int, BitArray]:
        """Where commands lead, those of the schedule unless others are given, and what is read on the way."""
        word: list[int] = (self.schedule if commands is None else commands).tolist()
        after, taps = drawn.plant.run(state, word)
        return after, np.array(taps, dtype=np.uint8) ^ self.noise[: len(word)]


def draw_stream(settings: Settings, drawn: DrawnPlant, operation: DrawnOperation) -> Stream:
    """The fresh stream of an operation."""
    draws = Draws(f"{operation.name}, schedule")
    tapping: list[list[Action]] = [[] for _ in range(settings.num_bits)]
    for command in drawn.probing:
        tapping[drawn.plant.commands[command].tap].append(command)
    schedule: list[Action] = []
    while len(schedule) < settings.stream_length:
        for bit in draws.sample(range(settings.num_bits), settings.num_bits):
            schedule.append(tapping[bit][draws.below(len(tapping[bit]))])
    commands = np.array(schedule[: settings.stream_length], dtype=np.int32)
    noise = happens(draw_words(f"{operation.name}, stream", commands.shape), settings.stream_flip).astype(np.uint8)
    for array in (commands, noise):
        array.setflags(write=False)
    return Stream(commands, noise)
