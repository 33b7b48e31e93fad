"""A process that compiles banks beside the one that reads: told to begin, asked for the bank, or told to stop.

One process serves one compilation after the other, as a separate processor of a plant's controller would. It tells how
much processor time each took. Who stops a compilation that is no longer wanted is told what it took so far: compilers
look up at every position of the log.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, TypeAlias, final

from ascertain.bank.compile import compile_bank
from ascertain.bank.operation import Operation
from ascertain.bank.shells import bank_shells
from ascertain.errors import AscertainError
from ascertain.task.bank import Bank

Reply: TypeAlias = tuple[Bank | AscertainError | None, int]
"""The bank, what went wrong, or None when it was stopped; and the microseconds of processor time."""
_STOP = "stop"
_PATIENCE_S = 10.0


@final
class CompileWorker:
    """The process. Used in a `with` block; at most one compilation is under way."""

    def __init__(self) -> None:
        # A fresh interpreter: a forked one would inherit the threads' locks of whoever reads.
        context = multiprocessing.get_context("spawn")
        self._end, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        self._busy = False

    def begin(self, operation: Operation, compiler: str) -> None:
        """Begin to compile the bank of all shells."""
        assert not self._busy, "a compilation is under way"
        self._busy = True
        self._end.send((operation, compiler))

    def result(self) -> tuple[Bank, int]:
        """Wait for the bank; with the microseconds of processor time that it took."""
        bank, spent = self._receive()
        if isinstance(bank, AscertainError):
            raise bank
        assert bank is not None
        return bank, spent

    def stop(self) -> int:
        """Stop the compilation, if it is not done yet; the microseconds of processor time that it took."""
        assert self._busy, "no compilation is under way"
        self._end.send(_STOP)
        return self._receive()[1]

    def _receive(self) -> Reply:
        assert self._busy, "no compilation is under way"
        try:
            reply: Reply = self._end.recv()
        except (EOFError, OSError):
            raise AscertainError("the process that compiles has ended without an answer") from None
        self._busy = False
        return reply

    def __enter__(self) -> CompileWorker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.close()
        self._process.join(_PATIENCE_S)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join()
        self._process.close()


@final
class _StoppedError(Exception):
    """Nobody wants the bank any more."""


def _serve(end: Connection[Any, Any]) -> None:
    """Compile what is asked for until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who reads ends this process, by closing its end
    while True:
        try:
            job = end.recv()
            # A stop that comes here came too late: the bank had been sent.
            if job != _STOP:
                end.send(_compile(end, *job))
        except (EOFError, OSError):
            return


def _compile(end: Connection[Any, Any], operation: Operation, compiler: str) -> Reply:
    began = time.process_time_ns()

    def look_up(_done: int, _total: int) -> None:
        if end.poll():
            end.recv()
            raise _StoppedError

    bank: Bank | AscertainError | None
    try:
        compiled = compile_bank(operation, compiler, progress=look_up)
        bank = bank_shells(compiled, compiled.num_shells)
    except _StoppedError:
        bank = None
    except AscertainError as error:
        bank = error
    return bank, (time.process_time_ns() - began) // 1000
