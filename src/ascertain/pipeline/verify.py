"""Verify: whether a certificate proves what it says about a task; the verdict is the independent checker's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ascertain.errors import FileError
from ascertain.model.files.text import read_text
from ascertain.pipeline.task import canonicalise
from ascertain.problem.problem import Problem, as_problem
from ascertain_check import Verdict, check
from ascertain_check.__main__ import judge
from ascertain_check.work import default_budget

OTHER_TASK = "the certificate belongs to another task"
"""The checker's reason when hashes differ: a certificate of the other form of the problem."""


def verify(
    task: Problem | str | Path, certificate: str | Path, *, require: Sequence[str] = (), budget: int | None = None
) -> Verdict:
    """Check a certificate against a problem, the file of one (.toml), or a canonical task (.json).

    `require` lists what it must say, such as "optimal", "answer=lit" or "alpha<=1/1000"
    (`docs/certificate-format.md`). More than `budget` steps of work are not done: the verdict is UNDECIDED then.
    Without one the budget grows with the size of the files.
    """
    if isinstance(task, str | Path) and Path(task).suffix == ".json":
        return judge([str(task), str(certificate)], require, budget)
    if isinstance(task, str | Path) and Path(task).suffix != ".toml":
        raise FileError(f"{task}: a problem (.toml) or a canonical task (.json) is needed")
    problem, text = as_problem(task), read_text(certificate).encode()
    # A certificate belongs to one form at most; what the checker says about another is that it belongs elsewhere.
    forms = dict.fromkeys(canonicalise(form) for form in (problem.listed, problem.question) if form is not None)
    verdicts = [
        check(form.data, text, require, default_budget(len(form.data) + len(text)) if budget is None else budget)
        for form in forms
    ]
    return next((verdict for verdict in verdicts if verdict.reason != OTHER_TASK), verdicts[0])
