"""Where the bank comes from: something that compiles it, run at most once and without being shown a reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

from ascertain.errors import AscertainError, TaskError
from ascertain.task.bank import Bank


@final
@dataclass(frozen=True, kw_only=True)
class CompileEffort:
    """What compiling took."""

    compiler: str
    evaluations: int
    """Candidates that were scored at the end of the log."""
    model_steps: int
    seconds: float
    map_equal: bool | None = None
    """Whether a second compiler gave the same states and scores; None when none was asked."""


@runtime_checkable
class ReportsEffort(Protocol):
    """A callable that can tell, afterwards, what it took."""

    @property
    def effort(self) -> CompileEffort | None: ...


@final
class BankSource:
    """Runs what compiles the bank when the bank is first wanted, and never again, even where it failed."""

    def __init__(self, make_bank: Callable[[], Bank]) -> None:
        self._make_bank = make_bank
        self._result: Bank | AscertainError | None = None

    def bank(self) -> Bank:
        """The bank; what went wrong is raised each time."""
        if self._result is None:
            try:
                self._result = self._make_bank()
            except AscertainError as error:
                self._result = error
            else:
                if self._result.later is not None:
                    self._result = TaskError("the bank to fall back on must be whole; it leaves a part to be computed")
        if isinstance(self._result, AscertainError):
            raise self._result
        return self._result

    @property
    def effort(self) -> CompileEffort | None:
        """What compiling took, if it has been done and whatever does it can tell."""
        if not isinstance(self._result, Bank) or not isinstance(self._make_bank, ReportsEffort):
            return None
        return self._make_bank.effort
