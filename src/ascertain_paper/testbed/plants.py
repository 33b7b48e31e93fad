"""The plants of a testbed and the alternatives of their commands, drawn from the settings alone.

The first commands *actuate*: irreversible gates, which merge states, so that a disturbance is often forgotten. The
others *probe*: reversible gates, which keep every difference, and taps that together cover all bits. The alternatives
of an actuating command are other actuating commands, listed once for the whole plant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import final

from ascertain.bank.operation import Word
from ascertain.kernels.model.boolean_code import NUM_SOURCES, OPERATIONS
from ascertain.model.boolean import BooleanPlant, Command, Gate
from ascertain.types import Action
from ascertain_paper.testbed.draws import Draws
from ascertain_paper.testbed.settings import Settings


@final
@dataclass(frozen=True)
class DrawnPlant:
    """A plant, which of its commands actuate and which probe, and `alternatives[c]` for each that actuates."""

    number: int
    name: str
    plant: BooleanPlant
    actuating: range
    probing: range
    alternatives: tuple[tuple[Word, ...], ...]


def draw_plant(settings: Settings, number: int) -> DrawnPlant:
    """Plant `number` of the testbed, counted from 0."""
    chosen = settings.plants[number]
    draws = Draws(f"{settings.draws}, plant {number}, seed {chosen.seed}")
    num_bits, actuating = settings.num_bits, range(settings.num_actuating)
    probing = range(settings.num_actuating, settings.num_actuating + settings.num_probing)
    gates = partial(_draw_gates, draws, num_bits)
    commands = [
        Command(f"act{c}", gates(chosen.actuating, draws.within(*settings.actuating_gates)), draws.below(num_bits))
        for c in actuating
    ]
    taps = draws.sample(range(num_bits), num_bits)
    taps += [draws.below(num_bits) for _ in range(settings.num_probing - num_bits)]
    commands += [Command(f"probe{i}", gates(chosen.probing, settings.probing_gates), tap) for i, tap in enumerate(taps)]
    return DrawnPlant(
        number=number,
        name=chosen.name,
        plant=BooleanPlant(tuple(f"b{i}" for i in range(num_bits)), tuple(commands), settings.stream_flip),
        actuating=actuating,
        probing=probing,
        alternatives=tuple(_draw_alternatives(settings, c, draws) for c in actuating),
    )


def _draw_gates(draws: Draws, num_bits: int, mix: Mapping[str, int], count: int) -> tuple[Gate, ...]:
    gates: list[Gate] = []
    for _ in range(count):
        op = draws.weighted(mix)
        target, *sources = draws.sample(range(num_bits), 1 + NUM_SOURCES[OPERATIONS.index(op)])
        gates.append(Gate(op, target, tuple(sources)))
    return tuple(gates)


def _draw_alternatives(settings: Settings, command: Action, draws: Draws) -> tuple[Word, ...]:
    others = [c for c in range(settings.num_actuating) if c != command]
    return tuple((c,) for c in sorted(draws.sample(others, settings.num_alternatives)))
