"""A process that compiles banks beside the one that reads: told to begin, asked for the bank, or told to stop.

One process serves one compilation after the other, as a separate processor of a plant's controller would. It says how
much processor time each took. Who stops a compilation that is no longer wanted is told what it took so far: compilers
look up whenever they report progress. The process ends with the one that started it, however that ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, Self, TypeAlias, final

from ascertain.errors import AscertainError
from ascertain.interruption import OutOfTime, limited, look_up
from ascertain.observer.banks import CompileReport, OperationBank
from ascertain.task.bank import Bank

Reply: TypeAlias = tuple[Bank | AscertainError | None, CompileReport | None, int]
"""The bank with its report, what went wrong, or None when it was stopped; and the microseconds of processor time."""
LOOK_UP_S = 0.05
"""Seconds between two looks at the time while a bank is waited for: nobody notices them."""
_STOP = "stop"


@final
class CompileWorker:
    """The process. Used in a `with` block; at most one compilation is under way."""

    def __init__(self) -> None:
        self._end, other = Pipe()
        # A fresh interpreter that knows nothing of the main module: a forked one would inherit locks of threads, and
        # one of `multiprocessing` would run the user's script again. In a session of its own, it does not hear Ctrl-C.
        self._process = subprocess.Popen(  # noqa: S603  our own interpreter
            [sys.executable, "-P", "-c", f"from {__name__} import serve; serve({other.fileno()})"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[other.fileno()],
            start_new_session=True,
        )
        other.close()
        self._busy = False

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def begin(self, make_bank: OperationBank) -> None:
        """Begin to compile a bank."""
        assert not self._busy, "a compilation is under way"
        try:
            self._end.send(make_bank)
        except OSError:
            raise _ended() from None
        self._busy = True

    def result(self) -> tuple[Bank, CompileReport, int]:
        """Wait for the bank; with what compiling took, and the microseconds of processor time."""
        bank, report, spent = self._receive()
        if isinstance(bank, AscertainError):
            raise bank
        assert bank is not None and report is not None
        return bank, report, spent

    def stop(self) -> int:
        """Stop the compilation, if it is not done yet; the microseconds of processor time that it took."""
        assert self._busy, "no compilation is under way"
        self._end.send(_STOP)
        return self._receive()[2]

    def _receive(self) -> Reply:
        assert self._busy, "no compilation is under way"
        try:
            while not self._end.poll(LOOK_UP_S):
                look_up()
            reply: Reply = self._end.recv()
        except (EOFError, OSError):
            raise _ended() from None
        self._busy = False
        return reply

    def close(self) -> None:
        """End the process, whatever it does; nothing that it computes is kept anywhere else."""
        self._end.close()
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _ended() -> AscertainError:
    return AscertainError("the process that compiles has ended without an answer")


def serve(descriptor: int) -> None:
    """Compile what is asked for until the other end is closed: what the process does."""
    end: Connection[Any, Any] = Connection(descriptor)
    while True:
        try:
            job = end.recv()
            # A stop that comes here came too late: the bank had been sent.
            if job != _STOP:
                end.send(_compile(end, job))
        except (EOFError, OSError):
            return


def _compile(end: Connection[Any, Any], make_bank: OperationBank) -> Reply:
    began = time.process_time_ns()
    bank: Bank | AscertainError | None
    try:
        # Whatever the other end says now, or that it is gone, means that nobody wants the bank any more.
        with limited(lambda: 0.0 if end.poll() else 1.0, _STOP):
            bank = make_bank()
    except OutOfTime:
        end.recv()
        bank = None
    except AscertainError as error:
        bank = error
    return bank, make_bank.report if isinstance(bank, Bank) else None, (time.process_time_ns() - began) // 1000
