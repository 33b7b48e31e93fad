"""The files that models live in: which format belongs to which suffix, reading, and writing in one step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from ascertain.errors import FileError, ModelError, did_you_mean
from ascertain.model.boolean import BooleanPlant, list_states
from ascertain.model.files.bnet import read_bnet
from ascertain.model.files.boolean_toml import read_boolean, write_boolean
from ascertain.model.files.dot import parse_dot, read_dot, write_dot
from ascertain.model.files.json_hidden import parse_any_model, read_any_json, write_any_json
from ascertain.model.files.json_model import parse_model_data, read_json, write_json
from ascertain.model.files.kiss2 import read_kiss2, write_kiss2
from ascertain.model.files.pomdp import read_pomdp
from ascertain.model.files.pomdp_write import write_pomdp
from ascertain.model.files.text import write_whole
from ascertain.model.hidden import HiddenModel
from ascertain.model.machine import Machine
from ascertain.model.noisy import NoisyMachine

__all__ = [
    "FORMATS",
    "Format",
    "parse_any_model",
    "parse_dot",
    "parse_model_data",
    "read_dot",
    "read_json",
    "read_listed",
    "read_model",
    "write_dot",
    "write_json",
    "write_model",
]


@final
@dataclass(frozen=True)
class Format:
    """How the files of one suffix are read and written; `kinds` are the models that can be written."""

    read: Callable[[Path], Machine | NoisyMachine | BooleanPlant | HiddenModel]
    write: Callable[[Any], str] | None = None
    kinds: tuple[type, ...] = ()


FORMATS: dict[str, Format] = {
    ".dot": Format(read_dot, write_dot, (Machine,)),
    ".gv": Format(read_dot, write_dot, (Machine,)),
    ".json": Format(read_any_json, write_any_json, (Machine, NoisyMachine, HiddenModel)),
    ".bnet": Format(read_bnet),
    ".kiss2": Format(read_kiss2, write_kiss2, (Machine,)),
    ".kiss": Format(read_kiss2, write_kiss2, (Machine,)),
    ".pomdp": Format(read_pomdp, write_pomdp, (HiddenModel,)),
    ".toml": Format(read_boolean, write_boolean, (BooleanPlant,)),
}
"""Suffix to format; whoever adds a format adds a line."""


def read_model(path: str | Path) -> Machine | NoisyMachine | BooleanPlant | HiddenModel:
    """The model in a file, in the format that its suffix says."""
    path = Path(path)
    return _format_of(path).read(path)


def read_listed(path: str | Path) -> Machine | NoisyMachine:
    """The model in a file with its states listed: a Boolean plant is enumerated, if it is small enough."""
    model = read_model(path)
    if isinstance(model, HiddenModel):
        raise ModelError(
            f"{path}: this model is hidden; machines, whose transitions are certain, are needed here; inspect takes "
            "hidden models, and observe and quotient take a problem about one"
        )
    return list_states(model) if isinstance(model, BooleanPlant) else model


def write_model(model: Machine | NoisyMachine | BooleanPlant | HiddenModel, path: str | Path) -> None:
    """Write a model in the format that the suffix says; the file appears whole or not at all."""
    form = _format_of(Path(path))
    if form.write is None or not isinstance(model, form.kinds):
        able = [suffix for suffix, other in FORMATS.items() if isinstance(model, other.kinds)]
        raise FileError(f"{path}: {model.kind} models are not written as {Path(path).suffix}; use {' or '.join(able)}")
    write_whole(path, form.write(model).encode())


def _format_of(path: Path) -> Format:
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        known = did_you_mean(suffix, FORMATS) or f"; known are {', '.join(FORMATS)}"
        raise FileError(f"{path}: the suffix {suffix!r} says no format of a model{known}")
    return FORMATS[suffix]
