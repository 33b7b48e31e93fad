"""Compiling the bank in the background."""

from __future__ import annotations

from ascertain_paper.registry import StudyEntry, register

register(StudyEntry("speculation", order=5, function="ascertain_paper.studies.speculation.study:study"))
