"""The probabilities of words on a hidden model, as vectors, and a basis of all of them.

A *word* is a sequence of actions with their readings. M_ay is the matrix of P(t, y | s, a) over s and t, and

    v_w  =  M_a1y1 ... M_akyk 1        v_w[s] is the probability of reading y1 ... yk when a1 ... ak is done from s.

These vectors span a space of dimension at most n, the number of states. Breadth first from 1, multiplying by every
M_ay from the left and keeping what is no combination of what is there, gives a basis whose words of length at most k
span all v_w with w of length at most k: so two beliefs that differ on a word of length k differ on a basis word that is
no longer, the first of which is a *shortest separating word*, and no basis word is longer than n - 1. Two states, or
beliefs, that agree on the basis agree on every word: no experiment tells them apart.

Where an action is not defined the "reading" UNDEFINED stands for finding that out. Words that end with it are no
experiments, but they make states differ that allow different actions.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from ascertain.errors import LimitError
from ascertain.model.hidden import Belief, HiddenModel
from ascertain.quotients.span import QuickSpan, Vector, primitive
from ascertain.rational import have_small_denominator
from ascertain.types import UNDEFINED, Action, Reading, State

ReadingWord: TypeAlias = tuple[tuple[Action, Reading], ...]
"""Actions, each with its reading."""

MAX_STATES = 400
"""Of a model whose words are spanned; the work grows with the cube, and the numbers grow too."""


@final
@dataclass(frozen=True)
class WordSpan:
    """`vectors[i][s]` is the probability of `words[i]` from s, times a factor that depends on i alone."""

    words: tuple[ReadingWord, ...]
    vectors: tuple[Vector, ...]

    @property
    def dimension(self) -> int:
        return len(self.words)

    def signature(self, belief: Belief) -> tuple[Fraction, ...]:
        """What the belief gives to every basis word; equal signatures mean equal probabilities of all words."""
        return tuple(expect(belief, vector) for vector in self.vectors)

    def separating_word(self, one: Belief, other: Belief) -> ReadingWord | None:
        """A shortest word whose probability differs; None where all agree."""
        for word, vector in zip(self.words, self.vectors, strict=True):
            if expect(one, vector) != expect(other, vector):
                return word
        return None


def expect(belief: Belief, vector: Vector) -> Fraction:
    """The mean of a vector's entries under a belief."""
    return sum((p * vector[s] for s, p in belief), Fraction(0))


def span_words(model: HiddenModel) -> WordSpan:
    """A basis of all word vectors, words in order of their length."""
    n = model.num_states
    steps = integer_steps(model)
    span, words, vectors = QuickSpan(), list[ReadingWord](), list[Vector]()
    queue: deque[tuple[ReadingWord, Vector]] = deque()

    def see(word: ReadingWord, vector: Vector) -> None:
        if span.dimension < n and span.add(vector):
            words.append(word)
            vectors.append(vector)
            queue.append((word, vector))

    see((), (1,) * n)
    # Which states lack an action: words that end in finding that out come after those of one action.
    lacking = [(a, tuple(int(not row[a]) for row in model.joint)) for a in range(model.num_actions)]
    at_once = [(((a, UNDEFINED),), states) for a, states in lacking if any(states)]
    while queue and span.dimension < n:
        word, vector = queue.popleft()
        for letter, rows in steps.items():
            see((letter, *word), primitive(sum(k * vector[t] for t, k in row) for row in rows))
        while at_once:
            see(*at_once.pop(0))
    return WordSpan(tuple(words), tuple(vectors))


SparseRows: TypeAlias = tuple[tuple[tuple[State, int], ...], ...]
"""A sparse matrix of integers, row by row."""


def integer_steps(model: HiddenModel) -> dict[tuple[Action, Reading], SparseRows]:
    """M_ay for every action and reading that occur together, times the common denominator of the action's laws."""
    if model.num_states > MAX_STATES:
        raise LimitError(
            f"the model has {model.num_states} states; exact linear algebra on hidden models goes up to {MAX_STATES}"
        )
    steps: dict[tuple[Action, Reading], SparseRows] = {}
    for a, whole in enumerate(common_denominators(model)):
        rows: dict[Reading, list[list[tuple[State, int]]]] = {}
        for s in range(model.num_states):
            for t, y, p in model.joint[s][a]:
                table = rows.setdefault(y, [[] for _ in model.states])
                table[s].append((t, p.numerator * (whole // p.denominator)))
        steps |= {(a, y): tuple(map(tuple, table)) for y, table in sorted(rows.items())}
    return steps


def common_denominators(model: HiddenModel) -> list[int]:
    """For each action the least number that makes its whole law integers."""
    found: list[int] = []
    for a in range(model.num_actions):
        values = [p for row in model.joint for _, _, p in row[a]]
        if not have_small_denominator(values):
            raise LimitError(f"the law of action {model.actions[a]!r} needs a huge common denominator; round it")
        found.append(math.lcm(*(p.denominator for p in values)))
    return found


def name_word(model: HiddenModel, word: Sequence[tuple[Action, Reading]]) -> list[list[str]]:
    """The word in the names of the model."""
    return [[model.actions[a], "undefined" if y == UNDEFINED else model.readings[y]] for a, y in word]
