"""Probing by separation: the action that tells the leading candidate best from its rivals, per unit of cost."""

from __future__ import annotations

from ascertain.evidence.kinds import make_separating
from ascertain.observer.probing import ProbingRule

SEPARATING = ProbingRule("separating", "what tells the leader from its rivals", make_separating)
