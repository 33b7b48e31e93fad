"""Plants that are in no model: how many are misnamed, with and without conformance, and what that costs."""

from __future__ import annotations

from ascertain_paper.registry import StudyEntry, register

register(StudyEntry("openworld", order=8, function="ascertain_paper.studies.openworld.study:study"))
