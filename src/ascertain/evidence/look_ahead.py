"""Look-ahead on a Boolean plant: the command that begins the word which leaves the least to the readings after it.

The *reference* is the state that the leading candidate is in. What a word of commands leaves of the rivals is judged
not only by those that it contradicts, but also by how far it drives the others from the reference: how well it *mixes*.
A rival that differs in d bits and must be contradicted k times more, with q readings to go, counts for value(q, k, d),
the probability that it is never beaten (`mixing.py`). A word of l commands is followed as if its readings came as the
reference foresees, and is judged by the sum of value(q - l, k, d) over the rivals as it leaves them, relative to the
sum before it, per unit of cost. Words are searched level by level; of each level the best go on, as many as the width
says, which is a beam search; towards the end, when few rivals are left, so many go on that the work stays the same. The
first command of the best word is done, and after its reading everything is chosen anew. Of many rivals those that count
for most are looked at: few bits away, and little contradicted.

How many readings are to go is estimated: as many as it takes until fewer than AIM rivals would be left if half of them
were contradicted at every reading, as by a random code. Where the question is about states and not all rivals are
listed, that is asked of all states; where it is about labels, only of the rivals that are looked at, as a few commands
may contradict all states of another label at once.

Everything but the logarithms of sums is computed with integers, so that a world and a list of commands have one choice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import final

import numpy as np

from ascertain.errors import TaskError
from ascertain.evidence.evidence import AbstractFlipEvidence
from ascertain.evidence.groups import Group
from ascertain.evidence.mixing import Spread, find_spread, tabulate_values
from ascertain.evidence.probing import AbstractRule, Separating, next_allowed
from ascertain.evidence.worlds import AbstractWorld
from ascertain.kernels.evidence.look_ahead import follow_words, weigh_words
from ascertain.model.boolean import BooleanPlant
from ascertain.types import Action, IntArray, LongArray, State, WordArray

MAX_RIVALS = 512
"""How many rivals a sum may have, see SCALE in `mixing.py`."""
MAX_NEEDED = 64
"""Rivals that must be contradicted more often than this are for the separating rule: tables grow with it, and where
readings say so little, no word of a few commands matters much."""
MAX_THRESHOLD = 4 * MAX_NEEDED
"""Past so many contradictions the run has been long, on a plant that is too noisy to gain from looking ahead."""
AIM = Fraction(1, 2)
"""Rivals that may be expected to be left at the end: with fewer than one, most often none is."""
MOST_WORDS = 1024
"""Of each length, however few rivals are left: beyond that the sorting takes longer than the following."""
SPARE = 2
"""Readings that even the last rivals are given beyond those that they need: not every one of them contradicts all."""
OVERTIME = 2
"""Past so many times the readings that halving would take, the plant does not mix as believed, and looking ahead for it
might go on forever: the separating rule takes over, which goes for the next difference. On a question about labels it
does so past once that number: there are rivals nearby as long as there are any, and driving these away may not help."""
FINENESS = 1 << 20
"""What words gain is compared in units of its inverse, so that the last digit of a logarithm does not matter."""


@final
@dataclass(frozen=True)
class LookAhead(AbstractRule):
    """The command that begins the word which leaves least of the rivals, mixing included, per unit of cost."""

    plant: BooleanPlant
    actions: tuple[Action, ...]
    cost: tuple[Fraction, ...] = ()
    """`cost[i]` is the cost of `actions[i]`; all are 1 when none are given."""
    depth: int = 8
    """The length of the words that are looked at."""
    width: int = 16
    """How many words of each length go on; more, up to MOST_WORDS, where fewer than `num_rivals` are left."""
    num_rivals: int = MAX_RIVALS
    """How many rivals, those that count for most, are looked at."""
    _otherwise: Separating = field(init=False, repr=False, compare=False)
    _spread: Spread = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "actions", tuple(int(a) for a in self.actions))
        object.__setattr__(self, "_otherwise", Separating(self.plant, self.actions, self.cost))
        object.__setattr__(self, "cost", self._otherwise.cost)
        object.__setattr__(self, "_spread", find_spread(self.plant, self.actions))
        if self.depth < 1 or self.width < 1 or not 1 <= self.num_rivals <= MAX_RIVALS:
            raise TaskError(f"depth and width must be at least 1, the number of rivals 1 .. {MAX_RIVALS}")

    def choose(self, world: AbstractWorld, allowed: Sequence[Action] | None = None) -> Action:
        evidence = world.evidence
        if not isinstance(evidence, AbstractFlipEvidence):
            raise TaskError("this rule looks ahead on Boolean plants only; use Separating")
        actions = self.actions if allowed is None else tuple(allowed)
        reference, label = world.leader()
        # A rival is beaten at the threshold, which rises while the other candidates drop out.
        threshold = max(evidence.threshold, evidence.leader_threshold)
        done = len(world.history)
        whole = count_by_halving(self.plant.num_bits, threshold) if threshold <= MAX_THRESHOLD else 0
        if not actions or not whole or done > OVERTIME * whole:
            return self._otherwise.choose(world, allowed)
        value = tabulate_values(self._spread, max(whole - done, 1), min(threshold, MAX_NEEDED))

        def rank(group: Group) -> LongArray:
            needed = np.clip(threshold - group.penalty, 1, MAX_NEEDED)
            return -value[needed + 1, np.bitwise_count(group.current ^ np.uint64(reference))]

        rivals = world.likely_rivals(label, self.num_rivals, rank)
        if not rivals:
            return next_allowed(world, actions)
        needed = np.maximum(threshold - np.concatenate([group.penalty for group in rivals]), 1)
        by_state = _ask_for_states(world, rivals)
        if needed.max() > MAX_NEEDED or (done > whole and not by_state):
            return self._otherwise.choose(world, allowed)
        to_go = count_to_go(np.bincount(needed).tolist())
        if by_state and not _are_all(world, label, rivals, self.num_rivals):
            to_go = max(to_go, whole - done)
        current = np.concatenate([group.current for group in rivals])
        cost = dict(zip(self.actions, self.cost, strict=True))
        last = world.history[-1].action if done else None
        chosen = self.search(actions, [cost[a] for a in actions], reference, current, needed, to_go, last)
        return self._otherwise.choose(world, allowed) if chosen is None else chosen

    def search(
        self,
        actions: Sequence[Action],
        cost: Sequence[Fraction],
        reference: State,
        current: WordArray,
        needed: LongArray,
        to_go: int,
        last: Action | None = None,
    ) -> Action | None:
        """The first command of the best word that the search meets; None when no word leaves less than there is.

        Rival j is in `current[j]` and must be contradicted `needed[j]` times, 1 .. MAX_NEEDED, in `to_go` readings. The
        last command is not done again where it would only take back what it did: a beam that misses the best word from
        here may find it from there, and the other way round, and would go to and fro.
        """
        beam = _Beam(self.plant, np.array(actions, dtype=np.int32), np.array([float(c) for c in cost]))
        words = beam.start(reference, current, needed)
        depth = min(self.depth, to_go)
        width = max(self.width, min(self.width * self.num_rivals // current.size, MOST_WORDS))
        distance = np.bitwise_count(current ^ np.uint64(reference)).astype(np.int64)
        for length in range(1, depth + 1):
            value = tabulate_values(self._spread, to_go - length, int(needed.max()))
            before = int(value[needed + 1, distance].sum())
            left, order = beam.weigh(words, value, before)
            if length == 1 and last in actions and len(actions) > 1 and beam.is_idle_twice(words, actions.index(last)):
                order = order[order != actions.index(last)]
            best = order[0]
            if length == depth or left[best] == 0:
                return int(actions[words.first_of(best, len(actions))]) if left[best] < before else None
            # Words that leave the same are most likely one word in another order: one of them goes on.
            fresh = np.append(True, left[order[1:]] != left[order[:-1]])
            words = beam.follow(words, order[fresh][:width])
        raise AssertionError("the last level returns")


def _are_all(world: AbstractWorld, label: int, rivals: Sequence[Group], limit: int) -> bool:
    """Whether these are all the rivals that there are, as far as that is known without a search."""
    return sum(group.size for group in rivals) < limit and world.glance(label).rivals is not None


def _ask_for_states(world: AbstractWorld, rivals: Sequence[Group]) -> bool:
    """Whether the rivals all differ in label, as where every state is one; with few labels fewer readings are to go."""
    codes = np.concatenate([world.codes(group) for group in rivals])
    return np.unique(codes).size == codes.size


@final
@dataclass(frozen=True)
class _Words:
    """Words of one length: the place of the first command of each, its cost so far, and where it leaves the rivals."""

    first: LongArray
    paid: np.typing.NDArray[np.float64]
    reference: WordArray
    current: WordArray
    row: WordArray

    def first_of(self, pair: int, num_actions: int) -> int:
        """The place of the first command of a word and the command after it, numbered together."""
        word, i = divmod(int(pair), num_actions)
        return i if self.first[word] < 0 else int(self.first[word])


@final
class _Beam:
    """Words side by side on one plant."""

    def __init__(self, plant: BooleanPlant, actions: IntArray, cost: np.typing.NDArray[np.float64]) -> None:
        self.program = plant.gates, plant.offset, plant.tap
        self.actions, self.cost = actions, cost
        self.width = plant.num_bits + 1

    def start(self, reference: State, current: WordArray, needed: LongArray) -> _Words:
        """The empty word alone."""
        none, free = np.full(1, -1, dtype=np.int64), np.zeros(1)
        place, row = np.array([reference], dtype=np.uint64), (self.width * (needed + 1)).astype(np.uint64)
        return _Words(none, free, place, current[np.newaxis], row[np.newaxis])

    def weigh(self, words: _Words, value: LongArray, before: int) -> tuple[LongArray, LongArray]:
        """What each word with each command after it leaves; and their numbers, those that gain most per cost first."""
        left = np.empty((words.first.size, self.actions.size), dtype=np.int64)
        room = np.empty_like(words.current[0])
        held = words.reference, words.current, words.row, self.width
        weigh_words(*self.program, self.actions, *held, value.ravel(), left, room)
        paid = words.paid[:, np.newaxis] + self.cost
        # Nothing left counts as half a unit, so that its logarithm is a number.
        gain = np.rint(FINENESS * np.log(before / np.maximum(left, 0.5)) / paid).astype(np.int64).ravel()
        return left.ravel(), np.argsort(-gain, kind="stable")

    def is_idle_twice(self, words: _Words, place: int) -> bool:
        """Whether doing that command twice leaves every state where it was and contradicts no rival."""
        pair = np.array([place])
        after = self.follow(self.follow(words, pair), pair)
        kept = (after.reference, words.reference), (after.current, words.current), (after.row, words.row)
        return all(np.array_equal(x, y) for x, y in kept)

    def follow(self, words: _Words, pairs: LongArray) -> _Words:
        """The words that are a word of before and a command each."""
        word, place = np.divmod(pairs, self.actions.size)
        shape = word.size, words.current.shape[1]
        reference = np.empty(word.size, dtype=np.uint64)
        current, row = np.empty(shape, dtype=np.uint64), np.empty(shape, dtype=np.uint64)
        held = words.reference, words.current, words.row, self.width
        follow_words(
            *self.program,
            word.astype(np.int32),
            self.actions[place],
            *held,
            reference,
            current,
            row,
        )
        first = np.where(words.first[word] < 0, place, words.first[word])
        return _Words(first, words.paid[word] + self.cost[place], reference, current, row)


@cache
def count_by_halving(num_bits: int, threshold: int) -> int:
    """The readings until fewer than AIM of all states are left in the mean if each contradicts every other reading."""
    number = count_by_halving(num_bits, threshold - 1) if threshold > 1 else 0
    while _left_by_halving(number, threshold) * 2**num_bits > AIM:
        number += 1
    return number


def count_to_go(needing: Sequence[int]) -> int:
    """The readings until fewer than AIM rivals are left in the mean by halving; `needing[k]` of them need k."""
    number = len(needing) - 1 + SPARE
    while sum(many * _left_by_halving(number, k) for k, many in enumerate(needing) if many) > AIM:
        number += 1
    return number


@cache
def _left_by_halving(number: int, k: int) -> Fraction:
    """The probability that a fair coin shows heads fewer than k times in so many throws."""
    return Fraction(sum(math.comb(number, i) for i in range(min(k, number + 1))), 2**number)
