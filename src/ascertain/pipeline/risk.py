"""The part of a total risk that one run takes: taken before the run is posed, and given back if nothing is sent."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from secrets import token_hex
from typing import Any, final

from ascertain.errors import AscertainError, FileError, TaskError
from ascertain.live.journal import Journal
from ascertain.live.risk_file import ABSTAINED, RiskFile, RiskShare, end_share, preview_share, return_share, take_share
from ascertain.policy.verdict import Certified, NoneOfThese, Verdict
from ascertain.rational import rational_field
from ascertain.task.canonical import task_hash
from ascertain.task.question import AbstractQuestion


@final
class RunRisk:
    """The share of one run in a risk file.

    `alpha` is what the run asked for by itself, if anything; `journal` is the run's, by whose path its share is found
    again when it is resumed: resuming takes no second one.
    """

    def __init__(
        self,
        path: str | Path,
        total: Fraction | int | str | None,
        schedule: str | None,
        alpha: Fraction | int | str | None,
        journal: str | Path | None,
    ) -> None:
        self.path, self._total, self._schedule = path, total, schedule
        self._asked = None if alpha is None else rational_field(alpha, "alpha", TaskError)
        self._run = f"unnamed {token_hex(8)}" if journal is None else os.path.abspath(journal)
        self._file: RiskFile | None = None
        self._share: RiskShare | None = None
        self._begun = False

    @contextmanager
    def taken(
        self, question: AbstractQuestion, resumed: Journal | None, *, dry_run: bool = False
    ) -> Generator[Fraction]:
        """The alpha of the run: the share that is taken now, or that was when the journal was begun.

        Without a schedule or an alpha of the run, it is the question's. A dry run takes nothing, and a run that ends in
        here before `begin` gives its share back.
        """
        begun: dict[str, Any] = {"total": self._total, "schedule": self._schedule}
        self._file = preview_share(self.path, **begun)
        if resumed is not None and resumed.records:
            self._share = self._file.share_of(self._run)
            if self._share is None:
                raise FileError(f"{self.path}: the journal {self._run} was not begun with a share of this risk file")
            if self._asked not in (None, self._share.alpha):
                raise TaskError(f"alpha: this run took {self._share.alpha} of {self.path}; resume it without --alpha")
            yield self._share.alpha
            return
        if dry_run:
            yield self._file.next_share(self._asked, question.alpha)[0]
            return
        wanted: dict[str, Any] = {"alpha": self._asked, "default": question.alpha, "task_sha256": task_hash(question)}
        self._file, self._share = take_share(self.path, **begun, **wanted, run=self._run)
        try:
            yield self._share.alpha
        except BaseException:
            if not self._begun:
                self._file = return_share(self.path, self._share.number)
            raise

    def begin(self) -> None:
        """From now on something may have been sent, and the share is spent whatever becomes of the run."""
        self._begun = True

    def end(self, verdict: Verdict | None, note: Callable[[str], None]) -> None:
        """Record how the run ended; that this fails must not cost the answer, whose share is recorded."""
        if verdict is None or self._share is None:
            return
        try:
            begins = "none of these: " if isinstance(verdict, NoneOfThese) else ABSTAINED
            outcome = f"certified: {verdict.label}" if isinstance(verdict, Certified) else f"{begins}{verdict.reason}"
            self._file = end_share(self.path, self._share.number, outcome)
        except AscertainError as reason:
            note(f"the outcome of the run is not recorded in its risk file: {reason}")

    def facts(self) -> dict[str, Any]:
        """What `--json` says of the risk file; the share is null where a dry run took none."""
        assert self._file is not None, "the file has been looked at"
        share = None if self._share is None else str(self._share.alpha)
        return {"path": str(self._file.path), **self._file.facts(), "share": share}
