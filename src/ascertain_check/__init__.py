"""The checker: decides, with the standard library alone, whether a certificate proves what it says about a task.

Read it in this order: verdicts (the three answers), reading (JSON without its traps), task (the question), certificate
(the list of claims), claim (what a claim is), then the one file of `claims/` that is of interest.
"""

from __future__ import annotations

from ascertain_check.certificate import check
from ascertain_check.verdicts import Verdict

__all__ = ["Verdict", "check"]
