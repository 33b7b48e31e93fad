"""Which answer is right in which state, for states by the million: the label map of a world as array arithmetic.

A label is a number, its *code*; `name` turns it into what is answered. Labels are about the *start* (the state when the
readings began), about the *current* state (the one that the actions since have led to), or belong to the *hypothesis*
by its position in a list, which is how one state comes to stand under two labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Literal, TypeAlias, final

import numpy as np

from ascertain.errors import TaskError
from ascertain.model.boolean import BooleanPlant
from ascertain.model.expression import Expression
from ascertain.task.hidden_task import HiddenTask
from ascertain.task.plant_task import BitsRule, ExpressionRule, NominalRule, PlantTask, StateRule
from ascertain.task.task import Task
from ascertain.types import State, WordArray

Subject: TypeAlias = Literal["start", "current", "hypothesis"]
"""What labels are about."""


@final
@dataclass(frozen=True)
class Labelling:
    """`code` maps an array of states (of hypotheses, for that subject) to label codes, one each."""

    code: Callable[[WordArray], WordArray]
    name: Callable[[int], str]
    about: Subject = "start"

    def code_of(self, state: State) -> int:
        return int(self.code(np.array([state], dtype=np.uint64))[0])


def label_states(name: Callable[[int], str] = str, about: Subject = "start") -> Labelling:
    """Every state is its own label."""
    return Labelling(lambda states: states, name, about)


def label_bits(plant: BooleanPlant, bits: Sequence[int], about: Subject = "start") -> Labelling:
    """The values of some bits; the answer names them, as in "b0=1 b3=0"."""
    if not bits or len(set(bits)) < len(bits) or not all(0 <= b < plant.num_bits for b in bits):
        raise TaskError(f"the bits {tuple(bits)} must be distinct and in 0 .. {plant.num_bits - 1}, at least one")
    mask = np.uint64(sum(1 << b for b in bits))
    return Labelling(
        lambda states: states & mask, lambda code: " ".join(f"{plant.bits[b]}={code >> b & 1}" for b in bits), about
    )


def label_expression(expression: Expression, about: Subject = "start") -> Labelling:
    """Whether an expression over the bits holds, such as "b0 and not b3": code 1 is *true*, code 0 *false*."""
    return Labelling(
        lambda states: expression.hold_states(states).astype(np.uint64), lambda code: ("false", "true")[code], about
    )


def label_nominal(nominal: State, about: Subject = "start") -> Labelling:
    """Whether the state is the nominal one: code 1 is *nominal*, code 0 *other*."""
    return Labelling(
        lambda states: (states == np.uint64(nominal)).astype(np.uint64), lambda code: ("other", "nominal")[code], about
    )


def label_table(codes: Sequence[int], names: Sequence[str], about: Subject = "start") -> Labelling:
    """`codes[s]` is the code of state s (of hypothesis s, for that subject) and `names[code]` what is answered."""
    table = np.array(codes, dtype=np.uint64)
    if table.size == 0 or int(table.max()) >= len(names):
        raise TaskError(f"label codes must be in 0 .. {len(names) - 1}, at least one")
    table.setflags(write=False)
    listed = tuple(names)
    return Labelling(lambda states: table[states], lambda code: listed[code], about)


@singledispatch
def labelling_of(question: Task) -> Labelling:
    """The labels of a question: of its hypotheses by their number, or by a rule about the bits of a plant."""
    if question.state_label is None:
        return label_table(question.label.tolist(), question.labels, "hypothesis")
    return label_table(question.state_label.tolist(), question.labels, "current")


@labelling_of.register
def _(question: HiddenTask) -> Labelling:
    return label_table(question.label, question.labels, "hypothesis")


@labelling_of.register
def _(question: PlantTask) -> Labelling:
    plant, about = question.model, question.about
    match question.rule:
        case StateRule():
            return label_states(plant.name_state, about)
        case BitsRule(bits):
            return label_bits(plant, bits, about)
        case ExpressionRule(expression):
            return label_expression(expression, about)
        case NominalRule(state):
            return label_nominal(state, about)
