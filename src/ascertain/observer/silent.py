"""Probing where silence is no evidence: make what is left say something, and different things.

A plan takes silence for a reading that tells states apart. Where it is no evidence, the plan is lost at the first
silence, and a rule that still counts on it may ask the same again for ever. So after a silence the next action is that
of the shortest word after which a candidate z reads something, and a rival something else or nothing. Candidates that
predicted the silences so far go first: that decides what is asked, and never what may be answered.

If the plant is z and silent only where z is, each such word rules out a rival, or shows that another candidate was
wrong about a silence. So a plant that can be reset is named, if its readings alone tell it from every rival.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ascertain.evidence.evidence import Step
from ascertain.evidence.probing import MAX_PAIRS, Pair, shortest_splitting_word
from ascertain.task.question import AbstractQuestion
from ascertain.types import Action, Reading


def choose_heard(
    question: AbstractQuestion, silence: Reading, steps: Sequence[Step], allowed: Sequence[Action]
) -> Action | None:
    """What to do next among the allowed actions; None before the first silence, and where no word is found."""
    model = question.model.deterministic
    if model is None or question.candidates is None or not all(step.certain for step in steps):
        return None
    if all(step.reading is not None for step in steps):
        return None
    start = now = np.unique(np.array(question.candidates, dtype=np.uint64))
    wrong = np.zeros(len(start), dtype=np.int64)
    for step in steps:
        after, shown = model.outcomes(now, step.action)
        wrong += (shown != silence) & (step.reading is None)
        left = np.full(len(start), True) if step.reading is None else shown == step.reading
        start, now, wrong = start[left], after[left].astype(np.uint64), wrong[left]
    labels = [question.true_labels(z, s) for z, s in zip(start.tolist(), now.tolist(), strict=True)]
    seen = set[Pair]()
    for z in np.argsort(wrong, kind="stable").tolist():
        rivals = {int(s) for s, names in zip(now, labels, strict=True) if names != labels[z]}
        pairs = [(int(now[z]), g) for g in sorted(rivals)]
        word = shortest_splitting_word(model, pairs, allowed, question.actions, silence=silence, seen=seen)
        if word or len(seen) > MAX_PAIRS:
            return word[0] if word else None
    return None
