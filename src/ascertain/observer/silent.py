"""Probing where silence is no evidence: make what is left say something, and different things.

A plan takes silence for a reading that tells states apart. Where it is no evidence, the plan is lost at the first
silence, and a rule that still counts on it may ask the same again for ever. So after a silence the next action is that
of the shortest word after which a candidate z reads something, and a rival something else or nothing. Candidates that
predicted the silences so far go first: that decides what is asked, and never what may be answered.

If the plant is z and silent only where z is, each such word rules out a rival, or shows that another candidate was
wrong about a silence. So a plant that can be reset is named, if its readings alone tell it from every rival.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from ascertain.evidence.evidence import Step
from ascertain.model.tables import UNDEFINED
from ascertain.task.question import AbstractQuestion
from ascertain.task.task import Task
from ascertain.types import Action, IntArray, Reading, State

MAX_PAIRS = 20_000
"""Pairs of states that are looked at for one candidate, some ten milliseconds."""


def choose_heard(
    question: AbstractQuestion, silence: Reading, steps: Sequence[Step], allowed: Sequence[Action]
) -> Action | None:
    """What to do next among the allowed actions; None before the first silence, and where no word is found."""
    if not isinstance(question, Task) or not all(step.certain for step in steps):
        return None
    if all(step.reading is not None for step in steps):
        return None
    model, now = question.model, question.state
    left, wrong = np.ones(len(now), dtype=bool), np.zeros(len(now), dtype=np.int64)
    for step in steps:
        shown = model.behaviour[now, step.action]
        if step.reading is None:
            wrong += shown != silence
        else:
            left &= shown == step.reading
        now = model.successor[now, step.action]
    labels = question.label if question.state_label is None else question.state_label[now]
    candidates = np.flatnonzero(left)
    for z in candidates[np.argsort(wrong[candidates], kind="stable")]:
        rivals = now[left & (labels != labels[z])]
        action = _first_of_word(question, silence, int(now[z]), rivals, allowed)
        if action is not None:
            return action
    return None


def _first_of_word(
    question: Task, silence: Reading, state: State, rivals: IntArray, allowed: Sequence[Action]
) -> Action | None:
    """The first action of a shortest word after which the state is not silent, and a rival reads otherwise."""
    model = question.model
    pairs: list[tuple[State, State]] = [(state, g) for g in np.unique(rivals).tolist()]
    queue: deque[tuple[State, State, Action | None]] = deque((*pair, None) for pair in pairs)
    seen = set(pairs)
    while queue and len(seen) <= MAX_PAIRS:
        z, g, first = queue.popleft()
        for a in allowed if first is None else question.actions:
            begun, after = a if first is None else first, (int(model.successor[z, a]), int(model.successor[g, a]))
            if UNDEFINED in after:
                continue
            if model.behaviour[z, a] not in (silence, model.behaviour[g, a]):
                return begun
            if after[0] != after[1] and after not in seen:
                seen.add(after)
                queue.append((*after, begun))
    return None
