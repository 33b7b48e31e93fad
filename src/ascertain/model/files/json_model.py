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

In a hidden model a transition lists where it may lead:

    {"kind": "hidden",
     "initial": {"left": "1/2", "right": "1/2"},
     "transitions": [["left", "listen", [["left", "hear-left", "17/20"], ["left", "hear-right", "3/20"]]], ...]}

It is state, action, and a list of [next state, reading, probability]. `initial` is a name, a table of names and
probabilities, or a list of such tables, one for each belief that the plant may begin with.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import Any, cast, final

from ascertain.errors import FileError, ModelError
from ascertain.model.abstract import AbstractListed, find_repeated
from ascertain.model.build import fill_tables
from ascertain.model.files import Format, Read, check_size
from ascertain.model.files.json_text import as_list, dump_line, kind_of, named, near, near_or_all, parse_json
from ascertain.model.hidden import HiddenModel, JointLaw, make_joint
from ascertain.model.machine import Machine
from ascertain.model.noisy import Law, NoisyMachine, make_law
from ascertain.rational import have_small_denominator, rational_field

FORMAT = "ascertain-model"
"""What the key `format` holds, so that a file of another program is not taken for one of ours."""
VERSION = 1
"""Grows when the schema changes its meaning."""
HIDDEN_KEYS = ("format", "version", "initial", "transitions", "states", "actions", "readings")
"""What a hidden model may say besides its kind; its laws stand in the transitions."""
KEYS = (*HIDDEN_KEYS, "laws", "origin")
"""What a machine may say."""
TRANSITION = "[state, action, reading, next state]"
"""A row of a machine, as error messages show it."""
HIDDEN_TRANSITION = "[state, action, [[next state, reading, probability], ...]]"
"""A row of a hidden model, as error messages show it."""
MAX_LAWS = 2_000_000
"""States times actions of a hidden model, which holds a law as a Python tuple for each: some hundred megabytes."""


def parse_model_data(data: object, where: str) -> Machine | NoisyMachine | HiddenModel:
    """The model that plain data describe (tables, lists, strings, integers, fractions); `where` begins every error."""
    if not isinstance(data, dict):
        raise FileError(
            f"{where}: {kind_of(data)} stands where a model should; a table with 'transitions' was expected"
        )
    fields = dict(cast("dict[str, Any]", data))
    kind = fields.pop("kind", "machine")
    if kind not in ("machine", "noisy", "hidden"):
        raise FileError(f"{where}: kind is {named(kind)}; machine, noisy or hidden was expected")
    hidden = kind == "hidden"
    _check_keys(fields, where, HIDDEN_KEYS if hidden else KEYS, HIDDEN_TRANSITION if hidden else TRANSITION)
    try:
        return _read_hidden(_Fields(fields, where)) if hidden else _read_machine(_Fields(fields, where))
    except ModelError as error:
        raise FileError(f"{where}: {error}") from None


def write_json(model: AbstractListed) -> str:
    """The text of a JSON file that reads back as the same model: all names listed, then one line a transition."""
    fields: dict[str, Any] = {"format": FORMAT, "version": VERSION, **model.named_data()}
    rows = fields.pop("transitions")
    head = "".join(f"  {dump_line(key)}: {dump_line(value)},\n" for key, value in fields.items())
    listed = ",".join(f"\n    {dump_line(row)}" for row in rows)
    return f'{{\n{head}  "transitions": [{listed}\n  ]\n}}\n'


JSON = Format(
    "JSON",
    (".json",),
    lambda text, where, _: Read(parse_model_data(parse_json(text, where), where)),
    write_json,
    (AbstractListed,),
)
"""Every model whose states are listed."""


def _check_keys(fields: dict[str, Any], where: str, known: tuple[str, ...], transition: str) -> None:
    for key in fields:
        if key not in known:
            raise FileError(f"{where}: {named(key)} is not a key of a model{near_or_all(str(key), known)}")
    if fields.get("format", FORMAT) != FORMAT:
        raise FileError(f"{where}: format is {_short(fields['format'])}; {FORMAT!r} was expected")
    version = fields.get("version", VERSION)
    if type(version) is not int or version != VERSION:
        raise FileError(f"{where}: version is {_short(version)}; this reader knows version {VERSION}")
    if "transitions" not in fields:
        raise FileError(f"{where}: 'transitions' is missing; a list of {transition} was expected")


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
class _Fields:
    """What stands under the keys of a model, while its names are numbered. A *place* says where in the file."""

    def __init__(self, fields: dict[str, Any], where: str) -> None:
        self.fields = fields
        self.where = where
        self.state = _Numbers("state", self.names("states"))
        self.action = _Numbers("action", self.names("actions"))
        self.reading = _Numbers("reading", self.names("readings"))
        self.first: dict[tuple[str, str], int] = {}
        """By state and action: which transition is about them."""

    def list_of(self, key: str) -> list[Any]:
        return as_list(self.fields.get(key, []), f"{self.where}: {key}", "a list")

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
            raise FileError(f"{self.where}: {place} is {kind_of(value)}; a name in quotes was expected")
        return value

    def parts(self, value: object, count: int, place: str, expected: str) -> list[Any]:
        parts = _parts(value)
        if len(parts) != count:
            what = f"has {len(parts)} parts" if isinstance(value, list) else f"is {kind_of(value)}"
            raise FileError(f"{self.where}: {place} {what}; {expected} was expected")
        return parts

    def cell(self, source: str, action: str, i: int) -> tuple[int, int]:
        """The numbers of the state and the action that transition i is about."""
        here = f"{self.where}: transitions[{i}]"
        s = self.state.of(source, f"{here}: {named(source)}")
        return s, self.action.of(action, f"{here}: {named(action)}")

    def claim(self, source: str, action: str, i: int) -> None:
        """Transition i is about this state and action, and no other one may be."""
        first = self.first.setdefault((source, action), i)
        if first != i:
            raise FileError(
                f"{self.where}: transitions[{i}]: action {named(action)} in state {named(source)} is given in "
                f"transitions[{first}] already; once is right"
            )

    def target(self, name: str, source: str, action: str, i: int) -> int:
        return self.state.of(
            name,
            f"{self.where}: transitions[{i}]: action {named(action)} in state {named(source)} leads to {named(name)}, "
            "which",
        )

    def probability(self, value: object, of: object, place: str) -> Fraction:
        p = rational_field(value, f"{self.where}: {place}: the probability of {named(of)}", FileError)
        if p < 0:
            raise FileError(f"{self.where}: {place}: the probability of {named(of)} is negative")
        return p

    def number(self, sort: _Numbers, value: object, place: str) -> int:
        """The number of the name that stands here."""
        name = self.name(value, place)
        return sort.of(name, f"{self.where}: {place}: {named(name)}")

    def distribution(self, sort: _Numbers, value: Any, place: str) -> dict[int, Fraction]:
        """A table of names and their probabilities, by number; a name alone is certain."""
        table = cast("dict[Any, Any]", value) if isinstance(value, dict) else {self.name(value, place): 1}
        masses = {self.number(sort, name, place): self.probability(p, name, place) for name, p in table.items()}
        self.check_denominators(masses.values(), place)
        return masses

    def check_denominators(self, values: Collection[Fraction], place: str) -> None:
        if not have_small_denominator(values):
            raise FileError(f"{self.where}: {place}: the probabilities need a huge common denominator; round them")

    def skeleton(self) -> dict[str, tuple[str, ...]]:
        """All names, by what a model calls them."""
        return {f"{sort.what}s": tuple(sort.number) for sort in (self.state, self.action, self.reading)}


# ------------------------------------------------------------------------------------------ machines, noisy and not


def _read_machine(said: _Fields) -> Machine | NoisyMachine:
    rows = said.list_of("transitions")
    noisy = "laws" in said.fields or any(isinstance(part, dict) for row in rows for part in _parts(row))
    initial = _read_initial(said)
    laws: dict[Law, int] = {}
    for i, table in enumerate(said.list_of("laws")):
        if not isinstance(table, dict):
            raise FileError(f"{said.where}: laws[{i}] is {kind_of(table)}; a table of readings was expected")
        if laws.setdefault(_read_law(said, cast("object", table), f"laws[{i}]"), i) != i:
            raise FileError(f"{said.where}: laws[{i}] is listed before; each law may stand once")
    cells: list[tuple[int, int, int, int]] = []
    for i, row in enumerate(rows):
        place = f"transitions[{i}]"
        parts = said.parts(row, 4, place, TRANSITION)
        source, action, target = (said.name(parts[k], f"{place}[{k}]") for k in (0, 1, 3))
        s, a = said.cell(source, action, i)
        k = _read_reading(said, parts[2], f"{place}[2]", laws if noisy else None)
        cells.append((s, a, k, said.target(target, source, action, i)))
        said.claim(source, action, i)
    shape = check_size(said.where, len(said.state.number), len(said.action.number))
    successor, behaviour = fill_tables(shape, cells)
    rest: dict[str, Any] = {"initial": initial, "successor": successor}
    rest["origin"] = tuple(said.names("origin", distinct=False) or ())
    if noisy:
        return NoisyMachine(**said.skeleton(), **rest, law=behaviour, laws=tuple(laws))
    return Machine(**said.skeleton(), **rest, output=behaviour)


def _read_initial(said: _Fields) -> tuple[int, ...]:
    value = said.fields.get("initial", [])
    names = [value] if isinstance(value, str) else said.names("initial") or []
    return tuple(said.number(said.state, name, "initial") for name in names)


def _read_reading(said: _Fields, value: object, place: str, laws: dict[Law, int] | None) -> int:
    """The number of the reading, or of its law in a noisy model."""
    if laws is None:
        return said.number(said.reading, value, place)
    return laws.setdefault(_read_law(said, value, place), len(laws))


def _read_law(said: _Fields, value: object, place: str) -> Law:
    law = said.distribution(said.reading, value, place)
    total = sum(law.values(), Fraction(0))
    if total != 1:
        what = f"sum to {total}" if max(total.as_integer_ratio()) < 10**12 else "do not sum to 1"
        raise FileError(f"{said.where}: {place}: the probabilities {what}; they must sum to 1")
    return make_law(law)


# --------------------------------------------------------------------------------------------------- hidden models


def _read_hidden(said: _Fields) -> HiddenModel:
    value: Any = said.fields.get("initial", [])
    several: list[Any] = cast("list[Any]", value) if isinstance(value, list) else [value]
    masses = (said.distribution(said.state, one, f"initial[{i}]") for i, one in enumerate(several))
    initial = tuple(tuple((s, p) for s, p in sorted(belief.items()) if p) for belief in masses)
    laws: dict[tuple[int, int], JointLaw] = {}
    for i, row in enumerate(said.list_of("transitions")):
        place = f"transitions[{i}]"
        parts = said.parts(row, 3, place, HIDDEN_TRANSITION)
        source, action = (said.name(parts[k], f"{place}[{k}]") for k in (0, 1))
        cell = said.cell(source, action, i)
        said.claim(source, action, i)
        laws[cell] = _read_joint(said, parts[2], source, action, i)
    num_states, num_actions = check_size(said.where, len(said.state.number), len(said.action.number))
    if num_states * num_actions > MAX_LAWS:
        raise FileError(f"{said.where}: {num_states * num_actions} states times actions; at most {MAX_LAWS} are read")
    joint = tuple(tuple(laws.get((s, a), ()) for a in range(num_actions)) for s in range(num_states))
    return HiddenModel(**said.skeleton(), joint=joint, initial=initial)


def _read_joint(said: _Fields, ends: Any, source: str, action: str, i: int) -> JointLaw:
    law: dict[tuple[int, int], Fraction] = {}
    place = f"transitions[{i}]"
    if not isinstance(ends, list) or not ends:
        raise FileError(
            f"{said.where}: {place} lists no next state; [[next state, reading, probability], ...] was expected"
        )
    for j, end in enumerate(cast("list[Any]", ends)):
        here = f"{place}[2][{j}]"
        parts = said.parts(end, 3, here, "[next state, reading, probability]")
        target, reading = (said.name(parts[k], f"{here}[{k}]") for k in (0, 1))
        t = said.target(target, source, action, i)
        y = said.number(said.reading, reading, here)
        if (t, y) in law:
            raise FileError(f"{said.where}: {place} lists {named(target)} and {named(reading)} twice; once is right")
        law[t, y] = said.probability(parts[2], reading, here)
    said.check_denominators(law.values(), place)
    joint = make_joint(law)
    if not joint:
        raise FileError(f"{said.where}: {place} lists only zeros; the probabilities must sum to 1")
    return joint


# ---------------------------------------------------------------------------------------------------- what was read


def _parts(row: object) -> list[Any]:
    return cast("list[Any]", row) if isinstance(row, list) else []


def _short(value: object) -> str:
    """A value as the file has it, or what it is where that says more."""
    if isinstance(value, float) or (type(value) is int and abs(value) < 10**12):
        return f"the {'number' if isinstance(value, float) else 'integer'} {value}"
    return named(value) if isinstance(value, str) else kind_of(value)
