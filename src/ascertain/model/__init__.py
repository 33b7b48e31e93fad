"""What the plant is: machines with and without noise, how to build them, and the files they live in."""

from __future__ import annotations

from typing import TypeAlias

from ascertain.model.machine import Machine
from ascertain.model.noisy import NoisyMachine

Model: TypeAlias = Machine | NoisyMachine

__all__ = ["Machine", "Model", "NoisyMachine"]
