"""The quotient of a task: one state for each class of equivalent states, one hypothesis for each (class, label).

Theorem (exact task-conditioned quotient). The classes lose nothing: members of a class give every experiment the same
law of readings, so each observer answers alike on the task and on its quotient, and the least cost of settling them is
the same. And nothing coarser does: a map that puts two classes together confuses two laws, two sets of allowed
actions or, in a task about the current state, two labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final, overload

import numpy as np

from ascertain.errors import TaskError
from ascertain.interruption import look_up
from ascertain.model import Model
from ascertain.quotients.abstract import AbstractQuotient, Reason, first_places, list_shared, number_by_appearance
from ascertain.quotients.hidden import HiddenQuotient, take_hidden_quotient
from ascertain.quotients.refinement import Partition, refine
from ascertain.quotients.separation import list_reachable, separating_words, settle_pairs
from ascertain.task.hidden_task import HiddenTask
from ascertain.task.question import AbstractQuestion
from ascertain.task.task import Task, check_task
from ascertain.types import UNDEFINED, LongArray


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Quotient(AbstractQuotient):
    """A task on a machine, its reduced task, and the maps from one to the other."""

    task: Task
    reduced: Task
    edge_visits: int
    """How many transitions were looked at while refining."""

    def named_words(self) -> Iterator[tuple[tuple[int, int], list[str] | None]]:
        actions = self.reduced.model.actions
        for pair, word in separating_words(self.reduced.model):
            yield pair, None if word is None else [actions[a] for a in word]

    def obstructed(self) -> Iterator[tuple[int | None, LongArray]]:
        model, reduced = self.reduced.model, self.reduced
        if model.is_total and reduced.state_label is None:
            yield from list_shared(reduced.state)
        # Where all is allowed, readings tell apart whatever is not equivalent when labels are left aside.
        elif not model.is_total or any(True for _ in list_shared(refine(model).block[reduced.state])):
            yield from _obstructed_pairs(reduced)

    def reason(self, pair: tuple[int, int]) -> Reason:
        s, t = (int(self.task.state[h]) for h in pair)
        if s == t:
            return "same state"
        # About the current state the classes of the quotient also agree in label, which equivalence does not ask for.
        exact = self.certified and self.task.state_label is None
        block = self.block if exact else refine(self.task.model).block
        return "equivalent" if block[s] == block[t] else "forbidden"


@overload
def take_quotient(question: Task, *, tolerance: Fraction | None = None) -> Quotient: ...
@overload
def take_quotient(question: HiddenTask, *, tolerance: None = None) -> HiddenQuotient: ...
@overload
def take_quotient(question: AbstractQuestion, *, tolerance: Fraction | None = None) -> AbstractQuotient: ...
def take_quotient(question: AbstractQuestion, *, tolerance: Fraction | None = None) -> AbstractQuotient:
    """The question on classes of equivalent states; seeded with labels where it is about the current state.

    With a `tolerance`, on a machine, laws count as equal that a chain of laws so close to one another joins. Without
    one the quotient is kept with the question, which never changes: a road asks for it in several places.
    """
    if tolerance is not None:
        return _take(question, tolerance)
    kept = vars(question)
    if "_quotient" not in kept:
        kept["_quotient"] = _take(question, None)
    return kept["_quotient"]


def _take(question: AbstractQuestion, tolerance: Fraction | None) -> AbstractQuotient:
    # Beliefs are grouped by linear algebra and states by refinement; whoever has a quotient asks the quotient.
    if isinstance(question, HiddenTask):
        if tolerance is not None:
            raise TaskError("a tolerance is for the laws of a machine; hidden models are compared exactly")
        return take_hidden_quotient(question)
    task = check_task(question)
    partition = refine(task.model, seed=task.state_label, tolerance=tolerance)
    look_up()
    of_class: LongArray = partition.block[task.state].astype(np.int64)
    hypothesis_class = number_by_appearance(of_class * len(task.labels) + task.label)
    kept = first_places(hypothesis_class)
    reduced = replace(
        task,
        model=reduce_model(task.model, partition),
        state=partition.block[task.state[kept]],
        label=task.label[kept],
        state_label=None if task.state_label is None else task.state_label[partition.representative],
    )
    return Quotient(
        task=task,
        reduced=reduced,
        block=partition.block,
        representative=partition.representative,
        hypothesis_class=hypothesis_class,
        certified=partition.certified,
        edge_visits=partition.edge_visits,
    )


def reduce_model(model: Model, partition: Partition) -> Model:
    """One state a class, named after its first member; an origin is kept only if no class mixes two."""
    representative = partition.representative
    if len(representative) == model.num_states and (partition.block == np.arange(model.num_states)).all():
        return model  # it is minimal
    kept: list[int] = representative.tolist()
    block: list[int] = partition.block.tolist()
    lead = model.successor[representative]
    origin = tuple(model.origin[s] for s in kept) if model.origin else ()
    # The origin of a class is that of its first member, unless another member comes from elsewhere.
    mixed = any(name != origin[c] for name, c in zip(model.origin, block, strict=False))
    return model.rebuilt(
        successor=np.where(lead == UNDEFINED, UNDEFINED, partition.block[lead]),
        behaviour=model.behaviour[representative],
        states=tuple(model.states[s] for s in kept),
        initial=tuple(dict.fromkeys(block[s] for s in model.initial)),
        origin=() if mixed else origin,
    )


def _obstructed_pairs(reduced: Task) -> Iterator[tuple[int, LongArray]]:
    """Hypotheses with different labels that no word settles, by the pair graph."""
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
