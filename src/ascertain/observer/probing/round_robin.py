"""Probing in turn: sensor after sensor, whatever was read."""

from __future__ import annotations

from ascertain.evidence.probing import round_robin
from ascertain.observer.probing import ProbingRule

ROUND_ROBIN = ProbingRule("round-robin", "each sensor in turn", lambda asked: round_robin(asked.model, asked.actions))
