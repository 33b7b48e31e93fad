"""Models seen as models of another kind, for tests that compare the kinds."""

from __future__ import annotations

from ascertain.model.boolean import BooleanPlant
from ascertain.model.noisy import NoisyMachine
from ascertain.model.tables import AbstractMachine


def as_noisy(machine: AbstractMachine) -> NoisyMachine:
    """The same machine seen as a noisy one, even where every law is certain."""
    return NoisyMachine(
        states=machine.states,
        actions=machine.actions,
        readings=machine.readings,
        successor=machine.successor,
        initial=machine.initial,
        origin=machine.origin,
        law=machine.behaviour,
        laws=machine.laws,
    )


def enumerate_machine(plant: BooleanPlant) -> AbstractMachine:
    """A small plant as a machine without noise: state s of the machine is the state s of the plant."""
    return plant.without_flip().as_machine()


def enumerate_noisy(plant: BooleanPlant) -> NoisyMachine:
    """A small plant as a noisy machine, even where nothing is flipped."""
    return as_noisy(plant.as_machine())
