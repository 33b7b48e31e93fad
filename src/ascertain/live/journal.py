"""The journal of a run: append-only, each record bound by a hash to all before it, on disk before anything goes on.

An SQLite file holds the records (`observer/records.py` says which there are). It is in write-ahead mode with full
synchronisation, and each record is a transaction of its own: when `intent` returns, the intent outlives a crash, and
only then is the action sent. Beside it FILE.head keeps two lines, each a number of records and the hash of the last of
them: what is *confirmed* to be there, and what is *announced*. A record is announced, written and then confirmed, so
that

- a record that a crash has cut short is there as it was announced, or not at all: both are accepted;
- records cut off later, at whatever boundary, are missed: more are confirmed than there are;
- a record that was changed, removed, moved or added is not the one that was announced.

The head is one short line twice, always of the same length, written over in place: a disk writes a sector whole.
Whoever can write both files can write another story: a journal shows accidents, and tampering by someone who cannot
write the head; what binds an adversary is a head that someone else has kept. A journal is open in one process at a
time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TypeAlias, final

from ascertain.errors import FileError, TaskError
from ascertain.live.record_shapes import check_shape
from ascertain.live.record_store import RecordStore
from ascertain.live.recorder import AbstractRecorder
from ascertain.observer.records import START, Cause, Record, hash_record, verdict_record
from ascertain.policy.verdict import Verdict
from ascertain.writing import write_whole

_LINE = "([0-9]{10}) ([0-9a-f]{64})\n"
_HEAD = re.compile(_LINE * 2)
"""What FILE.head holds: how many records are confirmed and the hash of the last, and the same of what is announced."""
_OLD_HEAD = re.compile(r"(0|[1-9][0-9]{0,9}) ([0-9a-f]{64})\n")
"""What version 0.1.0 wrote, after the record."""
Mark: TypeAlias = tuple[int, str]
"""A number of records, and the hash of the last."""


@final
class Journal(AbstractRecorder):
    """The journal at a path, open for appending; a session's recorder. Use it in a `with` statement.

    With `read_only` the files stay as they are, and what is appended is kept in memory: for a dry run.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        super().__init__()
        self.path = Path(os.path.abspath(path))
        self.head = START
        self._read_only = read_only
        self._in_place = False
        """Whether there is a head of the length that is written over."""
        self._store = RecordStore(self.path, read_only=read_only)
        try:
            self._load()
        except BaseException:
            self._store.close()
            raise

    def _load(self) -> None:
        hashes = [START]
        records: list[Record] = []
        for number, (record, digest) in enumerate(self._store.read()):
            if self._hash(hashes[-1], record, number) != digest:
                raise FileError(
                    f"{self.path}: record {number} is not the one that was written; the journal has been tampered with"
                )
            records.append(record)
            hashes.append(digest)
        known = self._read_head()
        if known is None and records:
            raise FileError(
                f"{self.path}: its head, {self._head_path.name}, is missing, so that nobody can tell whether records "
                "were cut off; put it back beside the journal"
            )
        self._compare(hashes, *(known or ((0, START), (0, START))))
        for number, record in enumerate(records):
            if wrong := check_shape(record, number):
                raise FileError(f"{self.path}: record {number} {wrong}; it is not one that a journal holds there")
        self._records, self.head = records, hashes[-1]

    def _compare(self, hashes: list[str], confirmed: Mark, announced: Mark) -> None:
        """The head decides what records there are."""
        number, (sure, digest) = len(hashes) - 1, confirmed
        beside = f"{self.path}: the journal has {number} records, and its head knows of {announced[0]}"
        if number < sure:
            raise FileError(f"{beside}; it has been cut off")
        if number > announced[0]:
            raise FileError(f"{beside}; records have been added by someone else")
        if hashes[sure] != digest or (number > sure and hashes[number] != announced[1]):
            raise FileError(f"{self.path}: the journal is not the one that {self._head_path.name} belongs to")

    def _hash(self, previous: str, record: Record, number: int) -> str:
        try:
            return hash_record(previous, record)
        except TaskError as reason:
            raise FileError(f"{self.path}: record {number}: {reason}") from None

    @property
    def _head_path(self) -> Path:
        return self.path.with_name(f"{self.path.name}.head")

    def _read_head(self) -> tuple[Mark, Mark] | None:
        """What is confirmed, and what is announced; None where there is no head."""
        try:
            with open(self._head_path, "rb", opener=_open_at_once) as file:
                text = file.read(200).decode("ascii", "replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileError(f"{self._head_path}: the file cannot be read ({error.strerror})") from None
        match = _HEAD.fullmatch(text) or _OLD_HEAD.fullmatch(text)
        if match is None:
            raise FileError(f"{self._head_path}: this is not the head of a journal; numbers and hashes were expected")
        confirmed, announced = (int(match[1]), match[2]), (int(match[match.re.groups - 1]), match[match.re.groups])
        if announced != confirmed and announced[0] != confirmed[0] + 1:
            raise FileError(f"{self._head_path}: this is not the head of a journal; it announces no next record")
        self._in_place = match.re is _HEAD
        return confirmed, announced

    def _write_head(self, announced: Mark) -> None:
        text = _head_text((len(self._records), self.head), announced).encode()
        if not self._in_place:
            write_whole(self._head_path, text, only_writer=True)
            self._in_place = True
            return
        try:
            with self._head_path.open("r+b", buffering=0) as file:
                file.write(text)
                os.fsync(file.fileno())
        except OSError as error:
            raise FileError(f"{self._head_path}: the file cannot be written ({error.strerror})") from None

    def append(self, record: Record) -> None:
        """One more record; when this returns it is on disk. After a fault of the plant a run may go on with one."""
        if self.is_finished and not (record["record"] == "plant" and self._records[-1].get("cause") == "plant"):
            raise FileError(f"{self.path}: the run of this journal has ended; nothing is added to it")
        following = len(self._records) + 1, hash_record(self.head, record)
        if not self._read_only:
            self._write_head(following)
            self._store.append(len(self._records), record, following[1])
        self._records.append(record)
        self.head = following[1]
        if not self._read_only:
            self._write_head(following)

    @property
    def is_finished(self) -> bool:
        """Whether the last record is a verdict."""
        return bool(self._records) and self._records[-1]["record"] == "verdict"

    def begin(self, commitment: Mapping[str, Any]) -> None:
        if self._records:
            raise FileError(f"{self.path}: this journal has begun already; resume it, or choose another file")
        super().begin(commitment)

    def verdict(self, verdict: Verdict, cause: Cause | None = None, ran: bool = False) -> None:
        """The end; said a second time, after a resumption, it is not written again."""
        last = self._records[-1] if self.is_finished else {}
        said = {key: value for key, value in last.items() if key not in ("ran", "time")}
        if said != verdict_record(verdict, cause):
            super().verdict(verdict, cause, ran)

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def has_begun(path: str | Path) -> bool:
    """Whether there is a journal at the path that holds a record; it stays as it is."""
    place = Path(path)
    if not place.is_file() or not place.stat().st_size:  # whether a journal can be kept there is said when it is opened
        return False
    with Journal(place, read_only=True) as journal:
        return bool(journal.records)


def _head_text(confirmed: Mark, announced: Mark) -> str:
    return "".join(f"{number:010d} {digest}\n" for number, digest in (confirmed, announced))


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for anyone at its other end: it may be a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
