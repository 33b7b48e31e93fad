"""What to probe next on a hidden model: the action that separates the leading belief best from those of its rivals.

It is the *separating* rule of `probing.py`, one action ahead, with what a belief predicts in place of a state's law.
Each rival has a weight, the square root of its likelihood. If the leader is true, an action multiplies that weight in
the mean by the affinity of the two predictions P and Q, the sum over readings y of root(P(y) Q(y)). Let J_y be the
likelihood of a belief after y is read. Then

    left(a)  =  sum over rivals and y of root(J_y of the leader * J_y of the rival)

is in proportion to the total weight that action a leaves in the mean. The rule takes the action that removes the
largest part of the total, per unit of cost. Where no action removes anything, it follows a shortest word that tells the
leader from its strongest rival (`quotients/words.py`), as far as the model is small enough for one to be found.

Roots are rounded down integers and the rest is rational, so what is chosen is the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

from ascertain.errors import LimitError, TaskError
from ascertain.evidence.beliefs import Case, IntegerModel, Weights
from ascertain.evidence.hidden_world import HiddenWorld
from ascertain.evidence.probing import AbstractRule
from ascertain.evidence.worlds import AbstractWorld
from ascertain.model.hidden import HiddenModel, make_belief
from ascertain.quotients.belief_pairs import PairSearch
from ascertain.quotients.words import ReadingWord, WordSpan, span_words
from ascertain.types import Action

NUM_RIVALS = 64
"""How many rivals, the strongest, are looked at: each costs exact sums over its belief for every action, and the
weaker ones hardly weigh in a total of roots."""
BITS = 128
"""Bits of the weights that are kept, from the first of the strongest on: a rival 2^128 times less likely than the
strongest does not count, and the exact weights grow with every reading."""
SPLITS = Fraction(1, 1 << 40)
"""A smaller part than this is rounding, of roots and of dropped bits: the action splits nothing."""


@final
@dataclass(frozen=True)
class SeparatingBeliefs(AbstractRule):
    """The action that removes the largest part of the strongest rivals' weight, per unit of cost."""

    model: HiddenModel
    cost: tuple[Fraction, ...]
    """What every action of the model costs."""

    def __post_init__(self) -> None:
        if len(self.cost) != self.model.num_actions or not all(c > 0 for c in self.cost):
            raise TaskError(f"there must be a positive cost for each of the {self.model.num_actions} actions")

    def choose(self, world: AbstractWorld, allowed: Sequence[Action] | None = None) -> Action:
        if not isinstance(world, HiddenWorld):
            raise TaskError("this rule follows beliefs, and a world of states has none; use Separating")
        if allowed is None:
            allowed = [a for a in range(self.model.num_actions) if world.is_allowed(a)]
        leader = world.leading_case()
        rivals = world.rival_cases(world.labelling.code_of(leader.hypothesis), NUM_RIVALS)
        turn = allowed[len(world.history) % len(allowed)]
        if not rivals or not leader.weights:
            return turn
        mine, theirs = drop_low_bits([leader])[0], drop_low_bits(rivals)
        gains = [part_removed(world.table, mine, theirs, a) / self.cost[a] for a in allowed]
        best = max(range(len(allowed)), key=lambda i: gains[i])
        if gains[best] * self.cost[allowed[best]] > SPLITS:
            return allowed[best]
        word = self._tell(leader.weights, rivals[0].weights)
        return word[0][0] if word and word[0][0] in allowed else turn

    def _tell(self, one: Weights, other: Weights) -> ReadingWord | None:
        """A shortest allowed word that tells two beliefs apart; None where none is found within the limits."""
        try:
            beliefs = make_belief(one), make_belief(other)
            return self._span.separating_word(*beliefs) if self.model.is_total else self._pairs.compare(*beliefs).word
        except LimitError:
            return None

    @cached_property
    def _span(self) -> WordSpan:
        return span_words(self.model)

    @cached_property
    def _pairs(self) -> PairSearch:
        return PairSearch(self.model)


def drop_low_bits(cases: Sequence[Case]) -> list[Weights]:
    """The weights without their last bits, as many for all: of the likeliest case, the first, so many are kept."""
    down = max(0, cases[0].likelihood.bit_length() - BITS)
    return [{s: w >> down for s, w in case.weights.items() if w >> down} for case in cases]


def part_removed(table: IntegerModel, leader: Weights, rivals: Sequence[Weights], action: Action) -> Fraction:
    """Which part of the rivals' total weight the action removes in the mean, if the leader is true."""
    mine, scale = table.shown(leader, action), table.scale[action]
    whole = sum(leader.values()) * scale
    total = left = 0
    for rival in rivals:
        theirs = table.shown(rival, action)
        total += root(whole * sum(rival.values()) * scale)
        left += sum(root(mine[y] * theirs[y]) for y in mine if y in theirs)
    return max(Fraction(0), 1 - Fraction(left, total))


def root(number: int) -> int:
    """The root in units of 2^-64, rounded down."""
    return math.isqrt(number << 128)
