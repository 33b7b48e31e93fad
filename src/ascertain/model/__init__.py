"""What the plant is: machines with and without noise, Boolean plants, how to build them, and the files they live in."""

from __future__ import annotations

from typing import TypeAlias

from ascertain.model.boolean import BooleanPlant
from ascertain.model.machine import Machine
from ascertain.model.noisy import NoisyMachine
from ascertain.model.tables import AbstractMachine

Model: TypeAlias = AbstractMachine
"""A model whose states are listed and whose transitions are certain."""

__all__ = ["BooleanPlant", "Machine", "Model", "NoisyMachine"]
