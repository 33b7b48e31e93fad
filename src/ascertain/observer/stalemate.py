"""Stalemate: what is left has several labels, and nothing that is allowed can move the evidence between them.

Let U be the hypotheses that are not beaten. On a machine, an experiment that goes on from here leads U through sets of
states, and an action is allowed in a set where every member defines it. If in no set that is reached so the readings of
some allowed action have two different laws, then the ratios of the likelihoods within U stay as they are whatever is
done and read. (In a question about the current state no such set may have one label either.) If one of U is true, the
others of U are then beaten only by candidates that were beaten themselves: their share of the evidence is at most about
alpha, and it is a martingale, so that by Ville's inequality it grows to what is needed with a chance of about alpha at
most. The run may as well end, and say what is left. At alpha = 0 a law matters only by what it can show.

In the nominal stage the same holds of the fallback: it begins with all hypotheses again, and those of U, at equal
scores and moved alike, are beaten together or not at all.

On a hidden model two hypotheses that no experiment tells apart at the start are never told apart; these pairs are known
from its quotient. Actions that are still allowed by their limits count as allowed, however often they would be needed.
Of a large Boolean plant what is left is looked at once it is a list, and not while the plant is still swept. Where all
this is too much to search there is no stalemate: the run goes on.
"""

from __future__ import annotations

from collections import deque
from functools import cached_property
from itertools import combinations
from typing import final

import numpy as np

from ascertain.errors import LimitError
from ascertain.evidence.groups import Group
from ascertain.evidence.worlds import AbstractWorld
from ascertain.model.abstract import AbstractDeterministic
from ascertain.observer.guard import Guard
from ascertain.quotients.quotient import take_quotient
from ascertain.task.question import AbstractQuestion
from ascertain.types import State

MAX_LEFT = 1_000
"""Hypotheses that are compared: while more are left, the first action at hand nearly always tells some apart."""
MAX_LOOKUPS = 10_000
"""Laws that are looked up after one step, some ten milliseconds; where that is not enough, the run goes on."""
MAX_COMPARED = 200
"""States, and hypotheses, of a hidden model whose quotient is taken: more would delay the first action."""


@final
class Stalemates:
    """Finds the stalemates of runs about one question."""

    def __init__(self, question: AbstractQuestion) -> None:
        self._question = question
        self._given_up: int | None = None
        """How many hypotheses were left when the search was too long: it is, until others are beaten."""

    def find(self, world: AbstractWorld, guard: Guard) -> tuple[str, ...] | None:
        """The labels that are left, where nothing that is allowed tells them apart; None where something may."""
        model, evidence = world.model, world.evidence
        if evidence.vanished or evidence.bank.later is not None:
            return None
        left = world.list_left(MAX_LEFT)
        if not left:
            return None
        codes: list[int] = np.unique(np.concatenate([world.codes(group) for group in left])).tolist()
        if len(codes) < 2:
            return None
        machine = model.deterministic
        stuck = self._are_obstructed(world, left) if machine is None else self._are_alike(machine, world, guard, left)
        return tuple(map(world.labelling.name, codes)) if stuck else None

    def _are_alike(self, model: AbstractDeterministic, world: AbstractWorld, guard: Guard, left: list[Group]) -> bool:
        """Whether no allowed word on a machine leads what is left to different laws, or to one label."""
        size = sum(group.size for group in left)
        first = frozenset(int(s) for group in left for s in group.current)
        if size == self._given_up:
            return False
        exactly, current = world.evidence.alpha > 0, world.labelling.about == "current"
        seen, queue, lookups, total = {first}, deque([first]), 0, model.is_total
        while queue:
            here = queue.popleft()
            for action in guard.allowed(world) if here is first else guard.usable:
                lookups += len(here)
                if lookups > MAX_LOOKUPS:
                    self._given_up = size
                    return False
                if not total and not all(model.reading_law(s, action) for s in here):
                    continue
                law = model.reading_law(next(iter(here)), action)
                others = (model.reading_law(s, action) for s in here)  # mostly one of the first differs
                if any(other != law if exactly else other.keys() != law.keys() for other in others):
                    return False
                after = frozenset(model.next_state(s, action) for s in here)
                if after in seen:
                    continue
                if current and _have_one_label(world, after):
                    return False
                seen.add(after)
                queue.append(after)
        # A candidate that is no hypothesis may still move the evidence.
        return first.issuperset(world.evidence.unbeaten_states.tolist())

    def _are_obstructed(self, world: AbstractWorld, left: list[Group]) -> bool:
        """Whether every two hypotheses of a hidden model that are left, of different labels, are told apart by nothing
        at all; cases of an action in doubt are not compared."""
        if len(left) > 1 or not self._obstructed:
            return False
        hypotheses, codes = left[0].hypothesis.tolist(), world.codes(left[0]).tolist()
        pairs = combinations(zip(hypotheses, codes, strict=True), 2)
        return all(k == m or frozenset((h, i)) in self._obstructed for (h, k), (i, m) in pairs)

    @cached_property
    def _obstructed(self) -> frozenset[frozenset[int]]:
        """The pairs of hypotheses of a hidden model that no experiment tells apart, as far as that is known."""
        question = self._question
        if max(question.num_hypotheses, question.model.num_states) > MAX_COMPARED:
            return frozenset()
        found = set[frozenset[int]]()
        try:
            quotient = take_quotient(question)
            for one, others in quotient.obstructed():
                members = [quotient.members_of(int(h)).tolist() for h in others]
                here = combinations(members, 2) if one is None else ((quotient.members_of(one), m) for m in members)
                found |= {frozenset((int(h), int(i))) for hs, ps in here for h in hs for i in ps}
        except LimitError:
            return frozenset()
        return frozenset(found)


def _have_one_label(world: AbstractWorld, states: frozenset[State]) -> bool:
    return len(np.unique(world.labelling.code(np.array(sorted(states), dtype=np.uint64)))) == 1
