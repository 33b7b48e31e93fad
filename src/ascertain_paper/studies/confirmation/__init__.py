"""The paper's large benchmark: score shells, and the compilers compared."""

from __future__ import annotations

from ascertain_paper.registry import StudyEntry, register

register(StudyEntry("confirmation", order=3, function="ascertain_paper.studies.confirmation.study:study"))
