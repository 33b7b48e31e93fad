"""The paper's first table: controllers on the same streams."""

from __future__ import annotations

from ascertain_paper.registry import StudyEntry, register

register(StudyEntry("controller", order=2, function="ascertain_paper.studies.controller.study:study"))
