"""A question about a hidden model: hypotheses are beliefs that the plant may begin with, each with its label.

A hypothesis that names a state is the belief that is certain of it. Labels are about the start: they belong to the
hypothesis, whatever the experiment does to the plant. A question about the current state has no place here, as the
current state of a hidden model stays a belief.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, final

from ascertain.errors import TaskError, find_name
from ascertain.model.abstract import check_names
from ascertain.model.hidden import Belief, HiddenModel, certain
from ascertain.task.question import AbstractQuestion
from ascertain.types import State


@final
@dataclass(frozen=True, kw_only=True)
class HiddenTask(AbstractQuestion):
    """Hypothesis h is `belief[h]`, called `name[h]`, and `labels[label[h]]` is right if it is true; validated once."""

    model: HiddenModel
    belief: tuple[Belief, ...]
    name: tuple[str, ...]
    label: tuple[int, ...]
    labels: tuple[str, ...]

    candidate_noun: ClassVar[tuple[str, str]] = ("hypothesis", "hypotheses")
    scores_all_readings: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.belief or not len(self.belief) == len(self.name) == len(self.label):
            raise TaskError("a task needs at least one hypothesis, each with a belief, a name and a label")
        for belief, name in zip(self.belief, self.name, strict=True):
            self.model.check_belief(belief, f"hypothesis {name!r}")
        check_names("hypothesis", self.name)
        if not all(0 <= k < len(self.labels) for k in self.label) or len(set(self.labels)) < len(self.labels):
            raise TaskError(f"labels must differ, and each hypothesis has one of them, 0 .. {len(self.labels) - 1}")
        if len(set(zip(self.belief, self.label, strict=True))) < len(self.belief):
            raise TaskError("a hypothesis (belief and label) is listed twice")
        super().__post_init__()
        object.__setattr__(self, "actions", tuple(range(self.model.num_actions)))

    @property
    def num_hypotheses(self) -> int:
        return len(self.belief)

    @property
    def reads_by_chance(self) -> bool:
        """Also where only the state that it begins in is: then the first readings are."""
        return self.model.is_noisy or any(len(belief) > 1 for belief in self.belief)

    def start_of(self, hypothesis: int) -> Belief:
        return self.belief[hypothesis]

    def start_named(self, name: str, where: str) -> Belief:
        """The belief of the hypothesis of that name, or else the state of that name for certain."""
        if name in self.name or name not in self.model.index:
            return self.belief[self.candidate_named(name, where)]
        return certain(self.model.index[name])

    def name_start(self, start: Belief) -> str:
        """The name of the hypothesis that a plant began with, or of what it began with instead."""
        named = (name for name, belief in zip(self.name, self.belief, strict=True) if belief == start)
        return next(named, None) or self.model.belief_text(start)

    @property
    def num_candidates(self) -> int:
        return self.num_hypotheses

    @property
    def candidates(self) -> range:
        return range(self.num_hypotheses)

    def states_of(self, candidates: Iterable[int]) -> set[State]:
        return {s for h in candidates for s, _ in self.belief[h]}

    def name_candidate(self, candidate: int) -> str:
        return self.name[candidate]

    def true_labels(self, start: Belief, end: State) -> set[str]:
        del end  # the question is about the start
        return {self.labels[k] for belief, k in zip(self.belief, self.label, strict=True) if belief == start}

    def question_data(self) -> dict[str, Any]:
        return {
            "hypotheses": [
                [name, [[s, str(p)] for s, p in belief], k]
                for name, belief, k in zip(self.name, self.belief, self.label, strict=True)
            ],
            "labels": list(self.labels),
        }

    def candidate_named(self, name: str, where: str = "hypothesis") -> int:
        return find_name(name, self.name, where, "a hypothesis", TaskError)
