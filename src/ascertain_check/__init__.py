"""The checker: decides, with the standard library alone, whether a certificate proves what it says about a task.

Read it in this order: verdicts (the three answers), reading (JSON without its traps), task (the question), certificate
(the list of claims), claim (what a claim is), then the one file of `claims/` that is of interest.
"""

from __future__ import annotations

# ruff: noqa: E402
from ascertain_check.origin import forget_current_directory

forget_current_directory()  # before anything is imported that could be shadowed

from ascertain_check.certificate import check
from ascertain_check.verdicts import Verdict

__all__ = ["Verdict", "check"]
