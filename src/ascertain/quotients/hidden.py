"""The quotient and the obstructions of a question about a hidden model.

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

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeVar, final

import numpy as np

from ascertain.model.hidden import Belief, HiddenModel, JointLaw, certain, make_belief, make_joint
from ascertain.quotients.belief_pairs import PairSearch
from ascertain.quotients.obstruction import Reason, number_by_appearance
from ascertain.quotients.words import ReadingWord, WordSpan, span_words
from ascertain.task.hidden_task import HiddenTask
from ascertain.types import State

T = TypeVar("T")


@final
@dataclass(frozen=True, eq=False)
class HiddenQuotient:
    """A question about a hidden model, the reduced one, and the maps from one to the other."""

    task: HiddenTask
    reduced: HiddenTask
    block: tuple[int, ...]
    """`block[s]` is the class of s, a state of the reduced model."""
    representative: tuple[State, ...]
    """`representative[c]` is the first state of class c, which lends it its name."""
    hypothesis_class: tuple[int, ...]
    """`hypothesis_class[h]` is the hypothesis of the reduced question that h became."""
    span: WordSpan
    """A basis of the word vectors of the original model."""

    @property
    def num_classes(self) -> int:
        return len(self.representative)

    @cached_property
    def telling(self) -> Callable[[Belief, Belief], ReadingWord | None]:
        """A shortest allowed word that tells two beliefs of the original model apart; None where there is none."""
        model = self.task.model
        if model.is_total:
            return self.span.separating_word
        search = PairSearch(model)
        return lambda one, other: search.compare(one, other).word


@final
@dataclass(frozen=True, eq=False)
class HiddenObstruction:
    """The witness that a question about a hidden model has no valid observer, and what could be asked instead."""

    task: HiddenTask
    pair: tuple[int, int]
    reason: Reason
    num_pairs: int
    coarse_label: tuple[int, ...]
    """`coarse_label[k]` is the group of label k in the finest coarsening without obstruction."""

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The labels of each group of the coarsening."""
        found: list[list[str]] = [[] for _ in range(max(self.coarse_label) + 1)]
        for k, group in enumerate(self.coarse_label):
            found[group].append(self.task.labels[k])
        return tuple(tuple(names) for names in found)

    @property
    def sentence(self) -> str:
        """Why the witness is one, for people."""
        task = self.task
        (x, k), (y, m) = ((task.name[h], task.labels[task.label[h]]) for h in self.pair)
        head = f"hypotheses {x!r} (label {k!r}) and {y!r} (label {m!r})"
        if self.reason == "same state":
            return f"{head} are the same belief, so no experiment tells them apart"
        if self.reason == "equivalent":
            return f"{head} give every word of readings the same probability: no experiment tells them apart"
        return f"{head}: every action word that would tell them apart is forbidden for one of them"

    def rules_out(self, alpha: Fraction | None = None, beta: Fraction | None = None) -> bool:
        """Whether no observer is wrong with at most alpha and abstains with at most beta; default: the task's risk."""
        wrong = self.task.alpha if alpha is None else alpha
        abstain = self.task.beta if beta is None else beta
        return 2 * wrong + abstain < 1


def take_hidden_quotient(task: HiddenTask) -> HiddenQuotient:
    """The question on classes of equivalent states, with one hypothesis for each (class of beliefs, label)."""
    model, span = task.model, span_words(task.model)
    search = None if model.is_total else PairSearch(model)
    block = _group(_certainties(model), span, search)
    representative = _firsts(block)
    classes = _group(task.belief, span, search)
    merged = _numbered(zip(classes, task.label, strict=True))
    kept = _firsts(merged)
    reduced = replace(
        task,
        model=reduce_hidden(model, block, representative),
        belief=tuple(push(task.belief[h], block) for h in kept),
        name=tuple(task.name[h] for h in kept),
        label=tuple(task.label[h] for h in kept),
    )
    return HiddenQuotient(task, reduced, block, representative, merged, span)


def group_states(model: HiddenModel) -> tuple[tuple[int, ...], int]:
    """The class of every state of a model, and the dimension of its word vectors."""
    span = span_words(model)
    search = None if model.is_total else PairSearch(model)
    return _group(_certainties(model), span, search), span.dimension


def _certainties(model: HiddenModel) -> list[Belief]:
    return [certain(s) for s in range(model.num_states)]


def find_hidden_obstruction(task: HiddenTask, *, quotient: HiddenQuotient | None = None) -> HiddenObstruction | None:
    """An obstructed pair of hypotheses, how many there are and the finest coarsening without any, or None."""
    found = take_hidden_quotient(task) if quotient is None else quotient
    group, pairs = np.arange(len(task.labels), dtype=np.int32), list[tuple[int, int]]()
    num_pairs, merged = 0, found.hypothesis_class
    size = [merged.count(c) for c in range(found.reduced.num_hypotheses)]
    for c, d in _obstructed(found):
        num_pairs += size[c] * size[d]
        pairs.append((merged.index(c), merged.index(d)))
        one, other = (group[found.reduced.label[x]] for x in (c, d))
        group[group == other] = one
    if not pairs:
        return None
    pair = min((min(p), max(p)) for p in pairs)
    coarse = tuple(int(k) for k in number_by_appearance(group))
    return HiddenObstruction(task, pair, _reason(found, pair), num_pairs, coarse)


def _obstructed(quotient: HiddenQuotient) -> Iterator[tuple[int, int]]:
    """Pairs of reduced hypotheses with different labels that no allowed word tells apart."""
    task, first = quotient.task, _firsts(quotient.hypothesis_class)
    signature: Sequence[Hashable] = [quotient.span.signature(task.belief[h]) for h in first]
    for d in range(len(first)):
        for c in range(d):
            if task.label[first[c]] == task.label[first[d]]:
                continue
            if task.model.is_total:
                apart = signature[c] != signature[d]
            else:
                apart = quotient.telling(task.belief[first[c]], task.belief[first[d]]) is not None
            if not apart:
                yield c, d


def _reason(quotient: HiddenQuotient, pair: tuple[int, int]) -> Reason:
    one, other = (quotient.task.belief[h] for h in pair)
    if one == other:
        return "same state"
    if quotient.task.model.is_total or quotient.span.signature(one) == quotient.span.signature(other):
        return "equivalent"
    return "equivalent" if PairSearch(quotient.task.model).compare(one, other).alike else "forbidden"


def reduce_hidden(model: HiddenModel, block: Sequence[int], representative: Sequence[State]) -> HiddenModel:
    """One state a class, named after its first member, with that member's law."""
    return replace(
        model,
        states=tuple(model.states[s] for s in representative),
        joint=tuple(tuple(_lead(law, block) for law in model.joint[s]) for s in representative),
        initial=tuple(dict.fromkeys(push(belief, block) for belief in model.initial)),
    )


def push(belief: Belief, block: Sequence[int]) -> Belief:
    """The belief about classes that a belief about states is."""
    weights: dict[int, Fraction] = {}
    for s, p in belief:
        weights[block[s]] = weights.get(block[s], Fraction(0)) + p
    return make_belief(weights)


def _lead(law: JointLaw, block: Sequence[int]) -> JointLaw:
    entries: dict[tuple[int, int], Fraction] = {}
    for t, y, p in law:
        entries[block[t], y] = entries.get((block[t], y), Fraction(0)) + p
    return make_joint(entries)


def hidden_words(quotient: HiddenQuotient) -> Iterator[tuple[tuple[int, int], ReadingWord | None]]:
    """(p, q) and a shortest word for every two classes of states p < q; None where only availability differs."""
    first = quotient.representative
    for q in range(len(first)):
        for p in range(q):
            yield (p, q), quotient.telling(certain(first[p]), certain(first[q]))


def _group(beliefs: Sequence[Belief], span: WordSpan, search: PairSearch | None) -> tuple[int, ...]:
    """The number of the class of each belief, by first appearance."""
    numbers = _numbered(span.signature(belief) for belief in beliefs)
    if search is None:
        return numbers
    first = _firsts(numbers)
    found: list[int] = []
    for c, h in enumerate(first):
        alike = (found[d] for d in _firsts(found) if search.compare(beliefs[first[d]], beliefs[h]).alike)
        found.append(next(alike, c))
    return _numbered(found[c] for c in numbers)


def _numbered(keys: Iterable[T]) -> tuple[int, ...]:
    """Equal keys get equal numbers, in the order of first appearance."""
    seen: dict[T, int] = {}
    return tuple(seen.setdefault(key, len(seen)) for key in keys)


def _firsts(numbers: Sequence[int]) -> tuple[int, ...]:
    """The first place of each number, for numbers in order of first appearance."""
    seen: dict[int, int] = {}
    for place, number in enumerate(numbers):
        seen.setdefault(number, place)
    return tuple(seen.values())
