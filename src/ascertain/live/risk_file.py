"""A risk file: one total risk for many runs, of which every run takes its alpha before it starts.

By the union bound the probability that some answer of all these runs is wrong is at most the sum of what they took, and
no run starts that would take the sum past the total. How large a share is follows from the *schedule*, which is fixed
when the file is made:

    equal:N         the total divided by N
    geometric[:r]   (1 - r) r^k of the total for share k = 0, 1, ...; r = 1/2 unless given: there is always a next one
    none            each run says how much it takes

The file is kept in SQLite like a journal, and is locked from the moment a process reads what is spent until its own
share is on disk: no two runs take the same one. Records are only added, each bound by a hash to all before it, so that
every run stays visible, with its outcome. A share comes back only when its run ended before anything was sent.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, final

from ascertain.drawing.shown import Listing, Shown
from ascertain.errors import FileError, TaskError
from ascertain.live.record_shapes import RISK_SHAPES, compare_shape
from ascertain.live.record_store import RecordStore
from ascertain.live.recorder import tell_time
from ascertain.observer.records import START, Record, hash_record
from ascertain.rational import have_small_denominator, parse_rational, rational_field

FORMAT = "ascertain-risk"
"""What the first record says, so that a journal is not taken for a risk file."""
VERSION = 1
"""Grows when a record changes its meaning."""
WAIT = 30.0
"""Seconds that a run waits while others take their shares: each takes hundredths, and a fleet may start at once."""
MAX_SHARES = 10_000
"""Runs of one file: all of it is read for each of them."""
MAX_DIGITS = 200
"""Digits of the numbers of a share, as many as are read back."""
ABSTAINED = "abstained: "
"""How the outcome of a run without an answer begins."""
LONGEST = 500
"""Characters of an outcome: a reason may quote a plant."""
_SCHEDULE = re.compile(r"equal:(?P<number>[1-9][0-9]{0,5})|geometric(?::(?P<ratio>[0-9./e-]{1,40}))?")


@final
@dataclass(frozen=True)
class RiskShare:
    """What one run has taken."""

    number: int
    alpha: Fraction
    scheduled: bool
    """Whether the schedule said how much, and not the run."""
    time: str
    task_sha256: str
    run: str
    """The journal of the run, or a name that it drew."""
    outcome: str | None = None
    """How the run ended; None while that is not known."""
    returned: bool = False
    """Whether the run ended before anything was sent, so that its share was given back."""


@final
@dataclass(frozen=True)
class RiskFile(Shown):
    """What a risk file says: the total, the schedule, and the share of every run."""

    path: Path
    total: Fraction
    schedule: str | None
    shares: tuple[RiskShare, ...] = ()

    def shown(self) -> Mapping[str, object]:
        return {"total": self.total, "schedule": self.schedule, "spent": self.spent, "left": self.left}

    def listing(self) -> Listing:
        """Every run that has taken a share."""
        ends = [s.outcome or ("nothing was sent, given back" if s.returned else "not known") for s in self.shares]
        rows = [(s.time, s.run, s.alpha, end) for s, end in zip(self.shares, ends, strict=True)]
        return ("time", "run", "alpha", "outcome"), rows

    @property
    def spent(self) -> Fraction:
        """What all runs have taken together."""
        return sum((share.alpha for share in self.shares if not share.returned), Fraction(0))

    @property
    def left(self) -> Fraction:
        """What is left of the total."""
        return self.total - self.spent

    def facts(self) -> dict[str, Any]:
        """As plain data."""
        standing = sum(not share.returned for share in self.shares)
        return {
            "total": str(self.total),
            "spent": str(self.spent),
            "left": str(self.left),
            "schedule": self.schedule,
            "runs": standing,
        }

    def next_share(self, alpha: Fraction | None, default: Fraction) -> tuple[Fraction, bool]:
        """How much the next run takes, and whether the schedule says so; a run that would take too much is refused."""
        scheduled = alpha is None and self.schedule is not None
        share = default if alpha is None else alpha
        if scheduled and self.schedule is not None:
            taken = sum(share.scheduled and not share.returned for share in self.shares)
            share = _scheduled(self.schedule, self.total, taken)
        if share > self.left:
            raise FileError(
                f"{self.path}: the total risk of {self.total} does not allow this run: {self.spent} is spent by "
                f"{self.facts()['runs']} runs, {self.left} is left, and the run would take {share}; begin another "
                "risk file only for runs whose answers are judged apart"
            )
        if share.denominator >= 10**MAX_DIGITS or not _can_be_added(self.shares, share):
            raise FileError(f"{self.path}: the next share has too many digits; say how much the run takes with --alpha")
        if len(self.shares) >= MAX_SHARES:
            raise FileError(f"{self.path}: {MAX_SHARES} runs have taken a share; a risk file serves no more than that")
        return share, scheduled

    def share_of(self, run: str) -> RiskShare | None:
        """The latest share of that run that was not given back."""
        return next((share for share in reversed(self.shares) if share.run == run and not share.returned), None)


def read_risk_file(path: str | Path) -> RiskFile:
    """What a risk file says now; nothing is taken."""
    if not Path(path).exists():
        raise FileError(f"{path}: there is no such risk file; a run with --total-alpha P begins one")
    with _locked(path) as store:
        return _parse(store)


def preview_share(
    path: str | Path, *, total: Fraction | int | str | None = None, schedule: str | None = None
) -> RiskFile:
    """The file as the next run finds it, or, if there is none, as it would be begun; nothing is written."""
    if not Path(path).exists():
        return _new(path, total, schedule)
    with _locked(path) as store:
        return _meet(store, total, schedule)


def take_share(
    path: str | Path,
    *,
    total: Fraction | int | str | None = None,
    schedule: str | None = None,
    alpha: Fraction | None = None,
    default: Fraction = Fraction(0),
    task_sha256: str,
    run: str,
) -> tuple[RiskFile, RiskShare]:
    """Take the share of one run: by the schedule, or `alpha`, or else `default`. The file is begun if there is none.

    Returns the file after it and the share. When this returns the share is on disk, and no other run can take it.
    """
    preview_share(path, total=total, schedule=schedule)  # a file that cannot be begun is not made either
    with _locked(path) as store:
        found = _meet(store, total, schedule)
        amount, scheduled = found.next_share(alpha, default)
        if not store.records:
            head = {"record": "risk", "format": FORMAT, "version": VERSION}
            store.add({**head, "total": str(found.total), "schedule": found.schedule})
        share = RiskShare(len(found.shares), amount, scheduled, tell_time(), task_sha256, run)
        store.add(
            {
                "record": "share",
                "number": share.number,
                "alpha": str(amount),
                "scheduled": scheduled,
                "time": share.time,
                "task_sha256": task_sha256,
                "run": run,
            }
        )
    return replace(found, shares=(*found.shares, share)), share


def end_share(path: str | Path, number: int, outcome: str) -> RiskFile:
    """Record how the run of a share ended; said a second time, after a resumption, it is not written again.

    A run that has abstained because of its plant may go on and end in another way.
    """
    with _locked(path) as store:
        known = _known(_parse(store), number).outcome
        if known is None or (known.startswith(ABSTAINED) and known != outcome[:LONGEST]):
            store.add({"record": "outcome", "number": number, "outcome": outcome[:LONGEST], "time": tell_time()})
        return _parse(store)


def return_share(path: str | Path, number: int) -> RiskFile:
    """Give back the share of a run that ended before anything was sent: it cannot have answered."""
    with _locked(path) as store:
        _known(_parse(store), number)
        store.add({"record": "returned", "number": number, "time": tell_time()})
        return _parse(store)


@final
class _Locked:
    """The records of an open risk file, and the place to add to them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._store = RecordStore(path, "risk file", wait=WAIT)
        self.head, self.records = START, list[Record]()
        try:
            for number, (record, digest) in enumerate(self._store.read()):
                self.head = self._follow(record, number)
                if self.head != digest:
                    raise self.refuse(number)
                self.records.append(record)
        except BaseException:
            self.close()
            raise

    def _follow(self, record: Record, number: int) -> str:
        try:
            return hash_record(self.head, record)
        except TaskError:
            raise self.refuse(number) from None

    def add(self, record: Record) -> None:
        self.head = hash_record(self.head, record)
        self._store.append(len(self.records), record, self.head)
        self.records.append(record)

    def refuse(self, number: int) -> FileError:
        return FileError(
            f"{self.path}: record {number} is not one that a risk file holds there; the file is another one, or it has "
            "been tampered with"
        )

    def close(self) -> None:
        self._store.close()


@contextmanager
def _locked(path: str | Path) -> Generator[_Locked]:
    store = _Locked(Path(os.path.abspath(path)))
    try:
        yield store
    finally:
        store.close()


def _parse(store: _Locked) -> RiskFile:
    """The records of a file that anyone may have written."""
    if not store.records:
        raise FileError(f"{store.path}: this risk file is empty; begin another one with --total-alpha P")
    found: RiskFile | None = None
    for number, record in enumerate(store.records):
        try:
            if compare_shape(record, RISK_SHAPES[record["record"]]) is not None:
                raise store.refuse(number)
            found = _begin(store.path, record) if found is None else _take(found, record)
        except (KeyError, TypeError, ValueError, IndexError, TaskError):
            raise store.refuse(number) from None
    assert found is not None
    if not _can_be_added(found.shares):
        raise FileError(f"{store.path}: its shares have too many digits; the risk file has been tampered with")
    if found.left < 0:
        raise FileError(f"{store.path}: more than the total is spent; the risk file has been tampered with")
    return found


def _begin(path: Path, record: Record) -> RiskFile:
    if record["record"] != "risk" or record["format"] != FORMAT or record["version"] != VERSION:
        raise ValueError
    return _new(path, record["total"], record["schedule"])


def _take(found: RiskFile, record: Record) -> RiskFile:
    number: int = record["number"]
    if not number <= len(found.shares) <= MAX_SHARES:
        raise ValueError
    if record["record"] == "share":
        alpha, texts = parse_rational(record["alpha"]), [record[name] for name in ("time", "task_sha256", "run")]
        if number != len(found.shares) or not 0 <= alpha < 1:
            raise ValueError
        return replace(found, shares=(*found.shares, RiskShare(number, alpha, record["scheduled"], *texts)))
    share = found.shares[number]
    if share.returned or not (share.outcome is None or share.outcome.startswith(ABSTAINED)):
        raise ValueError
    if record["record"] == "returned" and share.outcome is not None:
        raise ValueError
    if record["record"] == "outcome":
        share = replace(share, outcome=record["outcome"])
    elif record["record"] == "returned":
        share = replace(share, returned=True)
    else:
        raise ValueError
    return replace(found, shares=(*found.shares[:number], share, *found.shares[number + 1 :]))


def _new(path: str | Path, total: Fraction | int | str | None, schedule: str | None) -> RiskFile:
    """A risk file from which nothing is taken yet."""
    if total is None:
        raise TaskError(f"{path}: there is no such risk file; --total-alpha P begins one with a total risk of P")
    known = rational_field(total, "--total-alpha", TaskError)
    if not 0 < known < 1:
        raise TaskError(f"--total-alpha: {total} is not a probability in (0, 1)")
    if schedule is not None:
        _scheduled(schedule, known, 0)
    return RiskFile(Path(os.path.abspath(path)), known, schedule)


def _meet(store: _Locked, total: Fraction | int | str | None, schedule: str | None) -> RiskFile:
    """The file as it is, or as it is to be begun; what is said again must be what it was begun with."""
    if not store.records:
        return _new(store.path, total, schedule)
    found = _parse(store)
    if total is not None and rational_field(total, "--total-alpha", TaskError) != found.total:
        raise TaskError(f"--total-alpha: {found.path} was begun with a total of {found.total}, and that stays")
    if schedule is not None and schedule != found.schedule:
        begun = "no schedule" if found.schedule is None else f"the schedule {found.schedule}"
        raise TaskError(f"--risk-schedule: {found.path} was begun with {begun}, and that stays")
    return found


def _can_be_added(shares: Sequence[RiskShare], *more: Fraction) -> bool:
    """Whether the sum of what was taken stays a number of a few thousand digits."""
    return have_small_denominator([*(share.alpha for share in shares), *more])


def _scheduled(schedule: str, total: Fraction, taken: int) -> Fraction:
    """The share that the schedule gives when so many have been taken."""
    match = _SCHEDULE.fullmatch(schedule)
    if match is None:
        raise TaskError(
            f"--risk-schedule: {schedule[:80]!r} is not understood; write equal:N, geometric or geometric:R"
        )
    if match["number"] is not None:
        return total / int(match["number"])
    ratio = rational_field(match["ratio"] or "1/2", "--risk-schedule geometric", TaskError)
    if not 0 < ratio < 1:
        raise TaskError(f"--risk-schedule: the ratio {ratio} is not inside (0, 1)")
    return total * (1 - ratio) * ratio**taken


def _known(found: RiskFile, number: int) -> RiskShare:
    if number >= len(found.shares):
        raise FileError(f"{found.path}: no run has taken share {number}; the risk file is another one now")
    return found.shares[number]
