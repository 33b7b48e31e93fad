"""Boolean plants in TOML files, the one format that says gates instead of tables.

    bits = ["open", "shut", "hot"]        # or bits = 24, for b0, b1, ..., b23; the least significant first
    flip = "1/50"                         # probability of a wrong reading; 0 when it is left out

    [[command]]
    name = "vent"
    gates = [["and", "open", "shut", "hot"], ["clear", "hot"]]      # each: what, target, sources
    tap = "open"

`ascertain.model.boolean` says what gates do. Sizes are bounded, so that no file takes long.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ascertain.errors import FileError, ModelError
from ascertain.kernels.model.boolean_code import OPERATIONS
from ascertain.model.abstract import find_repeated
from ascertain.model.boolean import MAX_BITS, BooleanPlant, Command, Gate
from ascertain.model.files import AnyModel, Format, NotAModel, Options, Read
from ascertain.model.files.json_model import parse_model_data
from ascertain.model.files.json_text import as_list, named, near, near_or_all
from ascertain.model.files.text import parse_toml
from ascertain.rational import rational_field

MAX_CHARACTERS = 16 * 2**20
"""Python's TOML reader takes about ten seconds for as many."""
MAX_COMMANDS = 100_000
"""An observer tries every command again and again; as many are tried in a second or so."""
MAX_GATES = 64
"""Of one command, which kernels run in one go for every candidate."""


def parse_boolean(text: str, where: str) -> BooleanPlant:
    """The plant in the text of a TOML file; `where` begins every error message.

    A problem file is TOML too, and says no bits: then the error is `NotAModel`.
    """
    if len(text) > MAX_CHARACTERS:
        raise FileError(f"{where}: the file has {len(text)} characters; at most {MAX_CHARACTERS} are read")
    data = parse_toml(text, where)
    try:
        return plant_from_data(data, where)
    except FileError as error:
        raise error if "bits" in data else NotAModel(str(error), text) from None


def parse_table(data: dict[str, Any], where: str) -> AnyModel:
    """The model that a table inside a problem file describes: a plant if it says bits, else as JSON would have it."""
    return plant_from_data(data, where) if "bits" in data else parse_model_data(data, where)


def plant_from_data(data: Mapping[str, Any], where: str) -> BooleanPlant:
    """The plant that a parsed file, or a table inside one, describes; `where` begins every error message."""
    _check_keys(data, ("bits", "flip", "command"), ("bits", "command"), where)
    bits = _read_bits(data["bits"], where)
    place = {name: i for i, name in enumerate(bits)}
    flip = rational_field(data.get("flip", 0), f"{where}: flip", FileError)
    rows = as_list(data["command"], f"{where}: command", "[[command]] tables")
    if len(rows) > MAX_COMMANDS:
        raise FileError(f"{where}: there are {len(rows)} commands; at most {MAX_COMMANDS} are read")
    commands = tuple(_read_command(row, f"{where}: command {i + 1}", place) for i, row in enumerate(rows))
    try:
        return BooleanPlant(bits, commands, flip)
    except ModelError as error:
        raise FileError(f"{where}: {error}") from None


def write_boolean(plant: BooleanPlant) -> str:
    """The text of a TOML file that reads back as the same plant."""
    plain = plant.bits == _count_bits(plant.num_bits)
    head = f"bits = {plant.num_bits if plain else _array(plant.bits)}\nflip = {_quote(str(plant.flip))}\n"
    return head + "".join(_command_text(plant, command) for command in plant.commands)


def _read(text: str, where: str, _: Options) -> Read:
    if "bits" not in text and "model" in text:  # most problem files: they need not be parsed to be told apart
        raise NotAModel(f"{where}: 'bits' is missing; a Boolean plant needs it", text)
    return Read(parse_boolean(text, where))


BOOLEAN = Format("Boolean plant", (".toml",), _read, write_boolean, (BooleanPlant,))
"""The suffix is shared with problem files, which `NotAModel` tells apart."""


def _read_bits(value: object, where: str) -> tuple[str, ...]:
    if type(value) is int:
        if not 1 <= value <= MAX_BITS:
            raise FileError(f"{where}: bits is {value}; a number from 1 to {MAX_BITS} or a list of names was expected")
        return _count_bits(value)
    names = as_list(value, f"{where}: bits", "a number or a list of names")
    if not 1 <= len(names) <= MAX_BITS:
        raise FileError(f"{where}: bits lists {len(names)} names; 1 to {MAX_BITS} were expected")
    bits = tuple(_as_text(name, f"{where}: bits") for name in names)
    if len(set(bits)) < len(bits):
        raise FileError(f"{where}: bits lists {named(find_repeated(bits))} twice; names must differ")
    return bits


def _read_command(row: object, where: str, place: Mapping[str, int]) -> Command:
    if not isinstance(row, dict):
        raise FileError(f"{where} is not a table; name, gates and tap were expected")
    table = cast("dict[str, Any]", row)
    _check_keys(table, ("name", "gates", "tap"), ("name", "gates", "tap"), where)
    name = _as_text(table["name"], f"{where}: name")
    here = f"{where}, {named(name)}"
    gates = as_list(table["gates"], f"{here}: gates", "a list of gates")
    if len(gates) > MAX_GATES:
        raise FileError(f"{here}: there are {len(gates)} gates; at most {MAX_GATES} are read")
    return Command(
        name,
        tuple(_read_gate(gate, f"{here}: gate {i + 1}", place) for i, gate in enumerate(gates)),
        _find_bit(table["tap"], f"{here}: tap", place),
    )


def _read_gate(row: object, where: str, place: Mapping[str, int]) -> Gate:
    parts = as_list(row, where, 'a list such as ["xor", "b0", "b1", "b2"]')
    if not 2 <= len(parts) <= 4:
        raise FileError(f'{where} has {len(parts)} parts; a list such as ["xor", "b0", "b1", "b2"] was expected')
    op = _as_text(parts[0], where)
    if op not in OPERATIONS:
        raise FileError(f"{where}: {named(op)} is not a gate{near_or_all(op, OPERATIONS)}")
    target, *sources = (_find_bit(part, where, place) for part in parts[1:])
    try:
        return Gate(op, target, tuple(sources))
    except ModelError as error:
        raise FileError(f"{where}: {error}") from None


def _find_bit(value: object, where: str, place: Mapping[str, int]) -> int:
    name = _as_text(value, where)
    if name not in place:
        raise FileError(f"{where}: {named(name)} is not a bit of the plant{near(name, place) or '; name one of them'}")
    return place[name]


def _check_keys(table: Mapping[str, Any], known: tuple[str, ...], needed: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            raise FileError(f"{where}: {named(key)} is not known here{near_or_all(key, known)}")
    for key in needed:
        if key not in table:
            raise FileError(f"{where}: {key!r} is missing; a Boolean plant needs it")


def _as_text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise FileError(f"{where}: {named(value)} is not a name; a text was expected")
    return value


def _command_text(plant: BooleanPlant, command: Command) -> str:
    bits = plant.bits
    gates = (_array((gate.op, bits[gate.target], *(bits[s] for s in gate.sources))) for gate in command.gates)
    fields = {"name": _quote(command.name), "gates": f"[{', '.join(gates)}]", "tap": _quote(bits[command.tap])}
    return "\n[[command]]\n" + "".join(f"{key} = {value}\n" for key, value in fields.items())


def _array(names: tuple[str, ...]) -> str:
    return f"[{', '.join(_quote(name) for name in names)}]"


def _quote(text: str) -> str:
    """A basic string of TOML, in which whatever is not printable is spelled out."""
    spelled = (f"\\{c}" if c in '"\\' else c if c.isprintable() else f"\\U{ord(c):08x}" for c in text)
    return f'"{"".join(spelled)}"'


def _count_bits(count: int) -> tuple[str, ...]:
    return tuple(f"b{i}" for i in range(count))
