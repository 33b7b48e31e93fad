"""When no observer can do it: two hypotheses with different labels that no allowed experiment tells apart.

Two hypotheses are *obstructed* when their labels differ and no word of actions that both allow all along ends in
readings of different laws (or, in a task about the current state, in states of equal label). An observer then sees the
same law under both until it stops, so its chances of answering each label are the same under both: if it is wrong with
probability at most alpha and abstains with probability at most beta, then 1 <= 2 alpha + beta. Hence none exists when
2 alpha + beta < 1. With forbidden actions the relation is not transitive (what would tell p from r may be forbidden in
q), so it is decided on the pair graph; where every action is allowed everywhere, classes of equivalent states decide.

No obstruction does not mean that the question can be answered: telling three apart may need what telling each two apart
does not.

The *coarsening* joins the labels of obstructed pairs. In a task about the start it is the finest coarsening without
obstruction, for which words tell a pair apart does not depend on labels. In a task about the current state it is one
without obstruction, not always the finest: joining two labels can only settle more pairs, so joining those that are
obstructed is enough, but once some of them are joined others may need it no longer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np

from ascertain.model.hidden import Belief
from ascertain.quotients.abstract import ListedQuestion, Reason, first_places, number_by_appearance
from ascertain.quotients.quotient import take_quotient
from ascertain.task.hidden_task import HiddenTask
from ascertain.task.question import AbstractQuestion
from ascertain.task.task import Task
from ascertain.types import IntArray


@final
@dataclass(frozen=True, eq=False)
class Obstruction:
    """The witness that a question has no valid observer, and what could be asked instead."""

    task: ListedQuestion
    pair: tuple[int, int]
    """Two hypotheses with different labels that nothing tells apart."""
    reason: Reason
    num_pairs: int
    """How many pairs of hypotheses are obstructed."""
    coarse_label: IntArray
    """`coarse_label[k]` is the group of label k in a coarsening without obstruction."""

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two hypotheses."""
        one, other = (self.task.name_candidate(self.task.candidates[h]) for h in self.pair)
        return one, other

    @property
    def labels(self) -> tuple[str, str]:
        """The labels of the two hypotheses."""
        one, other = (self.task.labels[self.task.label[h]] for h in self.pair)
        return one, other

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The labels of each group of the coarsening."""
        found: list[list[str]] = [[] for _ in range(int(self.coarse_label.max()) + 1)]
        for k, group in enumerate(self.coarse_label):
            found[int(group)].append(self.task.labels[k])
        return tuple(tuple(names) for names in found)

    @property
    def sentence(self) -> str:
        """Why the witness is one, for people."""
        (one, other), (k, m) = self.names, self.labels
        certain = self.task.model.has_certain_transitions
        if self.reason == "same state" and certain:
            return f"state {one!r} is listed under two labels, {k!r} and {m!r}, so no experiment tells them apart"
        head = f"{self.task.candidate_noun[1]} {one!r} (label {k!r}) and {other!r} (label {m!r})"
        if self.reason == "same state":
            return f"{head} are the same belief, so no experiment tells them apart"
        current = self.task.about == "current"
        if self.reason == "equivalent":
            alike = "react alike to every experiment" if certain else "give every word of readings the same probability"
            return f"{head} {alike}: no experiment tells them apart{' or brings them to one label' if current else ''}"
        would = "would tell them apart" + (" or bring them to one label" if current else "")
        return f"{head}: every action word that {would} is forbidden for one of them"

    def rules_out(self, alpha: Fraction | None = None, beta: Fraction | None = None) -> bool:
        """Whether no observer is wrong with at most alpha and abstains with at most beta; default: the task's risk."""
        wrong = self.task.alpha if alpha is None else alpha
        abstain = self.task.beta if beta is None else beta
        return 2 * wrong + abstain < 1


def find_obstruction(question: AbstractQuestion) -> Obstruction | None:
    """An obstructed pair of hypotheses, how many there are and a coarsening without any; None where there are none.

    The question is about a machine or a hidden model.
    """
    found = take_quotient(question)
    label, first = np.asarray(found.reduced.label), first_places(found.hypothesis_class)
    size = np.bincount(found.hypothesis_class)  # how many original hypotheses each reduced one stands for
    group: IntArray = np.arange(len(found.task.labels), dtype=np.int32)
    num_pairs, pair = 0, None
    for one, members in found.obstructed():
        # One with each of the members, or each two of them; every original pair behind a reduced one counts.
        sizes, nearest = size[members], np.sort(first[members])
        if one is None:
            num_pairs += (int(sizes.sum()) ** 2 - int((sizes**2).sum())) // 2
            here = int(nearest[0]), int(nearest[1])
        else:
            num_pairs += int(size[one]) * int(sizes.sum())
            here = int(min(first[one], nearest[0])), int(max(first[one], nearest[0]))
        pair = here if pair is None else min(pair, here)
        # Their labels can no longer be kept apart: all of them join the group of the least.
        joined = np.unique(group[label[members if one is None else np.append(members, one)]])
        group[np.isin(group, joined)] = joined[0]
    if pair is None:
        return None
    return Obstruction(found.task, pair, found.reason(pair), num_pairs, number_by_appearance(group))


def coarsen(
    task: Task, obstruction: Obstruction | None = None, *, join: Callable[[Sequence[str]], str] = "|".join
) -> Task:
    """The task with the labels of obstructed pairs joined, named like "a|b"; the task itself where there are none."""
    found = find_obstruction(task) if obstruction is None else obstruction
    if found is None:
        return task
    label = found.coarse_label[task.label]
    kept = np.sort(np.unique(np.column_stack((task.state, label)), axis=0, return_index=True)[1])
    return replace(
        task,
        state=task.state[kept],
        label=label[kept],
        labels=_name_groups(found, join),
        state_label=None if task.state_label is None else found.coarse_label[task.state_label],
    )


def coarsen_hidden(task: HiddenTask, *, join: Callable[[Sequence[str]], str] = "|".join) -> HiddenTask:
    """The same of a question about a hidden model; of hypotheses that are one belief, of one label, the first stays."""
    found = find_obstruction(task)
    if found is None:
        return task
    label = [int(found.coarse_label[k]) for k in task.label]
    first: dict[tuple[Belief, int], int] = {}
    for h, one in enumerate(zip(task.belief, label, strict=True)):
        first.setdefault(one, h)
    kept = list(first.values())
    return replace(
        task,
        belief=tuple(task.belief[h] for h in kept),
        name=tuple(task.name[h] for h in kept),
        label=tuple(label[h] for h in kept),
        labels=_name_groups(found, join),
    )


def _name_groups(found: Obstruction, join: Callable[[Sequence[str]], str]) -> tuple[str, ...]:
    """A name for each group of labels, all different."""
    names: list[str] = []
    for group in found.groups:
        name = join(group)
        while name in names:
            name += "|"
        names.append(name)
    return tuple(names)
