"""Speculation: the bank is compiled in another process while the nominal is tested, in case it will be wanted.

What is compiled does not depend on readings, so that it may be compiled at any time: verdict, transcript and
certificate are the same, and a fallback finds its bank sooner. Where the other process cannot be started, or does not
give a bank for whatever reason, the bank is compiled here when it is wanted, as without it.
"""

from __future__ import annotations

from pickle import PicklingError
from typing import Any, Self, final

from ascertain.errors import AscertainError
from ascertain.live.compile_worker import CompileWorker
from ascertain.observer.banks import CompileReport, OperationBank
from ascertain.task.bank import Bank

NOT_SENT = (PicklingError, AttributeError, TypeError)
"""What is raised over things that no other process could be given, such as a model that is not ours."""


@final
class SpeculativeBank:
    """Compiles what an operation's bank compiles, and can begin before it is asked. Used in a `with` block."""

    def __init__(self, make_bank: OperationBank) -> None:
        self._make_bank = make_bank
        self._worker: CompileWorker | None = None
        self.report: CompileReport | None = None

    def begin(self) -> None:
        """Begin to compile, in a process of its own."""
        try:
            self._worker = CompileWorker()
            self._worker.begin(self._make_bank)
        except (AscertainError, OSError, ValueError, *NOT_SENT):  # Windows hands no descriptors over: ValueError
            self.close()

    def __call__(self) -> Bank:
        if self._worker is not None:
            try:
                bank, self.report, _ = self._worker.result()
                return bank
            except AscertainError:
                pass  # whatever it is, it is found out here
            finally:
                self.close()
        bank = self._make_bank()
        self.report = self._make_bank.report
        return bank

    def bank_data(self) -> dict[str, Any]:
        """What determines the bank; who compiles it does not."""
        return self._make_bank.bank_data()

    def close(self) -> None:
        """End the process, if there is one."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
