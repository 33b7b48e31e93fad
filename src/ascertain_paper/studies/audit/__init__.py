"""The guarantee, audited: five questions with the limit that each must keep."""

from __future__ import annotations

from ascertain_paper.registry import StudyEntry, register

register(StudyEntry("audit", order=7, function="ascertain_paper.studies.audit.study:study"))
