"""Compiling in the background, on a simulated clock: when runs end and how much processor time goes into compiling.

Two runs of one operation are given, with the microseconds that each decision took: *staged*, which wants the bank when
the nominal is formally rejected, and *readwise*, which wants it as soon as the trigger exceeds 1 + lambda. A read takes
r microseconds, compiling c, on a processor of its own. Then

    deferred            reads as staged; compiles when the bank is wanted, and waits for it
    full background     reads as staged; compiles from the beginning, in every run, and waits for what is left
    gated background    reads as staged; compiles from the moment at which readwise would have switched
    readwise            reads as readwise; compiles when the bank is wanted, and waits for it

A compilation that is not needed when the run ends is stopped there and charged what it took so far. Everything here is
exact arithmetic on what was measured; wall clock is piecewise linear in r, and so crossings are found exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal, TypeAlias, final, get_args

Strategy: TypeAlias = Literal["deferred", "full background", "gated background", "readwise"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


@final
@dataclass(frozen=True)
class Moment:
    """A point of a run: after so many reads, when decisions had taken so many microseconds."""

    reads: int
    decided_us: int

    def at(self, read_us: Fraction) -> Fraction:
        """When it is, on the clock of a run that has not waited."""
        return self.reads * read_us + self.decided_us


@final
@dataclass(frozen=True)
class Trace:
    """A run whose bank was there when it was wanted: when that was, if it was, and the end."""

    wanted: Moment | None
    end: Moment


@final
@dataclass(frozen=True)
class Timed:
    """One operation: its two runs, when the gate opened in the staged one, if it did, and how long compiling takes."""

    staged: Trace
    gate: Moment | None
    readwise: Trace
    compile_us: int


@final
@dataclass(frozen=True)
class Spent:
    """What a strategy takes, in microseconds."""

    wall: Fraction
    compiling: Fraction


def spend(strategy: Strategy, timed: Timed, read_us: Fraction) -> Spent:
    """One strategy on one operation, at so many microseconds a read."""
    trace = timed.readwise if strategy == "readwise" else timed.staged
    begun = _begin(strategy, timed)
    end = trace.end.at(read_us)
    if trace.wanted is None:
        unused = Fraction(0) if begun is None else min(Fraction(timed.compile_us), end - begun.at(read_us))
        return Spent(end, unused)
    begin = trace.wanted if begun is None else begun
    wait = max(Fraction(0), begin.at(read_us) + timed.compile_us - trace.wanted.at(read_us))
    return Spent(end + wait, Fraction(timed.compile_us))


def spend_all(strategy: Strategy, operations: Sequence[Timed], read_us: Fraction) -> Spent:
    """One strategy on all operations, one after the other."""
    spent = [spend(strategy, timed, read_us) for timed in operations]
    return Spent(sum((s.wall for s in spent), Fraction(0)), sum((s.compiling for s in spent), Fraction(0)))


def find_crossing(operations: Sequence[Timed], quick: Strategy, slow: Strategy) -> Fraction | None:
    """The microseconds a read from which on `slow` is no slower than `quick`: 0 if it never is, None without end."""

    def lead(read_us: Fraction) -> Fraction:
        return spend_all(slow, operations, read_us).wall - spend_all(quick, operations, read_us).wall

    corners = sorted({Fraction(0), *(c for t in operations for s in (quick, slow) for c in _corners(s, t))})
    last = corners[-1]
    # Beyond the last corner the lead is linear: a point of it on either side tells where it ends.
    slope = lead(last + 1) - lead(last)
    if lead(last) > 0:
        return last - lead(last) / slope if slope < 0 else None
    if slope > 0:
        return None
    for low, high in reversed(list(pairwise(corners))):
        before, after = lead(low), lead(high)
        if before > 0:
            return low + (high - low) * before / (before - after)
    return Fraction(0)


def _begin(strategy: Strategy, timed: Timed) -> Moment | None:
    """When a background compilation begins; None for one that is not begun before it is wanted."""
    if strategy == "full background":
        return Moment(0, 0)
    return timed.gate if strategy == "gated background" else None


def _corners(strategy: Strategy, timed: Timed) -> Iterator[Fraction]:
    """Where waiting comes to an end as reads take longer."""
    begin, wanted = _begin(strategy, timed), timed.staged.wanted
    if begin is None or wanted is None or wanted.reads <= begin.reads:
        return
    corner = Fraction(begin.decided_us + timed.compile_us - wanted.decided_us, wanted.reads - begin.reads)
    if corner > 0:
        yield corner
