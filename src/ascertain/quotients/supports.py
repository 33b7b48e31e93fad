"""Certainty under noise: what can be settled at alpha = 0, where only what a hypothesis can never show rules it out.

The *support* of a law is what it can show. Two hypotheses that show the same words of readings, with whatever
probabilities, are never told apart for certain: an observer that is never wrong abstains under both. On a machine this
is obstruction (`obstruction.py`) once each law is replaced by the even one on its support, for two of these are equal
exactly when their supports are. On a hidden model the words are followed by the states that each belief leaves possible
(the subset construction), breadth first. A Boolean plant whose sensor flips can show every reading everywhere.

Supports that differ on one side only, all of one in the other, rule out one of the two at most; such questions are not
refused, for a run may still be settled.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, islice
from typing import Any, TypeAlias, cast

import numpy as np

from ascertain.errors import LimitError
from ascertain.model import Model
from ascertain.model.hidden import HiddenModel
from ascertain.quotients.obstruction import coarsen, coarsen_hidden, find_obstruction
from ascertain.task.hidden_task import HiddenTask
from ascertain.task.question import AbstractQuestion
from ascertain.task.task import check_task
from ascertain.types import State

Support: TypeAlias = frozenset[State]
"""The states that a belief holds possible."""
MAX_STATES = 4096
"""States of an unlisted plant that are looked through for two labels: questions have two among the first few."""
MAX_PAIRS = 10_000
"""Pairs of supports of a hidden model, of all hypotheses together: some seconds. Beyond, nothing is refused."""


def find_uncertain_pair(question: AbstractQuestion) -> tuple[str, str] | None:
    """Two hypotheses of different labels that noise alone keeps from being told apart for certain, by name.

    None where there are none, where nothing is noisy, and where it would take too long to know.
    """
    model = question.model
    if not model.is_noisy:
        return None
    try:
        if model.listed is None:
            return _on_plant(question)
        if not model.has_certain_transitions:
            return _on_hidden(question)
        # What the laws themselves do not tell apart is not the fault of alpha.
        task = check_task(question)
        found = find_obstruction(replace(coarsen(task), model=flatten(task.model)))
        return None if found is None else found.names
    except LimitError:
        return None


def flatten(model: Model) -> Model:
    """The noisy machine with every law replaced by the even one on its support."""
    number: dict[tuple[int, ...], int] = {}
    of_law = [number.setdefault(tuple(y for y, _ in law), len(number)) for law in model.laws]
    even = tuple(tuple((y, Fraction(1, len(support))) for y in support) for support in number)
    behaviour = np.array([*of_law, -1], dtype=np.int32)[model.behaviour]  # -1, not defined, looks at the last
    return model.rebuilt(successor=model.successor, behaviour=behaviour, laws=even)


def _on_plant(question: AbstractQuestion) -> tuple[str, str] | None:
    """Of a plant that can show everything everywhere: any two states of different labels, if labels are of the start.

    Where the current state is asked for, commands alone may lead all states to one label.
    """
    if question.about == "current":
        return None
    listed = range(question.num_candidates) if question.candidates is None else question.candidates
    first: dict[str, int] = {}
    for state in islice(listed, MAX_STATES):
        for label in question.true_labels(state, state):
            first.setdefault(label, state)
        if len(first) > 1:
            one, other = map(question.name_candidate, first.values())
            return one, other
    return None


def _on_hidden(question: AbstractQuestion) -> tuple[str, str] | None:
    task, looked = coarsen_hidden(cast("HiddenTask", question)), 0
    for h, i in combinations(range(task.num_hypotheses), 2):
        if task.label[h] == task.label[i]:
            continue
        pair = tuple(frozenset(s for s, _ in task.belief[x]) for x in (h, i))
        apart, steps = _show_different_words(task.model, cast("Any", pair), MAX_PAIRS - looked)
        looked += steps
        if looked >= MAX_PAIRS:
            return None
        if not apart:
            return task.name[h], task.name[i]
    return None


def _show_different_words(model: HiddenModel, pair: tuple[Support, Support], limit: int) -> tuple[bool, int]:
    """Whether an allowed word is possible from one of the two and not from the other; and how many pairs it took."""
    seen, queue = {pair}, deque([pair])
    while queue and len(seen) < limit:
        one, other = queue.popleft()
        for a in range(model.num_actions):
            if not (model.allows(one, a) and model.allows(other, a)):
                continue
            for y in model.possible_readings(a):
                after = frozenset(model.reach(one, a, y)), frozenset(model.reach(other, a, y))
                if bool(after[0]) != bool(after[1]):
                    return True, len(seen)
                if after[0] and after[0] != after[1] and after not in seen:
                    seen.add(after)
                    queue.append(after)
    return False, len(seen)
