"""Wiring files: read with every field checked, before anything is sent to anyone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, final

from ascertain.errors import AscertainError, FileError, TaskError, check_keys, did_you_mean
from ascertain.model.files.text import parse_toml, read_text
from ascertain.plant import find_adapter
from ascertain.plant.wiring.adapter import NUMBER, TEXT, AbstractAdapter, Step, Types
from ascertain.plant.wiring.decoding import Decoder, read_decoder, short

MAX_CHARACTERS = 2**20
"""Of a wiring file: thousands of actions, and read at once."""
MAX_STEPS = 1000
"""Of one action: more is a program, and belongs in one."""
MAX_SECONDS = 86400.0
"""A day: whoever waits longer for one step has made a typing mistake."""
PLANT_KEYS = ("kind", "address", "identity", "timeout", "silence", "reconnect")
"""The keys of [plant] that every kind has."""
ACTION_KEYS = ("name", "steps", "read", "bands", "map", "match", "else", "retry_safe", "silence")
"""The keys of [[action]]."""
WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "a table"}
"""What error messages call the types of TOML."""


@final
@dataclass(frozen=True)
class WiredAction:
    """How one action is done and read."""

    name: str
    steps: tuple[Step, ...]
    reads: int | None
    """The step whose value is read; None: the action reads as `else` once its steps are done."""
    decoder: Decoder = field(default_factory=Decoder)
    retry_safe: bool = False
    """Whether its steps may be done again when nobody knows whether they were done."""
    silence: str | None = None
    """What no answer in time reads as; None: it is a fault."""

    @property
    def changes(self) -> int:
        """How many of its steps may change the plant."""
        return sum(step.changes for step in self.steps)

    @property
    def readings(self) -> tuple[str, ...] | None:
        """All that can be read; None where the plant's own text is read."""
        decoder = self.decoder
        known = [*(r for r, _ in decoder.bands), *(decoder.map or {}).values(), *(r for r, _ in decoder.patterns)]
        if self.reads is not None and not known:
            return None
        return tuple(dict.fromkeys([*known, *(text for text in (decoder.otherwise, self.silence) if text is not None)]))


@final
@dataclass(frozen=True)
class Wiring:
    """What a wiring file says."""

    path: Path
    kind: str
    adapter: type[AbstractAdapter]
    address: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The adapter's own keys of [plant]."""
    identity: Step | None = None
    """Read first, after every connection."""
    timeout: float | None = None
    """Seconds that a step may take; None: what the session says."""
    silence: str | None = None
    reconnect: bool = False
    """Whether a plant whose connection was lost may be taken to be where it was."""
    actions: Mapping[str, WiredAction] = field(default_factory=dict[str, WiredAction])
    """By name; none where the plant knows actions by their names."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """All that are written in the file."""
        first = () if self.identity is None else (self.identity,)
        return first + tuple(step for action in self.actions.values() for step in action.steps)

    def action(self, name: str) -> WiredAction | None:
        """How the action is done; None when the file does not say."""
        if not self.actions and self.adapter.by_name:
            return _action_by_name(self.adapter, name, self.silence)
        return self.actions.get(name)

    def check_actions(self, names: Collection[str]) -> None:
        """Refuse a wiring that lacks some of these actions."""
        missing = [name for name in names if self.action(name) is None]
        if missing:
            named = ", ".join(map(repr, missing[:6])) + (f" and {len(missing) - 6} more" if len(missing) > 6 else "")
            hint = did_you_mean(missing[0], self.actions)
            raise TaskError(f"{self.path}: the wiring has no action {named}, which the model has{hint}")


def read_wiring(path: str | Path) -> Wiring:
    """Read and check a wiring file."""
    path = Path(path)
    text = read_text(path)
    if len(text) > MAX_CHARACTERS:
        raise FileError(f"{path}: the file has {len(text)} characters; a wiring has at most {MAX_CHARACTERS}")
    data = parse_toml(text, str(path))
    try:
        return _read(path, data)
    except AscertainError as reason:
        raise type(reason)(f"{path}: {reason}") from None


def _read(path: Path, data: dict[str, Any]) -> Wiring:
    check_keys("", data, ("plant", "action"))
    plant = data.get("plant")
    if not isinstance(plant, dict):
        raise TaskError("a section [plant] with a kind and an address is needed")
    plant = cast("dict[str, Any]", plant)
    kind = field_of(plant, "kind", TEXT, "[plant] ")
    adapter = find_adapter(kind, "[plant] kind")
    check_keys("[plant] ", plant, (*PLANT_KEYS, *adapter.options))
    timeout = field_of(plant, "timeout", NUMBER, "[plant] ", None)
    if timeout is not None and not 0 < timeout <= MAX_SECONDS:
        raise TaskError(f"[plant] timeout: {timeout} is not understood; write seconds, more than 0 and at most a day")
    reconnect = field_of(plant, "reconnect", (bool,), "[plant] ", False)
    if reconnect and not adapter.keeps_state:
        raise TaskError(f"[plant] reconnect: connecting starts a plant of the kind {kind!r} anew; leave this out")
    identity = _read_giving(adapter, plant["identity"], "[plant] identity") if "identity" in plant else None
    silence = field_of(plant, "silence", TEXT, "[plant] ", None)
    return Wiring(
        path=path,
        kind=kind,
        adapter=adapter,
        address=field_of(plant, "address", TEXT, "[plant] "),
        options={
            key: field_of(plant, key, types, "[plant] ") for key, types in adapter.options.items() if key in plant
        },
        identity=identity,
        timeout=None if timeout is None else float(timeout),
        silence=silence,
        reconnect=reconnect,
        actions=_read_actions(adapter, data.get("action", []), silence),
    )


def _read_actions(adapter: type[AbstractAdapter], given: Any, silence: str | None) -> dict[str, WiredAction]:
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in cast("list[object]", given)):
        raise TaskError("actions are sections [[action]], with two brackets on either side")
    found: dict[str, WiredAction] = {}
    for number, one in enumerate(cast("list[dict[str, Any]]", given), 1):
        name = field_of(one, "name", TEXT, f"[[action]] number {number}: ")
        if name in found:
            raise TaskError(f"[[action]] {name!r} is there twice; rename one")
        found[name] = _read_action(adapter, name, one, silence)
    if not found and not adapter.by_name:
        raise TaskError("sections [[action]] are needed: each says how one action of the model is done and read")
    return found


def _read_action(adapter: type[AbstractAdapter], name: str, data: dict[str, Any], silence: str | None) -> WiredAction:
    where = f"[[action]] {name!r}"
    check_keys(f"{where}: ", data, ACTION_KEYS)
    decoder = read_decoder(data, where)
    rest: dict[str, Any] = {
        "decoder": decoder,
        "retry_safe": field_of(data, "retry_safe", (bool,), f"{where} ", False),
        "silence": field_of(data, "silence", TEXT, f"{where} ", silence),
    }
    if adapter.by_name and "steps" not in data and "read" not in data:
        plain = _action_by_name(adapter, name, None)
        return WiredAction(name, plain.steps, plain.reads, **rest)
    given = field_of(data, "steps", (list,), f"{where} ", [])
    if len(given) > MAX_STEPS:
        raise TaskError(f"{where} steps: there are {len(given)}; at most {MAX_STEPS} are allowed")
    steps = [_read_step(adapter, one, f"{where} step {i}") for i, one in enumerate(given, 1)]
    if "read" in data:
        steps.append(_read_giving(adapter, data["read"], f"{where} read"))
    reads = max((i for i, step in enumerate(steps) if step.gives), default=None)
    if adapter.single and len(steps) > 1:
        raise TaskError(f"{where}: an action of a plant of this kind is one step; {len(steps)} are given")
    if not steps:
        raise TaskError(f"{where}: it does nothing; give it steps, or something to read")
    if reads is None and (decoder.otherwise is None or decoder != Decoder(otherwise=decoder.otherwise)):
        raise TaskError(f'{where}: nothing is read; add read, or say with else = "done" what it reads once it is done')
    return WiredAction(name, tuple(steps), reads, **rest)


def _action_by_name(adapter: type[AbstractAdapter], name: str, silence: str | None) -> WiredAction:
    return WiredAction(name, (_make_step(adapter, "query", name, {}, "the action"),), 0, silence=silence)


def _read_giving(adapter: type[AbstractAdapter], given: Any, where: str) -> Step:
    """A step that must give a value; a plain text is what `read` is told."""
    step = _read_step(adapter, {"read": given} if isinstance(given, str) else given, where)
    if not step.gives:
        raise TaskError(f"{where}: {step.verb!r} gives no value; write a step that does")
    return step


def _read_step(adapter: type[AbstractAdapter], given: Any, where: str) -> Step:
    if not isinstance(given, dict):
        raise TaskError(f"{where}: a step is a table such as {{ wait = 0.2 }}, not {short(given)}")
    data = cast("dict[str, Any]", given)
    verbs = [key for key in data if key in adapter.steps or key == "wait"]
    if len(verbs) != 1:
        known = ", ".join(dict.fromkeys([*adapter.steps, "wait"]))
        said = f"{' and '.join(verbs)} are given" if verbs else f"{', '.join(map(repr, data)) or 'nothing'} is given"
        raise TaskError(f"{where}: {said}; a step has one of {known}")
    verb = verbs[0]
    told = data[verb]
    words = {key: value for key, value in data.items() if key != verb}
    if verb == "wait" and type(told) in NUMBER:
        check_keys(f"{where} ", words, ())
        if not 0 <= told <= MAX_SECONDS:
            raise TaskError(f"{where} wait: {told} is not understood; write seconds, from 0 to a day")
        return Step("wait", float(told))
    if verb not in adapter.steps:
        raise TaskError(f"{where} wait: seconds are needed, not {short(told)}")
    return _make_step(adapter, verb, told, words, where)


def _make_step(adapter: type[AbstractAdapter], verb: str, told: Any, words: dict[str, Any], where: str) -> Step:
    form = adapter.steps[verb]
    field_of({verb: told}, verb, form.told, f"{where} ")
    check_keys(f"{where} ", words, tuple(form.keys))
    for key, types in form.keys.items():
        if key in words or key in form.needs:
            field_of(words, key, types, f"{where} ")
    try:
        return adapter.check(Step(verb, told, words, form.changes, form.gives))
    except AscertainError as reason:
        raise type(reason)(f"{where}: {reason}") from None


_NEEDED = object()
"""Stands for a default where there is none."""


def field_of(data: Mapping[str, Any], key: str, types: Types, where: str, default: Any = _NEEDED) -> Any:
    """The value under a key, of one of these types exactly: `true` is no number."""
    if key not in data and default is not _NEEDED:
        return default
    words = " or ".join(dict.fromkeys(WORDS[kind] for kind in types))
    if key not in data:
        raise TaskError(f"{where}{key} is needed: {words}")
    if type(data[key]) not in types:
        raise TaskError(f"{where}{key} must be {words}, not {short(data[key])}")
    return data[key]
