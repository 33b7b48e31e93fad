"""The model that a problem file is about: a file, a table inside it, several machines, or a Boolean network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from ascertain.errors import TaskError
from ascertain.model import BooleanPlant, Machine, Model
from ascertain.model.files import read_listed, read_model
from ascertain.model.files.bnet import read_network
from ascertain.model.files.boolean_toml import plant_from_data
from ascertain.model.files.json_hidden import parse_any_model
from ascertain.model.files.kiss2 import DontCare, parse_kiss2
from ascertain.model.files.pomdp import parse_pomdp
from ascertain.model.files.pomdp_rows import InexactRows
from ascertain.model.files.text import read_text
from ascertain.model.hidden import HiddenModel
from ascertain.model.network import BooleanNetwork
from ascertain.model.union import common_actions, union
from ascertain.problem.fields import read_names, read_one_of, read_section, read_value

KISS2 = frozenset({".kiss", ".kiss2"})


@final
@dataclass(frozen=True)
class Source:
    """A model as a problem names it."""

    model: Model | BooleanPlant | BooleanNetwork | HiddenModel
    common: tuple[str, ...]
    """The actions that all its parts know."""
    notes: tuple[str, ...] = ()
    """What was not used, and what was changed or decided in reading it."""


def read_source(path: Path, data: dict[str, Any]) -> Source:
    """The model of the problem at `path`."""
    files = _files(data)
    _check_words(data, [Path(name).suffix.lower() for name in files])
    if "models" in data:
        return _read_models(path, data, files)
    if not files:
        table = read_section(data, "model")
        model = (plant_from_data if "bits" in table else parse_any_model)(table, f"{path}: model")
        return Source(model, model.actions)
    file = path.parent / files[0]
    suffix = file.suffix.lower()
    if suffix == ".bnet":
        return Source(_declare(read_network(file), read_section(data, "network")), ())
    if suffix == ".pomdp":
        inexact: InexactRows = read_one_of(data, "inexact_rows", ("refused", "renormalised"), "")
        said = parse_pomdp(read_text(file), str(file), inexact)
        return Source(said.model, said.model.actions, said.notes)
    if suffix in KISS2:
        machine, notes = _read_kiss2(file, data)
        return Source(machine, machine.actions, notes)
    model = read_model(file)
    return Source(model, model.actions)


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


def _check_words(data: dict[str, Any], suffixes: list[str]) -> None:
    """What is said about a format is refused where no file has it."""
    if "network" in data and ("models" in data or ".bnet" not in suffixes):
        raise TaskError('[network] is for one Boolean network, model = "FILE.bnet"')
    if "dont_care" in data and KISS2.isdisjoint(suffixes):
        raise TaskError("dont_care is for KISS2 files; other models have no don't-cares")
    if "inexact_rows" in data and ".pomdp" not in suffixes:
        raise TaskError("inexact_rows is for .POMDP files; the rows of other models sum to one")


def _read_models(path: Path, data: dict[str, Any], names: tuple[str, ...]) -> Source:
    """The union of several machines."""
    models: dict[str, Model] = {}
    notes: tuple[str, ...] = ()
    for name in names:
        file = path.parent / name
        if file.stem in models:
            raise TaskError("models: two files have the same name; rename one, as states are called NAME:STATE")
        if file.suffix.lower() in KISS2:
            models[file.stem], more = _read_kiss2(file, data)
            notes += more
        else:
            models[file.stem] = read_listed(file)
    return Source(union(models), common_actions(models.values()), notes)


def _read_kiss2(file: Path, data: dict[str, Any]) -> tuple[Machine, tuple[str, ...]]:
    """The machine, and what became of its don't-cares."""
    dont_care: DontCare = read_one_of(data, "dont_care", ("forbidden", "completed"), "")
    table = parse_kiss2(read_text(file), str(file))
    notes = (f"{file}: {table.num_open} lines leave something open, which is {dont_care}",) if table.num_open else ()
    return table.machine(dont_care), notes


def _declare(network: BooleanNetwork, section: dict[str, Any]) -> BooleanNetwork:
    read_one_of(section, "as", ("machine", "plant"), "[network] ")
    inputs = read_names(section, "inputs", "[network] ") if "inputs" in section else None
    observed = read_names(section, "observed", "[network] ") if "observed" in section else None
    return network.declare(inputs, observed)
