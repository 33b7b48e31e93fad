"""The model that a problem file is about: a file, a table inside it, or several machines that are joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, final

from ascertain.errors import TaskError
from ascertain.model import Model
from ascertain.model.files import FORMATS, AnyModel, Format, Option, Read, find_format, list_model, read_with_notes
from ascertain.model.files.boolean_toml import parse_table
from ascertain.model.network import BooleanNetwork
from ascertain.model.union import common_actions, union
from ascertain.problem.fields import read_names, read_one_of, read_section, read_value


@final
@dataclass(frozen=True)
class Source:
    """A model as a problem names it."""

    model: AnyModel | BooleanNetwork
    files: tuple[Path, ...] = ()
    """Where it stands; none when it is a table inside the problem."""
    common: tuple[str, ...] | None = None
    """The actions that all parts of a union know; None of a single model, which knows all its own."""
    notes: tuple[str, ...] = ()
    """What was not used, and what was changed or decided in reading it."""


def known_options(data: dict[str, Any]) -> tuple[Option, ...]:
    """What a problem may say about the formats of its files; a format of another package is loaded for its file."""
    several = data.get("models")
    named: list[Any] = [*(cast("list[Any]", several) if isinstance(several, list) else ()), data.get("model")]
    suffixes = [Path(name).suffix.lower().removeprefix(".") for name in named if isinstance(name, str)]
    formats = dict.fromkeys([*FORMATS, *filter(None, map(FORMATS.find, suffixes))])
    return tuple(option for form in formats for option in form.options)


def read_source(path: Path, data: dict[str, Any]) -> Source:
    """The model of the problem at `path`."""
    files = tuple(path.parent / name for name in _files(data))
    formats = [find_format(file) for file in files]
    _check_options(data, formats)
    if not files:
        return Source(parse_table(read_section(data, "model"), f"{path}: model"))
    options = [{o.name: _read_option(data, o) for o in form.options if o.name in data} for form in formats]
    reads = list(map(read_with_notes, files, options))
    if "models" in data:
        return _join(files, reads)
    return Source(reads[0].model, files, notes=reads[0].notes)


def _files(data: dict[str, Any]) -> tuple[str, ...]:
    """The files that the problem names; none when the model is a table inside it."""
    if "models" in data:
        if "model" in data:
            raise TaskError('give either model = "FILE" or models = ["FILE", ...], not both')
        names = read_names(data, "models", "")
        if not names:
            raise TaskError("models: the list names no file")
        return names
    if "model" not in data:
        raise TaskError('one of model = "FILE" and models = ["FILE", ...] is needed')
    given: Any = read_value(data, "model", "", (str, dict), "")
    return (given,) if isinstance(given, str) else ()


def _check_options(data: dict[str, Any], formats: Sequence[Format]) -> None:
    """What is said about a format is refused where no file has it, and a section where there are several files."""
    for option in known_options(data):
        meant = any(option in form.options for form in formats)
        if option.name in data and (not meant or (option.keys and "models" in data)):
            raise TaskError(option.misplaced)


def _read_option(data: dict[str, Any], option: Option) -> Any:
    if option.words:
        return read_one_of(data, option.name, option.words, "")
    section, where = read_section(data, option.name), f"[{option.name}] "
    return {
        key: read_one_of(section, key, words, where) if words else read_names(section, key, where)
        for key, words in option.keys.items()
        if key in section
    }


def _join(files: tuple[Path, ...], reads: Sequence[Read]) -> Source:
    """The union of several machines."""
    models: dict[str, Model] = {}
    for file, read in zip(files, reads, strict=True):
        if file.stem in models:
            raise TaskError("models: two files have the same name; rename one, as states are called NAME:STATE")
        models[file.stem] = list_model(read.model, str(file))
    notes = tuple(note for read in reads for note in read.notes)
    return Source(union(models), files, common_actions(models.values()), notes)
