"""What it talks to: whatever answers an action with a reading.

People choose a plant by a text such as "exec:python plant.py". What stands before the first colon chooses the *kind*,
one object in a file of its own, and the rest is what that kind is told. Whoever adds a kind adds one file: a module of
this folder with a `PlantKind` at its top, or a package of their own with an entry point in the group `ascertain.plants`
that is named like the prefix.

A text that ends with ".toml" is a *wiring file* (`wiring/`): a table that says how each action is done and read over
some transport. Its kind of transport is a `PlantKind` as well, with an `adapter`; ours are in `adapters/`.

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
    from ascertain.plant.wiring.adapter import AbstractAdapter
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
    fill: Callable[[str], str] = str
    """Fills in what an address names in braces: of a fleet, what is known of the host."""


@final
@dataclass(frozen=True)
class PlantKind:
    """How plants of one kind are chosen and opened."""

    prefix: str
    """What stands before the colon, or as `kind` in a wiring file."""
    written: str = ""
    """How a plant of this kind is written, for help and error messages; empty for one that wiring files alone name."""
    open: Callable[[str, PlantContext], Plant] | None = None
    """Takes what stands after the colon; None for a kind that wiring files alone name."""
    asks_person: bool = False
    """Whether a person is prompted for readings, so that nothing may be drawn over the prompt."""
    reads_file: bool = False
    """Whether what stands after the colon is a file, which then must not be written over."""
    adapter: type[AbstractAdapter] | None = None
    """What speaks to plants of this kind as a wiring file tells it; None for a kind that no wiring file can name."""
    needs_model: bool = False
    """Whether it answers by the model or a log of it, so that there is nothing to learn."""


PLANTS: Registry[PlantKind] = Registry(
    PlantKind, (__name__, f"{__name__}.adapters"), "ascertain.plants", lambda kind: [kind.prefix]
)
"""The kinds of plants, found by their prefixes."""


def find_kind(text: str) -> tuple[PlantKind, str]:
    """The kind of plant that a text chooses, and what it is told."""
    prefix, _, rest = text.partition(":")
    kind = PLANTS.find(prefix)
    if kind is None and text.lower().endswith(".toml"):
        kind, rest = PLANTS.find("wiring"), text
    if kind is None:
        hint = did_you_mean(prefix, PLANTS.words()) or f"; write {list_kinds()}"
        raise TaskError(f"--plant: {text[:80]!r} is not understood{hint}")
    if kind.open is None:
        raise TaskError(
            f"--plant: a plant of the kind {prefix!r} is wired: `ascertain init --plant {prefix} wiring.toml` writes a "
            "file to begin with; name that file here"
        )
    return kind, rest


def find_adapter(word: str, where: str) -> type[AbstractAdapter]:
    """What speaks to the plants of wiring files with this `kind`."""
    kind = PLANTS.find(word)
    if kind is None or kind.adapter is None:
        ours = [each.prefix for each in PLANTS if each.adapter is not None]
        raise TaskError(
            f"{where}: {word[:80]!r} is not a kind of wired plant{did_you_mean(word, ours)}; "
            f"known are {', '.join(ours)}"
        )
    return kind.adapter


def list_kinds() -> str:
    """How plants are written, kinds of other packages included; those are not loaded for that."""
    known = {kind.prefix: kind.written for kind in PLANTS}
    return ", ".join(filter(None, (known.get(word, f"{word}:...") for word in PLANTS.words())))
