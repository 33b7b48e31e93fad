"""The quotient of a question about a hidden model, and which of its hypotheses are obstructed.

Two beliefs are *equivalent* when no experiment tells them apart: every word that one allows the other does, with the
same probability. Where all actions are defined everywhere that is linear algebra: they agree on a basis of the word
vectors (`words.py`). Equivalence of states makes classes. The model whose states are the classes, each with the law of
its first member led to classes, gives every belief the same word probabilities: word vectors v are constant on classes,
so that the sum over t of P(t, y | s, a) v[t] needs only the classes of t, and it is the same for all members s.

With forbidden actions, agreement on the basis that counts "not defined" as a reading is enough for equivalence, and
pairs that it leaves are compared one by one (`belief_pairs.py`). Two hypotheses with different labels are
*obstructed* when no allowed experiment tells them apart; as for machines that is then no longer transitive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar, final

import numpy as np

from ascertain.model.hidden import Belief, HiddenModel, certain, make_belief, make_joint
from ascertain.quotients.abstract import AbstractQuotient, Reason, first_places, list_shared
from ascertain.quotients.belief_pairs import PairSearch
from ascertain.quotients.words import ReadingWord, WordSpan, name_word, span_words
from ascertain.task.hidden_task import HiddenTask
from ascertain.types import IntArray, LongArray, State

T = TypeVar("T")
"""Whatever can be a key."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class HiddenQuotient(AbstractQuotient):
    """A question about a hidden model, the reduced one, and the maps from one to the other."""

    task: HiddenTask
    reduced: HiddenTask
    span: WordSpan
    """A basis of the word vectors of the original model."""
    pairs: PairSearch | None
    """What compares two beliefs where some actions are forbidden; None where the basis alone decides."""

    def separating_word(self, one: Belief, other: Belief) -> ReadingWord | None:
        """A shortest allowed word that tells two beliefs of the original model apart; None where there is none."""
        return self.span.separating_word(one, other) if self.pairs is None else self.pairs.compare(one, other).word

    def words(self) -> Iterator[tuple[tuple[int, int], ReadingWord | None]]:
        """(p, q) and a shortest word for every two classes of states p < q."""
        first: list[State] = self.representative.tolist()
        for q in range(len(first)):
            for p in range(q):
                yield (p, q), self.separating_word(certain(first[p]), certain(first[q]))

    def named_words(self) -> Iterator[tuple[tuple[int, int], list[list[str]] | None]]:
        for pair, word in self.words():
            yield pair, None if word is None else name_word(self.task.model, word)

    def obstructed(self) -> Iterator[tuple[int | None, LongArray]]:
        beliefs = [self.task.belief[int(h)] for h in first_places(self.hypothesis_class)]
        if self.pairs is None:
            yield from list_shared(_numbered(self.span.signature(belief) for belief in beliefs))
            return
        label = self.reduced.label
        for d, one in enumerate(beliefs):
            rivals = [c for c in range(d) if label[c] != label[d]]
            others = [c for c in rivals if self.separating_word(beliefs[c], one) is None]
            if others:
                yield d, np.array(others, dtype=np.int64)

    def reason(self, pair: tuple[int, int]) -> Reason:
        one, other = (self.task.belief[h] for h in pair)
        if one == other:
            return "same state"
        if self.pairs is None or self.span.signature(one) == self.span.signature(other):
            return "equivalent"
        return "equivalent" if self.pairs.compare(one, other).alike else "forbidden"


def take_hidden_quotient(task: HiddenTask) -> HiddenQuotient:
    """The question on classes of equivalent states, with one hypothesis for each (class of beliefs, label)."""
    model = task.model
    block, span, pairs = group_states(model)
    representative = first_places(block)
    hypothesis_class = _numbered(zip(_group(task.belief, span, pairs).tolist(), task.label, strict=True))
    kept: list[int] = first_places(hypothesis_class).tolist()
    reduced = replace(
        task,
        model=reduce_hidden(model, block, representative),
        belief=tuple(push(task.belief[h], block) for h in kept),
        name=tuple(task.name[h] for h in kept),
        label=tuple(task.label[h] for h in kept),
    )
    return HiddenQuotient(
        task=task,
        reduced=reduced,
        block=block,
        representative=representative,
        hypothesis_class=hypothesis_class,
        span=span,
        pairs=pairs,
    )


def group_states(model: HiddenModel) -> tuple[IntArray, WordSpan, PairSearch | None]:
    """The class of every state of a model, a basis of its word vectors, and what compares beliefs beyond that basis."""
    span, pairs = span_words(model), None if model.is_total else PairSearch(model)
    return _group([certain(s) for s in range(model.num_states)], span, pairs), span, pairs


def reduce_hidden(model: HiddenModel, block: IntArray, representative: IntArray) -> HiddenModel:
    """One state a class, named after its first member, with that member's law."""
    first: list[State] = representative.tolist()
    return replace(
        model,
        states=tuple(model.states[s] for s in first),
        joint=tuple(
            tuple(make_joint(_add_up(((int(block[t]), y), p) for t, y, p in law)) for law in model.joint[s])
            for s in first
        ),
        initial=tuple(dict.fromkeys(push(belief, block) for belief in model.initial)),
    )


def push(belief: Belief, block: IntArray) -> Belief:
    """The belief about classes that a belief about states is."""
    return make_belief(_add_up((int(block[s]), p) for s, p in belief))


def _add_up(parts: Iterable[tuple[T, Fraction]]) -> dict[T, Fraction]:
    """The total probability of each key."""
    total: dict[T, Fraction] = {}
    for key, p in parts:
        total[key] = total.get(key, Fraction(0)) + p
    return total


def _group(beliefs: Sequence[Belief], span: WordSpan, pairs: PairSearch | None) -> IntArray:
    """The number of the class of each belief, by first appearance."""
    numbers = _numbered(span.signature(belief) for belief in beliefs)
    if pairs is None:
        return numbers
    # What the basis leaves apart may still be alike where actions are forbidden: compare with each class found so far.
    kept: list[Belief] = []
    found: list[int] = []
    for h in first_places(numbers):
        belief = beliefs[int(h)]
        found.append(next((c for c, known in enumerate(kept) if pairs.compare(known, belief).alike), len(kept)))
        if found[-1] == len(kept):
            kept.append(belief)
    return np.array(found, dtype=np.int32)[numbers]


def _numbered(keys: Iterable[T]) -> IntArray:
    """Equal keys get equal numbers, in the order of first appearance."""
    seen: dict[T, int] = {}
    return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int32)
