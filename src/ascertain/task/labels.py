"""What is asked about a state: a label for each, by name, by machine, by table, against a nominal state, by pattern.

    "state"                          each state is its own label
    "class"                          the states that no experiment tells apart, named like "a or b"
    "machine"                        which machine of a union
    { s1 = "safe", "*" = "unsafe" }  a table by state name; "*" stands for all the others
    { nominal = "s0" }               "nominal" for that state, "other" for the rest
    { pattern = "^(open|shut)" }     what the pattern finds in the name (its first group if it has one), else "other"
    { bits = ["b0", "b3"] }          of a Boolean plant or network: the values of these bits, as in "b0=1 b3=0"
    { expression = "b0 and not b3" } of a Boolean plant or network: "true" or "false"

The table form is meant unless its only key is one of the words nominal, pattern, bits, expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar, Protocol, TypeAlias, cast

from ascertain.errors import TaskError, did_you_mean
from ascertain.model.abstract import AbstractModel
from ascertain.model.expression import parse_expression
from ascertain.model.network import BooleanNetwork
from ascertain.task.pattern import search_names
from ascertain.types import State

NamedBits: TypeAlias = AbstractModel | BooleanNetwork
"""What says which bit of a state is which."""
LabelSpec: TypeAlias = str | Mapping[str, object] | Callable[[str], str]
"""How labels are given: a word, a table, or (from Python) a function of the state's name."""


class Named(Protocol):
    """What has names to label: a model with listed states, or the hypotheses about a hidden one."""

    kind: ClassVar[str]

    @property
    def states(self) -> tuple[str, ...]: ...
    @property
    def origin(self) -> tuple[str, ...]: ...
    def state_named(self, name: str, where: str = "state") -> State: ...


OTHER = "other"
"""The label of what is not nominal, or not found."""
CLASS = "class"
"""The word for labels that join whatever cannot be told apart: `quotients/obstruction.py` does, once states are told
apart as far as they have names."""
MAX_JOINED = 8
"""Labels that are named one by one when they are joined; of more, the rest are counted."""
_WORDS = ("nominal", "pattern", "bits", "expression")
"""The keys that make a table of one entry a rule."""


def resolve_labels(model: Named, spec: LabelSpec, states: Iterable[State], plant: NamedBits | None = None) -> list[str]:
    """The labels of these states, in their order; `plant` says which bit of a state is which, if states have bits."""
    wanted = list(states)
    if callable(spec):
        return [spec(model.states[s]) for s in wanted]
    if isinstance(spec, str):
        return _by_word(model, spec, wanted)
    if not isinstance(spec, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TaskError(f"label: {spec!r} is not understood; give a word, a table or a function")
    if len(spec) == 1 and (word := next(iter(spec))) in _WORDS:
        return _by_rule(model, plant, word, spec[word], wanted)
    return _by_table(model, spec, wanted)


def _by_word(model: Named, word: str, states: list[State]) -> list[str]:
    if word in {"state", CLASS}:
        return [model.states[s] for s in states]
    if word == "machine":
        if not model.origin:
            raise TaskError('label = "machine" asks which of several machines it is; give them with models = [...]')
        return [model.origin[s] for s in states]
    known = did_you_mean(word, ("state", CLASS, "machine"))
    raise TaskError(f'label: {word!r} is not understood; write "state", "class", "machine" or a table{known}')


def _by_rule(model: Named, plant: NamedBits | None, word: str, value: object, states: list[State]) -> list[str]:
    if word in {"bits", "expression"} and plant is None:
        raise TaskError(f"label: {word} is for Boolean plants and networks; this model is a {model.kind}")
    if plant is not None and word == "bits":
        return _by_bits(plant, value, states)
    if not isinstance(value, str):
        raise TaskError(f"label: {word} must be text")
    if plant is not None and word == "expression":
        expression = parse_expression(value, plant.bits, "label: expression")
        return [str(expression.holds(s)).lower() for s in states]
    if word == "nominal":
        nominal = model.state_named(value, "label: nominal")
        return ["nominal" if s == nominal else OTHER for s in states]
    found = search_names(value, (model.states[s] for s in states), "label: pattern")
    return [OTHER if label is None else label for label in found]


def _by_bits(plant: NamedBits, value: object, states: list[State]) -> list[str]:
    if not isinstance(value, list | tuple) or not value:
        raise TaskError('label: bits must be a list of names, such as bits = ["b0"]')
    bits = [(str(name), plant.bit_named(str(name), "label: bits")) for name in cast("Sequence[object]", value)]
    return [" ".join(f"{name}={s >> i & 1}" for name, i in bits) for s in states]


def _by_table(model: Named, table: Mapping[str, object], states: list[State]) -> list[str]:
    for name, label in table.items():
        if name != "*":
            model.state_named(name, "label")
        if not isinstance(label, str):
            raise TaskError(f"label: the label of {name!r} must be text, not {label!r}")
    default = table.get("*")
    labels = [table.get(model.states[s], default) for s in states]
    for s, label in zip(states, labels, strict=True):
        if label is None:
            raise TaskError(f'label: hypothesis {model.states[s]!r} has no label; add it, or "*" for all the others')
    return [str(label) for label in labels]


def join_labels(labels: Sequence[str]) -> str:
    """Several labels as one, such as "a or b"."""
    more = len(labels) - MAX_JOINED
    named = labels if more <= 1 else [*labels[:MAX_JOINED], f"{more} others"]
    return " or ".join(named)
