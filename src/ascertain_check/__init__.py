"""The checker: decides, with the standard library alone, whether a certificate proves what it says about a task.

Read it in this order: verdicts (the three answers), reading (JSON without its traps), task (the question), certificate
(the list of claims), then the one file of the claim of interest: achieves, risk, lower,
quotient, obstruction, information, program.
"""

from __future__ import annotations

from ascertain_check.certificate import check
from ascertain_check.verdicts import Verdict

__all__ = ["Verdict", "check"]
