"""The journal of a run: append-only, each record bound by a hash to all before it, on disk before anything goes on.

An SQLite file holds the records (`observer/records.py` says which there are). It is in write-ahead mode with full
synchronisation, and each record is a transaction of its own: when `intent` returns, the intent outlives a crash, and
only then is the action sent. Beside it FILE.head, written whole after each record, keeps the number of records and the
head of their chain, so that

- a last record that was torn by a crash was never committed: it is gone, and FILE.head does not know it either;
- records cut off later, at whatever boundary, are missed: FILE.head knows of more than there are;
- a record that was changed, removed or moved breaks the chain.

Whoever can write both files can write another story: a journal shows accidents and careless tampering; what binds an
adversary is a head that someone else has kept. A journal is open in one process at a time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, final

from ascertain.errors import FileError, TaskError
from ascertain.live.record_store import RecordStore
from ascertain.live.recorder import AbstractRecorder
from ascertain.observer.records import START, Cause, Record, hash_record, verdict_record
from ascertain.policy.verdict import Verdict
from ascertain.writing import write_whole

_HEAD = re.compile(r"(0|[1-9][0-9]{0,9}) ([0-9a-f]{64})\n")
"""What FILE.head holds: how many records there are, and the hash of the last."""


@final
class Journal(AbstractRecorder):
    """The journal at a path, open for appending; a session's recorder. Use it in a `with` statement."""

    def __init__(self, path: str | Path) -> None:
        super().__init__()
        self.path = Path(os.path.abspath(path))
        self.head = START
        self._store = RecordStore(self.path)
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
        number, digest = known or (0, START)
        if number > len(records):
            raise FileError(
                f"{self.path}: the journal has {len(records)} records, and its head knows of {number}; it has been "
                "cut off"
            )
        if hashes[number] != digest:
            raise FileError(f"{self.path}: the journal is not the one that {self._head_path.name} belongs to")
        if len(records) > number + 1:
            # The head is written after each record, so that a crash leaves it one behind at most.
            raise FileError(
                f"{self.path}: the journal has {len(records)} records, and its head knows of {number}; records have "
                "been added by someone else"
            )
        self._records, self.head = records, hashes[-1]
        if known != (len(records), self.head):
            self._write_head()

    def _hash(self, previous: str, record: Record, number: int) -> str:
        try:
            return hash_record(previous, record)
        except TaskError as reason:
            raise FileError(f"{self.path}: record {number}: {reason}") from None

    @property
    def _head_path(self) -> Path:
        return self.path.with_name(f"{self.path.name}.head")

    def _read_head(self) -> tuple[int, str] | None:
        try:
            with self._head_path.open("rb") as file:
                text = file.read(100).decode("ascii", "replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileError(f"{self._head_path}: the file cannot be read ({error.strerror})") from None
        match = _HEAD.fullmatch(text)
        if match is None:
            raise FileError(f"{self._head_path}: this is not the head of a journal; a number and a hash were expected")
        return int(match[1]), match[2]

    def _write_head(self) -> None:
        """Whole or not at all, so that after a power failure the head is one record behind at most."""
        write_whole(self._head_path, f"{len(self._records)} {self.head}\n".encode(), only_writer=True)

    def append(self, record: Record) -> None:
        """One more record; when this returns it is on disk. After a fault of the plant a run may go on with one."""
        if self.is_finished and not (record["record"] == "plant" and self._records[-1].get("cause") == "plant"):
            raise FileError(f"{self.path}: the run of this journal has ended; nothing is added to it")
        digest = hash_record(self.head, record)
        self._store.append(len(self._records), record, digest)
        self._records.append(record)
        self.head = digest
        self._write_head()

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
