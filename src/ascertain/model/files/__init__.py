"""The files that models live in. A format is one object in a file of its own; here it is found by the suffix.

Reading gives a model and *notes*: what was not used, changed or decided. A format also declares what a problem file may
say about its files (`Option`), so that whoever adds a format adds one file: a module of this folder with a `Format` at
its top, or a package of their own with an entry point in the group `ascertain.formats` that is named like the suffix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, final

from ascertain.errors import FileError, LimitError, ModelError, did_you_mean
from ascertain.model.abstract import AbstractModel
from ascertain.model.boolean import BooleanPlant
from ascertain.model.files.text import read_text
from ascertain.model.hidden import HiddenModel
from ascertain.model.network import BooleanNetwork
from ascertain.model.tables import AbstractMachine
from ascertain.registry import Registry
from ascertain.writing import write_whole

AnyModel: TypeAlias = AbstractMachine | BooleanPlant | HiddenModel
"""What a file can hold, networks apart, which describe a model."""
Options: TypeAlias = Mapping[str, Any]
"""By option: a word, or of a section what it says by key."""


@final
@dataclass(frozen=True)
class Read:
    """What a file says."""

    model: AnyModel | BooleanNetwork
    """A network may still become a machine or a Boolean plant."""
    notes: tuple[str, ...] = ()
    """What was not used, and what was changed or decided in reading it."""
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    """What `inspect` lists besides, by name."""


@final
@dataclass(frozen=True)
class Option:
    """What a problem file may say about how files of a format are read: a word at its top, or a section."""

    name: str
    misplaced: str
    """The sentence for a problem that names no file of the format."""
    words: tuple[str, ...] = ()
    """What may be said, the default first; a section has none."""
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Of a section, which is about one file: its keys, each with the words that it takes, or () for a list of names."""


@final
@dataclass(frozen=True, eq=False)
class Format:
    """How files of certain suffixes are read and written."""

    name: str
    suffixes: tuple[str, ...]
    """In small letters, with their dots."""
    read: Callable[[str, str, Options], Read]
    """Takes the text, the words that begin every error message, and the options."""
    write: Callable[[Any], str] | None = None
    writes: tuple[type, ...] = ()
    """The kinds of models that `write` takes."""
    options: tuple[Option, ...] = ()


class NotAModel(FileError):
    """A file whose suffix models share with other things, and which is one of those: a problem file in TOML."""

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text
        """What the file holds, so that it need not be read again."""


MAX_CELLS = 2**25
"""States times actions; each table of a model then takes at most an eighth of a gibibyte."""


FORMATS: Registry[Format] = Registry(
    Format, __name__, "ascertain.formats", lambda form: [suffix.removeprefix(".") for suffix in form.suffixes]
)
"""The formats, found by the suffix without its dot."""


def read_with_notes(path: str | Path, options: Options = MappingProxyType({})) -> Read:
    """The model in a file, in the format that its suffix says, and what its reader remarks on."""
    form = find_format(path)
    defaults: Options = {option.name: option.words[0] if option.words else {} for option in form.options}
    return form.read(read_text(path), str(path), {**defaults, **options})


def read_model(path: str | Path) -> AnyModel:
    """The model in a file; a Boolean network becomes a machine."""
    return made_of(read_with_notes(path).model, str(path))


def made_of(model: AnyModel | BooleanNetwork, where: str) -> AnyModel:
    """The model that a file describes; `where` begins the message when a network is too large for one."""
    try:
        return model.as_model()
    except LimitError as reason:
        raise LimitError(f"{where}: {reason}") from None


def read_listed(path: str | Path) -> AbstractMachine:
    """The model in a file with its states listed: a Boolean plant is enumerated, if it is small enough."""
    return list_model(read_with_notes(path).model, str(path))


def list_model(model: AnyModel | BooleanNetwork, where: str) -> AbstractMachine:
    """The model with its states listed; `where` begins the message when it is hidden."""
    model = made_of(model, where)
    if not model.has_certain_transitions:
        raise ModelError(
            f"{where}: this model is hidden; machines, whose transitions are certain, are needed here; inspect takes "
            "hidden models, and observe and quotient take a problem about one"
        )
    return model.as_machine()


def write_model(model: AbstractModel | BooleanNetwork, path: str | Path) -> None:
    """Write a model in the format that the suffix says; the file appears whole or not at all."""
    form = find_format(path)
    if form.write is None or not isinstance(model, form.writes):
        able = [suffix for other in FORMATS if isinstance(model, other.writes) for suffix in other.suffixes]
        raise FileError(f"{path}: {model.kind} models are not written as {Path(path).suffix}; use {' or '.join(able)}")
    write_whole(path, form.write(model).encode())


def check_size(where: str, num_states: int, num_actions: int) -> tuple[int, int]:
    """The shape of a model's tables: a few bytes of text can name many states and many actions, so it is bounded."""
    if num_states * num_actions > MAX_CELLS:
        raise FileError(
            f"{where}: {num_states} states times {num_actions} actions are more than the {MAX_CELLS} table entries "
            f"that are read; use fewer of either"
        )
    return num_states, num_actions


def find_format(path: str | Path) -> Format:
    """The format that the suffix of a file says."""
    suffix = Path(path).suffix.lower()
    form = FORMATS.find(suffix.removeprefix("."))
    if form is None:
        if Path(path).is_dir():
            raise FileError(f"{path}: this is a directory; a file was expected")
        suffixes = [f".{word}" for word in FORMATS.words()]
        known = did_you_mean(suffix, suffixes) or f"; known are {', '.join(suffixes)}"
        raise FileError(f"{path}: the suffix {suffix!r} says no format of a model{known}")
    return form
