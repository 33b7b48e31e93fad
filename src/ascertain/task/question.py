"""The Question protocol: what every question about a plant can be asked, whatever kind of model it is about.

A question has *hypotheses*: what may be true of the plant when the experiment begins, each with the answer, its label,
that is then right. It says what each action costs, which actions an experiment may use, and how large the risk may be.
Labels are about the *start*: they stay with the hypothesis while the experiment moves the plant. Or they are about the
*current* state, the one that the plant is in when the experiment ends.

Evidence is collected on *candidates*, which are numbers: the states of a model, or, where the state stays hidden, the
hypotheses themselves. Three kinds of questions implement the protocol: `Task` on a machine, `PlantTask` on a Boolean
plant, `HiddenTask` on a hidden model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias

from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import TaskError
from ascertain.model.abstract import AbstractModel
from ascertain.types import Action, State

About: TypeAlias = Literal["start", "current"]
"""Which state a question asks about: the one at the start of the experiment, or the one at its end."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractQuestion(Shown, ABC):
    """The interface of every question; validated once."""

    model: AbstractModel
    cost: tuple[Fraction, ...]
    """Of every action of the model."""
    alpha: Fraction = Fraction(0)
    """The largest probability of a wrong answer."""
    beta: Fraction = Fraction(0)
    """The largest probability of an abstention."""
    about: About = field(init=False, default="start")
    actions: tuple[Action, ...] = field(init=False)
    """The actions that an experiment may use."""
    never: tuple[State, ...] = field(init=False, default=())
    """States that must not be entered; a listed model has had the actions forbidden that lead into them."""

    candidate_noun: ClassVar[tuple[str, str]] = ("state", "states")
    """What a candidate is called, one and several."""
    scores_all_readings: ClassVar[bool] = False
    """Whether a bank that is compiled late is scored on the readings before it as well (`observer/stages.py`)."""

    def __post_init__(self) -> None:
        if len(self.cost) != self.model.num_actions:
            raise TaskError(f"there are {len(self.cost)} costs for {self.model.num_actions} actions")
        for a, c in enumerate(self.cost):
            if c <= 0:
                raise TaskError(f"action {self.model.actions[a]!r} costs {c}; a cost must be positive")
        for name, risk in (("alpha", self.alpha), ("beta", self.beta)):
            check_risk(name, risk)

    def shown(self) -> Mapping[str, object]:
        return {
            "model": repr(self.model),
            "hypotheses": self.num_hypotheses,
            "about": self.about,
            "alpha": self.alpha,
            "beta": self.beta,
        }

    def listing(self) -> Listing:
        return ("action", "cost"), [(self.model.actions[a], self.cost[a]) for a in self.actions]

    @property
    @abstractmethod
    def num_hypotheses(self) -> int: ...

    @property
    def reads_by_chance(self) -> bool:
        """Whether what a hypothesis reads is a matter of chance, so that a reading can count against it a little."""
        return self.model.is_noisy

    @abstractmethod
    def start_of(self, hypothesis: int) -> Any:
        """What the plant begins with if the hypothesis is true: a state, or on a hidden model a belief."""

    def start_named(self, name: str, where: str) -> Any:
        """What a plant begins with that is called so; `where` begins the message when nothing is."""
        return self.model.state_named(name, where)

    def name_start(self, start: Any) -> str:
        """The name of what a plant began with."""
        return self.model.name_state(start)

    @property
    def num_candidates(self) -> int:
        """How many candidates a bank can list."""
        return self.model.num_states

    @property
    @abstractmethod
    def candidates(self) -> Sequence[int] | None:
        """The candidate of every hypothesis; None when every state of a plant is one."""

    def states_of(self, candidates: Iterable[int]) -> Iterable[State]:
        """The states that the plant may be in at the start if one of these candidates is true."""
        return candidates

    def name_candidate(self, candidate: int) -> str:
        """The name of a candidate."""
        return self.model.name_state(candidate)

    def candidate_named(self, name: str, where: str) -> int:
        """The candidate of that name; `where` begins the message when there is none."""
        return self.model.state_named(name, where)

    @abstractmethod
    def true_labels(self, start: Any, end: State) -> set[str]:
        """The answers that are right of a plant that began like this and has ended in a state; none where what it
        began with is no hypothesis."""

    @abstractmethod
    def question_data(self) -> dict[str, Any]:
        """What is particular to this kind of question, as plain data for the canonical form."""


def check_risk(name: str, risk: Fraction) -> None:
    """Refuse what is no probability below one."""
    if not 0 <= risk < 1:
        raise TaskError(f"{name} is {risk}; a probability in [0, 1) is needed")
