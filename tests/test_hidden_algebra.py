"""Hidden models: spans, classes, separating words and obstructions against all words up to a length."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascertain.errors import LimitError
from ascertain.model import Model
from ascertain.model.hidden import Belief, HiddenModel, as_hidden, certain
from ascertain.problem.pose import pose
from ascertain.problem.pose_hidden import pose_hidden
from ascertain.quotients import belief_pairs
from ascertain.quotients import words as words_module
from ascertain.quotients.belief_pairs import PairSearch
from ascertain.quotients.hidden import group_states, push
from ascertain.quotients.obstruction import find_obstruction
from ascertain.quotients.quotient import take_quotient
from ascertain.quotients.refinement import refine
from ascertain.quotients.separation import separating_word
from ascertain.quotients.span import PRIME, QuickSpan, Span
from ascertain.quotients.words import span_words
from ascertain.task.hidden_task import HiddenTask
from tests.hidden_strategies import TIGER, beliefs, hidden_models, hidden_tasks
from tests.reference.hidden import (
    are_alike,
    shortest_difference,
    support_after,
    word_probability,
    words,
)
from tests.strategies import models, noisy_machines

F = Fraction


@given(st.lists(st.lists(st.integers(-3, 3) | st.sampled_from((PRIME, 1 - PRIME)), min_size=4, max_size=4), max_size=7))
def test_a_span_has_the_rank_of_its_vectors(vectors: list[list[int]]) -> None:
    span, quick = Span(), QuickSpan()
    rank = 0
    for i, vector in enumerate(vectors):
        before, rank = rank, exact_rank(vectors[: i + 1])
        assert span.add(vector) == quick.add(vector) == (rank > before)
        assert len(span.rows) == quick.dimension == rank
    assert all(not any(span.reduce(vector)) for vector in vectors)


def exact_rank(vectors: list[list[int]]) -> int:
    """The order of the largest minor that is not zero."""
    for size in range(min(len(vectors), 4), 0, -1):
        for rows, columns in product(combinations(vectors, size), combinations(range(4), size)):
            if determinant([[row[c] for c in columns] for row in rows]):
                return size
    return 0


def determinant(matrix: list[list[int]]) -> int:
    if not matrix:
        return 1
    first, *rest = matrix
    minors = ([row[:c] + row[c + 1 :] for row in rest] for c in range(len(first)))
    return sum((-1) ** c * x * determinant(minor) for c, (x, minor) in enumerate(zip(first, minors, strict=True)))


@given(hidden_models())
def test_basis_words_have_the_probabilities_that_their_vectors_say(model: HiddenModel) -> None:
    span = span_words(model)
    assert all(len(word) <= model.num_states - 1 for word in span.words)
    for word, vector in zip(span.words, span.vectors, strict=True):
        exact = [word_probability(model, certain(s), word) for s in range(model.num_states)]
        assert any(exact)
        factor = next(F(v) / p for v, p in zip(vector, exact, strict=True) if p)
        assert [p * factor for p in exact] == [F(v) for v in vector]


@settings(max_examples=60)
@given(hidden_models(), st.data())
def test_beliefs_are_equivalent_when_all_words_up_to_the_theoretical_length_agree(
    model: HiddenModel, data: st.DataObject
) -> None:
    one, other = data.draw(beliefs(model)), data.draw(beliefs(model))
    expected = shortest_difference(model, one, other, model.num_states - 1)
    span = span_words(model)
    assert (span.signature(one) == span.signature(other)) == (expected is None)
    assert expected == shortest_difference(model, one, other, model.num_states)
    for word in (span.separating_word(one, other), PairSearch(model).compare(one, other).word):
        assert (None if word is None else len(word)) == expected
        if word is not None:
            assert word_probability(model, one, word) != word_probability(model, other, word)


@settings(max_examples=60)
@given(hidden_models(partial=True, max_states=3), st.data())
def test_with_forbidden_actions_pairs_are_decided_as_by_trying_all_words(
    model: HiddenModel, data: st.DataObject
) -> None:
    one, other = data.draw(beliefs(model)), data.draw(beliefs(model))
    found = PairSearch(model).compare(one, other)
    # The bound n - 1 is not for partial models; what is found beyond four letters is checked on its own.
    expected = shortest_difference(model, one, other, 3)
    if found.word is None or len(found.word) > 3:
        assert expected is None
    else:
        assert expected == len(found.word)
    if found.word is not None:
        assert word_probability(model, one, found.word) != word_probability(model, other, found.word)
    if found.alike:
        assert are_alike(model, one, other, 3)
    elif found.word is None:
        assert not are_alike(model, one, other, 4)


def may_be_done(model: HiddenModel, belief: Belief, word: tuple[tuple[int, int], ...]) -> bool:
    """Whether each action of the word is defined wherever the plant may be by then."""
    return all(model.joint[s][a] for i, (a, _) in enumerate(word) for s in support_after(model, belief, word[:i]))


@settings(max_examples=60)
@given(hidden_tasks(partial=None))
def test_the_quotient_merges_what_is_alike_and_nothing_else(task: HiddenTask) -> None:
    model, quotient = task.model, take_quotient(task)
    longest = model.num_states - 1 if model.is_total else 3
    block, span, _ = group_states(model)
    assert (quotient.block.tolist(), quotient.span.dimension) == (block.tolist(), span.dimension)
    for s, t in product(range(model.num_states), repeat=2):
        same = quotient.block[s] == quotient.block[t]
        assert same == are_alike(model, certain(s), certain(t), longest)
    for (h, one), (g, other) in product(enumerate(task.belief), repeat=2):
        same = quotient.hypothesis_class[h] == quotient.hypothesis_class[g]
        assert same == (task.label[h] == task.label[g] and are_alike(model, one, other, longest))
    for h, c in enumerate(quotient.hypothesis_class):
        assert quotient.reduced.label[c] == task.label[h]
        pushed = push(task.belief[h], quotient.block)
        for word in words(model, 2):
            # Words that are forbidden on the way are no experiments, and need not be kept.
            allowed = may_be_done(model, task.belief[h], word)
            assert allowed == may_be_done(quotient.reduced.model, pushed, word)
            if allowed:
                assert word_probability(model, task.belief[h], word) == word_probability(
                    quotient.reduced.model, pushed, word
                )
    for (p, q), word in quotient.words():
        pair = certain(quotient.representative[p]), certain(quotient.representative[q])
        assert (None if word is None else len(word)) == shortest_difference(model, *pair, longest)


@settings(max_examples=60)
@given(hidden_tasks(partial=None))
def test_obstructions_are_the_pairs_that_no_allowed_word_tells_apart(task: HiddenTask) -> None:
    longest = task.model.num_states - 1 if task.model.is_total else 4
    expected = [
        (h, g)
        for h, g in product(range(task.num_hypotheses), repeat=2)
        if h < g
        and task.label[h] != task.label[g]
        and shortest_difference(task.model, task.belief[h], task.belief[g], longest) is None
    ]
    found = find_obstruction(task)
    assert (found is None) == (not expected)
    if found is not None:
        assert (found.pair, found.num_pairs) == (expected[0], len(expected))
        assert found.rules_out()
        assert not found.rules_out(alpha=F(1, 2))
        assert all(found.coarse_label[task.label[h]] == found.coarse_label[task.label[g]] for h, g in expected)
        assert sorted(name for group in found.groups for name in group) == sorted(task.labels)
        same = task.belief[found.pair[0]] == task.belief[found.pair[1]]
        assert (found.reason == "same state") == same
        assert task.name[found.pair[0]] in found.sentence


@given(models(max_states=5, max_actions=2, max_readings=2))
def test_hidden_algebra_finds_the_classes_and_words_that_refinement_finds(machine: Model) -> None:
    hidden = as_hidden(machine)
    block, _, _ = group_states(hidden)
    expected = refine(machine).block
    assert all(
        (block[s] == block[t]) == (expected[s] == expected[t]) for s, t in product(range(machine.num_states), repeat=2)
    )
    search = PairSearch(hidden)
    for s in range(1, machine.num_states):
        word, own = search.compare(certain(0), certain(s)).word, separating_word(machine, 0, s)
        assert (word is None) == (own is None)
        assert word is None or own is None or len(word) == len(own)


@given(noisy_machines(max_states=4, max_actions=2, max_readings=2))
def test_hidden_obstruction_agrees_with_that_of_the_machine(machine: Model) -> None:
    label = lambda name: str(int(name[1:]) % 2)  # noqa: E731
    own = find_obstruction(pose(machine, label=label))
    found = find_obstruction(pose_hidden(as_hidden(machine), label=label))
    assert (own is None) == (found is None)
    if own is not None and found is not None:
        assert (own.pair, own.num_pairs, own.groups) == (found.pair, found.num_pairs, found.groups)


def test_limits_of_the_linear_algebra_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words_module, "MAX_STATES", 1)
    with pytest.raises(LimitError, match="the model has 2 states; exact linear algebra"):
        span_words(TIGER)
    monkeypatch.undo()
    monkeypatch.setattr(belief_pairs, "MAX_NODES", 0)
    with pytest.raises(LimitError, match="more than 0 pairs of supports"):
        PairSearch(TIGER).compare(certain(0), certain(0))
