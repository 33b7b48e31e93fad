"""One operation from its log to its certificate."""

from __future__ import annotations

from ascertain_paper.registry import StudyEntry, register

register(StudyEntry("story", order=1, function="ascertain_paper.studies.story.study:study"))
