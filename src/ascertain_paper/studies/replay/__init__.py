"""The first eight shells in the closed loop."""

from __future__ import annotations

from ascertain_paper.registry import StudyEntry, register

register(StudyEntry("replay", order=4, function="ascertain_paper.studies.replay.study:study"))
