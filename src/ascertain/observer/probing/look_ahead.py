"""Probing by look-ahead: the word of commands that tells the leader from its rivals and mixes those that are left."""

from __future__ import annotations

from ascertain.evidence.look_ahead import LookAhead
from ascertain.observer.probing import ProbingRule

LOOK_AHEAD = ProbingRule(
    "look-ahead",
    "words that tell the leader from its rivals and mix the rest",
    lambda asked: LookAhead(asked.model, asked.actions, tuple(asked.cost[a] for a in asked.actions)),
    serves=lambda question: bool(question.model.bits),
    audience="Boolean plants",
)
