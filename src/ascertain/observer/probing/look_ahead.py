"""Probing by look-ahead: the word of commands that tells the leader from its rivals and mixes those that are left."""

from __future__ import annotations

from ascertain.evidence.look_ahead import LookAhead
from ascertain.evidence.probing import AbstractRule
from ascertain.observer.probing import ProbingRule
from ascertain.task.plant_task import PlantTask


def _look_ahead(question: PlantTask) -> AbstractRule:
    return LookAhead(question.model, question.actions, tuple(question.cost[a] for a in question.actions))


LOOK_AHEAD = ProbingRule(
    "look-ahead",
    "words that tell the leader from its rivals and mix the rest",
    _look_ahead,
    serves=lambda question: bool(question.model.bits),
    audience="Boolean plants",
)
