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

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from ascertain.errors import LimitError
from ascertain.kernels.quotients.obstruction import settle_at_once, settle_backwards, settle_forwards
from ascertain.kernels.quotients.pairs import ByteArray
from ascertain.quotients.quotient import Quotient, take_quotient
from ascertain.quotients.refinement import refine
from ascertain.quotients.separation import list_reachable, predecessors, successors_within
from ascertain.task.task import Task
from ascertain.types import UNDEFINED, IntArray, LongArray

Reason: TypeAlias = Literal["same state", "equivalent", "forbidden"]

MOST_CLASSES = 30_000
"""Classes of a partial machine whose pairs are decided, a bit each."""
MOST_OPEN = 200_000_000
"""Pairs that may be left open after one action."""


@dataclass(frozen=True, eq=False)
class Obstruction:
    """The witness that a question has no valid observer, and what could be asked instead."""

    task: Task
    pair: tuple[int, int]
    """Two hypotheses with different labels that nothing tells apart."""
    reason: Reason
    num_pairs: int
    """How many pairs of hypotheses are obstructed."""
    coarse_label: IntArray
    """`coarse_label[k]` is the group of label k in a coarsening without obstruction."""

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
        task = self.task
        (s, k), (t, m) = ((task.model.states[int(task.state[h])], task.labels[int(task.label[h])]) for h in self.pair)
        if self.reason == "same state":
            return f"state {s!r} is listed under two labels, {k!r} and {m!r}, so no experiment tells them apart"
        meet = " or brings them to one label" if task.about == "current" else ""
        head = f"states {s!r} (label {k!r}) and {t!r} (label {m!r})"
        if self.reason == "equivalent":
            return f"{head} react alike to every experiment: no experiment tells them apart{meet}"
        would = "would tell them apart" + (" or bring them to one label" if meet else "")
        return f"{head}: every action word that {would} is forbidden for one of them"

    def rules_out(self, alpha: Fraction | None = None, beta: Fraction | None = None) -> bool:
        """Whether no observer is wrong with at most alpha and abstains with at most beta; default: the task's risk."""
        wrong = self.task.alpha if alpha is None else alpha
        abstain = self.task.beta if beta is None else beta
        return 2 * wrong + abstain < 1


def find_obstruction(task: Task, *, quotient: Quotient | None = None) -> Obstruction | None:
    """An obstructed pair of hypotheses, how many there are and a coarsening without any; None where there are none."""
    found = take_quotient(task) if quotient is None else quotient
    tally = _Tally(found)
    _gather(tally, found.reduced)
    if tally.pair is None:
        return None
    return Obstruction(
        task=task,
        pair=tally.pair,
        reason=_reason(found, tally.pair),
        num_pairs=tally.num_pairs,
        coarse_label=number_by_appearance(tally.group),
    )


def coarsen(task: Task, obstruction: Obstruction | None = None) -> Task:
    """The task with the labels of obstructed pairs joined, named like "a|b"; the task itself where there are none."""
    found = find_obstruction(task) if obstruction is None else obstruction
    if found is None:
        return task
    label = found.coarse_label[task.label]
    kept = np.sort(np.unique(np.column_stack((task.state, label)), axis=0, return_index=True)[1])
    names: list[str] = []
    for group in found.groups:
        name = "|".join(group)
        while name in names:
            name += "|"
        names.append(name)
    return replace(
        task,
        state=task.state[kept],
        label=label[kept],
        labels=tuple(names),
        state_label=None if task.state_label is None else found.coarse_label[task.state_label],
    )


class _Tally:
    """What is gathered over obstructed pairs of reduced hypotheses: how many, the first, and labels joined."""

    def __init__(self, quotient: Quotient) -> None:
        self.label = quotient.reduced.label
        self.weight = np.bincount(quotient.hypothesis_class)
        self.first = np.unique(quotient.hypothesis_class, return_index=True)[1]
        self.group: IntArray = np.arange(len(quotient.task.labels), dtype=np.int32)
        self.num_pairs = 0
        self.pair: tuple[int, int] | None = None

    def add_star(self, one: int, others: LongArray) -> None:
        """One reduced hypothesis is obstructed with each of the others."""
        self._add(np.append(others, one), int(self.weight[one]) * int(self.weight[others].sum()))
        nearest, mine = int(self.first[others].min()), int(self.first[one])
        self._see((min(nearest, mine), max(nearest, mine)))

    def add_clique(self, members: LongArray) -> None:
        """Each two of these reduced hypotheses are obstructed."""
        weight = self.weight[members]
        self._add(members, (int(weight.sum()) ** 2 - int((weight**2).sum())) // 2)
        one, other = np.sort(self.first[members])[:2]
        self._see((int(one), int(other)))

    def _add(self, members: LongArray, num_pairs: int) -> None:
        self.num_pairs += num_pairs
        joined = np.unique(self.group[self.label[members]])
        if len(joined) > 1:
            self.group[np.isin(self.group, joined)] = joined[0]

    def _see(self, pair: tuple[int, int]) -> None:
        self.pair = pair if self.pair is None else min(self.pair, pair)


def _gather(tally: _Tally, reduced: Task) -> None:
    """Add every obstructed pair of reduced hypotheses."""
    total = not np.any(reduced.model.successor == UNDEFINED)
    if total and reduced.state_label is None:
        for members in _share_class(reduced.state):
            tally.add_clique(members)
    # Where all is allowed, readings tell apart whatever is not equivalent when labels are left aside.
    elif not total or any(True for _ in _share_class(refine(reduced.model).block[reduced.state])):
        for one, others in _by_pairs(reduced):
            tally.add_star(one, others)


def _share_class(block: IntArray) -> Iterator[LongArray]:
    """Reduced hypotheses that share a class, where there are several."""
    order = np.argsort(block, kind="stable")
    cuts = np.flatnonzero(np.diff(block[order])) + 1
    sizes = np.diff(np.concatenate(([0], cuts, [len(order)])))
    begins = np.concatenate(([0], cuts))
    for k in np.flatnonzero(sizes > 1):
        yield order[begins[k] : begins[k] + sizes[k]]


def _by_pairs(reduced: Task) -> Iterator[tuple[int, LongArray]]:
    """Hypotheses with different labels that no word settles."""
    states = list_reachable(reduced.model, reduced.state)
    settled = settle_pairs(reduced, states)
    element = np.searchsorted(states, reduced.state).astype(np.int64)
    for h in range(1, len(element)):
        low, high = np.minimum(element[:h], element[h]), np.maximum(element[:h], element[h])
        number = np.where(low < high, high * (high - 1) // 2 + low, 0)
        apart = (low < high) & (settled[number >> 3] >> (number & 7) & 1).astype(np.bool_)
        others = np.flatnonzero(~apart & (reduced.label[:h] != reduced.label[h]))
        if len(others):
            yield h, others


def settle_pairs(task: Task, states: IntArray) -> ByteArray:
    """For the pairs of these states, which are closed under successors: bit p is 1 when some word settles pair p."""
    n = len(states)
    if n > MOST_CLASSES:
        raise LimitError(
            f"hypotheses can become {n} classes of states; with forbidden actions, or about the current state, "
            f"obstructions are decided up to {MOST_CLASSES}"
        )
    successor = successors_within(task.model, states)
    meeting = task.state_label is not None
    label = task.state_label[states] if task.state_label is not None else np.arange(n, dtype=np.int32)
    settled = np.zeros(n * (n - 1) // 16 + 1, dtype=np.uint8)
    left = settle_at_once(successor, task.model.behaviour[states], label, meeting, settled)
    if left > MOST_OPEN:
        raise LimitError(
            f"{left} pairs of classes agree in every action that both allow; at most {MOST_OPEN} can be taken"
        )
    queue = np.empty(left, dtype=np.int32)
    tail = settle_forwards(successor, settled, queue)
    settle_backwards(*predecessors(successor), successor.shape[1], settled, queue, tail)
    return settled


def _reason(quotient: Quotient, pair: tuple[int, int]) -> Reason:
    """Why the two are obstructed: one state, equivalent states, or only forbidden words would tell them apart."""
    task = quotient.task
    s, t = (int(task.state[h]) for h in pair)
    if s == t:
        return "same state"
    # About the current state the classes of the quotient also agree in label, which equivalence does not ask for.
    block = quotient.block if quotient.certified and task.state_label is None else refine(task.model).block
    return "equivalent" if block[s] == block[t] else "forbidden"


def number_by_appearance(group: IntArray) -> IntArray:
    """The same groups, numbered in the order of their first members."""
    _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.reshape(-1)]
