"""Operations: logged runs of actuating commands of which one or two were secretly replaced, drawn by rejection.

A candidate of a family is drawn like this: a uniform start; uniform commands; the position of the last replacement,
uniform in the family's range; the one before it, if there are two, uniform over all earlier positions; for each a
uniform choice among the alternatives of the command that was sent there. It is *active* when the run ends elsewhere
than the log as sent, the *nominal* end. A slot that asks for an active operation takes its first active candidate, and
counts those it passed over; likewise for an inactive one. Activity is all that is looked at, and, where the settings
ask for it, in how many bits the two ends differ.

What is logged at each command is the tap of the *sent* command after whatever was done in its place: exact at trusted
positions, elsewhere flipped with the log's probability.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from ascertain.bank.operation import Operation, Replacement, Word
from ascertain.errors import LimitError
from ascertain.kernels._jit import kernel
from ascertain.kernels.model.boolean import BitArray, WordArray, apply_command, gates_each
from ascertain.model.boolean import BooleanPlant
from ascertain.types import Action, BoolArray, IntArray, LongArray
from ascertain_paper.testbed.draws import draw_words, happens, scale_below
from ascertain_paper.testbed.plants import DrawnPlant
from ascertain_paper.testbed.settings import Settings

BATCH = 64
"""Candidates that are drawn together. Draws are named by batch, so this is part of the definition, not a knob."""
MAX_CANDIDATES = 2**20
HEAD = 3
"""Words of a candidate before its positions, choices and commands: two for the start, one for the last position."""


@final
@dataclass(frozen=True)
class Slot:
    """A place that an operation fills; its name is what all draws for it are named after."""

    purpose: str
    plant: int
    family: int
    number: int
    active: bool
    block: int = 0

    @property
    def name(self) -> str:
        wanted = "active" if self.active else "inactive"
        place = f"plant {self.plant}, family {self.family}, slot {self.number}"
        return f"{self.purpose} {self.block}, {place}, {wanted}"


@final
@dataclass(frozen=True, eq=False)
class DrawnOperation:
    """What was logged, and beside it what truly happened, which no observer is shown."""

    drawn_as: str
    """The hash of settings that its draws are named after."""
    slot: Slot
    start: int
    sent: IntArray
    alternatives: tuple[tuple[Word, ...], ...] = field(repr=False)
    """`alternatives[c]` are the words that may have been done instead of command c: declared, so observers see them."""
    readings: BitArray
    trusted: BoolArray
    nominal_endpoint: int
    replacements: tuple[Replacement, ...]
    true_endpoint: int
    rejections: int
    """Candidates passed over because their activity was not the one wanted."""

    @property
    def name(self) -> str:
        return f"{self.drawn_as}, {self.slot.name}"

    @property
    def active(self) -> bool:
        return self.true_endpoint != self.nominal_endpoint

    def logged(self, settings: Settings, plant: BooleanPlant) -> Operation:
        """What an observer is shown: the log, and what the settings declare about it."""
        undisturbed = plant.num_actions - len(self.alternatives)
        return Operation(
            model=plant,
            start=self.start,
            sent=self.sent,
            readings=self.readings.astype(np.int32),
            trusted=self.trusted,
            alternatives=(*self.alternatives, *((),) * undisturbed),
            max_replaced=settings.max_replaced,
            replacement_window=settings.replacement_window,
            flip_window=settings.flip_window,
        )


@final
@dataclass(frozen=True)
class Candidates:
    """A batch of disturbed runs: row r is one of them."""

    start: WordArray
    sent: IntArray
    position: IntArray
    """`position[r, k]` is the place of replacement k, ascending."""
    choice: IntArray
    """`choice[r, k]` is which of the alternatives it was."""
    distance: LongArray
    """`distance[r]` is the number of bits in which the run ends otherwise than the nominal one."""


def draw_operation(settings: Settings, drawn: DrawnPlant, slot: Slot) -> DrawnOperation:
    """The first candidate for the slot that is as active as the slot asks."""
    for batch in range(MAX_CANDIDATES // BATCH):
        candidates = draw_candidates(settings, drawn, slot.family, f"{settings.draws}, {slot.name}, batch {batch}")
        distance = candidates.distance
        fitting = np.flatnonzero(distance >= settings.active_distance if slot.active else distance == 0)
        if fitting.size:
            row = int(fitting[0])
            return _log_operation(settings, drawn, slot, _Chosen(candidates, row, BATCH * batch + row))
    raise LimitError(f"{slot.name}: none of {MAX_CANDIDATES} candidates is fit; change the quota or the gates")


def draw_candidates(settings: Settings, drawn: DrawnPlant, family: int, name: str, count: int = BATCH) -> Candidates:
    """A batch of candidates of a family, active or not; `name` says which."""
    kind = settings.families[family]
    num = kind.replacements
    words = draw_words(name, (count, HEAD + 2 * num - 1 + settings.log_length))
    start = (words[:, 0].astype(np.uint64) << np.uint64(32) | words[:, 1].astype(np.uint64)) >> np.uint64(
        64 - settings.num_bits
    )
    position = _place(words[:, 2 : HEAD + num - 1], max(kind.last[0], num), kind.last[1])
    choice = scale_below(words[:, HEAD + num - 1 : HEAD + 2 * num - 1], settings.num_alternatives).astype(np.int32)
    sent = scale_below(words[:, HEAD + 2 * num - 1 :], settings.num_actuating).astype(np.int32)
    done = _replace(drawn, sent, position, choice)
    plant, ends, nominal = drawn.plant, start.copy(), start.copy()
    run_each(plant.gates, plant.offset, ends, done)
    run_each(plant.gates, plant.offset, nominal, sent)
    apart: list[int] = (ends ^ nominal).tolist()
    distance = np.array([bits.bit_count() for bits in apart], dtype=np.int64)
    return Candidates(start, sent, position, choice, distance)


def replay(
    plant: BooleanPlant, start: int, sent: Iterable[Action], replacements: Sequence[Replacement]
) -> tuple[int, list[int]]:
    """Where a run ends in which some commands were replaced, and the taps of the sent commands without noise."""
    instead, state = dict(replacements), start
    taps: list[int] = []
    for i, command in enumerate(sent):
        for done in instead.get(i, (command,)):
            state, _ = plant.step(state, done)
        taps.append(state >> plant.commands[command].tap & 1)
    return state, taps


@final
@dataclass(frozen=True)
class _Chosen:
    candidates: Candidates
    row: int
    rejections: int


def _log_operation(settings: Settings, drawn: DrawnPlant, slot: Slot, chosen: _Chosen) -> DrawnOperation:
    batch, row = chosen.candidates, chosen.row
    start = int(batch.start[row])
    sent: IntArray = batch.sent[row].copy()
    commands: list[int] = sent.tolist()
    positions: list[int] = batch.position[row].tolist()
    choices: list[int] = batch.choice[row].tolist()
    replacements = tuple((i, drawn.alternatives[commands[i]][k]) for i, k in zip(positions, choices, strict=True))
    true_endpoint, taps = replay(drawn.plant, start, commands, replacements)
    nominal_endpoint, _ = drawn.plant.run(start, commands)
    trusted: BoolArray = np.arange(1, sent.size + 1) % settings.trusted_every == 0
    noise = happens(draw_words(f"{settings.draws}, {slot.name}, log", (sent.size,)), settings.log_flip) & ~trusted
    readings = np.array(taps, dtype=np.uint8) ^ noise.astype(np.uint8)
    for array in (sent, trusted, readings):
        array.setflags(write=False)
    return DrawnOperation(
        drawn_as=settings.draws,
        slot=slot,
        start=start,
        sent=sent,
        alternatives=drawn.alternatives,
        readings=readings,
        trusted=trusted,
        nominal_endpoint=nominal_endpoint,
        replacements=replacements,
        true_endpoint=true_endpoint,
        rejections=chosen.rejections,
    )


def _place(words: LongArray, low: int, high: int) -> IntArray:
    """Positions from 0, ascending: the last uniform in low .. high (from 1), each other uniform before the next."""
    count = words.shape[1]
    position = np.empty(words.shape, dtype=np.int64)
    position[:, -1] = low - 1 + scale_below(words[:, 0], high - low + 1)
    for k in range(count - 2, -1, -1):
        position[:, k] = k + scale_below(words[:, count - 1 - k], position[:, k + 1] - k)
    return position.astype(np.int32)


def _replace(drawn: DrawnPlant, sent: IntArray, position: IntArray, choice: IntArray) -> IntArray:
    """The commands that were done. Every alternative here is a single command, which keeps the rows equally long."""
    table = np.array(drawn.alternatives, dtype=np.int32)[:, :, 0]
    row = np.arange(len(sent))[:, None]
    done = sent.copy()
    done[row, position] = table[sent[row, position], choice]
    return done


@kernel(work=lambda offset, commands: 2 * commands.size * gates_each(offset))
def run_each(gates: IntArray, offset: IntArray, states: WordArray, commands: IntArray) -> None:
    """Every state, in place, through a word of commands of its own, `commands[j]` for state j."""
    for j in range(states.size):
        state = states[j]
        for i in range(commands.shape[1]):
            state = apply_command(gates, offset, commands[j, i], state)
        states[j] = state
