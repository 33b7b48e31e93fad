"""Hidden models as JSON, beside the machines of `json_model`: a transition lists where it may lead.

    {"format": "ascertain-model", "version": 1, "kind": "hidden",
     "initial": {"left": "1/2", "right": "1/2"},
     "transitions": [["left", "listen", [["left", "hear-left", "17/20"], ["left", "hear-right", "3/20"]]], ...]}

A transition is state, action, and a list of [next state, reading, probability]. `initial` is a name, a table of names
and probabilities, or a list of such tables, one for each belief that the plant may begin with. `states`, `actions`
and `readings` fix the order of names; without them names are numbered as they appear.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NoReturn, cast, final

from ascertain.errors import FileError, ModelError
from ascertain.model.files import Format, Options, Read
from ascertain.model.files.json_model import parse_model_data
from ascertain.model.files.json_text import dump_line, named, near, parse_json
from ascertain.model.files.json_write import FORMAT, VERSION, write_json
from ascertain.model.files.tables import check_size
from ascertain.model.hidden import Belief, HiddenModel, JointLaw, make_joint
from ascertain.model.machine import Machine
from ascertain.model.noisy import NoisyMachine
from ascertain.rational import have_small_denominator, rational_field

KEYS = ("format", "version", "kind", "initial", "transitions", "states", "actions", "readings")
MAX_LAWS = 2_000_000
"""States times actions."""


def _read(text: str, where: str, _: Options) -> Read:
    return Read(parse_any_model(parse_json(text, where), where))


def _write(model: Machine | NoisyMachine | HiddenModel) -> str:
    """The text of a JSON file that reads back as the same model."""
    return write_hidden_json(model) if isinstance(model, HiddenModel) else write_json(model)


JSON = Format("JSON", (".json",), _read, _write, (Machine, NoisyMachine, HiddenModel))


def parse_any_model(data: object, where: str) -> Machine | NoisyMachine | HiddenModel:
    """The model that plain data describe, of whichever kind; `where` begins every error."""
    if not isinstance(data, dict) or "kind" not in data:
        return parse_model_data(cast("object", data), where)
    fields = cast("dict[str, Any]", data)
    if fields["kind"] == "hidden":
        return parse_hidden_data(fields, where)
    if fields["kind"] not in ("machine", "noisy"):
        raise FileError(f"{where}: kind is {named(fields['kind'])}; machine, noisy or hidden was expected")
    return parse_model_data({key: value for key, value in fields.items() if key != "kind"}, where)


def parse_hidden_data(fields: dict[str, Any], where: str) -> HiddenModel:
    """The hidden model that plain data describe."""
    for key in fields:
        if key not in KEYS:
            raise FileError(f"{where}: unknown key {named(key)}{near(key, KEYS)}; known are {', '.join(KEYS)}")
    if fields.get("format", FORMAT) != FORMAT or fields.get("version", VERSION) != VERSION:
        raise FileError(f"{where}: the format must be {FORMAT!r}, version {VERSION}")
    try:
        return _Hidden(fields, where).model()
    except ModelError as error:
        raise FileError(f"{where}: {error}") from None


@final
class _Hidden:
    """A model while its transitions are numbered."""

    def __init__(self, fields: dict[str, Any], where: str) -> None:
        self.fields, self.where = fields, where
        self.number: dict[str, dict[str, int]] = {}
        self.listed: set[str] = set()
        for what in ("states", "actions", "readings"):
            names = [self.text(name, what) for name in self.list_at(what)]
            if len(set(names)) < len(names):
                self.fail(what, "lists a name twice; names must differ")
            self.number[what] = {name: i for i, name in enumerate(names)}
            self.listed |= {what} if what in fields else set()

    def model(self) -> HiddenModel:
        initial = self.read_initial()
        laws: dict[tuple[int, int], JointLaw] = {}
        for i, row in enumerate(self.list_at("transitions")):
            place = f"transitions[{i}]"
            source, action, ends = self.parts(
                row, 3, place, "[state, action, [[next state, reading, probability], ...]]"
            )
            key = self.of(source, "states", place), self.of(action, "actions", place)
            if key in laws:
                self.fail(place, f"gives action {named(action)} in state {named(source)} again; once is right")
            laws[key] = self.read_law(ends, place)
        states, actions, readings = (tuple(self.number[what]) for what in ("states", "actions", "readings"))
        num_states, num_actions = check_size(self.where, len(states), len(actions))
        if num_states * num_actions > MAX_LAWS:
            raise FileError(
                f"{self.where}: {num_states * num_actions} states times actions; at most {MAX_LAWS} are read"
            )
        joint = tuple(tuple(laws.get((s, a), ()) for a in range(num_actions)) for s in range(num_states))
        return HiddenModel(states=states, actions=actions, readings=readings, joint=joint, initial=initial)

    def read_initial(self) -> tuple[Belief, ...]:
        value: Any = self.fields.get("initial", [])
        several: list[Any] = cast("list[Any]", value) if isinstance(value, list) else [value]
        return tuple(self.read_belief(one, f"initial[{i}]") for i, one in enumerate(several))

    def read_belief(self, value: Any, place: str) -> Belief:
        table = cast("dict[str, Any]", value) if isinstance(value, dict) else {self.text(value, place): 1}
        belief = {self.of(name, "states", place): self.rational(p, place) for name, p in table.items()}
        self.check_denominators(list(belief.values()), place)
        return tuple((s, p) for s, p in sorted(belief.items()) if p)

    def read_law(self, ends: Any, place: str) -> JointLaw:
        law: dict[tuple[int, int], Fraction] = {}
        if not isinstance(ends, list) or not ends:
            self.fail(place, "lists no next state; [[next state, reading, probability], ...] was expected")
        for end in cast("list[Any]", ends):
            target, reading, p = self.parts(end, 3, place, "[next state, reading, probability]")
            key = self.of(target, "states", place), self.of(reading, "readings", place)
            if key in law:
                self.fail(place, f"lists {named(target)} and {named(reading)} twice; once is right")
            law[key] = self.rational(p, place)
        self.check_denominators(list(law.values()), place)
        joint = make_joint(law)
        if not joint:
            self.fail(place, "lists only zeros; the probabilities must sum to 1")
        return joint

    def check_denominators(self, values: list[Fraction], place: str) -> None:
        if not have_small_denominator(values):
            self.fail(place, "has probabilities that need a huge common denominator; round them")

    def rational(self, value: Any, place: str) -> Fraction:
        p = rational_field(value, f"{self.where}: {place}", FileError)
        if p < 0:
            self.fail(place, f"has a negative probability, {p}")
        return p

    def of(self, name: Any, what: str, place: str) -> int:
        text, number = self.text(name, place), self.number[what]
        if text not in number:
            if what in self.listed:
                self.fail(place, f"names {named(text)}, which {what} does not list{near(text, number)}")
            number[text] = len(number)
        return number[text]

    def parts(self, value: Any, count: int, place: str, expected: str) -> list[Any]:
        parts = cast("list[Any]", value) if isinstance(value, list) else []
        if len(parts) != count:
            self.fail(place, f"is not understood; {expected} was expected")
        return parts

    def list_at(self, key: str) -> list[Any]:
        value = self.fields.get(key, [])
        if not isinstance(value, list):
            self.fail(key, "must be a list")
        return cast("list[Any]", value)

    def text(self, value: Any, place: str) -> str:
        if not isinstance(value, str):
            self.fail(place, "has something else where a name in quotes was expected")
        return value

    def fail(self, place: str, problem: str) -> NoReturn:
        raise FileError(f"{self.where}: {place} {problem}")


def write_hidden_json(model: HiddenModel) -> str:
    """The text of a JSON file that reads back as the same model."""
    fields: dict[str, object] = {
        "format": FORMAT,
        "version": VERSION,
        "kind": model.kind,
        "states": model.states,
        "actions": model.actions,
        "readings": model.readings,
        "initial": [{model.states[s]: str(p) for s, p in belief} for belief in model.initial],
    }
    head = "".join(f"  {dump_line(key)}: {dump_line(value)},\n" for key, value in fields.items())
    rows = ",".join(f"\n    {dump_line(row)}" for row in _transitions(model))
    return f'{{\n{head}  "transitions": [{rows}\n  ]\n}}\n'


def _transitions(model: HiddenModel) -> Iterator[list[Any]]:
    for s, row in enumerate(model.joint):
        for a, law in enumerate(row):
            if law:
                yield [
                    model.states[s],
                    model.actions[a],
                    [[model.states[t], model.readings[y], str(p)] for t, y, p in law],
                ]
