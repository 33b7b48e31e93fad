"""The Quotient protocol: what every quotient can be asked, whatever kind of model its question is about.

A quotient merges the states, and the hypotheses, that no experiment tells apart. Two kinds implement it: `Quotient` on
machines, by partition refinement, and `HiddenQuotient` on hidden models, by linear algebra. `take_quotient` is the one
place that chooses between them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from ascertain.drawing.shown import Shown
from ascertain.task.hidden_task import HiddenTask
from ascertain.task.task import Task
from ascertain.types import IntArray, LongArray

ListedQuestion: TypeAlias = Task | HiddenTask
"""A question whose hypotheses are listed, each with its label."""
Reason: TypeAlias = Literal["same state", "equivalent", "forbidden"]
"""Why no experiment tells two hypotheses apart: they are one, react alike, or only forbidden words would do it."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractQuotient(Shown, ABC):
    """A question, its reduced question, and the maps from one to the other."""

    task: ListedQuestion
    reduced: ListedQuestion
    block: IntArray
    """`block[s]` is the class of s, a state of the reduced model."""
    representative: IntArray
    """`representative[c]` is the first state of class c, which lends it its name."""
    hypothesis_class: IntArray
    """`hypothesis_class[h]` is the hypothesis of the reduced question that h became."""
    certified: bool = True
    """Whether laws were compared exactly; a tolerance makes the reduced question an approximation."""

    def shown(self) -> Mapping[str, object]:
        return {"states": self.task.model.num_states, "classes": self.num_classes, "certified": self.certified}

    @property
    def num_classes(self) -> int:
        return len(self.representative)

    @property
    def class_names(self) -> list[list[str]]:
        """The names of the original hypotheses in each hypothesis of the reduced question."""
        found: list[list[str]] = [[] for _ in range(self.reduced.num_hypotheses)]
        for candidate, c in zip(self.task.candidates, self.hypothesis_class, strict=True):
            found[int(c)].append(self.task.name_candidate(candidate))
        return found

    def members_of(self, reduced_hypothesis: int) -> LongArray:
        """The original hypotheses that a hypothesis of the reduced question stands for, ascending."""
        return np.flatnonzero(self.hypothesis_class == reduced_hypothesis)

    @abstractmethod
    def named_words(self) -> Iterator[tuple[tuple[int, int], list[Any] | None]]:
        """(p, q) and a shortest word, in names, that tells the classes p < q apart; None where only what is allowed
        differs."""

    @abstractmethod
    def obstructed(self) -> Iterator[tuple[int | None, LongArray]]:
        """Hypotheses of the reduced question, of different labels, that no allowed experiment tells apart.

        (h, others): h is obstructed with each of the others. (None, members): each two of the members are.
        """

    @abstractmethod
    def reason(self, pair: tuple[int, int]) -> Reason:
        """Why two obstructed hypotheses of the original question cannot be told apart."""


def first_places(number: IntArray) -> IntArray:
    """The first place of each number, in the order of the numbers: 0, 1, 2 and so on, each there."""
    first = np.empty(int(number.max()) + 1, dtype=np.int32)
    first[number[::-1]] = np.arange(len(number) - 1, -1, -1)  # what is written last stays
    return first


def list_shared(block: IntArray) -> Iterator[tuple[None, LongArray]]:
    """The places that share a number, for each number that several have; as `obstructed` returns them."""
    order = np.argsort(block, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(block[order])) + 1):
        if len(members) > 1:
            yield None, members


def number_by_appearance(group: IntArray | LongArray) -> IntArray:
    """The same groups, numbered in the order of their first members."""
    _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.reshape(-1)]
