"""Probing in turn: sensor after sensor, whatever was read."""

from __future__ import annotations

from ascertain.evidence.probing import AbstractRule, round_robin
from ascertain.observer.probing import ProbingRule
from ascertain.task.question import AbstractQuestion


def _in_turn(question: AbstractQuestion) -> AbstractRule:
    return round_robin(question.model, question.actions)


ROUND_ROBIN = ProbingRule("round-robin", "each sensor in turn", _in_turn)
