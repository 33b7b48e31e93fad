"""The model that a problem file is about: a file, a table inside it, several machines, or a Boolean network."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from ascertain.errors import TaskError
from ascertain.model import BooleanPlant, Model
from ascertain.model.files import read_listed, read_model
from ascertain.model.files.bnet import read_network
from ascertain.model.files.boolean_toml import plant_from_data
from ascertain.model.files.json_hidden import parse_any_model
from ascertain.model.files.kiss2 import read_kiss2
from ascertain.model.files.pomdp import Pomdp, parse_pomdp
from ascertain.model.files.pomdp_rows import InexactRows
from ascertain.model.files.text import read_text
from ascertain.model.hidden import HiddenModel
from ascertain.model.network import BooleanNetwork
from ascertain.model.union import common_actions, union
from ascertain.task.fields import read_names, read_one_of, read_section, read_value

Source: TypeAlias = Model | BooleanPlant | BooleanNetwork | HiddenModel | Pomdp
"""A Cassandra file comes with its notes."""


def read_source(path: Path, data: dict[str, Any]) -> tuple[Source, tuple[str, ...]]:
    """The model of the problem at `path`, and the actions that all its parts know."""
    if "models" in data:
        return _read_models(path, data)
    if "model" not in data:
        raise TaskError('one of model = "FILE" and models = ["FILE", ...] is needed')
    given: Any = read_value(data, "model", "", (str, dict), "")
    suffix = Path(given).suffix.lower() if isinstance(given, str) else ""
    if suffix != ".bnet" and "network" in data:
        raise TaskError("[network] is for Boolean networks in .bnet files")
    if suffix not in {".kiss", ".kiss2"} and "dont_care" in data:
        raise TaskError("dont_care is for KISS2 files; other models have no don't-cares")
    if suffix != ".pomdp" and "inexact_rows" in data:
        raise TaskError("inexact_rows is for .POMDP files; the rows of other models sum to one")
    if not isinstance(given, str):
        model = (plant_from_data if "bits" in given else parse_any_model)(given, f"{path}: model")
    elif suffix == ".bnet":
        return _declare(read_network(path.parent / given), read_section(data, "network")), ()
    elif suffix in {".kiss", ".kiss2"}:
        model = read_kiss2(path.parent / given, read_one_of(data, "dont_care", ("forbidden", "completed"), ""))
    elif suffix == ".pomdp":
        inexact: InexactRows = read_one_of(data, "inexact_rows", ("refused", "renormalised"), "")
        said = parse_pomdp(read_text(path.parent / given), str(path.parent / given), inexact)
        return said, said.model.actions
    else:
        model = read_model(path.parent / given)
    return model, model.actions


def _read_models(path: Path, data: dict[str, Any]) -> tuple[Model, tuple[str, ...]]:
    """The union of several machines, and the actions that all of them know."""
    names = read_names(data, "models", "")
    if "model" in data:
        raise TaskError('give either model = "FILE" or models = ["FILE", ...], not both')
    if not names:
        raise TaskError("models: the list names no file")
    models = {Path(name).stem: read_listed(path.parent / name) for name in names}
    if len(models) < len(names):
        raise TaskError("models: two files have the same name; rename one, as states are called NAME:STATE")
    return union(models), common_actions(models.values())


def _declare(network: BooleanNetwork, section: dict[str, Any]) -> BooleanNetwork:
    read_one_of(section, "as", ("machine", "plant"), "[network] ")
    inputs = read_names(section, "inputs", "[network] ") if "inputs" in section else None
    observed = read_names(section, "observed", "[network] ") if "observed" in section else None
    return network.declare(inputs, observed)
