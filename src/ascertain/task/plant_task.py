"""A question about a Boolean plant whose states are too many to list: labels are a rule, not a table.

A `Task` lists its hypotheses and enumerates its model. A plant of 24 bits has sixteen million states, so its question
keeps the plant as it is: every state may be the true one, unless some are listed, and the label of a state follows from
a rule about its bits. The words are those of a task: see `task.py` for *start* and *current*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, final

from ascertain.errors import TaskError
from ascertain.model.boolean import BooleanPlant
from ascertain.model.expression import Expression
from ascertain.task.question import About, AbstractQuestion
from ascertain.types import Action, State


@final
@dataclass(frozen=True)
class StateRule:
    """Every state is its own label."""


@final
@dataclass(frozen=True)
class BitsRule:
    """The label is the values of these bits, as in "b0=1 b3=0"."""

    bits: tuple[int, ...]


@final
@dataclass(frozen=True)
class ExpressionRule:
    """The label is "true" or "false"."""

    expression: Expression


@final
@dataclass(frozen=True)
class NominalRule:
    """The label is "nominal" for this state and "other" for the rest."""

    state: State


LabelRule: TypeAlias = StateRule | BitsRule | ExpressionRule | NominalRule
"""How the label of a state follows from its bits."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class PlantTask(AbstractQuestion):
    """The whole question about a Boolean plant; validated once."""

    model: BooleanPlant
    rule: LabelRule
    about: About = "start"
    states: tuple[State, ...] | None = None
    """The hypotheses, each once; None when every state is one."""
    actions: tuple[Action, ...]
    never: tuple[State, ...] = ()

    def __post_init__(self) -> None:
        end = self.model.num_states
        named = (*(self.states or ()), *self.never, *([self.rule.state] if isinstance(self.rule, NominalRule) else ()))
        if not all(0 <= s < end for s in named):
            raise TaskError(f"states of the plant are 0 .. {end - 1}")
        if self.states is not None and (not self.states or len(set(self.states)) < len(self.states)):
            raise TaskError("a task needs at least one hypothesis, and each is listed once")
        if isinstance(self.rule, BitsRule) and (not self.rule.bits or len(set(self.rule.bits)) < len(self.rule.bits)):
            raise TaskError("label: bits must name at least one bit, and each once")
        if not self.actions or not set(self.actions) <= set(range(self.model.num_actions)):
            raise TaskError("a task needs at least one action, each a command of the plant")
        super().__post_init__()

    @property
    def num_hypotheses(self) -> int:
        return self.model.num_states if self.states is None else len(self.states)

    def start_of(self, hypothesis: int) -> State:
        return hypothesis if self.states is None else self.states[hypothesis]

    @property
    def candidates(self) -> tuple[State, ...] | None:
        return self.states

    def true_labels(self, start: State, end: State) -> set[str]:
        return {self.label_of(end if self.about == "current" else start)}

    def question_data(self) -> dict[str, Any]:
        return {
            "hypotheses": None if self.states is None else list(self.states),
            "label": rule_data(self.rule),
            "about": self.about,
            "actions": list(self.actions),
            "never": list(self.never),
        }

    def label_of(self, state: State) -> str:
        """The label of one state."""
        match self.rule:
            case StateRule():
                return self.model.name_state(state)
            case BitsRule(bits):
                return " ".join(f"{self.model.bits[b]}={state >> b & 1}" for b in bits)
            case ExpressionRule(expression):
                return str(expression.holds(state)).lower()
            case NominalRule(nominal):
                return "nominal" if state == nominal else "other"


def rule_data(rule: LabelRule) -> list[Any]:
    """A rule of labels; an expression is its postfix program, where a number pushes that bit."""
    match rule:
        case StateRule():
            return ["state"]
        case BitsRule(bits):
            return ["bits", list(bits)]
        case ExpressionRule(expression):
            return ["expression", list(expression.program)]
        case NominalRule(state):
            return ["nominal", state]
