"""Random automata and policies on which the theory must hold."""

from __future__ import annotations

from ascertain_paper.registry import StudyEntry, register

register(StudyEntry("invariants", order=6, function="ascertain_paper.studies.invariants.study:study"))
