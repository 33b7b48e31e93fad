"""What to do next: what the probing rule chooses among the actions that are allowed now, non-merging ones first.

A question about the start is lost for two states once an action has led both to the same place and they could show the
same reading on the way: nothing read after that tells them apart. Such an action *merges* the two. Where the plant
forgets like this, an observer that took the first action at hand would often destroy what it is to find out. So actions
that merge none of the leading candidate and its strongest rivals go first, as long as words of them tell the leader
from the strongest rival. This decides how long it takes, and never what may be answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import final

import numpy as np

from ascertain.evidence.evidence import Step
from ascertain.evidence.probing import AbstractRule, shortest_splitting_word, strongest_of
from ascertain.evidence.worlds import NO_LABEL, AbstractWorld
from ascertain.model.abstract import AbstractDeterministic
from ascertain.observer.guard import Guard
from ascertain.observer.probing import find_rule
from ascertain.observer.settings import ObserverSettings
from ascertain.observer.silent import choose_heard
from ascertain.types import Action, WordArray

NUM_RIVALS = 512
"""How many rivals, the strongest, are looked at: as many as `Separating` looks at, so that both see the same ones."""


@final
class Chooser:
    """Chooses among the actions that a guard allows; what it chooses follows from the world and what was done."""

    def __init__(self, settings: ObserverSettings) -> None:
        self._settings = settings

    @cached_property
    def _rule(self) -> AbstractRule:
        """Made when it is first wanted: a plan takes time, and a run that is given its actions needs none."""
        return find_rule(self._settings.probing, self._settings.question).make(self._settings.question)

    def choose(self, world: AbstractWorld, guard: Guard, steps: Sequence[Step]) -> Action | None:
        """The next action after these steps; None when none is allowed."""
        asked = self._rule.ask(steps)
        if asked is not None and guard.allows(world, asked):
            return asked
        allowed = prefer_non_merging(world, guard.allowed(world))
        if self._settings.silence is not None:
            heard = choose_heard(self._settings.question, self._settings.silence, steps, allowed)
            if heard is not None:
                return heard
        return self._rule.choose(world, allowed) if allowed else None

    def explain(self, world: AbstractWorld, action: Action, steps: Sequence[Step]) -> str:
        """Why this action is taken: whose choice it is, and how many of the rivals looked at it tells apart."""
        if self._rule.ask(steps) == action:
            rule = "the plan asks for it, the cheapest experiment that the solver found"
        else:
            rule = f"the rule {self._settings.probing} takes it"
        model = world.model.deterministic
        if model is None or world.evidence.vanished:
            return rule
        leader, code = world.leader()
        groups = world.likely_rivals(code, NUM_RIVALS)
        rivals = [int(state) for group in groups for state in group.current]
        if not rivals:
            return rule
        # Between two states that share a law nothing is told apart by one reading.
        law = model.reading_law(leader, action)
        apart = sum(model.reading_law(state, action) != law for state in rivals)
        looked = f"of {len(rivals)} rivals" if len(rivals) < NUM_RIVALS else f"of the {NUM_RIVALS} strongest rivals"
        label = "what fits best" if code == NO_LABEL else repr(world.labelling.name(code))
        if apart:
            often = "may read differently from" if model.is_noisy else "read differently from"
            return f"{rule}: {apart} {looked} {often} {label}"
        return f"{rule}: by itself it tells {label} from none {looked}, but what follows does"


def prefer_non_merging(world: AbstractWorld, allowed: tuple[Action, ...]) -> tuple[Action, ...]:
    """The allowed actions that merge no rivals, where they will do; otherwise all of them.

    On a hidden model, where an action leads is random, so that no action is known to merge.
    """
    model = world.model.deterministic
    if model is None or world.labelling.about == "current" or all(model.is_injective(a) for a in allowed):
        return allowed
    leader, code = world.leader()
    rivals = world.likely_rivals(code, NUM_RIVALS)
    if not rivals:
        return allowed
    current = np.concatenate([np.array([leader], dtype=np.uint64), *(group.current for group in rivals)])
    codes = np.concatenate([np.array([code], dtype=np.uint64), *(world.codes(group) for group in rivals)])
    kept = tuple(a for a in allowed if not merges(model, a, current, codes))
    if len(kept) in {0, len(allowed)}:
        return allowed
    return kept if shortest_splitting_word(model, [(leader, strongest_of(rivals))], kept, kept) else allowed


def merges(model: AbstractDeterministic, action: Action, current: WordArray, codes: WordArray) -> bool:
    """Whether two of these states, of different labels, come to the same place with what may be the same reading."""
    after, shown = model.outcomes(current, action)
    order = np.lexsort((codes, shown, after))
    after, shown, codes = after[order], shown[order], codes[order]
    together = (after[1:] == after[:-1]) & (shown[1:] == shown[:-1])
    return bool((together & (codes[1:] != codes[:-1])).any())
