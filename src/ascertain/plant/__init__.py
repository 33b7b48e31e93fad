"""What it talks to: whatever answers an action with a reading.

People choose a plant by a text such as "exec:python plant.py". What stands before the first colon chooses the *kind*,
one object in a file of its own, and the rest is what that kind is told. Whoever adds a kind adds one file: a module of
this folder with a `PlantKind` at its top, or a package of their own with an entry point in the group `ascertain.plants`
that is named like the prefix.

The help of the command line lists the kinds, so the modules of this folder import models for type checkers only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, final

from ascertain.errors import TaskError, did_you_mean
from ascertain.registry import Registry

if TYPE_CHECKING:
    from ascertain.model.abstract import AbstractModel
    from ascertain.model.hidden import Belief
    from ascertain.plant.replayed import Recorded
    from ascertain.types import Plant, State

Prompt: TypeAlias = Callable[[str], str]
"""Shows a question to a person and returns what was typed; raises EOFError at the end of input."""


@final
@dataclass(frozen=True)
class PlantContext:
    """What a kind of plant may need of the problem and of the session that it is opened for."""

    model: AbstractModel
    timeout: float
    """Seconds that the plant may take to answer."""
    run: str
    """Names the run to a plant that remembers runs."""
    ask: Prompt
    find_start: Callable[[int, str], State | Belief]
    """What a simulation begins with, by its seed, or by the name of a state or a hypothesis unless that is empty."""
    read_recording: Callable[[Path], Iterable[Recorded]]
    """The rows of a log file."""


@final
@dataclass(frozen=True)
class PlantKind:
    """How plants of one kind are chosen and opened."""

    prefix: str
    """What stands before the colon."""
    written: str
    """How a plant of this kind is written, for help and error messages."""
    open: Callable[[str, PlantContext], Plant]
    """Takes what stands after the colon."""
    asks_person: bool = False
    """Whether a person is prompted for readings, so that nothing may be drawn over the prompt."""
    reads_file: bool = False
    """Whether what stands after the colon is a file, which then must not be written over."""


PLANTS: Registry[PlantKind] = Registry(PlantKind, __name__, "ascertain.plants", lambda kind: [kind.prefix])
"""The kinds of plants, found by their prefixes."""


def find_kind(text: str) -> tuple[PlantKind, str]:
    """The kind of plant that a text chooses, and what it is told."""
    prefix, _, rest = text.partition(":")
    kind = PLANTS.find(prefix)
    if kind is None:
        hint = did_you_mean(prefix, PLANTS.words()) or f"; write {list_kinds()}"
        raise TaskError(f"--plant: {text[:80]!r} is not understood{hint}")
    return kind, rest


def list_kinds() -> str:
    """How plants are written, kinds of other packages included; those are not loaded for that."""
    known = {kind.prefix: kind.written for kind in PLANTS}
    return ", ".join(known.get(word, f"{word}:...") for word in PLANTS.words())
