"""`ascertain verify`: whether a certificate proves what it says about a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ascertain.cli.options import AsJson

if TYPE_CHECKING:
    from ascertain_check.verdicts import Verdict

OTHER_TASK = "the certificate belongs to another task"


def command(
    task: Annotated[
        Path, typer.Argument(metavar="PROBLEM|TASK", help="A problem (.toml) or a canonical task (.json).")
    ],
    certificate: Annotated[Path, typer.Argument(help="The certificate (.json).")],
    as_json: AsJson = False,
) -> None:
    """Check a certificate against the task it is about: VERIFIED, REFUTED or MALFORMED (exit code 0, 1, 2).

    The same verdict comes from `python -m ascertain_check TASK.json CERTIFICATE.json`, which needs nothing but Python.

    Example:  ascertain verify problem.toml proof.json
    """
    from ascertain.cli.show.output import print_json, print_line
    from ascertain.errors import FileError
    from ascertain_check import check
    from ascertain_check.__main__ import judge

    if task.suffix not in {".toml", ".json"}:
        raise FileError(f"{task}: a problem (.toml) or a canonical task (.json) is needed")
    if task.suffix == ".toml":
        verdict = _best([check(text, _read(certificate)) for text in _forms(task)])
    else:
        verdict = judge([str(task), str(certificate)])
    if as_json:
        print_json("verify", {"verdict": verdict.word, "reason": verdict.reason, "proved": list(verdict.proved)})
    else:
        print_line(str(verdict))
        for sentence in verdict.proved:
            print_line(f"  {sentence}")
    raise typer.Exit(verdict.exit_code)


def _forms(path: Path) -> list[bytes]:
    """The canonical forms of a problem: its states listed, and, for a Boolean plant, not listed."""
    from ascertain.cli.show.problems import load_any_problem
    from ascertain.problem.problem import HiddenProblem
    from ascertain.task.canonical import canonical_bytes, task_data

    problem = load_any_problem(path)
    listed = None if isinstance(problem, HiddenProblem) else problem.listed
    forms = [task for task in (listed, problem.question) if task is not None]
    return list(dict.fromkeys(canonical_bytes(task_data(form)) for form in forms))


def _best(verdicts: list[Verdict]) -> Verdict:
    """A certificate belongs to one form at most; what is said about another is that it belongs elsewhere."""
    return next((v for v in verdicts if v.reason != OTHER_TASK), verdicts[0])


def _read(path: Path) -> bytes:
    from ascertain.model.files.text import read_text

    return read_text(path).encode()
