"""Slow obvious twins for hidden models: every path of states, every word up to a length, every transcript."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product

from ascertain.model.hidden import Belief, HiddenModel
from ascertain.task.bank import Bank

Word = tuple[tuple[int, int], ...]


def propagate(
    model: HiddenModel, weights: Mapping[int, Fraction], action: int, reading: int | None
) -> dict[int, Fraction]:
    """The weights after an action and its reading, None when that is missing; their sum is what it multiplies.

    Weights of states that lack the action are lost.
    """
    after: dict[int, Fraction] = {}
    for s, w in weights.items():
        for t, y, p in model.joint[s][action]:
            if reading is None or y == reading:
                after[t] = after.get(t, Fraction(0)) + w * p
    return after


def word_probability(model: HiddenModel, belief: Belief, word: Word) -> Fraction:
    """The sum over all paths of states of the product of their probabilities."""
    total = Fraction(0)
    for path in product(range(model.num_states), repeat=len(word) + 1):
        p = dict(belief).get(path[0], Fraction(0))
        for i, (a, y) in enumerate(word):
            p *= sum((q for t, z, q in model.joint[path[i]][a] if (t, z) == (path[i + 1], y)), Fraction(0))
        total += p
    return total


def support_after(model: HiddenModel, belief: Belief, word: Word) -> set[int]:
    """The states that may be the current one after a word."""
    held = {s for s, _ in belief}
    for a, y in word:
        held = {t for s in held for t, z, _ in model.joint[s][a] if z == y}
    return held


def is_available(model: HiddenModel, belief: Belief, word: Word) -> bool:
    """Whether every action of the word is defined wherever the plant may be when it is its turn."""
    return all(model.joint[s][a] for i, (a, _) in enumerate(word) for s in support_after(model, belief, word[:i]))


def words(model: HiddenModel, longest: int) -> Iterator[Word]:
    """All words, shorter ones first."""
    letters = list(product(range(model.num_actions), range(len(model.readings))))
    for length in range(longest + 1):
        yield from product(letters, repeat=length)


def shortest_difference(model: HiddenModel, one: Belief, other: Belief, longest: int) -> int | None:
    """The length of a shortest word that both allow and whose probability differs; None where there is none."""
    for word in words(model, longest):
        if not (is_available(model, one, word) and is_available(model, other, word)):
            continue
        if word_probability(model, one, word) != word_probability(model, other, word):
            return len(word)
    return None


def are_alike(model: HiddenModel, one: Belief, other: Belief, longest: int) -> bool:
    """Whether the two allow the same words, up to a length, and give them the same probabilities."""
    return all(
        (allowed := is_available(model, one, word)) == is_available(model, other, word)
        and (not allowed or word_probability(model, one, word) == word_probability(model, other, word))
        for word in words(model, longest)
    )


class NaiveHiddenWorld:
    """Hypotheses by their definition: a belief, the whole history, and the probability of it by summing over paths."""

    def __init__(
        self, model: HiddenModel, beliefs: list[Belief], bank: Bank, alpha: Fraction, ran: Fraction = Fraction(1, 2)
    ) -> None:
        self.model, self.alpha, self.ran, self.beliefs = model, alpha, ran, beliefs
        self.cases: dict[tuple[int, tuple[bool, ...]], dict[int, Fraction]] = {
            (h, ()): dict(belief) for h, belief in enumerate(beliefs)
        }
        self.beaten: set[tuple[int, tuple[bool, ...]]] = set()
        self.weight = {(h, ()): w for h, w in zip(bank.states, bank.weights, strict=True)}

    def observe(self, action: int, reading: int | None) -> None:
        self.cases = {case: self.step(weights, action, reading) for case, weights in self.cases.items()}
        self.update()

    def doubt(self, action: int) -> None:
        before = self.cases
        self.cases = {(h, (*ran, True)): self.step(w, action, None) for (h, ran), w in before.items()}
        self.cases |= {(h, (*ran, False)): w for (h, ran), w in before.items()}
        self.beaten = {(h, (*ran, did)) for h, ran in self.beaten for did in (True, False)}
        split = {True: self.ran, False: 1 - self.ran}
        self.weight = {(h, (*ran, did)): w * split[did] for (h, ran), w in self.weight.items() for did in split}

    def step(self, weights: dict[int, Fraction], action: int, reading: int | None) -> dict[int, Fraction]:
        after = dict.fromkeys(range(self.model.num_states), Fraction(0))
        for s, t in product(weights, range(self.model.num_states)):
            after[t] += weights[s] * sum(
                (p for u, y, p in self.model.joint[s][action] if u == t and reading in (None, y)), Fraction(0)
            )
        return after

    def likelihood(self, case: tuple[int, tuple[bool, ...]]) -> Fraction:
        return sum(self.cases[case].values(), Fraction(0))

    @property
    def numerator(self) -> Fraction:
        return sum((w * self.likelihood(case) for case, w in self.weight.items()), Fraction(0))

    def update(self) -> None:
        for case in self.cases:
            if self.numerator > 0 and self.numerator * self.alpha >= self.likelihood(case):
                self.beaten.add(case)

    @property
    def left(self) -> set[tuple[int, tuple[bool, ...]]]:
        return set(self.cases) - self.beaten
