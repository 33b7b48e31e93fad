"""Models as JSON that people write: everything by name, one line a transition.

    {"format": "ascertain-model", "version": 1,
     "initial": "shut",
     "transitions": [["shut", "open", "ok", "ajar"],
                     ["ajar", "look", {"wide": "9/10", "dark": "1/10"}, "ajar"]]}

A transition is state, action, reading, next state. A reading that is a table gives the probability of each name, and
one such table makes the model noisy; a plain name then is certain. Probabilities are integers or strings, "9/10" or
"0.9", never JSON numbers with a point, which do not hold what was typed. `initial` is a name, a list of names, or left
out. `states`, `actions` and `readings` fix the order of names and may list more than the transitions use; a name that a
list leaves out is then an error. Without them names are numbered as they appear: initial states first, then the
transitions from left to right. `origin` says, state by state, which machine of a union it came from. `laws` fixes the
order of the tables of a noisy model, and makes a model noisy that has none. The same schema, as plain data, serves the
inline table of a problem file, where `format` and `version` may be left out, as they may be everywhere.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast, final

import numpy as np

from ascertain.errors import FileError, ModelError
from ascertain.model.files.json_text import find_repeated, named, near
from ascertain.model.files.json_write import FORMAT, VERSION
from ascertain.model.files.tables import check_size
from ascertain.model.machine import Machine
from ascertain.model.noisy import Law, NoisyMachine, make_law
from ascertain.rational import have_small_denominator, rational_field
from ascertain.types import UNDEFINED

KEYS = ("format", "version", "initial", "transitions", "states", "actions", "readings", "laws", "origin")
TRANSITION = "[state, action, reading, next state]"


def parse_model_data(data: object, where: str) -> Machine | NoisyMachine:
    """The model that plain data describe (tables, lists, strings, integers, fractions); `where` begins every error."""
    try:
        return _Reading(_check_keys(data, where), where).model()
    except ModelError as error:
        raise FileError(f"{where}: {error}") from None


def _check_keys(data: object, where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise FileError(f"{where}: {_kind(data)} stands where a model should; a table with 'transitions' was expected")
    fields = cast("dict[str, Any]", data)
    for key in fields:
        if key not in KEYS:
            known = near(str(key), KEYS) or f"; known are {', '.join(KEYS)}"
            raise FileError(f"{where}: {named(key)} is not a key of a model{known}")
    if fields.get("format", FORMAT) != FORMAT:
        raise FileError(f"{where}: format is {_short(fields['format'])}; {FORMAT!r} was expected")
    version = fields.get("version", VERSION)
    if type(version) is not int or version != VERSION:
        raise FileError(f"{where}: version is {_short(version)}; this reader knows version {VERSION}")
    if "transitions" not in fields:
        raise FileError(f"{where}: 'transitions' is missing; a list of {TRANSITION} was expected")
    return fields


@final
class _Numbers:
    """Names of one sort and their numbers; a sort that is listed in the file takes no further names."""

    def __init__(self, what: str, listed: list[str] | None) -> None:
        self.what = what
        self.listed = listed is not None
        self.number = {name: i for i, name in enumerate(listed or ())}

    def of(self, name: str, sentence: str) -> int:
        """The number of a name; `sentence` leads up to "is not a state" and the like."""
        if name not in self.number:
            if self.listed:
                article = "an" if self.what == "action" else "a"
                raise FileError(f"{sentence} is not {article} {self.what}{near(name, self.number)}")
            self.number[name] = len(self.number)
        return self.number[name]


@final
class _Reading:
    """The numbering of names and laws, and the transitions as rows of numbers."""

    def __init__(self, fields: dict[str, Any], where: str) -> None:
        self.fields = fields
        self.where = where
        self.state = _Numbers("state", self.names("states"))
        self.action = _Numbers("action", self.names("actions"))
        self.reading = _Numbers("reading", self.names("readings"))
        self.laws: dict[Law, int] = {}
        self.cells: dict[tuple[int, int], tuple[int, int, int]] = {}
        """(s, a) to (reading or law, successor, position in the list)."""

    def model(self) -> Machine | NoisyMachine:
        rows = self.list_of("transitions")
        noisy = "laws" in self.fields or any(isinstance(part, dict) for row in rows for part in _parts(row))
        initial = self.read_initial()
        for i, law in enumerate(self.list_of("laws")):
            if self.laws.setdefault(self.read_law(law, f"laws[{i}]"), i) != i:
                raise FileError(f"{self.where}: laws[{i}] is listed before; each law may stand once")
        for i, row in enumerate(rows):
            self.read_transition(row, i, noisy)
        return self.build(initial, noisy)

    def build(self, initial: tuple[int, ...], noisy: bool) -> Machine | NoisyMachine:
        shape = check_size(self.where, len(self.state.number), len(self.action.number))
        successor = np.full(shape, UNDEFINED, dtype=np.int32)
        behaviour = successor.copy()
        for cell, (k, t, _) in self.cells.items():
            behaviour[cell], successor[cell] = k, t
        states, actions, readings = (tuple(sort.number) for sort in (self.state, self.action, self.reading))
        skeleton: dict[str, Any] = {"states": states, "actions": actions, "readings": readings, "initial": initial}
        skeleton |= {"successor": successor, "origin": tuple(self.names("origin", distinct=False) or ())}
        if noisy:
            return NoisyMachine(**skeleton, law=behaviour, laws=tuple(self.laws))
        return Machine(**skeleton, output=behaviour)

    def list_of(self, key: str) -> list[Any]:
        value = self.fields.get(key, [])
        if not isinstance(value, list):
            raise FileError(f"{self.where}: {key} is {_kind(value)}; a list was expected")
        return cast("list[Any]", value)

    def names(self, key: str, *, distinct: bool = True) -> list[str] | None:
        """The list of names under a key, or None where the key is missing."""
        if key not in self.fields:
            return None
        names = [self.name(name, f"{key}[{i}]") for i, name in enumerate(self.list_of(key))]
        if distinct and len(set(names)) < len(names):
            raise FileError(f"{self.where}: {key} lists {named(find_repeated(names))} twice; names must differ")
        return names

    def name(self, value: object, place: str) -> str:
        if not isinstance(value, str):
            raise FileError(f"{self.where}: {place} is {_kind(value)}; a name in quotes was expected")
        return value

    def read_initial(self) -> tuple[int, ...]:
        value = self.fields.get("initial", [])
        names = [value] if isinstance(value, str) else self.names("initial") or []
        return tuple(self.state.of(name, f"{self.where}: initial: {named(name)}") for name in names)

    def read_transition(self, row: object, i: int, noisy: bool) -> None:
        place = f"transitions[{i}]"
        parts = _parts(row)
        if len(parts) != 4:
            what = f"has {len(parts)} parts" if isinstance(row, list) else f"is {_kind(row)}"
            raise FileError(f"{self.where}: {place} {what}; {TRANSITION} was expected")
        source, action, target = (self.name(parts[k], f"{place}[{k}]") for k in (0, 1, 3))
        here = f"{self.where}: {place}"
        s = self.state.of(source, f"{here}: {named(source)}")
        a = self.action.of(action, f"{here}: {named(action)}")
        k = self.read_reading(parts[2], f"{place}[2]", noisy)
        t = self.state.of(
            target, f"{here}: action {named(action)} in state {named(source)} leads to {named(target)}, which"
        )
        if (s, a) in self.cells:
            first = f"transitions[{self.cells[s, a][2]}]"
            raise FileError(
                f"{here}: action {named(action)} in state {named(source)} is given in {first} already; once is right"
            )
        self.cells[s, a] = k, t, i

    def read_reading(self, value: object, place: str, noisy: bool) -> int:
        """The number of the reading, or of its law in a noisy model."""
        if noisy:
            table: object = cast("object", value) if isinstance(value, dict) else {self.name(value, place): 1}
            return self.laws.setdefault(self.read_law(table, place), len(self.laws))
        name = self.name(value, place)
        return self.reading.of(name, f"{self.where}: {place}: {named(name)}")

    def read_law(self, table: object, place: str) -> Law:
        if not isinstance(table, dict):
            raise FileError(f"{self.where}: {place} is {_kind(table)}; a table of readings was expected")
        law: dict[int, Fraction] = {}
        for name, value in cast("dict[Any, Any]", table).items():
            p = rational_field(value, f"{self.where}: {place}: the probability of {named(name)}", FileError)
            if p < 0:
                raise FileError(f"{self.where}: {place}: the probability of {named(name)} is negative")
            y = self.reading.of(self.name(name, f"a reading of {place}"), f"{self.where}: {place}: {named(name)}")
            law[y] = p
        if not have_small_denominator(law.values()):
            raise FileError(f"{self.where}: {place}: the probabilities need a huge common denominator; round them")
        total = sum(law.values(), Fraction(0))
        if total != 1:
            what = f"sum to {total}" if max(total.as_integer_ratio()) < 10**12 else "do not sum to 1"
            raise FileError(f"{self.where}: {place}: the probabilities {what}; they must sum to 1")
        return make_law(law)


def _parts(row: object) -> list[Any]:
    return cast("list[Any]", row) if isinstance(row, list) else []


_KINDS = {
    "str": "a string",
    "int": "an integer",
    "float": "a number with a point",
    "bool": "true or false",
    "NoneType": "null",
    "list": "a list",
    "dict": "a table",
}


def _kind(value: object) -> str:
    """What a value is, in the words of the file."""
    kind = type(value).__name__
    return _KINDS.get(kind, f"a {kind}")


def _short(value: object) -> str:
    """A value as the file has it, or what it is where that says more."""
    if isinstance(value, float) or (type(value) is int and abs(value) < 10**12):
        return f"the {'number' if isinstance(value, float) else 'integer'} {value}"
    return named(value) if isinstance(value, str) else _kind(value)
