"""A fuzzer of our own: what a reader does with spoilt inputs is judged.

A reader may accept an input or refuse it with an error of its own kind; any other exception is a *finding*, and so is
an input that takes more than SECONDS of processor time, needs more than MEMORY, or is refused in a sentence that cannot
be printed. `fuzz_inputs.py` makes the inputs.
"""

from __future__ import annotations

import math
import resource
import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, NoReturn, TypeAlias

from .fuzz_inputs import Target, make_input

__all__ = ["Finding", "Tally", "Target", "fuzz", "judge", "make_input", "watched"]

SECONDS = 1.0
"""Of processor time, for one input; other work on the machine does not count."""
HANG = 60.0
"""Seconds after which an input that computes nothing is given up."""
MEMORY = 2**30
"""Bytes that may be mapped beyond what was when the campaign began."""

Outcome: TypeAlias = Literal["accepted", "judged", "unreadable"]
"""What came of an input: `judged` was refused for what it says, `unreadable` for how it is written."""


class TooSlow(BaseException):
    """Raised by the watchdog; not an Exception, so that no reader can take it for one of its own."""


class Finding(AssertionError):
    """An input that a reader did not take as it should."""


@dataclass
class Tally:
    """What came of a campaign."""

    target: str
    inputs: int = 0
    accepted: int = 0
    judged: int = 0
    unreadable: int = 0
    seconds: float = 0.0
    """Of processor time, the making of the inputs included."""
    elapsed: float = 0.0
    slowest: float = 0.0
    findings: dict[str, tuple[int, bytes, str]] = field(default_factory=dict[str, tuple[int, bytes, str]])
    """By where it happened: the number of the first input, the input, and what came out."""

    @property
    def refused(self) -> int:
        return self.judged + self.unreadable

    @property
    def share_understood(self) -> float:
        """How many inputs were read so far that their content mattered."""
        return (self.accepted + self.judged) / max(self.inputs, 1)

    def add(self, took: float, outcome: Outcome) -> None:
        self.accepted += outcome == "accepted"
        self.judged += outcome == "judged"
        self.unreadable += outcome == "unreadable"
        self.slowest = max(self.slowest, took)

    def join(self, later: Tally) -> None:
        """Count what another campaign with the same reader came to."""
        for name in ("inputs", "accepted", "judged", "unreadable", "seconds", "elapsed"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        self.slowest = max(self.slowest, later.slowest)
        self.findings = later.findings | self.findings

    def __str__(self) -> str:
        rate = self.inputs / max(self.seconds, 1e-9)
        return (
            f"{self.target}: {self.inputs} inputs, {self.accepted} accepted, {self.judged} judged and refused, "
            f"{self.unreadable} unreadable, {rate:.0f} a second of processor time ({self.seconds:.0f} s, "
            f"{self.elapsed:.0f} s in all), slowest {self.slowest:.3f} s, {len(self.findings)} findings"
        )


def fuzz(target: Target, count: int, seed: int = 0, *, seconds: float = math.inf, first: int = 0) -> Tally:
    """Put so many inputs to a reader, or as many as can be in that time; findings are collected, not raised."""
    tally, begin, processor_begin = Tally(target.name), time.monotonic(), time.process_time()
    with watched():
        for number in range(first, first + count):
            data = make_input(target, seed, number)
            tally.inputs += 1
            try:
                tally.add(*judge(target, data))
            except Finding as finding:
                where, _, what = str(finding).partition("\n")
                tally.findings.setdefault(where, (number, data, what))
            if number % 16 == 0 and time.monotonic() - begin > seconds:
                break
    tally.elapsed, tally.seconds = time.monotonic() - begin, time.process_time() - processor_begin
    return tally


def judge(target: Target, data: bytes) -> tuple[float, Outcome]:
    """How long one input took, and what came of it; a Finding when it was taken in any other way."""
    outcome: Outcome = "accepted"
    _watch.begin()
    try:
        target.read(data)
    except target.refusals as refusal:
        took = _watch.end()
        _check_sentence(refusal)
        outcome = "unreadable" if target.early.search(_road(refusal)) else "judged"
    except (Exception, TooSlow) as fault:
        _watch.end()
        raise Finding(_describe(fault)) from fault
    else:
        took = _watch.end()
    if took > SECONDS:
        raise Finding(f"TooSlow nowhere\n{took:.3f} seconds")
    return took, outcome


def _check_sentence(refusal: Exception) -> None:
    sentence = str(refusal)
    try:
        sentence.encode()
    except UnicodeEncodeError:
        raise Finding(f"a sentence that cannot be printed, {_place(refusal)}\n{sentence!a}") from refusal
    if not sentence or len(sentence) > 5000:
        raise Finding(f"a sentence of {len(sentence)} characters, {_place(refusal)}\n{sentence[:200]!a}") from refusal


def _road(refusal: Exception) -> str:
    """The functions that a refusal came through, outermost first."""
    names, trace = list[str](), refusal.__traceback__
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    return ">".join(names)


def _describe(fault: BaseException) -> str:
    trace = "".join(traceback.format_exception(fault, limit=-4))
    return f"{type(fault).__name__} {_place(fault)}\n{trace}"


def _place(fault: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(fault.__traceback__) if "ascertain" in frame.filename]
    ours = [frame for frame in frames if "/src/" in frame.filename] or frames
    return f"at {ours[-1].filename.rpartition('/')[2]}:{ours[-1].name}" if ours else "nowhere"


class _Watch:
    """When the input at hand began, in processor time and on the clock; infinity between inputs."""

    def __init__(self) -> None:
        self.processor = self.clock = math.inf

    def begin(self) -> None:
        self.clock, self.processor = time.monotonic(), time.process_time()

    def end(self) -> float:
        took = time.process_time() - self.processor
        self.processor = self.clock = math.inf
        return took

    def look(self, number: int, frame: object) -> None:
        """What the timers call every now and then, which is cheaper than setting them for every input."""
        if time.process_time() - self.processor > SECONDS:
            self.bark(SECONDS)
        if time.monotonic() - self.clock > HANG:
            self.bark(HANG)

    def bark(self, limit: float) -> NoReturn:
        self.processor = self.clock = math.inf
        raise TooSlow(f"more than {limit} seconds")


_watch = _Watch()


@contextmanager
def watched() -> Iterator[None]:
    """The watchdog and the limit of memory, for as long as the campaign lasts."""
    timers = {signal.SIGPROF: (signal.ITIMER_PROF, SECONDS), signal.SIGALRM: (signal.ITIMER_REAL, HANG)}
    handlers = {number: signal.signal(number, _watch.look) for number in timers}
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _mapped_bytes() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (wanted if soft < 0 else min(soft, wanted), hard))
    try:
        for timer, limit in timers.values():
            signal.setitimer(timer, limit / 4, limit / 4)
        yield
    finally:
        for number, (timer, _) in timers.items():
            signal.setitimer(timer, 0)
            signal.signal(number, handlers[number])
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _mapped_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:  # Linux alone says how much is mapped
        return int(file.read().split()[0]) * resource.getpagesize()
