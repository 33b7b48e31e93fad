"""How long computations end in time: who limits them says so here, and they look up here now and then.

A limit is a function that says how many seconds are left, by whatever clock; without one, looking up does nothing. It
holds for all that is called within the `with` statement, so that it need not be handed through functions that have
nothing to do with time.

Ctrl-C ends them too: at once, or if code is being loaded, when that is there (`interrupt`).
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import NoReturn, TypeAlias, final

SecondsLeft: TypeAlias = Callable[[], float]
"""How many seconds are left now; none or fewer: the time is over."""

IMPORTER = "<frozen importlib"
"""How the files of Python's own import system are called."""
LOADERS = frozenset({"numba", "llvmlite"})
"""The packages whose functions are at work while machine code is compiled or loaded, and not while it runs."""
LOOK_AGAIN = 0.02
"""Seconds between two looks whether what is being loaded is there."""

_limit: ContextVar[tuple[SecondsLeft, str | Callable[[], str], bool] | None] = ContextVar(
    "ascertain_limit", default=None
)
"""The seconds that are left, what is said when they are over, and whether the limit is strict."""


@final
class OutOfTime(Exception):
    """The time is over, and a computation has stopped in the middle."""


@contextmanager
def limited(left: SecondsLeft, reason: str | Callable[[], str], *, strict: bool = False) -> Generator[None]:
    """Within, whoever looks up when no time is left is stopped for the reason that there is then.

    Where the limit is strict, work that is sure not to end in time is not begun.
    """
    token = _limit.set((left, reason, strict))
    try:
        yield
    finally:
        _limit.reset(token)


def seconds_left() -> float | None:
    """How much time there is; None where nothing limits it."""
    limit = _limit.get()
    return None if limit is None else limit[0]()


def look_up() -> None:
    """Go on, or stop here if the time is over."""
    limit = _limit.get()
    if limit is not None and limit[0]() <= 0:
        _stop(limit[1])


def begin_work(seconds: float) -> bool:
    """Go on, or stop here if a strict limit leaves no time for that many seconds; whether the limit is strict."""
    limit = _limit.get()
    strict = limit is not None and limit[2]
    if limit is not None and strict and seconds > max(limit[0](), 0.0):
        _stop(limit[1])
    return strict


def _stop(reason: str | Callable[[], str]) -> NoReturn:
    raise OutOfTime(reason if isinstance(reason, str) else reason())


@contextmanager
def whole_loading() -> Generator[None]:
    """Hold Ctrl-C back while modules or machine code are being loaded; whoever presses it again does not wait.

    For work that, after Ctrl-C, goes on to write down what it has found. A module whose import is cut off stays broken
    for the rest of the process, and Numba, LLVM and some modules of SciPy swallow the exception.
    """
    with interrupted_by(interrupt):
        yield


@contextmanager
def interrupted_by(answer: Callable[[int, FrameType | None], None]) -> Generator[None]:
    """Within, this answers to Ctrl-C; not in another thread, nor where somebody else answers to it."""
    ours = (signal.default_int_handler, interrupt)
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) not in ours:
        yield
        return
    before = signal.signal(signal.SIGINT, answer)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def interrupt(number: int, frame: FrameType | None) -> None:
    """The answer to Ctrl-C within `whole_loading`."""
    global _held  # noqa: PLW0603  there is one main thread
    if _held or not _is_loading(frame):
        _held = False
        raise KeyboardInterrupt
    _held = True
    _thread.start_new_thread(_come_again, (number,))  # takes no lock that a frame below may hold


_held = False
"""Whether a Ctrl-C is waiting."""


def _come_again(number: int) -> None:
    global _held  # noqa: PLW0603  there is one main thread
    main = threading.main_thread().ident or 0
    while _is_loading(sys._current_frames().get(main)):  # pyright: ignore[reportPrivateUsage]
        time.sleep(LOOK_AGAIN)
    if _held:  # not pressed again meanwhile
        _held = False
        os.kill(os.getpid(), number)


def _is_loading(frame: FrameType | None) -> bool:
    """Whether what is at work there was called in order to load something, since a function of ours was called."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if package in LOADERS or frame.f_code.co_filename.startswith(IMPORTER):
            return True
        if package == "ascertain" and frame.f_code.co_name != "<module>":
            return False
        frame = frame.f_back
    return False
